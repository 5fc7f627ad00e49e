#include "engine/simulate.h"

#include "config/profile.h"
#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

#define MB 1000000u

/* A drive of the profile, smaller by so much. */
static struct stria_model_parameters scaled_drive(const char *name, double scale)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    cr_assert_eq(stria_profile_find(name, &profile, &problems), STRIA_OK);
    cr_assert_eq(stria_profile_scale(&profile, scale, 1, NULL), STRIA_OK);
    return profile.parameters;
}

static struct stria_model_parameters small_drive(const char *name)
{
    return scaled_drive(name, 0.001);
}

static struct stria_simulate_config small_config(enum stria_policy policy)
{
    return (struct stria_simulate_config){.policy = policy,
                                          .chunk_bytes = STRIA_CHUNK_BYTES_MIN,
                                          .depth = 8,
                                          .buffer_bytes = 64u * STRIA_CHUNK_BYTES_MIN,
                                          .seed = 1};
}

static struct stria_simulation simulate(const struct stria_simulate_config *config)
{
    struct stria_simulation simulation;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_simulate(config, &simulation, &trouble), STRIA_OK, "%s", trouble.sentence);
    return simulation;
}

static uint64_t lossless_bytes_per_s(struct stria_simulate_config config)
{
    const uint64_t size_bytes = config.size_bytes;
    uint64_t bytes_per_s;
    config.rate_bytes_per_s = 0;
    config.size_bytes += config.buffer_bytes;
    struct stria_simulation simulation = simulate(&config);
    cr_assert(stria_simulation_lossless(&simulation, size_bytes, config.buffer_bytes, &bytes_per_s));
    stria_simulation_clear(&simulation);
    return bytes_per_s;
}

static uint64_t stored_on_drives(const struct stria_simulation *simulation)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < simulation->drive_count; i++)
        bytes += simulation->drives[i].status.stored_bytes;
    return bytes;
}

static uint64_t in_series(const struct stria_series *series)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < series->count; i++)
        bytes += series->bins[i];
    return bytes;
}

Test(simulate, every_byte_of_the_stream_is_stored_or_dropped)
{
    static const char *const names[] = {"samsung-980", "samsung-980-pro", "solidigm-p41-plus",
                                        "enterprise-3840"};
    struct stria_random random = random_of(4);
    for (unsigned turn = 0; turn < 40; turn++) {
        struct stria_model_parameters drives[4];
        struct stria_simulate_config config =
            small_config(stria_random_below(&random, 2) ? STRIA_POLICY_RAID0 : STRIA_POLICY_ADAPTIVE);
        config.drive_count = (uint32_t)stria_random_between(&random, 1, 4);
        for (uint32_t i = 0; i < config.drive_count; i++) {
            drives[i] = small_drive(names[stria_random_below(&random, 4)]);
            config.drives[i] = &drives[i];
        }
        config.seed = turn;
        config.size_bytes = stria_random_between(&random, 1, 700) * MB;
        config.rate_bytes_per_s = stria_random_between(&random, 100, 12000) * MB;
        struct stria_simulation simulation = simulate(&config);
        cr_assert_eq(simulation.stored_bytes + simulation.dropped_bytes, simulation.stream_bytes);
        cr_assert_geq(simulation.stream_bytes, config.size_bytes);
        cr_assert_lt(simulation.stream_bytes, config.size_bytes + config.chunk_bytes);
        cr_assert_eq(stored_on_drives(&simulation), simulation.stored_bytes);
        cr_assert_eq(in_series(&simulation.meter->stored.series), simulation.stored_bytes);
        cr_assert_leq(simulation.stored_bytes, simulation.capacity_bytes);
        cr_assert_eq(simulation.lossless, simulation.dropped_bytes == 0);
        if (!simulation.lossless)
            cr_assert_lt(simulation.first_loss.offset_bytes, simulation.stream_bytes);
        stria_simulation_clear(&simulation);
    }
}

Test(simulate, the_same_seed_gives_the_same_run_and_another_seed_another)
{
    struct stria_model_parameters drive = small_drive("enterprise-3840");
    cr_assert_gt(drive.stall_count, 0);
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    config.drives[0] = config.drives[1] = &drive;
    config.drive_count = 2;
    config.size_bytes = 1000 * MB;
    struct stria_simulation one = simulate(&config), two = simulate(&config);
    cr_assert_eq(one.duration_ns, two.duration_ns);
    cr_assert_eq(one.meter->stored.series.count, two.meter->stored.series.count);
    cr_assert_arr_eq(one.meter->stored.series.bins, two.meter->stored.series.bins,
                     one.meter->stored.series.count * sizeof(uint64_t));
    config.seed = 2;
    struct stria_simulation other = simulate(&config);
    cr_assert_neq(one.duration_ns, other.duration_ns);
    stria_simulation_clear(&one);
    stria_simulation_clear(&two);
    stria_simulation_clear(&other);
}

static void assert_limit(struct stria_simulate_config config)
{
    const uint64_t lossless = lossless_bytes_per_s(config);
    config.rate_bytes_per_s = lossless / 100 * 98;
    struct stria_simulation below = simulate(&config);
    cr_assert(below.lossless, "%.1f MB/s of %.1f lose from %llu on", (double)config.rate_bytes_per_s / MB,
              (double)lossless / MB, (unsigned long long)below.first_loss.offset_bytes);
    config.rate_bytes_per_s = lossless / 100 * 105;
    struct stria_simulation above = simulate(&config);
    cr_assert_not(above.lossless, "%.1f MB/s lose nothing, %.1f are told",
                  (double)config.rate_bytes_per_s / MB, (double)lossless / MB);
    cr_assert_eq(above.first_loss.cause, STRIA_GAP_BUFFER);
    cr_assert_eq(above.meter->buffer_high_water_bytes, config.buffer_bytes);
    stria_simulation_clear(&below);
    stria_simulation_clear(&above);
}

Test(simulate, a_sensor_below_the_lossless_rate_loses_nothing_and_one_above_loses)
{
    struct stria_model_parameters drive = small_drive("samsung-980");
    for (unsigned policy = STRIA_POLICY_RAID0; policy <= STRIA_POLICY_ADAPTIVE; policy++) {
        struct stria_simulate_config config = small_config((enum stria_policy)policy);
        config.drives[0] = config.drives[1] = &drive;
        config.drive_count = 2;
        config.size_bytes = 600 * MB;
        assert_limit(config);
    }
}

/* A cliff just before the end, which the buffer can cover or not; buffers from a small part of the recording
 * to more than half of it. */
Test(simulate, the_lossless_rate_is_that_of_a_sensor_which_stops_with_its_recording)
{
    struct stria_model_parameters drive = scaled_drive("samsung-980", 0.02);
    static const uint64_t sizes[] = {9600 * (uint64_t)MB, 10000 * (uint64_t)MB, 10800 * (uint64_t)MB};
    static const uint64_t buffers[] = {64u << 20, 512u << 20, 6ull << 30};
    for (unsigned i = 0; i < 9; i++) {
        struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
        config.drives[0] = config.drives[1] = &drive;
        config.drive_count = 2;
        config.chunk_bytes = STRIA_CHUNK_BYTES_DEFAULT;
        config.size_bytes = sizes[i % 3];
        config.buffer_bytes = buffers[i / 3];
        assert_limit(config);
    }
}

Test(simulate, no_rate_is_too_high_for_a_recording_that_fits_the_buffer)
{
    struct stria_model_parameters drive = small_drive("samsung-980");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    config.drives[0] = &drive;
    config.drive_count = 1;
    config.size_bytes = config.buffer_bytes;
    struct stria_simulation simulation = simulate(&config);
    uint64_t bytes_per_s;
    cr_assert_not(
        stria_simulation_lossless(&simulation, config.size_bytes, config.buffer_bytes, &bytes_per_s));
    stria_simulation_clear(&simulation);
    config.rate_bytes_per_s = (uint64_t)1000000 * MB;
    simulation = simulate(&config);
    cr_assert(simulation.lossless);
    stria_simulation_clear(&simulation);
}

Test(simulate, adaptive_is_never_slower_than_raid0)
{
    static const char *const names[][2] = {{"samsung-980", "samsung-sm961"},
                                           {"samsung-980-pro", "solidigm-p41-plus"},
                                           {"enterprise-3840", "teclast-240"},
                                           {"samsung-980", "samsung-980"}};
    for (unsigned pair = 0; pair < sizeof(names) / sizeof(names[0]); pair++) {
        struct stria_model_parameters drives[2] = {small_drive(names[pair][0]), small_drive(names[pair][1])};
        struct stria_simulate_config config = small_config(STRIA_POLICY_RAID0);
        config.drives[0] = &drives[0];
        config.drives[1] = &drives[1];
        config.drive_count = 2;
        config.size_bytes = 200 * MB;
        const uint64_t raid0 = lossless_bytes_per_s(config);
        config.policy = STRIA_POLICY_ADAPTIVE;
        const uint64_t adaptive = lossless_bytes_per_s(config);
        cr_assert_geq(adaptive, raid0 / 100 * 99, "%s + %s: %.1f against %.1f MB/s", names[pair][0],
                      names[pair][1], (double)adaptive / MB, (double)raid0 / MB);
    }
}

Test(simulate, the_first_loss_names_the_slow_drive)
{
    struct stria_model_parameters fast = small_drive("samsung-sm961"),
                                  slow = small_drive("solidigm-p41-plus");
    struct stria_simulate_config config = small_config(STRIA_POLICY_RAID0);
    config.drives[0] = config.drives[2] = &fast;
    config.drives[1] = &slow;
    config.drive_count = 3;
    config.size_bytes = 600 * MB;
    config.rate_bytes_per_s = 3000 * MB;
    struct stria_simulation simulation = simulate(&config);
    cr_assert_not(simulation.lossless);
    cr_assert_eq(simulation.first_loss.drive, 1);
    /* The slow drive takes 120 MB fast, which is at 360 MB of the stream. */
    cr_assert_gt(simulation.first_loss.offset_bytes, 350 * MB);
    cr_assert_lt(simulation.first_loss.offset_bytes, 380 * MB);
    cr_assert_eq(simulation.first_loss.time_ns / 1000000,
                 simulation.first_loss.offset_bytes * 1000 / config.rate_bytes_per_s);
    stria_simulation_clear(&simulation);
}

Test(simulate, a_larger_buffer_loses_no_more_and_its_high_water_is_what_it_needs)
{
    struct stria_model_parameters drive = small_drive("samsung-980");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    config.drives[0] = config.drives[1] = &drive;
    config.drive_count = 2;
    config.size_bytes = 600 * MB;
    config.rate_bytes_per_s = 1800 * MB;
    config.buffer_bytes = (uint64_t)STRIA_SLOTS_MAX * config.chunk_bytes;
    struct stria_simulation simulation = simulate(&config);
    cr_assert(simulation.lossless);
    const uint64_t needed = simulation.meter->buffer_high_water_bytes;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < simulation.buffer.count; i++)
        highest = simulation.buffer.bins[i] > highest ? simulation.buffer.bins[i] : highest;
    cr_assert_eq(highest, needed);
    stria_simulation_clear(&simulation);
    config.buffer_bytes = needed;
    simulation = simulate(&config);
    cr_assert(simulation.lossless, "the high water of a boundless buffer is enough of one");
    stria_simulation_clear(&simulation);
    uint64_t dropped = 0;
    for (uint64_t buffer = needed - config.chunk_bytes; buffer > 8 * config.chunk_bytes; buffer /= 2) {
        config.buffer_bytes = buffer;
        simulation = simulate(&config);
        cr_assert_not(simulation.lossless);
        cr_assert_geq(simulation.dropped_bytes, dropped);
        dropped = simulation.dropped_bytes;
        stria_simulation_clear(&simulation);
    }
}

Test(simulate, a_stream_larger_than_the_array_loses_its_end)
{
    struct stria_model_parameters drive = small_drive("samsung-sm961");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    config.drives[0] = config.drives[1] = &drive;
    config.drive_count = 2;
    config.rate_bytes_per_s = 1000 * MB;
    struct stria_simulation simulation = simulate(&config);
    cr_assert(simulation.lossless, "without a size it is as much as fits");
    cr_assert_eq(simulation.stored_bytes, simulation.capacity_bytes);
    stria_simulation_clear(&simulation);
    config.size_bytes = 700 * MB;
    simulation = simulate(&config);
    cr_assert_not(simulation.lossless);
    cr_assert(simulation.full);
    cr_assert_eq(simulation.first_loss.cause, STRIA_GAP_FULL);
    cr_assert_eq(simulation.first_loss.offset_bytes, simulation.capacity_bytes);
    cr_assert_eq(simulation.stored_bytes, simulation.capacity_bytes);
    cr_assert_eq(simulation.stored_bytes + simulation.dropped_bytes, simulation.stream_bytes);
    stria_simulation_clear(&simulation);
}

Test(simulate, a_run_can_end_at_its_first_loss_or_after_a_time)
{
    struct stria_model_parameters drive = small_drive("samsung-980");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    config.drives[0] = &drive;
    config.drive_count = 1;
    config.rate_bytes_per_s = 2000 * MB;
    struct stria_simulation whole = simulate(&config);
    config.stop_at_loss = true;
    struct stria_simulation stopped = simulate(&config);
    cr_assert_not(stopped.lossless);
    cr_assert_eq(stopped.first_loss.offset_bytes, whole.first_loss.offset_bytes);
    cr_assert_eq(stopped.first_loss.time_ns, whole.first_loss.time_ns);
    cr_assert_lt(stopped.duration_ns, whole.duration_ns);
    stria_simulation_clear(&whole);
    stria_simulation_clear(&stopped);
    config.duration_ns = 10000000;
    struct stria_simulation timed = simulate(&config);
    cr_assert(timed.lossless);
    cr_assert_geq(timed.stream_bytes, 19 * MB);
    cr_assert_leq(timed.stream_bytes, 21 * MB);
    stria_simulation_clear(&timed);
}

Test(simulate, a_sensor_that_would_never_end_is_refused_and_not_waited_for)
{
    struct stria_model_parameters drive = small_drive("solidigm-p41-plus");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    struct stria_simulation simulation;
    struct stria_trouble trouble = {0};
    config.drives[0] = &drive;
    config.drive_count = 1;
    config.rate_bytes_per_s = UINT64_MAX;
    config.size_bytes = UINT64_MAX;
    cr_assert_eq(stria_simulate(&config, &simulation, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "more than can be simulated"), "%s", trouble.sentence);
    /* By its link the drive could be full in a quarter of a second; it takes four. */
    config.rate_bytes_per_s = 2000 * (uint64_t)MB;
    config.chunks_max = 20000;
    cr_assert_eq(stria_simulate(&config, &simulation, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "more than 20000 chunks"), "%s", trouble.sentence);
    config.chunks_max = 200000;
    simulation = simulate(&config);
    cr_assert(simulation.full);
    stria_simulation_clear(&simulation);
}

Test(simulate, what_cannot_be_simulated_gets_a_sentence)
{
    struct stria_model_parameters drive = small_drive("samsung-980");
    struct stria_simulate_config config = small_config(STRIA_POLICY_ADAPTIVE);
    struct stria_simulation simulation;
    struct stria_trouble trouble = {0};
    config.drives[0] = &drive;
    config.drive_count = 1;
    config.buffer_bytes = config.chunk_bytes;
    cr_assert_eq(stria_simulate(&config, &simulation, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "buffer"));
    config = small_config(STRIA_POLICY_ADAPTIVE);
    drive.capacity_bytes = 100000;
    config.drives[0] = &drive;
    config.drive_count = 1;
    cr_assert_eq(stria_simulate(&config, &simulation, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "too small"));
    cr_assert_eq(stria_simulate_capacity_bytes(&config), 0);
}
