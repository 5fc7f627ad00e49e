#include "support/units.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

static uint64_t size_of(const char *text)
{
    uint64_t bytes = 0;
    struct stria_trouble trouble;
    cr_assert_eq(stria_size_parse(text, &bytes, &trouble), STRIA_OK, "'%s' was refused: %s", text,
                 trouble.sentence);
    return bytes;
}

static uint64_t time_of(const char *text)
{
    uint64_t ns = 0;
    struct stria_trouble trouble;
    cr_assert_eq(stria_time_parse(text, &ns, &trouble), STRIA_OK, "'%s' was refused: %s", text,
                 trouble.sentence);
    return ns;
}

Test(units, plain_numbers_are_bytes)
{
    cr_assert_eq(size_of("0"), 0);
    cr_assert_eq(size_of("4096"), 4096);
    cr_assert_eq(size_of("4096B"), 4096);
    cr_assert_eq(size_of(" 4096 B "), 4096);
    cr_assert_eq(size_of("18446744073709551615"), UINT64_MAX);
}

Test(units, decimal_and_binary_units_differ)
{
    cr_assert_eq(size_of("1kB"), 1000);
    cr_assert_eq(size_of("1KB"), 1000);
    cr_assert_eq(size_of("1KiB"), 1024);
    cr_assert_eq(size_of("2MB"), 2000000);
    cr_assert_eq(size_of("2MiB"), 2097152);
    cr_assert_eq(size_of("3GB"), 3000000000ull);
    cr_assert_eq(size_of("3GiB"), 3221225472ull);
    cr_assert_eq(size_of("4TB"), 4000000000000ull);
    cr_assert_eq(size_of("4TiB"), 4398046511104ull);
}

Test(units, fractions_are_exact_and_rounded_down_to_the_byte)
{
    cr_assert_eq(size_of("1.5GiB"), 1610612736ull);
    cr_assert_eq(size_of("0.1GiB"), 107374182ull);
    cr_assert_eq(size_of("0.999999999999999999999MB"), 999999);
    cr_assert_eq(size_of("16777215.5TiB"), 18446743523953737728ull);
}

Test(units, a_comma_locale_changes_nothing)
{
    setlocale(LC_ALL, "de_DE.UTF-8");
    char text[STRIA_UNITS_TEXT_BYTES];
    cr_assert_eq(size_of("1.5MiB"), 1572864);
    cr_assert_str_eq(stria_rate_print_both(text, sizeof(text), 1500000), "1.5 MB/s (1.4 MiB/s)");
}

Test(units, what_is_no_size_is_refused_with_a_sentence_that_quotes_it)
{
    static const char *const bad[] = {"",       " ",        "-1",   "+1",     "1.5", "1.5B",  ".5GiB",
                                      "5.GiB",  "1,5GiB",   "12XB", "1Mb",    "1mb", "1M",    "MiB",
                                      "1e9",    "0x10",     "nan",  "inf",    "1 2", "1MiBs", "1MiB/s",
                                      "1..5MB", "1GiB GiB", "--5",  "1.5.5MB"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct stria_trouble trouble = {0};
        uint64_t bytes = 77;
        cr_assert_eq(stria_size_parse(bad[i], &bytes, &trouble), STRIA_ERR_INVALID, "'%s' was taken", bad[i]);
        cr_assert_eq(bytes, 77);
        cr_assert(strstr(trouble.sentence, bad[i]) && strstr(trouble.sentence, "GiB"), "%s",
                  trouble.sentence);
    }
}

Test(units, what_does_not_fit_64_bits_is_too_large)
{
    static const char *const bad[] = {"18446744073709551616", "16777216TiB",
                                      "99999999999999999999999999999999MB", "18446744073709551615kB"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct stria_trouble trouble = {0};
        uint64_t bytes;
        cr_assert_eq(stria_size_parse(bad[i], &bytes, &trouble), STRIA_ERR_INVALID);
        cr_assert(strstr(trouble.sentence, "too large"), "%s", trouble.sentence);
    }
}

Test(units, a_rate_may_say_per_second)
{
    uint64_t rate;
    cr_assert_eq(stria_rate_parse("2.5GB/s", &rate, NULL), STRIA_OK);
    cr_assert_eq(rate, 2500000000ull);
    cr_assert_eq(stria_rate_parse("400MiB", &rate, NULL), STRIA_OK);
    cr_assert_eq(rate, 419430400ull);
    cr_assert_eq(stria_rate_parse("1000/s", &rate, NULL), STRIA_OK);
    cr_assert_eq(rate, 1000);
    cr_assert_eq(stria_rate_parse("/s", &rate, NULL), STRIA_ERR_INVALID);
    cr_assert_eq(stria_rate_parse("1MB/min", &rate, NULL), STRIA_ERR_INVALID);
}

Test(units, times_take_every_unit_and_plain_seconds)
{
    cr_assert_eq(time_of("7ns"), 7);
    cr_assert_eq(time_of("7us"), 7000);
    cr_assert_eq(time_of("7\xc2\xb5s"), 7000);
    cr_assert_eq(time_of("7\xce\xbcs"), 7000);
    cr_assert_eq(time_of("200ms"), 200000000);
    cr_assert_eq(time_of("1.5s"), 1500000000);
    cr_assert_eq(time_of("10"), 10000000000ull);
    cr_assert_eq(time_of("0.5"), 500000000);
    cr_assert_eq(time_of("2min"), 120000000000ull);
    cr_assert_eq(time_of("1h"), 3600000000000ull);
    uint64_t ns;
    cr_assert_eq(stria_time_parse("1m", &ns, NULL), STRIA_ERR_INVALID);
    cr_assert_eq(stria_time_parse("1.5ns", &ns, NULL), STRIA_ERR_INVALID);
    cr_assert_eq(stria_time_parse("600000000h", &ns, NULL), STRIA_ERR_INVALID);
}

Test(units, printed_sizes_and_times_parse_back_to_themselves)
{
    static const uint64_t values[] = {
        0, 1, 777, 1000, 1024, 65536, 1500000, 1572864, 1ull << 40, 3600000000000ull, UINT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char text[STRIA_UNITS_TEXT_BYTES];
        cr_assert_eq(size_of(stria_size_print(text, sizeof(text), values[i])), values[i], "%s", text);
        cr_assert_eq(time_of(stria_time_print(text, sizeof(text), values[i])), values[i], "%s", text);
    }
    char text[STRIA_UNITS_TEXT_BYTES];
    cr_assert_str_eq(stria_size_print(text, sizeof(text), 65536), "64KiB");
    cr_assert_str_eq(stria_size_print(text, sizeof(text), 1500000), "1500kB");
    cr_assert_str_eq(stria_time_print(text, sizeof(text), 200000000), "200ms");
    cr_assert_str_eq(stria_time_print(text, sizeof(text), 0), "0s");
}

Test(units, people_see_both_units_side_by_side)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    cr_assert_str_eq(stria_rate_print_both(text, sizeof(text), 2500000000ull), "2500.0 MB/s (2384.2 MiB/s)");
    cr_assert_str_eq(stria_rate_print_both(text, sizeof(text), 0), "0.0 MB/s (0.0 MiB/s)");
    cr_assert_str_eq(stria_rate_print_both(text, sizeof(text), UINT64_MAX),
                     "18446744073709.6 MB/s (17592186044416.0 MiB/s)");
    cr_assert_str_eq(stria_size_print_both(text, sizeof(text), 1), "1 byte");
    cr_assert_str_eq(stria_size_print_both(text, sizeof(text), 999), "999 bytes");
    cr_assert_str_eq(stria_size_print_both(text, sizeof(text), 1048576), "1.0 MB (1.0 MiB)");
    cr_assert_str_eq(stria_size_print_both(text, sizeof(text), 8589934592ull), "8.6 GB (8.0 GiB)");
    cr_assert_str_eq(stria_size_print_both(text, sizeof(text), UINT64_MAX), "18446744.1 TB (16777216.0 TiB)");
}

Test(units, people_see_times_at_their_scale)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    cr_assert_str_eq(stria_time_print_short(text, sizeof(text), 999), "999 ns");
    cr_assert_str_eq(stria_time_print_short(text, sizeof(text), 85300), "85.3 \xc2\xb5s");
    cr_assert_str_eq(stria_time_print_short(text, sizeof(text), 12000000000ull), "12.0 s");
    cr_assert_str_eq(stria_time_print_short(text, sizeof(text), 187000000000ull), "3 min 07 s");
    cr_assert_str_eq(stria_time_print_short(text, sizeof(text), 7500000000000ull), "2 h 05 min");
}

Test(units, ratios_are_plain_decimal_numbers)
{
    double ratio = 7;
    cr_assert_eq(stria_ratio_parse("0.001", &ratio, NULL), STRIA_OK);
    cr_assert_eq(ratio, 0.001);
    cr_assert_eq(stria_ratio_parse(" 12.5 ", &ratio, NULL), STRIA_OK);
    cr_assert_eq(ratio, 12.5);
    static const char *const bad[] = {"", "-1", "1e3", "0,5", ".5", "1.", "1 2", "0x1", "nan", "1MiB"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct stria_trouble trouble;
        cr_assert_eq(stria_ratio_parse(bad[i], &ratio, &trouble), STRIA_ERR_INVALID, "'%s' was taken",
                     bad[i]);
        cr_assert(strstr(trouble.sentence, "0.001"));
    }
    cr_assert_eq(ratio, 12.5);
}

Test(units, a_number_is_whole_and_has_neither_sign_nor_unit)
{
    static const char *const wrong[] = {"",     "-1",   "+1", "1.5", "1e3",
                                        "0x10", "1MiB", " 1", "1 ",  "18446744073709551616"};
    uint64_t number = 7;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_assert_eq(stria_number_parse(wrong[i], &number, NULL), STRIA_ERR_INVALID, "'%s' was taken",
                     wrong[i]);
        cr_assert_eq(number, 7u);
    }
    cr_assert_eq(stria_number_parse("18446744073709551615", &number, NULL), STRIA_OK);
    cr_assert_eq(number, UINT64_MAX);
    cr_assert_eq(stria_number_parse("007", &number, NULL), STRIA_OK);
    cr_assert_eq(number, 7u);
}

Test(units, what_is_out_of_range_is_told_with_the_range)
{
    static const struct {
        int (*parse)(const char *text, uint64_t *value, struct stria_trouble *trouble);
        const char *text, *most;
    } cases[] = {
        {stria_number_parse, "18446744073709551616", "at most 18446744073709551615"},
        {stria_number_parse, "99999999999999999999999", "at most 18446744073709551615"},
        {stria_size_parse, "16777216TiB", "at most 16777215TiB"},
        {stria_size_parse, "18446744073709551616", "at most 16777215TiB"},
        {stria_rate_parse, "16777216TiB/s", "at most 16777215TiB/s"},
        {stria_time_parse, "5124096h", "at most 5124095h"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stria_trouble trouble = {0};
        uint64_t value = 7;
        cr_expect(cases[i].parse(cases[i].text, &value, &trouble) == STRIA_ERR_INVALID && value == 7);
        cr_expect(strstr(trouble.sentence, "is too large for") && strstr(trouble.sentence, cases[i].most),
                  "%s", trouble.sentence);
        /* And that much may be written. */
        cr_expect(cases[i].parse(cases[i].most + strlen("at most "), &value, NULL) == STRIA_OK);
    }
    double ratio;
    struct stria_trouble trouble = {0};
    cr_expect(stria_ratio_parse("18446744073709551616", &ratio, &trouble) == STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "is too large for a number"), "%s", trouble.sentence);
}

Test(units, a_date_is_in_utc_to_the_millisecond)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    cr_assert_str_eq(stria_date_print(text, sizeof(text), 1796040000125999999u), "2026-11-30T12:00:00.125Z");
    cr_assert_str_eq(stria_date_print(text, sizeof(text), 0), "1970-01-01T00:00:00.000Z");
}
