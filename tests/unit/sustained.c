#include "core/sustained.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const uint64_t second_ns = 1000000000, bin_ns = STRIA_SUSTAINED_BIN_NS;

Test(sustained, a_run_shorter_than_the_window_has_no_figure)
{
    struct stria_sustained sustained;
    struct stria_sustained_figure figure = {.bytes_per_s = 77};
    stria_sustained_init(&sustained, 5);
    stria_sustained_add(&sustained, 6, 1000);
    stria_sustained_finish(&sustained, 5 + second_ns - 1);
    cr_assert_not(stria_sustained_worst(&sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 77u);
    stria_sustained_finish(&sustained, 5 + second_ns);
    cr_assert(stria_sustained_worst(&sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 1000u);
    cr_assert_not(stria_sustained_worst(&sustained, 1, &figure));
}

Test(sustained, finds_a_dip_that_straddles_two_seconds)
{
    struct stria_sustained sustained;
    struct stria_sustained_figure figure;
    stria_sustained_init(&sustained, 0);
    for (uint64_t bin = 0; bin < 100; bin++)
        stria_sustained_add(&sustained, (bin + 1) * bin_ns, bin >= 15 && bin < 25 ? 10 : 100);
    stria_sustained_finish(&sustained, 10 * second_ns);
    cr_assert(stria_sustained_worst(&sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 100u);
    cr_assert_eq(figure.from_ns, 15 * bin_ns);
    cr_assert_eq(figure.window_ns, second_ns);
    cr_assert(stria_sustained_worst(&sustained, 1, &figure));
    cr_assert_eq(figure.bytes_per_s, (40u * 100 + 10 * 10) / 5);
    cr_assert(stria_sustained_worst(&sustained, 2, &figure));
    cr_assert_eq(figure.bytes_per_s, (90u * 100 + 10 * 10) / 10);
    cr_assert_not(stria_sustained_worst(&sustained, 3, &figure));
}

Test(sustained, the_last_partial_bin_is_left_out)
{
    struct stria_sustained sustained;
    struct stria_sustained_figure figure;
    stria_sustained_init(&sustained, 0);
    for (uint64_t bin = 0; bin < 10; bin++)
        stria_sustained_add(&sustained, (bin + 1) * bin_ns, 100);
    stria_sustained_add(&sustained, 10 * bin_ns + 1, 1);
    stria_sustained_finish(&sustained, 11 * bin_ns - 1);
    cr_assert(stria_sustained_worst(&sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 1000u);
}

Test(sustained, a_long_silence_counts_and_ends)
{
    struct stria_sustained sustained;
    struct stria_sustained_figure figure;
    stria_sustained_init(&sustained, 0);
    for (uint64_t bin = 0; bin < 700; bin++)
        stria_sustained_add(&sustained, (bin + 1) * bin_ns, 100);
    const uint64_t resume = 3600 * second_ns;
    for (uint64_t bin = 0; bin < 700; bin++)
        stria_sustained_add(&sustained, resume + (bin + 1) * bin_ns, 50);
    stria_sustained_finish(&sustained, resume + 70 * second_ns);
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        cr_assert(stria_sustained_worst(&sustained, window, &figure));
        cr_assert_eq(figure.bytes_per_s, 0u);
        cr_assert_eq(figure.from_ns, 70 * second_ns);
        cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, window), 500u);
    }
}

Test(sustained, the_recent_rate_is_that_of_the_bins_there_are)
{
    struct stria_sustained sustained;
    stria_sustained_init(&sustained, 0);
    cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, 0), 0u);
    stria_sustained_add(&sustained, bin_ns, 100);
    cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, 0), 0u);
    stria_sustained_advance(&sustained, bin_ns + 1);
    cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, 0), 1000u);
    stria_sustained_advance(&sustained, 5 * bin_ns + 1);
    cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, 0), 200u);
    stria_sustained_advance(&sustained, 12 * bin_ns);
    cr_assert_eq(stria_sustained_recent_bytes_per_s(&sustained, 0), 0u);
}

Test(sustained, time_that_runs_backwards_counts_as_the_latest_seen)
{
    struct stria_sustained sustained;
    struct stria_sustained_figure figure;
    stria_sustained_init(&sustained, 0);
    stria_sustained_add(&sustained, 10 * bin_ns, 1);
    stria_sustained_add(&sustained, 3 * bin_ns, 2);
    stria_sustained_finish(&sustained, 10 * bin_ns);
    cr_assert(stria_sustained_worst(&sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 3u);
}

static uint64_t least_window_sum(const uint64_t *bins, uint32_t count, uint32_t width)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t first = 0; first + width <= count; first++) {
        uint64_t sum = 0;
        for (uint32_t bin = first; bin < first + width; bin++)
            sum += bins[bin];
        least = sum < least ? sum : least;
    }
    return least;
}

/* Tracker, finished series and every window summed by hand tell the same. */
Test(sustained, tracker_series_and_brute_force_agree_on_random_runs)
{
    enum { BINS = 1500 };
    static uint64_t bins[BINS];
    struct stria_random random;
    stria_random_seed(&random, 11);
    for (int round = 0; round < 12; round++) {
        const uint32_t count = 1 + (uint32_t)stria_random_below(&random, BINS);
        const uint64_t start = stria_random_below(&random, second_ns);
        struct stria_series series;
        struct stria_sustained sustained;
        stria_series_init(&series, bins, BINS, start, bin_ns);
        stria_sustained_init(&sustained, start);
        for (uint64_t now = start, end = start + count * bin_ns; now < end;
             now += stria_random_below(&random, bin_ns * 3)) {
            const uint64_t bytes = stria_random_below(&random, 1u << 20);
            stria_series_add(&series, now, bytes);
            stria_sustained_add(&sustained, now, bytes);
        }
        stria_series_advance(&series, start + count * bin_ns);
        stria_sustained_finish(&sustained, start + count * bin_ns);
        const struct stria_curve curve = stria_curve_of_series(&series);
        cr_assert_eq(curve.count, count);
        for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
            const uint64_t window_ns = stria_sustained_windows_s[window] * second_ns;
            struct stria_sustained_figure online = {0}, offline = {0};
            const bool exists = stria_sustained_worst(&sustained, window, &online);
            cr_assert_eq(exists, count * bin_ns >= window_ns);
            cr_assert_eq(stria_sustained_of_curve(&curve, window_ns, &offline), exists);
            if (!exists)
                continue;
            const uint32_t width = (uint32_t)(window_ns / bin_ns);
            cr_assert_eq(online.bytes_per_s,
                         least_window_sum(bins, count, width) / stria_sustained_windows_s[window]);
            cr_assert_eq(offline.bytes_per_s, online.bytes_per_s);
            cr_assert_eq(offline.from_ns, online.from_ns);
        }
    }
}

Test(sustained, a_window_that_is_no_multiple_of_the_interval_takes_its_share_of_a_bin)
{
    const uint64_t bins[] = {100, 40, 100, 100};
    const struct stria_curve curve = {bins, 4, second_ns};
    struct stria_sustained_figure figure;
    cr_assert(stria_sustained_of_curve(&curve, second_ns * 3 / 2, &figure));
    cr_assert_eq(figure.bytes_per_s, (40u + 50u) * 2 / 3);
    cr_assert_eq(figure.from_ns, second_ns / 2);
    cr_assert(stria_sustained_of_curve(&curve, second_ns / 4, &figure));
    cr_assert_eq(figure.bytes_per_s, 40u);
    cr_assert_eq(figure.from_ns, second_ns);
    cr_assert_not(stria_sustained_of_curve(&curve, 4 * second_ns + 1, &figure));
    cr_assert(stria_sustained_of_curve(&curve, 4 * second_ns, &figure));
    cr_assert_eq(figure.bytes_per_s, 85u);
}

/* A bin cut into equal parts is the same curve, so windows on the coarse one equal exact windows on the fine
 * one. */
Test(sustained, a_coarse_curve_agrees_with_itself_cut_finer)
{
    enum { COARSE = 40, CUTS = 6 };
    struct stria_random random;
    stria_random_seed(&random, 12);
    for (int round = 0; round < 50; round++) {
        uint64_t coarse[COARSE], fine[COARSE * CUTS];
        for (int bin = 0; bin < COARSE; bin++) {
            const uint64_t part = stria_random_below(&random, 1000);
            coarse[bin] = part * CUTS;
            for (int cut = 0; cut < CUTS; cut++)
                fine[bin * CUTS + cut] = part;
        }
        const struct stria_curve coarse_curve = {coarse, COARSE, CUTS * bin_ns};
        const struct stria_curve fine_curve = {fine, COARSE * CUTS, bin_ns};
        for (uint64_t width = 1; width <= sizeof(fine) / sizeof(fine[0]); width++) {
            struct stria_sustained_figure a, b;
            cr_assert(stria_sustained_of_curve(&coarse_curve, width * bin_ns, &a));
            cr_assert(stria_sustained_of_curve(&fine_curve, width * bin_ns, &b));
            cr_assert_eq(a.bytes_per_s, b.bytes_per_s);
            cr_assert_eq(a.bytes_per_s, least_window_sum(fine, COARSE * CUTS, (uint32_t)width) * second_ns /
                                            (width * bin_ns));
        }
    }
}
