#include "support/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit size_units[] = {
    {"TiB", 1ull << 40},
    {"GiB", 1ull << 30},
    {"MiB", 1ull << 20},
    {"KiB", 1ull << 10},
    {"TB", 1000000000000ull},
    {"GB", 1000000000ull},
    {"MB", 1000000ull},
    {"kB", 1000ull},
    {"KB", 1000ull},
    {"B", 1},
    {NULL, 0},
};

static const struct unit time_units[] = {
    {"h", 3600000000000ull},
    {"min", 60000000000ull},
    {"s", 1000000000ull},
    {"ms", 1000000ull},
    {"us", 1000ull},
    {"\xc2\xb5s", 1000ull}, /* U+00B5, the micro sign */
    {"\xce\xbcs", 1000ull}, /* U+03BC, the Greek letter */
    {"ns", 1},
    {NULL, 0},
};

const char stria_size_allowed[] =
    "a number of bytes, or a number with KB (or kB), MB, GB, TB, KiB, MiB, GiB or TiB, such as 1.5GiB";
const char stria_rate_allowed[] = "a number of bytes per second, or a number with KB (or kB), MB, GB, TB, "
                                  "KiB, MiB, GiB or TiB and, if wanted, /s, such as 2.5GB/s";
const char stria_time_allowed[] =
    "a number of seconds, or a number with ns, us, ms, s, min or h, such as 200ms";

static const char number_most[] = "18446744073709551615";

/* More digits than 10^18 could not change a result that fits 64 bits by a whole unit. */
#define FRACTION_DIGITS_MAX 18u

struct number {
    uint64_t whole;
    uint64_t fraction;       /* in units of 1 / fraction_scale */
    uint64_t fraction_scale; /* a power of ten; 1 without a decimal point */
    bool overflow;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_spaces(const char *text)
{
    while (is_space(*text))
        text++;
    return text;
}

static const char *read_whole(const char *text, struct number *number)
{
    for (; is_digit(*text); text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (number->whole > (UINT64_MAX - digit) / 10)
            number->overflow = true;
        else
            number->whole = number->whole * 10 + digit;
    }
    return text;
}

/* Returns where the number ends, or null if there is none. */
static const char *read_number(const char *text, struct number *number)
{
    *number = (struct number){.fraction_scale = 1};
    if (!is_digit(*text))
        return NULL;
    text = read_whole(text, number);
    if (*text != '.')
        return text;
    if (!is_digit(*++text))
        return NULL;
    for (unsigned digits = 0; is_digit(*text); text++, digits++) {
        if (digits >= FRACTION_DIGITS_MAX)
            continue;
        number->fraction = number->fraction * 10 + (uint64_t)(*text - '0');
        number->fraction_scale *= 10;
    }
    return text;
}

static const struct unit *find_unit(const struct unit *units, const char *name, size_t length)
{
    for (; units->name; units++)
        if (strlen(units->name) == length && memcmp(units->name, name, length) == 0)
            return units;
    return NULL;
}

static int refuse(const char *text, const char *what, const char *allowed, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "'%.100s' is not %s: write %s", text, what, allowed);
}

static int too_large(const char *text, const char *what, const char *most, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "'%.100s' is too large for %s: write at most %s",
                             text, what, most);
}

struct quantity {
    const char *what; /* as in "is not …" */
    const char *allowed;
    const char *most; /* in its largest unit, what 64 bits hold */
    const struct unit *units;
    uint64_t factor_plain; /* of a number without a unit */
    const char *suffix;    /* optional text behind the unit, or null */
};

static int quantity_parse(const struct quantity *quantity, const char *text, uint64_t *value,
                          struct stria_trouble *trouble)
{
    struct number number;
    const char *start = skip_spaces(text);
    const char *rest = *start == '-' ? NULL : read_number(start, &number);
    if (!rest)
        return refuse(text, quantity->what, quantity->allowed, trouble);

    rest = skip_spaces(rest);
    size_t length = strlen(rest);
    while (length && is_space(rest[length - 1]))
        length--;
    size_t suffix = quantity->suffix ? strlen(quantity->suffix) : 0;
    if (suffix && length >= suffix && memcmp(rest + length - suffix, quantity->suffix, suffix) == 0)
        length -= suffix;

    const struct unit *unit = find_unit(quantity->units, rest, length);
    const uint64_t factor = length == 0 ? quantity->factor_plain : unit ? unit->factor : 0;
    if (!factor || (factor == 1 && number.fraction))
        return refuse(text, quantity->what, quantity->allowed, trouble);

    unsigned __int128 sum = (unsigned __int128)number.whole * factor +
                            (unsigned __int128)number.fraction * factor / number.fraction_scale;
    if (number.overflow || sum > UINT64_MAX)
        return too_large(text, quantity->what, quantity->most, trouble);
    *value = (uint64_t)sum;
    return STRIA_OK;
}

int stria_size_parse(const char *text, uint64_t *bytes, struct stria_trouble *trouble)
{
    static const struct quantity size = {"a size", stria_size_allowed, "16777215TiB", size_units, 1, NULL};
    return quantity_parse(&size, text, bytes, trouble);
}

int stria_rate_parse(const char *text, uint64_t *bytes_per_s, struct stria_trouble *trouble)
{
    static const struct quantity rate = {"a rate", stria_rate_allowed, "16777215TiB/s", size_units, 1, "/s"};
    return quantity_parse(&rate, text, bytes_per_s, trouble);
}

int stria_time_parse(const char *text, uint64_t *ns, struct stria_trouble *trouble)
{
    static const struct quantity time = {"a time",   stria_time_allowed, "5124095h",
                                         time_units, 1000000000ull,      NULL};
    return quantity_parse(&time, text, ns, trouble);
}

int stria_ratio_parse(const char *text, double *ratio, struct stria_trouble *trouble)
{
    struct number number;
    const char *rest = read_number(skip_spaces(text), &number);
    if (!rest || *skip_spaces(rest))
        return refuse(text, "a number", "digits with a decimal point where needed, such as 0.001", trouble);
    if (number.overflow)
        return too_large(text, "a number", number_most, trouble);
    *ratio = (double)number.whole + (double)number.fraction / (double)number.fraction_scale;
    return STRIA_OK;
}

/* The largest unit that divides the value keeps the text short and exact. */
static const struct unit *exact_unit(const struct unit *units, uint64_t value)
{
    const struct unit *best = NULL;
    for (; units->name; units++)
        if (value && value % units->factor == 0 && (!best || units->factor > best->factor))
            best = units;
    return best;
}

int stria_number_parse(const char *text, uint64_t *number, struct stria_trouble *trouble)
{
    if (!text[0] || strspn(text, "0123456789") != strlen(text))
        return refuse(text, "a number", "a whole number", trouble);
    if (stria_size_parse(text, number, NULL) != STRIA_OK)
        return too_large(text, "a number", number_most, trouble);
    return STRIA_OK;
}

char *stria_size_print(char *out, size_t size, uint64_t bytes)
{
    const struct unit *unit = exact_unit(size_units, bytes);
    if (!unit || unit->factor == 1)
        snprintf(out, size, "%" PRIu64, bytes);
    else
        snprintf(out, size, "%" PRIu64 "%s", bytes / unit->factor, unit->name);
    return out;
}

char *stria_time_print(char *out, size_t size, uint64_t ns)
{
    const struct unit *unit = exact_unit(time_units, ns);
    snprintf(out, size, "%" PRIu64 "%s", unit ? ns / unit->factor : 0, unit ? unit->name : "s");
    return out;
}

/* value / factor rounded to tenths, in tenths. */
static uint64_t tenths(uint64_t value, uint64_t factor)
{
    return (uint64_t)(((unsigned __int128)value * 10 + factor / 2) / factor);
}

char *stria_size_print_both(char *out, size_t size, uint64_t bytes)
{
    static const struct unit decimal[] = {
        {"TB", 1000000000000ull}, {"GB", 1000000000ull}, {"MB", 1000000ull}, {"kB", 1000ull}};
    static const struct unit binary[] = {
        {"TiB", 1ull << 40}, {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}};
    for (size_t i = 0; i < sizeof(decimal) / sizeof(decimal[0]); i++) {
        if (bytes < decimal[i].factor)
            continue;
        uint64_t left = tenths(bytes, decimal[i].factor), right = tenths(bytes, binary[i].factor);
        snprintf(out, size, "%" PRIu64 ".%u %s (%" PRIu64 ".%u %s)", left / 10, (unsigned)(left % 10),
                 decimal[i].name, right / 10, (unsigned)(right % 10), binary[i].name);
        return out;
    }
    snprintf(out, size, "%" PRIu64 " byte%s", bytes, bytes == 1 ? "" : "s");
    return out;
}

char *stria_rate_print_both(char *out, size_t size, uint64_t bytes_per_s)
{
    uint64_t left = tenths(bytes_per_s, 1000000), right = tenths(bytes_per_s, 1u << 20);
    snprintf(out, size, "%" PRIu64 ".%u MB/s (%" PRIu64 ".%u MiB/s)", left / 10, (unsigned)(left % 10),
             right / 10, (unsigned)(right % 10));
    return out;
}

char *stria_time_print_short(char *out, size_t size, uint64_t ns)
{
    static const struct unit scales[] = {{"s", 1000000000ull}, {"ms", 1000000ull}, {"\xc2\xb5s", 1000ull}};
    const uint64_t seconds = ns / 1000000000ull;
    if (seconds >= 3600) {
        snprintf(out, size, "%" PRIu64 " h %02u min", seconds / 3600, (unsigned)(seconds % 3600 / 60));
        return out;
    }
    if (seconds >= 60) {
        snprintf(out, size, "%u min %02u s", (unsigned)(seconds / 60), (unsigned)(seconds % 60));
        return out;
    }
    for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
        if (ns < scales[i].factor)
            continue;
        uint64_t value = tenths(ns, scales[i].factor);
        snprintf(out, size, "%" PRIu64 ".%u %s", value / 10, (unsigned)(value % 10), scales[i].name);
        return out;
    }
    snprintf(out, size, "%u ns", (unsigned)ns);
    return out;
}

char *stria_date_print(char *out, size_t size, uint64_t unix_ns)
{
    const time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm utc;
    char whole[32] = "";
    if (gmtime_r(&seconds, &utc))
        strftime(whole, sizeof(whole), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, size, "%s.%03uZ", whole, (unsigned)(unix_ns / 1000000u % 1000u));
    return out;
}
