#include "firmware/text.h"

struct composer {
    char *out;
    size_t bytes, length;
};

static void put(struct composer *composer, char character)
{
    if (composer->length + 1 < composer->bytes)
        composer->out[composer->length++] = character;
}

static void put_number(struct composer *composer, uint64_t value, unsigned base, unsigned width, char fill)
{
    char digits[24];
    unsigned count = 0;
    do {
        digits[count++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value > 0);
    for (; width > count; width--)
        put(composer, fill);
    while (count > 0)
        put(composer, digits[--count]);
}

static void put_text(struct composer *composer, const char *text)
{
    while (*text)
        put(composer, *text++);
}

/* One conversion; returns the format behind it. */
static const char *convert(struct composer *composer, const char *format, va_list *arguments)
{
    const char fill = *format == '0' ? '0' : ' ';
    unsigned width = 0, longs = 0;
    for (; *format >= '0' && *format <= '9'; format++)
        width = 10 * width + (unsigned)(*format - '0');
    for (; *format == 'l'; format++)
        longs++;
    switch (*format) {
    case 's':
        put_text(composer, va_arg(*arguments, const char *));
        break;
    case 'c':
        put(composer, (char)va_arg(*arguments, int));
        break;
    case 'd': {
        int64_t value = longs ? va_arg(*arguments, long) : va_arg(*arguments, int);
        if (value < 0)
            put(composer, '-');
        put_number(composer, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, width, fill);
        break;
    }
    case 'u':
    case 'x':
        put_number(composer, longs ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned),
                   *format == 'u' ? 10 : 16, width, fill);
        break;
    case '\0':
        return format;
    default:
        put(composer, *format);
        break;
    }
    return format + 1;
}

size_t stria_text_compose_list(char *out, size_t bytes, const char *format, va_list arguments)
{
    struct composer composer = {.out = out, .bytes = bytes};
    va_list list;
    va_copy(list, arguments);
    while (*format) {
        if (*format != '%')
            put(&composer, *format++);
        else
            format = convert(&composer, format + 1, &list);
    }
    va_end(list);
    if (bytes > 0)
        out[composer.length] = '\0';
    return composer.length;
}

size_t stria_text_compose(char *out, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = stria_text_compose_list(out, bytes, format, arguments);
    va_end(arguments);
    return length;
}

bool stria_text_equal(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        ;
    return *a == *b;
}

size_t stria_text_length(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static unsigned digit_of(char character)
{
    if (character >= '0' && character <= '9')
        return (unsigned)(character - '0');
    if (character >= 'a' && character <= 'f')
        return (unsigned)(character - 'a') + 10;
    return 16;
}

bool stria_text_number(const char *text, const char **end, uint64_t *value)
{
    const unsigned base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
    const char *start = base == 16 ? text + 2 : text;
    uint64_t number = 0;
    for (text = start; digit_of(*text) < base; text++) {
        if (__builtin_mul_overflow(number, base, &number) ||
            __builtin_add_overflow(number, digit_of(*text), &number))
            return false;
    }
    *end = text;
    *value = number;
    return text > start;
}

bool stria_text_size(const char *text, uint64_t *bytes)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}};
    uint64_t number;
    if (!stria_text_number(text, &text, &number))
        return false;
    for (unsigned unit = 0; unit < sizeof(units) / sizeof(units[0]); unit++) {
        if (!stria_text_equal(text, units[unit].name) || number > UINT64_MAX >> units[unit].shift)
            continue;
        *bytes = number << units[unit].shift;
        return true;
    }
    return false;
}
