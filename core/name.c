#include "core/name.h"

#include "core/bits.h"
#include "core/code.h"

#include <string.h>

bool stria_name_valid(const char name[STRIA_NAME_BYTES])
{
    uint32_t length = 0;
    while (length < STRIA_NAME_BYTES && name[length] != 0)
        length++;
    return length > 0 && length < STRIA_NAME_BYTES &&
           stria_all_zero((const uint8_t *)name + length, STRIA_NAME_BYTES - length);
}

bool stria_name_equal(const char a[STRIA_NAME_BYTES], const char b[STRIA_NAME_BYTES])
{
    return memcmp(a, b, STRIA_NAME_BYTES) == 0;
}

int stria_name_set(char name[STRIA_NAME_BYTES], const char *text)
{
    uint32_t length = 0;
    while (length < STRIA_NAME_BYTES && text[length] != 0)
        length++;
    if (length == 0 || length == STRIA_NAME_BYTES)
        return STRIA_ERR_INVALID;
    memset(name, 0, STRIA_NAME_BYTES);
    memcpy(name, text, length);
    return STRIA_OK;
}
