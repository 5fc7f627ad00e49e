#include "core/summary.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <math.h>

static struct stria_summary summary_of(const uint64_t *values, uint32_t count)
{
    struct stria_summary summary;
    cr_assert(stria_summary_of(values, count, &summary));
    return summary;
}

Test(summary, of_nothing_does_not_exist)
{
    struct stria_summary summary = {.mean = 77};
    cr_assert_not(stria_summary_of(&summary.mean, 0, &summary));
    cr_assert_eq(summary.mean, 77u);
}

Test(summary, a_single_value_has_no_spread)
{
    const uint64_t value = 5;
    const struct stria_summary summary = summary_of(&value, 1);
    cr_assert_eq(summary.rating, 5u);
    cr_assert_eq(summary.mean, 5u);
    cr_assert_eq(summary.most, 5u);
    cr_assert_not(summary.has_spread);
}

/* Mean 500, squares 40000 + 10000 + 0 + 10000 + 40000 over 4: deviation 158.11; t(4) = 2.776, half = 196.3.
 */
Test(summary, agrees_with_a_calculation_by_hand)
{
    const uint64_t values[] = {700, 300, 500, 400, 600};
    const struct stria_summary summary = summary_of(values, 5);
    cr_assert_eq(summary.count, 5u);
    cr_assert_eq(summary.rating, 300u);
    cr_assert_eq(summary.most, 700u);
    cr_assert_eq(summary.mean, 500u);
    cr_assert(summary.has_spread);
    cr_assert_eq(summary.deviation, 158u);
    cr_assert_eq(summary.interval_half, 196u);
}

Test(summary, the_mean_is_rounded_to_the_nearest)
{
    const uint64_t values[] = {1, 1, 3};
    cr_assert_eq(summary_of(values, 3).mean, 2u);
    const uint64_t lower[] = {1, 1, 2};
    cr_assert_eq(summary_of(lower, 3).mean, 1u);
}

Test(summary, equal_values_have_no_deviation)
{
    const uint64_t values[] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct stria_summary summary = summary_of(values, 3);
    cr_assert_eq(summary.mean, UINT64_MAX);
    cr_assert(summary.has_spread);
    cr_assert_eq(summary.deviation, 0u);
    cr_assert_eq(summary.interval_half, 0u);
}

Test(summary, large_nearly_equal_values_keep_their_deviation)
{
    const uint64_t base = UINT64_C(1) << 62;
    const uint64_t values[] = {base + 1000, base + 1200, base + 1400};
    const struct stria_summary summary = summary_of(values, 3);
    cr_assert_eq(summary.mean, base + 1200);
    cr_assert_eq(summary.deviation, 200u);
}

Test(summary, an_interval_beyond_64_bits_is_the_largest_number)
{
    const uint64_t values[] = {0, UINT64_MAX};
    cr_assert_eq(summary_of(values, 2).interval_half, UINT64_MAX);
}

Test(summary, more_repeats_with_the_same_spread_narrow_the_interval)
{
    uint64_t values[300], previous = UINT64_MAX;
    for (uint32_t i = 0; i < 300; i++)
        values[i] = i % 2 ? 2000000 : 1000000;
    for (uint32_t count = 2; count <= 300; count += 2) {
        const uint64_t half = summary_of(values, count).interval_half;
        cr_assert_lt(half, previous);
        previous = half;
    }
}

Test(summary, agrees_with_the_textbook_on_random_values)
{
    struct stria_random random;
    stria_random_seed(&random, 41);
    for (int round = 0; round < 2000; round++) {
        enum { COUNT = 11 };
        uint64_t values[COUNT];
        const unsigned shift = (unsigned)stria_random_below(&random, 40);
        double sum = 0, squares = 0;
        for (int i = 0; i < COUNT; i++) {
            values[i] = stria_random_next(&random) >> 24 >> shift;
            sum += (double)values[i];
        }
        for (int i = 0; i < COUNT; i++)
            squares += pow((double)values[i] - sum / COUNT, 2);
        const double deviation = sqrt(squares / (COUNT - 1));
        const struct stria_summary summary = summary_of(values, COUNT);
        cr_assert_leq(fabs((double)summary.mean - sum / COUNT), 0.51);
        cr_assert_leq(fabs((double)summary.deviation - deviation), 0.51 + deviation * 1e-9);
        cr_assert_leq(fabs((double)summary.interval_half - 2.228 * deviation / sqrt(COUNT)),
                      0.51 + deviation * 1e-9);
    }
}

Test(summary, means_are_apart_when_their_spread_does_not_explain_the_difference)
{
    const uint64_t calm[] = {1000, 1010, 990}, lower[] = {900, 910, 890}, wild[] = {700, 1100, 1000},
                   one[] = {930}, near[] = {985}, zero[] = {5, 5, 5}, six[] = {6, 6, 6};
    const struct stria_summary a = summary_of(calm, 3), b = summary_of(lower, 3), c = summary_of(wild, 3);
    const struct stria_summary d = summary_of(one, 1), e = summary_of(near, 1);
    const struct stria_summary f = summary_of(zero, 3), g = summary_of(six, 3);
    cr_expect(stria_summary_apart(&a, &b));
    cr_expect(stria_summary_apart(&b, &a));
    cr_expect_not(stria_summary_apart(&a, &c));
    cr_expect_not(stria_summary_apart(&c, &b));
    cr_expect(stria_summary_apart(&a, &d), "a single value far from three close ones");
    cr_expect_not(stria_summary_apart(&a, &e), "a single value that could be the fourth");
    cr_expect(stria_summary_apart(&d, &e), "two single values that differ");
    cr_expect_not(stria_summary_apart(&d, &d));
    cr_expect(stria_summary_apart(&f, &g), "no spread explains anything");
    cr_expect_not(stria_summary_apart(&f, &f));
}

/* Two sets of n values at mean ± h: Welch's statistic is the difference over sqrt(2 d² / n), with 2 (n - 1)
 * degrees of freedom when both spreads are equal; 2.776 for n = 3. */
Test(summary, means_come_apart_at_the_textbook_distance)
{
    for (int percent = 90; percent <= 110; percent += 20) {
        const double deviation = 1000, distance = 2.776 * sqrt(2 * deviation * deviation / 3) * percent / 100;
        const uint64_t base = 100000, shift = (uint64_t)distance;
        const uint64_t low[] = {base - 1000, base, base + 1000};
        const uint64_t high[] = {base + shift - 1000, base + shift, base + shift + 1000};
        const struct stria_summary one = summary_of(low, 3), other = summary_of(high, 3);
        cr_expect_eq(stria_summary_apart(&one, &other), percent > 100, "at %d percent of it", percent);
    }
}
