#include "core/curve.h"

#include "core/random.h"
#include "core/ratio.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const uint64_t second_ns = 1000000000;

static struct stria_curve_limit lossless(const struct stria_curve *curve, uint64_t buffer_bytes)
{
    struct stria_curve_limit limit = {0};
    cr_assert(stria_curve_lossless(curve, buffer_bytes, &limit));
    cr_assert_eq(limit.buffer_bytes, buffer_bytes);
    return limit;
}

static struct stria_curve_limit buffer(const struct stria_curve *curve, uint64_t bytes_per_s)
{
    struct stria_curve_limit limit = {0};
    cr_assert(stria_curve_buffer(curve, bytes_per_s, &limit));
    cr_assert_eq(limit.bytes_per_s, bytes_per_s);
    return limit;
}

Test(curve, without_a_bin_there_is_no_figure)
{
    const struct stria_curve curve = {.interval_ns = second_ns};
    struct stria_curve_limit limit = {.bytes_per_s = 77};
    const uint64_t none = 0;
    cr_assert_not(stria_curve_lossless(&curve, 5, &limit));
    cr_assert_not(stria_curve_lossless_row(&curve, &none, 1, &limit));
    cr_assert_not(stria_curve_buffer(&curve, 5, &limit));
    cr_assert_eq(limit.bytes_per_s, 77u);
}

Test(curve, without_a_buffer_the_slowest_bin_decides)
{
    const uint64_t bins[] = {100, 30, 100, 20, 100, 20};
    const struct stria_curve curve = {bins, 6, second_ns / 10};
    const struct stria_curve_limit limit = lossless(&curve, 0);
    cr_assert_eq(limit.bytes_per_s, 200u);
    cr_assert_eq(limit.from_ns, 3 * second_ns / 10);
    cr_assert_eq(limit.to_ns, 4 * second_ns / 10);
}

/* By hand: windows of the drought {10, 10, 10} allow (60 + 10 n) / n, least at n = 3; one bin more allows
 * (60 + 30 + 100) / 4, two more (60 + 30 + 200) / 5, the whole curve (60 + 630) / 9. */
Test(curve, a_buffer_carries_the_input_over_a_drought)
{
    const uint64_t bins[] = {100, 100, 100, 10, 10, 10, 100, 100, 100};
    const struct stria_curve curve = {bins, 9, second_ns};
    struct stria_curve_limit limit = lossless(&curve, 60);
    cr_assert_eq(limit.bytes_per_s, 30u);
    cr_assert_eq(limit.from_ns, 3 * second_ns);
    cr_assert_eq(limit.to_ns, 6 * second_ns);
    cr_assert_eq(buffer(&curve, 30).buffer_bytes, 60u);
    cr_assert_eq(buffer(&curve, 31).buffer_bytes, 63u);
    cr_assert_eq(buffer(&curve, 31).from_ns, 3 * second_ns);
    cr_assert_eq(buffer(&curve, 31).to_ns, 6 * second_ns);
}

Test(curve, a_large_buffer_lets_the_whole_run_decide)
{
    const uint64_t bins[] = {100, 100, 100, 10, 10, 10, 100, 100, 100};
    const struct stria_curve curve = {bins, 9, second_ns};
    const struct stria_curve_limit limit = lossless(&curve, 900);
    cr_assert_eq(limit.bytes_per_s, (900u + 630) / 9);
    cr_assert_eq(limit.from_ns, 0u);
    cr_assert_eq(limit.to_ns, 9 * second_ns);
}

Test(curve, an_even_curve_needs_no_buffer_up_to_its_rate)
{
    const uint64_t bins[] = {50, 50, 50, 50};
    const struct stria_curve curve = {bins, 4, second_ns / 10};
    cr_assert_eq(lossless(&curve, 0).bytes_per_s, 500u);
    const struct stria_curve_limit enough = buffer(&curve, 500);
    cr_assert_eq(enough.buffer_bytes, 0u);
    cr_assert_eq(enough.to_ns, 0u);
    cr_assert_eq(buffer(&curve, 501).buffer_bytes, 1u);
    cr_assert_eq(buffer(&curve, 600).buffer_bytes, 40u);
}

Test(curve, a_dead_drive_takes_what_the_buffer_holds)
{
    const uint64_t bins[10] = {0};
    const struct stria_curve curve = {bins, 10, second_ns};
    cr_assert_eq(lossless(&curve, 0).bytes_per_s, 0u);
    cr_assert_eq(lossless(&curve, 1000).bytes_per_s, 100u);
}

Test(curve, the_largest_buffer_and_rate_do_not_overflow)
{
    const uint64_t bins[] = {UINT64_MAX / 4, UINT64_MAX / 4};
    const struct stria_curve curve = {bins, 2, second_ns};
    cr_assert_eq(lossless(&curve, UINT64_MAX).bytes_per_s, UINT64_MAX / 4 * 3 + 1);
    cr_assert_eq(buffer(&curve, UINT64_MAX).buffer_bytes, UINT64_MAX);
}

Test(curve, the_partial_last_bin_of_a_series_is_left_out)
{
    uint64_t bins[8];
    struct stria_series series;
    stria_series_init(&series, bins, 8, 0, second_ns);
    stria_series_add(&series, second_ns, 100);
    stria_series_add(&series, 2 * second_ns, 90);
    stria_series_add(&series, 2 * second_ns + 1, 1);
    const struct stria_curve curve = stria_curve_of_series(&series);
    cr_assert_eq(curve.count, 2u);
    cr_assert_eq(lossless(&curve, 0).bytes_per_s, 90u);
}

Test(curve, a_row_is_its_single_figures)
{
    const uint64_t bins[] = {9, 1, 8, 2, 7, 3};
    const struct stria_curve curve = {bins, 6, second_ns};
    const uint64_t buffers[] = {0, 3, 10, 1000};
    struct stria_curve_limit row[4];
    cr_assert(stria_curve_lossless_row(&curve, buffers, 4, row));
    for (int i = 0; i < 4; i++) {
        const struct stria_curve_limit one = lossless(&curve, buffers[i]);
        cr_assert_eq(row[i].buffer_bytes, buffers[i]);
        cr_assert_eq(row[i].bytes_per_s, one.bytes_per_s);
        cr_assert_eq(row[i].from_ns, one.from_ns);
        cr_assert_eq(row[i].to_ns, one.to_ns);
    }
}

static uint64_t *random_bins(struct stria_random *random, uint32_t count)
{
    uint64_t *bins = malloc(count * sizeof(*bins));
    uint64_t level = 1000;
    for (uint32_t bin = 0; bin < count; bin++) {
        if (stria_random_below(random, 10) == 0)
            level = stria_random_below(random, 4) ? stria_random_below(random, 3000) : 0;
        bins[bin] = level + stria_random_below(random, 50);
    }
    return bins;
}

/* The definition, word for word: every window of whole bins. */
static uint64_t lossless_by_brute_force(const struct stria_curve *curve, uint64_t buffer_bytes)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t first = 0; first < curve->count; first++) {
        uint64_t served = 0;
        for (uint32_t end = first + 1; end <= curve->count; end++) {
            served += curve->bins[end - 1];
            const uint64_t rate =
                stria_ratio_bytes_per_s(buffer_bytes + served, (end - first) * curve->interval_ns);
            least = rate < least ? rate : least;
        }
    }
    return least;
}

static uint64_t backlog_by_brute_force(const struct stria_curve *curve, uint64_t bytes_per_s)
{
    uint64_t most = 0;
    for (uint32_t first = 0; first < curve->count; first++) {
        uint64_t served = 0;
        for (uint32_t end = first + 1; end <= curve->count; end++) {
            served += curve->bins[end - 1];
            const stria_u128 arrived = (stria_u128)bytes_per_s * (end - first) * curve->interval_ns;
            const stria_u128 taken = (stria_u128)served * second_ns;
            if (arrived > taken) {
                const uint64_t backlog = (uint64_t)((arrived - taken + second_ns - 1) / second_ns);
                most = backlog > most ? backlog : most;
            }
        }
    }
    return most;
}

Test(curve, agrees_with_every_window_tried_on_random_curves)
{
    struct stria_random random;
    stria_random_seed(&random, 21);
    for (int round = 0; round < 150; round++) {
        const uint32_t count = 1 + (uint32_t)stria_random_below(&random, 250);
        uint64_t *bins = random_bins(&random, count);
        const struct stria_curve curve = {bins, count, 1 + stria_random_below(&random, second_ns)};
        for (int i = 0; i < 5; i++) {
            const uint64_t buffer_bytes =
                i ? stria_random_next(&random) >> (44 + stria_random_below(&random, 20)) : 0;
            const struct stria_curve_limit limit = lossless(&curve, buffer_bytes);
            cr_assert_eq(limit.bytes_per_s, lossless_by_brute_force(&curve, buffer_bytes));
            uint64_t served = 0;
            for (uint64_t at = limit.from_ns; at < limit.to_ns; at += curve.interval_ns)
                served += bins[at / curve.interval_ns];
            cr_assert_eq(stria_ratio_bytes_per_s(buffer_bytes + served, limit.to_ns - limit.from_ns),
                         limit.bytes_per_s, "the window named is the one that decides");
            const uint64_t rate = stria_random_below(&random, 2 * limit.bytes_per_s + 2);
            cr_assert_eq(buffer(&curve, rate).buffer_bytes, backlog_by_brute_force(&curve, rate));
        }
        free(bins);
    }
}

/* Needs a minute and more when every window is tried. */
Test(curve, a_hundred_thousand_bins_take_no_time, .timeout = 10)
{
    enum { BINS = 100000 };
    struct stria_random random;
    stria_random_seed(&random, 22);
    uint64_t *bins = random_bins(&random, BINS);
    const struct stria_curve curve = {bins, BINS, second_ns / 10};
    uint64_t previous = 0;
    for (uint64_t buffer_bytes = 1; buffer_bytes < UINT64_C(1) << 40; buffer_bytes *= 2) {
        const struct stria_curve_limit limit = lossless(&curve, buffer_bytes);
        cr_assert_geq(limit.bytes_per_s, previous);
        cr_assert_leq(buffer(&curve, limit.bytes_per_s).buffer_bytes, buffer_bytes);
        cr_assert_gt(buffer(&curve, limit.bytes_per_s + 1).buffer_bytes, buffer_bytes);
        previous = limit.bytes_per_s;
    }
    free(bins);
}
