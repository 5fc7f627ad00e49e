#include "core/peaks.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>

#define BINS 8u

Test(peaks, each_bin_holds_the_highest_level_in_it)
{
    uint64_t bins[BINS];
    struct stria_peaks peaks;
    stria_peaks_init(&peaks, bins, BINS, 1000, 10);
    stria_peaks_set(&peaks, 1001, 5);
    stria_peaks_set(&peaks, 1002, 9);
    stria_peaks_set(&peaks, 1003, 2);
    stria_peaks_set(&peaks, 1012, 1);
    cr_assert_eq(peaks.count, 2);
    cr_assert_eq(bins[0], 9);
    cr_assert_eq(bins[1], 2, "the level from before holds on until it is changed");
}

Test(peaks, a_level_holds_through_bins_without_an_event)
{
    uint64_t bins[BINS];
    struct stria_peaks peaks;
    stria_peaks_init(&peaks, bins, BINS, 0, 10);
    stria_peaks_set(&peaks, 0, 7);
    stria_peaks_set(&peaks, 45, 0);
    cr_assert_eq(peaks.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        cr_assert_eq(bins[i], 7);
    stria_peaks_set(&peaks, 50, 0);
    cr_assert_eq(bins[5], 0);
}

Test(peaks, a_run_of_any_length_fits_and_keeps_its_highest_level)
{
    uint64_t bins[BINS];
    struct stria_peaks peaks;
    struct stria_random random = random_of(7);
    uint64_t now_ns = 0, highest = 0;
    stria_peaks_init(&peaks, bins, BINS, 0, 10);
    for (unsigned i = 0; i < 5000; i++) {
        const uint64_t level = stria_random_below(&random, 1000);
        highest = level > highest ? level : highest;
        now_ns += stria_random_below(&random, 50);
        stria_peaks_set(&peaks, now_ns, level);
        cr_assert_leq(peaks.count, BINS);
        cr_assert_lt(now_ns, peaks.interval_ns * peaks.count);
    }
    uint64_t found = 0;
    for (uint32_t i = 0; i < peaks.count; i++)
        found = bins[i] > found ? bins[i] : found;
    cr_assert_eq(found, highest);
    cr_assert_gt(peaks.count, BINS / 2 - 1);
}
