#include "core/latency_track.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const uint64_t ms = 1000000, second_ns = 1000000000, start_ns = 77;

static struct stria_latency_bin bins[64];

static struct stria_latency_track *track_of(uint32_t capacity)
{
    struct stria_latency_track *track = malloc(sizeof(*track));
    stria_latency_track_init(track, bins, capacity, start_ns);
    return track;
}

Test(latency_track, tells_each_second_apart)
{
    struct stria_latency_track *track = track_of(8);
    for (uint64_t i = 1; i <= 2000; i++)
        stria_latency_track_add(track, start_ns + i * ms, i <= 1000 ? i : 5000 + i);
    stria_latency_track_finish(track, start_ns + 2 * second_ns);
    cr_assert_eq(track->count, 2u);
    cr_assert_eq(stria_latency_track_at(track, 0).max_ns, 1000u);
    cr_assert_eq(stria_latency_track_at(track, 1).max_ns, 7000u);
    cr_assert_geq(stria_latency_track_at(track, 0).p99_ns, 990u);
    cr_assert_leq(stria_latency_track_at(track, 0).p99_ns, 1000u);
    cr_assert_geq(stria_latency_track_at(track, 1).p99_ns, 6990u);
    cr_assert_eq(stria_latency_track_at(track, 2).max_ns, STRIA_LATENCY_UNKNOWN);
    free(track);
}

Test(latency_track, agrees_with_a_histogram_of_the_second)
{
    struct stria_latency_track *track = track_of(64);
    struct stria_histogram *seconds = calloc(20, sizeof(*seconds));
    struct stria_random random;
    stria_random_seed(&random, 5);
    uint64_t now = start_ns;
    for (int i = 0; i < 40000; i++) {
        const uint64_t latency = stria_random_next(&random) >> stria_random_below(&random, 64);
        now += stria_random_below(&random, second_ns / 1000);
        stria_latency_track_add(track, now, latency);
        stria_histogram_add(&seconds[(now - start_ns - 1) / second_ns], latency);
    }
    stria_latency_track_finish(track, now);
    for (uint64_t i = 0; i < 20; i++) {
        uint64_t p99 = STRIA_LATENCY_UNKNOWN;
        (void)stria_histogram_percentile(&seconds[i], STRIA_PERCENTILE_99_PPM, &p99);
        cr_assert_eq(stria_latency_track_at(track, i).p99_ns, p99, "second %d", (int)i);
        cr_assert_eq(stria_latency_track_at(track, i).max_ns, seconds[i].max, "second %d", (int)i);
    }
    free(seconds);
    free(track);
}

Test(latency_track, a_second_belongs_to_what_completes_at_its_end)
{
    struct stria_latency_track *track = track_of(8);
    stria_latency_track_add(track, start_ns + second_ns, 3);
    stria_latency_track_add(track, start_ns + second_ns + 1, 5);
    stria_latency_track_finish(track, start_ns + second_ns + 1);
    cr_assert_eq(stria_latency_track_at(track, 0).max_ns, 3u);
    cr_assert_eq(stria_latency_track_at(track, 1).max_ns, 5u);
    free(track);
}

Test(latency_track, an_idle_second_and_too_few_samples_have_no_figure)
{
    struct stria_latency_track *track = track_of(8);
    for (int i = 0; i < 999; i++)
        stria_latency_track_add(track, start_ns + 1, 9);
    stria_latency_track_add(track, start_ns + 2 * second_ns + 1, 4);
    stria_latency_track_finish(track, start_ns + 3 * second_ns);
    cr_assert_eq(track->count, 3u);
    cr_assert_eq(bins[0].p99_ns, STRIA_LATENCY_UNKNOWN);
    cr_assert_eq(bins[0].max_ns, 9u);
    cr_assert_eq(bins[1].max_ns, STRIA_LATENCY_UNKNOWN);
    cr_assert_eq(bins[2].max_ns, 4u);
    free(track);
}

Test(latency_track, shows_the_last_whole_second_while_it_runs)
{
    struct stria_latency_track *track = track_of(8);
    cr_assert_eq(track->latest.max_ns, STRIA_LATENCY_UNKNOWN);
    stria_latency_track_add(track, start_ns + 1, 9);
    cr_assert_eq(track->latest.max_ns, STRIA_LATENCY_UNKNOWN);
    stria_latency_track_advance(track, start_ns + second_ns + 1);
    cr_assert_eq(track->latest.max_ns, 9u);
    stria_latency_track_advance(track, start_ns + 2 * second_ns + 1);
    cr_assert_eq(track->latest.max_ns, STRIA_LATENCY_UNKNOWN);
    free(track);
}

Test(latency_track, a_long_run_keeps_the_worst_of_what_it_merges)
{
    struct stria_latency_track *track = track_of(4);
    for (uint64_t second = 0; second < 37; second++)
        stria_latency_track_add(track, start_ns + second * second_ns + 1, second == 5 ? 1000 : 10 + second);
    stria_latency_track_finish(track, start_ns + 37 * second_ns);
    cr_assert_eq(track->bin_seconds, 16u);
    cr_assert_eq(track->count, 3u);
    cr_assert_eq(stria_latency_track_at(track, 0).max_ns, 1000u);
    cr_assert_eq(stria_latency_track_at(track, 15).max_ns, 1000u);
    cr_assert_eq(stria_latency_track_at(track, 16).max_ns, 41u);
    cr_assert_eq(stria_latency_track_at(track, 36).max_ns, 46u);
    free(track);
}

Test(latency_track, nothing_and_no_time_is_no_bin)
{
    struct stria_latency_track *track = track_of(4);
    stria_latency_track_finish(track, start_ns);
    cr_assert_eq(track->count, 0u);
    cr_assert_eq(stria_latency_track_at(track, 0).max_ns, STRIA_LATENCY_UNKNOWN);
    free(track);
}
