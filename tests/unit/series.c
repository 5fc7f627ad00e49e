#include "core/series.h"

#include "core/random.h"

#include <criterion/criterion.h>

static uint64_t sum_of(const struct stria_series *series)
{
    uint64_t sum = 0;
    for (uint32_t bin = 0; bin < series->count; bin++)
        sum += series->bins[bin];
    return sum;
}

Test(series, a_bin_holds_what_completed_up_to_its_right_edge)
{
    uint64_t bins[8];
    struct stria_series series;
    stria_series_init(&series, bins, 8, 1000, 10);
    stria_series_add(&series, 1000, 1);
    stria_series_add(&series, 1001, 2);
    stria_series_add(&series, 1010, 4);
    stria_series_add(&series, 1011, 8);
    cr_assert_eq(series.count, 2u);
    cr_assert_eq(bins[0], 7u);
    cr_assert_eq(bins[1], 8u);
}

Test(series, idle_bins_are_zero)
{
    uint64_t bins[8] = {9, 9, 9, 9, 9, 9, 9, 9};
    struct stria_series series;
    stria_series_init(&series, bins, 8, 0, 10);
    stria_series_add(&series, 45, 5);
    stria_series_advance(&series, 70);
    cr_assert_eq(series.count, 7u);
    const uint64_t expected[] = {0, 0, 0, 0, 5, 0, 0};
    cr_assert_arr_eq(bins, expected, sizeof(expected));
}

Test(series, the_last_partial_bin_is_flagged_and_left_out_of_the_minimum)
{
    uint64_t bins[8];
    struct stria_series series;
    uint64_t least = 0;
    stria_series_init(&series, bins, 8, 0, 10);
    cr_assert_not(stria_series_bytes_min(&series, &least));
    stria_series_add(&series, 5, 50);
    cr_assert(stria_series_last_is_partial(&series));
    cr_assert_not(stria_series_bytes_min(&series, &least));
    stria_series_add(&series, 20, 70);
    cr_assert_not(stria_series_last_is_partial(&series));
    cr_assert(stria_series_bytes_min(&series, &least));
    cr_assert_eq(least, 50u);
    stria_series_add(&series, 21, 1);
    cr_assert(stria_series_last_is_partial(&series));
    cr_assert_eq(stria_series_whole_bins(&series), 2u);
    cr_assert(stria_series_bytes_min(&series, &least));
    cr_assert_eq(least, 50u);
    cr_assert_eq(sum_of(&series), 121u);
}

Test(series, a_late_completion_goes_to_the_bin_of_its_time)
{
    uint64_t bins[8];
    struct stria_series series;
    stria_series_init(&series, bins, 8, 100, 10);
    stria_series_add(&series, 150, 1);
    stria_series_add(&series, 118, 2);
    stria_series_add(&series, 50, 4);
    cr_assert_eq(series.end_ns, 150u);
    const uint64_t expected[] = {4, 2, 0, 0, 1};
    cr_assert_arr_eq(bins, expected, sizeof(expected));
}

Test(series, a_full_series_merges_neighbours_and_doubles_its_interval)
{
    uint64_t bins[4];
    struct stria_series series;
    stria_series_init(&series, bins, 4, 0, 10);
    for (uint64_t bin = 0; bin < 4; bin++)
        stria_series_add(&series, bin * 10 + 10, bin + 1);
    cr_assert_eq(series.interval_ns, 10u);
    stria_series_add(&series, 41, 100);
    cr_assert_eq(series.interval_ns, 20u);
    cr_assert_eq(series.count, 3u);
    const uint64_t expected[] = {3, 7, 100};
    cr_assert_arr_eq(bins, expected, sizeof(expected));
    cr_assert(stria_series_last_is_partial(&series));
}

Test(series, an_odd_number_of_bins_merges_too)
{
    uint64_t bins[3];
    struct stria_series series;
    stria_series_init(&series, bins, 3, 0, 10);
    for (uint64_t bin = 0; bin < 3; bin++)
        stria_series_add(&series, bin * 10 + 1, 1);
    stria_series_add(&series, 40, 5);
    cr_assert_eq(series.interval_ns, 20u);
    cr_assert_eq(bins[0], 2u);
    cr_assert_eq(bins[1], 6u);
    cr_assert_eq(series.count, 2u);
}

Test(series, the_far_end_of_time_fits)
{
    uint64_t bins[2];
    struct stria_series series;
    stria_series_init(&series, bins, 2, 0, 3);
    stria_series_add(&series, 1, 1);
    stria_series_add(&series, UINT64_MAX, 2);
    cr_assert_eq(sum_of(&series), 3u);
    cr_assert_leq(series.count, 2u);
}

/* The bins of a series are those of its events counted afresh at the final interval, whatever merges came
 * between. */
Test(series, merging_loses_nothing_on_random_events)
{
    struct stria_random random;
    stria_random_seed(&random, 7);
    for (int round = 0; round < 200; round++) {
        enum { CAPACITY = 16, EVENTS = 300 };
        uint64_t bins[CAPACITY], times[EVENTS], bytes[EVENTS], total = 0;
        const uint32_t capacity = 2 + (uint32_t)stria_random_below(&random, CAPACITY - 1);
        const uint64_t start = stria_random_below(&random, 1000), first = 1 + stria_random_below(&random, 20);
        struct stria_series series;
        stria_series_init(&series, bins, capacity, start, first);
        uint64_t latest = start;
        for (int i = 0; i < EVENTS; i++) {
            latest += stria_random_below(&random, 30);
            times[i] = latest - stria_random_below(&random, 50 < latest - start ? 50 : latest - start + 1);
            bytes[i] = stria_random_below(&random, 1000);
            total += bytes[i];
            stria_series_add(&series, times[i], bytes[i]);
        }
        uint64_t expected[CAPACITY] = {0};
        for (int i = 0; i < EVENTS; i++)
            expected[times[i] <= start ? 0 : (times[i] - start - 1) / series.interval_ns] += bytes[i];
        cr_assert_arr_eq(bins, expected, series.count * sizeof(bins[0]));
        cr_assert_eq(series.total_bytes, total);
        cr_assert_eq(sum_of(&series), total);
        cr_assert_eq(series.interval_ns % first, 0u);
    }
}

Test(series, series_that_end_together_have_the_same_bins)
{
    struct stria_random random;
    stria_random_seed(&random, 8);
    for (int round = 0; round < 200; round++) {
        uint64_t busy_bins[8], idle_bins[8], now = 1;
        struct stria_series busy, idle;
        stria_series_init(&busy, busy_bins, 8, 0, 10);
        stria_series_init(&idle, idle_bins, 8, 0, 10);
        for (int i = 0; i < 50; i++) {
            now += stria_random_below(&random, 20);
            stria_series_add(&busy, now, 1);
        }
        stria_series_advance(&idle, now);
        cr_assert_eq(busy.count, idle.count);
        cr_assert_eq(busy.interval_ns, idle.interval_ns);
        cr_assert_eq(stria_series_whole_bins(&busy), stria_series_whole_bins(&idle));
    }
}
