#include "firmware/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void assert_composes(const char *wanted, const char *got)
{
    cr_assert_str_eq(got, wanted);
}

Test(text, composes_what_printf_would)
{
    char out[128], wanted[128];
    size_t length = stria_text_compose(out, sizeof(out), "%s %c %d %d %u %lu 0x%x %016lx %3u|%%", "a b", 'c',
                                       -7, 42, 0u, UINT64_MAX, 0xbeefu, 0xfeedul, 5u);
    snprintf(wanted, sizeof(wanted), "%s %c %d %d %u %lu 0x%x %016lx %3u|%%", "a b", 'c', -7, 42, 0u,
             UINT64_MAX, 0xbeefu, 0xfeedul, 5u);
    assert_composes(wanted, out);
    cr_assert_eq(length, strlen(wanted));
}

Test(text, cuts_off_what_does_not_fit)
{
    char out[5] = "....";
    cr_assert_eq(stria_text_compose(out, sizeof(out), "%s%u", "abc", 4567u), 4);
    assert_composes("abc4", out);
    char none = 'x';
    cr_assert_eq(stria_text_compose(&none, 0, "abc"), 0);
    cr_assert_eq(none, 'x');
}

Test(text, composes_the_least_number)
{
    char out[32];
    stria_text_compose(out, sizeof(out), "%ld", INT64_MIN);
    assert_composes("-9223372036854775808", out);
}

/* Without the attribute that has the compiler look at formats. */
static size_t compose_unchecked(char *out, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = stria_text_compose_list(out, bytes, format, arguments);
    va_end(arguments);
    return length;
}

Test(text, survives_a_format_that_ends_within_a_conversion)
{
    char out[8];
    cr_assert_eq(stria_text_compose(out, sizeof(out), "%s", "50%"), 3);
    cr_assert_eq(compose_unchecked(out, sizeof(out), "50%"), 2);
    cr_assert_eq(compose_unchecked(out, sizeof(out), "50%0", 1), 2);
}

Test(text, reads_sizes)
{
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {{"0", 0},
                {"512", 512},
                {"64KiB", 64 << 10},
                {"3MiB", 3 << 20},
                {"0x10KiB", 16384},
                {"2GiB", 2ull << 30},
                {"18446744073709551615", UINT64_MAX},
                {"1TiB", 1ull << 40}};
    static const char *const bad[] = {
        "", "KiB", "1kb", "1KiBx", "-1", "18446744073709551616", "17179869184GiB", "0x"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t bytes = 1;
        cr_assert(stria_text_size(good[i].text, &bytes), "%s", good[i].text);
        cr_assert_eq(bytes, good[i].bytes, "%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t bytes;
        cr_assert(!stria_text_size(bad[i], &bytes), "%s", bad[i]);
    }
}
