#include "support/plain.h"

#include <stdbool.h>

char *stria_plain(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        const bool two_bytes = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0;
        if (two_bytes)
            *c++ = '?';
        if (two_bytes || *c < 0x20 || *c == 0x7f)
            *c = '?';
    }
    return text;
}
