#include "support/plain.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

size_t stria_plain_character(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const unsigned char first = bytes[0];
    if (first < 0x80)
        return 1;
    const size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                          : (first & 0xf0) == 0xe0         ? 3
                          : first >= 0xf0 && first <= 0xf4 ? 4
                                                           : 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    if ((first == 0xe0 && bytes[1] < 0xa0) || (first == 0xed && bytes[1] > 0x9f) ||
        (first == 0xf0 && bytes[1] < 0x90) || (first == 0xf4 && bytes[1] > 0x8f))
        return 0;
    return length;
}

/* How many bytes at text can be shown as they are: those of one character, or none. */
static size_t showable(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const size_t length = stria_plain_character(text);
    const bool control =
        bytes[0] < 0x20 || bytes[0] == 0x7f || (length == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0);
    return control ? 0 : length;
}

char *stria_plain(char *text)
{
    for (char *at = text; *at;) {
        size_t length = showable(at);
        if (length == 0) {
            /* Both bytes of a control character that has two. */
            length = stria_plain_character(at) == 2 ? 2 : 1;
            memset(at, '?', length);
        }
        at += length;
    }
    return text;
}

static bool is_plain(const char *text)
{
    size_t length = 1;
    while (*text && length > 0) {
        length = showable(text);
        text += length;
    }
    return length > 0;
}

const char *stria_shown(const char *text)
{
    static _Thread_local char copies[STRIA_PLAIN_SHOWN_MAX][STRIA_PLAIN_SHOWN_BYTES];
    static _Thread_local unsigned next;
    if (!text || is_plain(text))
        return text ? text : "";
    char *copy = copies[next++ % STRIA_PLAIN_SHOWN_MAX];
    snprintf(copy, STRIA_PLAIN_SHOWN_BYTES, "%s", text);
    return stria_plain(copy);
}
