#include "support/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void stria_uuid_draw(uint8_t uuid[16])
{
    if (getrandom(uuid, 16, 0) != 16)
        abort();
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

void stria_uuid_text(const uint8_t uuid[16], char text[STRIA_UUID_TEXT_BYTES])
{
    char *next = text;
    for (unsigned index = 0; index < 16; index++) {
        if (index == 4 || index == 6 || index == 8 || index == 10)
            *next++ = '-';
        next += snprintf(next, 3, "%02x", uuid[index]);
    }
}
