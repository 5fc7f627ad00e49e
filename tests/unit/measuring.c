/* Laws that hold between the figures, whatever was measured. */
#include "core/curve.h"
#include "core/histogram.h"
#include "core/knee.h"
#include "core/random.h"
#include "core/ratio.h"
#include "core/steady.h"
#include "core/sustained.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BINS = 700, ROUNDS = 60 };

static const uint64_t second_ns = 1000000000, bin_ns = STRIA_SERIES_INTERVAL_NS;

/* A drive as they are: levels that change, dips to nothing, noise on all of it. */
static void draw_drive(struct stria_random *random, uint64_t *bins)
{
    uint64_t level = stria_random_below(random, 100000);
    for (uint32_t bin = 0; bin < BINS; bin++) {
        if (stria_random_below(random, 40) == 0)
            level = stria_random_below(random, 4) ? stria_random_below(random, 100000) : 0;
        bins[bin] = level + stria_random_below(random, 1 + level / 4);
    }
}

static struct stria_curve curve_of(const uint64_t *bins)
{
    return (struct stria_curve){bins, BINS, bin_ns};
}

static uint64_t lossless(const struct stria_curve *curve, uint64_t buffer_bytes)
{
    struct stria_curve_limit limit;
    cr_assert(stria_curve_lossless(curve, buffer_bytes, &limit));
    return limit.bytes_per_s;
}

static uint64_t sustained(const struct stria_curve *curve, uint64_t window_ns)
{
    struct stria_sustained_figure figure;
    cr_assert(stria_sustained_of_curve(curve, window_ns, &figure));
    return figure.bytes_per_s;
}

/* Plays an input of a constant rate into a queue that the drive empties, and tells its highest level: the
 * thing itself that the lossless rate is about, without its formula. In units of 1/10 byte, so that a bin's
 * input is whole. */
static uint64_t highest_level(const struct stria_curve *curve, uint64_t bytes_per_s)
{
    uint64_t level = 0, highest = 0;
    for (uint32_t bin = 0; bin < curve->count; bin++) {
        const uint64_t served = curve->bins[bin] * 10, waiting = level + bytes_per_s;
        level = waiting > served ? waiting - served : 0;
        highest = level > highest ? level : highest;
    }
    return highest;
}

Test(measuring, an_input_at_the_lossless_rate_never_overruns_the_buffer_and_any_faster_one_does)
{
    struct stria_random random;
    stria_random_seed(&random, 61);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS];
        draw_drive(&random, bins);
        const struct stria_curve curve = curve_of(bins);
        const uint64_t buffer_bytes = stria_random_below(&random, 1u << 24);
        const uint64_t rate = lossless(&curve, buffer_bytes);
        cr_assert_leq(highest_level(&curve, rate), buffer_bytes * 10);
        cr_assert_gt(highest_level(&curve, rate + 1), buffer_bytes * 10);
        struct stria_curve_limit limit;
        cr_assert(stria_curve_buffer(&curve, 2 * rate, &limit));
        cr_assert_eq(limit.buffer_bytes, (highest_level(&curve, 2 * rate) + 9) / 10);
    }
}

Test(measuring, a_larger_buffer_never_takes_less_and_none_takes_the_slowest_bin)
{
    struct stria_random random;
    stria_random_seed(&random, 62);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS];
        draw_drive(&random, bins);
        const struct stria_curve curve = curve_of(bins);
        uint64_t previous = lossless(&curve, 0);
        cr_assert_eq(previous, sustained(&curve, bin_ns));
        for (uint64_t buffer_bytes = 1; buffer_bytes < UINT64_C(1) << 32; buffer_bytes *= 3) {
            const uint64_t rate = lossless(&curve, buffer_bytes);
            cr_assert_geq(rate, previous);
            previous = rate;
        }
    }
}

/* A buffer adds at most its bytes over the window to what the window sustains; the window that decides shows
 * equality. */
Test(measuring, the_lossless_rate_is_bounded_by_every_sustained_rate)
{
    struct stria_random random;
    stria_random_seed(&random, 63);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS];
        draw_drive(&random, bins);
        const struct stria_curve curve = curve_of(bins);
        const uint64_t buffer_bytes = stria_random_below(&random, 1u << 22);
        struct stria_curve_limit limit;
        cr_assert(stria_curve_lossless(&curve, buffer_bytes, &limit));
        for (uint64_t window_ns = bin_ns; window_ns <= BINS * bin_ns; window_ns += 7 * bin_ns)
            cr_assert_leq(limit.bytes_per_s, sustained(&curve, window_ns) +
                                                 stria_ratio_bytes_per_s(buffer_bytes, window_ns) + 1);
        const uint64_t window_ns = limit.to_ns - limit.from_ns;
        cr_assert_leq(sustained(&curve, window_ns) + stria_ratio_bytes_per_s(buffer_bytes, window_ns),
                      limit.bytes_per_s);
    }
}

Test(measuring, a_window_of_several_others_sustains_at_least_as_much)
{
    struct stria_random random;
    stria_random_seed(&random, 64);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS];
        draw_drive(&random, bins);
        const struct stria_curve curve = curve_of(bins);
        for (uint32_t shorter = 0; shorter < STRIA_SUSTAINED_WINDOWS; shorter++)
            for (uint32_t longer = shorter; longer < STRIA_SUSTAINED_WINDOWS; longer++)
                if (stria_sustained_windows_s[longer] % stria_sustained_windows_s[shorter] == 0)
                    cr_assert_geq(sustained(&curve, stria_sustained_windows_s[longer] * second_ns),
                                  sustained(&curve, stria_sustained_windows_s[shorter] * second_ns));
    }
}

/* Drives whose slow stretches do not coincide are worth more together than the sum of their worths. */
Test(measuring, an_array_is_worth_at_least_the_sum_of_its_drives)
{
    struct stria_random random;
    stria_random_seed(&random, 65);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t left[BINS], right[BINS], both[BINS];
        draw_drive(&random, left);
        draw_drive(&random, right);
        for (uint32_t bin = 0; bin < BINS; bin++)
            both[bin] = left[bin] + right[bin];
        const struct stria_curve a = curve_of(left), b = curve_of(right), array = curve_of(both);
        const uint64_t buffer_a = stria_random_below(&random, 1u << 22);
        const uint64_t buffer_b = stria_random_below(&random, 1u << 22);
        cr_assert_geq(lossless(&array, buffer_a + buffer_b), lossless(&a, buffer_a) + lossless(&b, buffer_b));
        cr_assert_geq(sustained(&array, 5 * second_ns),
                      sustained(&a, 5 * second_ns) + sustained(&b, 5 * second_ns));
    }
}

/* Merged bins hide windows that begin or end inside them, so a merged series may flatter, never slander. */
Test(measuring, merged_bins_never_show_less_than_fine_ones)
{
    struct stria_random random;
    stria_random_seed(&random, 66);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS], merged[BINS / 2];
        draw_drive(&random, bins);
        for (uint32_t left = 0; left < BINS; left += 2)
            merged[left / 2] = bins[left] + bins[left + 1];
        const struct stria_curve fine = curve_of(bins), coarse = {merged, BINS / 2, 2 * bin_ns};
        const uint64_t buffer_bytes = stria_random_below(&random, 1u << 22);
        cr_assert_geq(lossless(&coarse, buffer_bytes), lossless(&fine, buffer_bytes));
        cr_assert_geq(sustained(&coarse, second_ns), sustained(&fine, second_ns));
    }
}

Test(measuring, a_curve_played_backwards_needs_the_same_buffer)
{
    struct stria_random random;
    stria_random_seed(&random, 67);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t bins[BINS], backwards[BINS];
        draw_drive(&random, bins);
        for (uint32_t bin = 0; bin < BINS; bin++)
            backwards[bin] = bins[BINS - 1 - bin];
        const struct stria_curve forth = curve_of(bins), back = curve_of(backwards);
        const uint64_t buffer_bytes = stria_random_below(&random, 1u << 22);
        cr_assert_eq(lossless(&forth, buffer_bytes), lossless(&back, buffer_bytes));
        cr_assert_eq(sustained(&forth, 10 * second_ns), sustained(&back, 10 * second_ns));
    }
}

Test(measuring, a_drive_k_times_as_fast_has_k_times_the_figures_and_the_same_knee)
{
    struct stria_random random;
    stria_random_seed(&random, 68);
    int knees = 0;
    for (int round = 0; round < 4 * ROUNDS; round++) {
        enum { FACTOR = 8 };
        uint64_t slow_bins[BINS], fast_bins[BINS];
        draw_drive(&random, slow_bins);
        const uint32_t cliff = (uint32_t)stria_random_below(&random, BINS);
        for (uint32_t bin = 0; bin < BINS; bin++) {
            slow_bins[bin] = bin < cliff ? 100000 + slow_bins[bin] : slow_bins[bin];
            fast_bins[bin] = slow_bins[bin] * FACTOR;
        }
        const struct stria_curve slow = curve_of(slow_bins), fast = curve_of(fast_bins);
        const uint64_t buffer_bytes = stria_random_below(&random, 1u << 22);
        cr_assert_eq(lossless(&fast, buffer_bytes * FACTOR) / FACTOR, lossless(&slow, buffer_bytes));
        cr_assert_eq(sustained(&fast, second_ns), sustained(&slow, second_ns) * FACTOR);
        struct stria_knee slow_knee, fast_knee;
        const bool found = stria_knee_find(&slow, &slow_knee);
        cr_assert_eq(stria_knee_find(&fast, &fast_knee), found);
        if (!found)
            continue;
        knees++;
        cr_assert_eq(fast_knee.at_ns, slow_knee.at_ns);
        cr_assert_eq(fast_knee.at_bytes, slow_knee.at_bytes * FACTOR);
        cr_assert_leq(slow_knee.after_bytes_per_s * 100,
                      slow_knee.before_bytes_per_s * (100 - STRIA_KNEE_FALL_PERCENT) + 100);
        const stria_u128 area = (stria_u128)slow_knee.before_bytes_per_s * slow_knee.at_ns / second_ns;
        cr_assert(area <= slow_knee.at_bytes && area + slow_knee.at_ns / second_ns + 1 >= slow_knee.at_bytes);
    }
    cr_assert_gt(knees, ROUNDS);
}

Test(measuring, steady_rounds_stay_steady_backwards_and_in_any_unit)
{
    struct stria_random random;
    stria_random_seed(&random, 69);
    for (int round = 0; round < 5000; round++) {
        uint64_t rounds[STRIA_STEADY_ROUNDS], backwards[STRIA_STEADY_ROUNDS], scaled[STRIA_STEADY_ROUNDS];
        for (uint32_t i = 0; i < STRIA_STEADY_ROUNDS; i++) {
            rounds[i] = 1000 + stria_random_below(&random, 250);
            backwards[STRIA_STEADY_ROUNDS - 1 - i] = rounds[i];
            scaled[i] = rounds[i] * 1000;
        }
        const struct stria_steady steady = stria_steady_find(rounds, STRIA_STEADY_ROUNDS);
        const struct stria_steady back = stria_steady_find(backwards, STRIA_STEADY_ROUNDS);
        cr_assert_eq(back.verdict, steady.verdict);
        cr_assert_eq(back.excursion, -steady.excursion);
        cr_assert_eq(stria_steady_find(scaled, STRIA_STEADY_ROUNDS).verdict, steady.verdict);
    }
}

Test(measuring, percentiles_rise_and_lie_between_the_exact_extremes)
{
    struct stria_histogram *histogram = malloc(sizeof(*histogram));
    struct stria_random random;
    stria_random_seed(&random, 70);
    for (int round = 0; round < 20; round++) {
        stria_histogram_init(histogram);
        const uint64_t samples = 20 + stria_random_below(&random, 20000);
        const unsigned shift = (unsigned)stria_random_below(&random, 60);
        for (uint64_t i = 0; i < samples; i++)
            stria_histogram_add(histogram, stria_random_next(&random) >> shift);
        uint64_t previous = histogram->min, value;
        for (uint32_t ppm = 1000; ppm <= STRIA_PERCENTILE_ALL_PPM; ppm += 1000) {
            const bool shown = stria_histogram_percentile(histogram, ppm, &value);
            cr_assert_eq(shown, samples * (STRIA_PERCENTILE_ALL_PPM - ppm) / STRIA_PERCENTILE_ALL_PPM >= 10);
            if (shown) {
                cr_assert_geq(value, previous);
                cr_assert_leq(value, histogram->max);
                previous = value;
            }
        }
    }
    free(histogram);
}
