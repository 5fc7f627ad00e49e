#include "results/text.h"

#include "core/ratio.h"
#include "support/plain.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096u

void stria_text_clear(struct stria_text *text)
{
    free(text->bytes);
    *text = (struct stria_text){0};
}

static void make_room(struct stria_text *text, size_t more)
{
    size_t room = text->room ? text->room : ROOM_FIRST;
    while (room - text->length <= more)
        room *= 2;
    if (room == text->room)
        return;
    char *bytes = realloc(text->bytes, room);
    if (!bytes)
        abort();
    text->bytes = bytes;
    text->room = room;
}

void stria_text_add_bytes(struct stria_text *text, const void *bytes, size_t count)
{
    make_room(text, count);
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    text->bytes[text->length] = '\0';
}

void stria_text_add(struct stria_text *text, const char *what)
{
    stria_text_add_bytes(text, what, strlen(what));
}

void stria_text_format(struct stria_text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0)
        abort();
    make_room(text, (size_t)length);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    va_end(again);
    text->length += (size_t)length;
}

void stria_text_add_decimal(struct stria_text *text, uint64_t value, uint64_t divisor, unsigned decimals)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    const stria_u128 scaled = ((stria_u128)value * scale + divisor / 2) / divisor;
    uint64_t fraction = (uint64_t)(scaled % scale);
    stria_text_format(text, "%" PRIu64, (uint64_t)(scaled / scale));
    while (decimals > 0 && fraction % 10 == 0) {
        fraction /= 10;
        decimals--;
    }
    if (decimals > 0)
        stria_text_format(text, ".%0*" PRIu64, (int)decimals, fraction);
}

static const char *html_entity(unsigned char byte)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return byte < 0x20 && byte != '\t' && byte != '\n' ? "\xef\xbf\xbd" : NULL;
    }
}

void stria_text_add_html(struct stria_text *text, const char *what)
{
    for (const char *next = what; *next;) {
        const size_t length = stria_plain_character(next);
        const char *entity = html_entity(*next);
        if (length == 0 || entity)
            stria_text_add(text, entity ? entity : "\xef\xbf\xbd");
        else
            stria_text_add_bytes(text, next, length);
        next += length ? length : 1;
    }
}

void stria_text_add_csv(struct stria_text *text, const char *what)
{
    const bool formula = *what && strchr("=+-@\t\r", *what);
    if (!formula && !strpbrk(what, ",\"\n\r")) {
        stria_text_add(text, what);
        return;
    }
    stria_text_add(text, formula ? "\"'" : "\"");
    for (const char *next = what; *next; next++)
        stria_text_add_bytes(text, *next == '"' ? "\"\"" : next, *next == '"' ? 2 : 1);
    stria_text_add(text, "\"");
}

void stria_text_add_value(struct stria_text *text, enum stria_quantity quantity, uint64_t value)
{
    char words[STRIA_UNITS_TEXT_BYTES];
    switch (stria_quantity_infos[quantity].unit) {
    case STRIA_UNIT_BYTES_PER_S:
        stria_text_add_decimal(text, value, 1000000, value < 100000000 ? 1 : 0);
        stria_text_add(text, " MB/s");
        break;
    case STRIA_UNIT_BYTES: {
        static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB"};
        uint64_t divisor = 1;
        unsigned unit = 0;
        while (value / divisor >= 1000 && unit < 5) {
            divisor *= 1000;
            unit++;
        }
        stria_text_add_decimal(text, value, divisor, value / divisor < 100 ? 1 : 0);
        stria_text_add(text, units[unit]);
        break;
    }
    case STRIA_UNIT_NS:
        stria_text_add(text, value ? stria_time_print_short(words, sizeof(words), value) : "0 s");
        break;
    case STRIA_UNIT_MILLI_C:
        stria_text_add_decimal(text, value, 1000, 1);
        stria_text_add(text, " \u00b0C");
        break;
    default:
        stria_text_format(text, "%" PRIu64, value);
    }
}
