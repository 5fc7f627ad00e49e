#include "core/meter.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t ms = 1000000, second_ns = 1000000000;

static struct stria_meter *meter_of(struct stria_meter_config config)
{
    if (config.bins == 0)
        config.bins = 256;
    const size_t bytes = stria_meter_bytes(config.drive_count, config.bins);
    void *memory = malloc(bytes);
    memset(memory, 0xa5, bytes);
    return stria_meter_init(memory, &config);
}

Test(meter, counts_each_drive_and_their_sum)
{
    struct stria_meter *meter =
        meter_of((struct stria_meter_config){.drive_count = 2, .start_ns = second_ns});
    for (uint64_t i = 1; i <= 20; i++) {
        stria_meter_input(meter, second_ns + i * 50 * ms, 300);
        stria_meter_done(meter, 0, second_ns + i * 50 * ms, 100, 5 * ms, i);
        stria_meter_done(meter, 1, second_ns + i * 50 * ms, 200, 7 * ms, 3);
    }
    stria_meter_finish(meter, 2 * second_ns);
    cr_assert_eq(meter->input.series.total_bytes, 6000u);
    cr_assert_eq(meter->stored.series.total_bytes, 6000u);
    cr_assert_eq(meter->drives[0].stored.series.total_bytes, 2000u);
    cr_assert_eq(meter->drives[1].stored.series.total_bytes, 4000u);
    cr_assert_eq(meter->drives[0].submit_ns_max, 20u);
    cr_assert_eq(meter->drives[1].submit_ns_max, 3u);
    cr_assert_eq(meter->latency.count, 40u);
    cr_assert_eq(meter->latency.max, 7 * ms);
    cr_assert_eq(meter->drives[0].latency.max, 5 * ms);
    struct stria_sustained_figure figure;
    cr_assert(stria_sustained_worst(&meter->stored.sustained, 0, &figure));
    cr_assert_eq(figure.bytes_per_s, 6000u);
    uint64_t mean = 0;
    cr_assert(stria_flow_mean_bytes_per_s(&meter->drives[1].stored, &mean));
    cr_assert_eq(mean, 4000u);
    free(meter);
}

Test(meter, tells_the_latency_of_each_drive_by_the_second)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 2});
    for (uint64_t i = 1; i <= 3000; i++) {
        stria_meter_done(meter, 0, i * ms, 1, i <= 2000 ? ms : 20 * ms, 0);
        stria_meter_done(meter, 1, i * ms, 1, i <= 1000 ? 9 * ms : 2 * ms, 0);
    }
    stria_meter_finish(meter, 3 * second_ns);
    static const uint64_t most[3][3] = {{1, 9, 9}, {1, 2, 2}, {20, 2, 20}};
    for (uint64_t second = 0; second < 3; second++) {
        const struct stria_latency_bin bins[] = {
            stria_latency_track_at(&meter->drives[0].latency_track, second),
            stria_latency_track_at(&meter->drives[1].latency_track, second),
            stria_latency_track_at(&meter->latency_track, second)};
        for (unsigned i = 0; i < 3; i++) {
            cr_assert_eq(bins[i].max_ns, most[second][i] * ms);
            cr_assert_eq(bins[i].p99_ns, most[second][i] * ms);
        }
    }
    cr_assert_eq(meter->latency_track.count, 3u);
    free(meter);
}

Test(meter, starts_with_nothing)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 3});
    uint64_t mean = 7;
    cr_assert_not(stria_flow_mean_bytes_per_s(&meter->stored, &mean));
    cr_assert_eq(mean, 7u);
    cr_assert_eq(stria_flow_recent_bytes_per_s(&meter->input), 0u);
    cr_assert_eq(meter->buffer_high_water_bytes, 0u);
    for (uint32_t drive = 0; drive < 3; drive++) {
        cr_assert_eq(meter->drives[drive].errors, 0u);
        cr_assert_eq(meter->drives[drive].retries, 0u);
        cr_assert_eq(meter->drives[drive].stalls, 0u);
        cr_assert_eq(meter->drives[drive].latency.count, 0u);
    }
    free(meter);
}

Test(meter, errors_and_retries_belong_to_their_drive)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 2});
    stria_meter_error(meter, 1);
    stria_meter_retry(meter, 1);
    stria_meter_retry(meter, 1);
    cr_assert_eq(meter->drives[0].errors, 0u);
    cr_assert_eq(meter->drives[1].errors, 1u);
    cr_assert_eq(meter->drives[1].retries, 2u);
    free(meter);
}

Test(meter, remembers_the_fullest_buffer)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1});
    stria_meter_buffer(meter, 5);
    stria_meter_buffer(meter, 9);
    stria_meter_buffer(meter, 2);
    cr_assert_eq(meter->buffer_high_water_bytes, 9u);
    free(meter);
}

Test(meter, the_recent_rate_of_a_silent_drive_falls_to_zero)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1});
    for (uint64_t i = 1; i <= 20; i++)
        stria_meter_done(meter, 0, i * 100 * ms, 50, ms, 0);
    stria_meter_advance(meter, 2 * second_ns + 1);
    cr_assert_eq(stria_flow_recent_bytes_per_s(&meter->drives[0].stored), 500u);
    stria_meter_advance(meter, 2 * second_ns + 500 * ms + 1);
    cr_assert_eq(stria_flow_recent_bytes_per_s(&meter->drives[0].stored), 250u);
    stria_meter_advance(meter, 4 * second_ns);
    cr_assert_eq(stria_flow_recent_bytes_per_s(&meter->drives[0].stored), 0u);
    free(meter);
}

Test(meter, long_waits_that_overlap_are_one_stall)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 2});
    uint64_t now = 0;
    for (int i = 0; i < 1000; i++)
        stria_meter_done(meter, 0, now += ms, 1, 2 * ms, 0);
    cr_assert_eq(meter->drives[0].stalls, 0u);
    now += 300 * ms;
    for (uint64_t i = 0; i < 8; i++)
        stria_meter_done(meter, 0, now + i * ms, 1, 301 * ms + i, 0);
    cr_assert_eq(meter->drives[0].stalls, 1u);
    cr_assert_eq(meter->drives[0].stalled_ns, 308 * ms);
    now += second_ns;
    stria_meter_done(meter, 0, now, 1, 150 * ms, 0);
    cr_assert_eq(meter->drives[0].stalls, 2u);
    cr_assert_eq(meter->drives[0].stalled_ns, 458 * ms);
    cr_assert_eq(meter->drives[1].stalls, 0u);
    free(meter);
}

Test(meter, a_stall_told_while_it_lasts_is_not_counted_again_when_it_ends)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1});
    stria_meter_done(meter, 0, second_ns, 1, ms, 0);
    stria_meter_stall(meter, 0, 3 * second_ns, second_ns);
    stria_meter_stall(meter, 0, 4 * second_ns, 2 * second_ns);
    stria_meter_done(meter, 0, 5 * second_ns, 1, 3 * second_ns, 0);
    cr_assert_eq(meter->drives[0].stalls, 1u);
    cr_assert_eq(meter->drives[0].stalled_ns, 3 * second_ns);
    free(meter);
}

Test(meter, a_drive_that_is_always_slow_does_not_stall)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1});
    uint64_t now = 0;
    for (int i = 0; i < 1000; i++)
        stria_meter_done(meter, 0, now += 50 * ms, 1, 400 * ms, 0);
    cr_assert_eq(meter->drives[0].stalls, 0u);
    cr_assert_gt(stria_meter_stall_threshold_ns(meter, 0), 2 * second_ns);
    cr_assert_leq(stria_meter_stall_threshold_ns(meter, 0), 5 * second_ns);
    free(meter);
}

Test(meter, a_given_stall_threshold_is_kept)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1, .stall_ns = 10 * ms});
    stria_meter_done(meter, 0, 100 * ms, 1, 10 * ms, 0);
    cr_assert_eq(meter->drives[0].stalls, 0u);
    stria_meter_done(meter, 0, 200 * ms, 1, 10 * ms + 1, 0);
    cr_assert_eq(meter->drives[0].stalls, 1u);
    cr_assert_eq(stria_meter_stall_threshold_ns(meter, 0), 10 * ms);
    free(meter);
}

Test(meter, the_running_median_settles_near_the_median)
{
    struct stria_meter *meter = meter_of((struct stria_meter_config){.drive_count = 1});
    struct stria_random random;
    stria_random_seed(&random, 31);
    uint64_t now = 0;
    for (int i = 0; i < 5000; i++)
        stria_meter_done(meter, 0, now += ms, 1, 20 * ms + stria_random_below(&random, 20 * ms), 0);
    cr_assert_gt(meter->drives[0].latency_median_ns, 25 * ms);
    cr_assert_lt(meter->drives[0].latency_median_ns, 35 * ms);
    for (int i = 0; i < 1000; i++)
        stria_meter_done(meter, 0, now += ms, 1, ms, 0);
    cr_assert_lt(meter->drives[0].latency_median_ns, 2 * ms);
    free(meter);
}

/* Random events on all flows: every sum is kept, the sum of the drives is the aggregate bin by bin, the bins
 * agree. */
Test(meter, flows_stay_consistent_on_random_events)
{
    struct stria_random random;
    stria_random_seed(&random, 32);
    for (int round = 0; round < 50; round++) {
        const uint32_t drives = 1 + (uint32_t)stria_random_below(&random, 5);
        struct stria_meter *meter =
            meter_of((struct stria_meter_config){.drive_count = drives,
                                                 .bins = 2 + (uint32_t)stria_random_below(&random, 60),
                                                 .interval_ns = 10 * ms});
        uint64_t now = 0, input = 0, stored = 0;
        for (int i = 0; i < 2000; i++) {
            now += stria_random_below(&random, 5 * ms);
            const uint64_t bytes = stria_random_below(&random, 1u << 20);
            if (stria_random_below(&random, 2)) {
                stria_meter_input(meter, now, bytes);
                input += bytes;
            } else {
                const uint64_t late = stria_random_below(&random, 1000);
                stria_meter_done(meter, (uint32_t)stria_random_below(&random, drives),
                                 now - (late < now ? late : 0), bytes, stria_random_below(&random, second_ns),
                                 1);
                stored += bytes;
            }
        }
        stria_meter_finish(meter, now);
        const struct stria_series *all = &meter->stored.series;
        cr_assert_eq(meter->input.series.total_bytes, input);
        cr_assert_eq(all->total_bytes, stored);
        cr_assert_eq(meter->input.series.count, all->count);
        for (uint32_t bin = 0; bin < all->count; bin++) {
            uint64_t sum = 0;
            for (uint32_t drive = 0; drive < drives; drive++) {
                cr_assert_eq(meter->drives[drive].stored.series.count, all->count);
                cr_assert_eq(meter->drives[drive].stored.series.interval_ns, all->interval_ns);
                sum += meter->drives[drive].stored.series.bins[bin];
            }
            cr_assert_eq(all->bins[bin], sum);
        }
        free(meter);
    }
}
