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

struct conversion {
    char kind; /* the letter; zero: the format ended within it */
    char fill;
    unsigned width, longs;
};

/* Returns the format behind the conversion whose percent sign it stands behind. */
static const char *read_conversion(const char *format, struct conversion *conversion)
{
    *conversion = (struct conversion){.fill = *format == '0' ? '0' : ' '};
    for (; *format >= '0' && *format <= '9'; format++)
        conversion->width = 10 * conversion->width + (unsigned)(*format - '0');
    for (; *format == 'l'; format++)
        conversion->longs++;
    conversion->kind = *format;
    return *format ? format + 1 : format;
}

static void put_signed(struct composer *composer, int64_t value, const struct conversion *conversion)
{
    if (value < 0)
        put(composer, '-');
    put_number(composer, value < 0 ? -(uint64_t)value : (uint64_t)value, 10, conversion->width,
               conversion->fill);
}

/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the caller has started the list */
size_t stria_text_compose_list(char *out, size_t bytes, const char *format, va_list arguments)
{
    struct composer composer = {.out = out, .bytes = bytes};
    while (*format) {
        struct conversion conversion;
        if (*format != '%') {
            put(&composer, *format++);
            continue;
        }
        format = read_conversion(format + 1, &conversion);
        switch (conversion.kind) {
        case 's':
            put_text(&composer, va_arg(arguments, const char *));
            break;
        case 'c':
            put(&composer, (char)va_arg(arguments, int));
            break;
        case 'd':
            put_signed(&composer, conversion.longs ? va_arg(arguments, long) : va_arg(arguments, int),
                       &conversion);
            break;
        case 'u':
        case 'x':
            put_number(&composer,
                       conversion.longs ? va_arg(arguments, unsigned long) : va_arg(arguments, unsigned),
                       conversion.kind == 'u' ? 10 : 16, conversion.width, conversion.fill);
            break;
        case '\0':
            break;
        default:
            put(&composer, conversion.kind);
            break;
        }
    }
    if (bytes > 0)
        out[composer.length] = '\0';
    return composer.length;
}
/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

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
