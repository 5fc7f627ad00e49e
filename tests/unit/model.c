#include "core/model.h"

#include <criterion/criterion.h>

#define MB        1000000ull
#define GB        1000000000ull
#define MIB       1048576ull
#define SECOND_NS 1000000000ull

static struct stria_model model;

/* A flat drive: 500 GB, link 3 GB/s, writes 2 GB/s, reads 2.5 GB/s, nothing else. */
static struct stria_model_parameters flat(void)
{
    return (struct stria_model_parameters){
        .capacity_bytes = 500 * GB,
        .link_bytes_per_s = 3 * GB,
        .law = {.kind = STRIA_WRITE_LAW_TABLE, .step_count = 1, .steps = {{500 * GB, 2 * GB}}},
        .read_bytes_per_s = 2500 * MB,
    };
}

/* Everything at once. */
static struct stria_model_parameters rich(void)
{
    struct stria_model_parameters p = flat();
    p.law.step_count = 3;
    p.law.steps[0] = (struct stria_rate_step){1 * GB, 2400 * MB};
    p.law.steps[1] = (struct stria_rate_step){2 * GB, 900 * MB};
    p.law.steps[2] = (struct stria_rate_step){3 * GB, 250 * MB};
    p.worn = p.law;
    p.worn.steps[0].bytes_per_s = 500 * MB;
    p.worn_after_bytes = 6 * GB;
    p.write_zones.count = 2;
    p.write_zones.zones[0] = (struct stria_rate_step){4 * GB, 2300 * MB};
    p.write_zones.zones[1] = (struct stria_rate_step){500 * GB, 700 * MB};
    p.write_latency_ns = 20000;
    p.read_latency_ns = 80000;
    p.command_ns = 2500;
    p.flush_ns = 300000;
    p.trim_ns = 100000;
    p.idle_ns = 2 * SECOND_NS;
    p.refill_bytes_per_s = 250 * MB;
    p.interference_per_mille = 500;
    p.stall_count = 2;
    p.stalls[0] = (struct stria_model_stall){200 * MB, 4000000, 8000000};
    p.stalls[1] = (struct stria_model_stall){3 * GB, 50000000, 90000000};
    p.heat = (struct stria_heat_parameters){.ambient_mc = 25000,
                                            .resistance_mk_per_w = 8000,
                                            .idle_mw = 1000,
                                            .active_mw = 8000,
                                            .time_constant_ns = 2 * SECOND_NS,
                                            .levels = {{60000, 700}, {70000, 400}},
                                            .hysteresis_mk = 5000};
    return p;
}

/* Writes a range in requests with so many in flight, each followed by the next as it completes; returns
 * when the last completes. */
static uint64_t write_range(uint64_t now_ns, uint64_t offset, uint64_t bytes, uint64_t request_bytes,
                            unsigned depth)
{
    uint64_t ends_ns[64] = {0};
    uint64_t last_ns = now_ns;
    for (uint64_t at = 0, i = 0; at < bytes; at += request_bytes, i++) {
        const uint64_t arrives_ns = i < depth ? now_ns : ends_ns[i % depth];
        last_ns = stria_model_submit(&model, arrives_ns, STRIA_MODEL_WRITE, offset + at, request_bytes);
        ends_ns[i % depth] = last_ns;
    }
    return last_ns;
}

static void assert_rate(uint64_t bytes, uint64_t ns, double expected_bytes_per_s)
{
    const double rate = (double)bytes * 1e9 / (double)ns;
    cr_assert_float_eq(rate / expected_bytes_per_s, 1.0, 0.005, "%.0f against %.0f bytes/s", rate,
                       expected_bytes_per_s);
}

Test(model, a_flat_drive_gives_its_rate_at_any_depth)
{
    const struct stria_model_parameters p = flat();
    for (unsigned depth = 1; depth <= 64; depth *= 4) {
        stria_model_init(&model, &p, 1);
        assert_rate(10 * GB, write_range(0, 0, 10 * GB, 1 * MB, depth), 2e9);
    }
}

Test(model, latency_under_load_is_depth_times_block_over_rate)
{
    const struct stria_model_parameters p = flat();
    stria_model_init(&model, &p, 1);
    uint64_t done_ns = 0;
    for (unsigned i = 0; i < 32; i++)
        done_ns = stria_model_submit(&model, 1000, STRIA_MODEL_WRITE, i * MIB, MIB);
    cr_assert_float_eq((double)(done_ns - 1000), 32.0 * 1048576 / 2, 64);
}

Test(model, a_single_request_pays_the_base_latency_on_top)
{
    struct stria_model_parameters p = flat();
    p.write_latency_ns = 30000;
    stria_model_init(&model, &p, 1);
    cr_assert_eq(stria_model_submit(&model, 0, STRIA_MODEL_WRITE, 0, 2 * MB), 1000000 + 30000);
}

Test(model, small_requests_are_bound_by_the_cost_of_a_command)
{
    struct stria_model_parameters p = flat();
    p.command_ns = 2500;
    stria_model_init(&model, &p, 1);
    assert_rate(512 * 100000ull, write_range(0, 0, 512 * 100000ull, 512, 64), 512 / 2.5e-6);
    stria_model_init(&model, &p, 1);
    assert_rate(16384 * 100000ull, write_range(0, 0, 16384 * 100000ull, 16384, 64), 2e9);
}

Test(model, rate_by_bytes_written_and_rate_by_place_the_slower_one_holds)
{
    struct stria_model_parameters p = flat();
    p.law.step_count = 2;
    p.law.steps[0] = (struct stria_rate_step){10 * GB, 2 * GB};
    p.law.steps[1] = (struct stria_rate_step){20 * GB, 500 * MB};
    p.write_zones.count = 2;
    p.write_zones.zones[0] = (struct stria_rate_step){100 * GB, 1 * GB};
    p.write_zones.zones[1] = (struct stria_rate_step){200 * GB, 2500 * MB};
    stria_model_init(&model, &p, 1);
    uint64_t at_ns = write_range(0, 0, 5 * GB, 1 * MB, 8);
    assert_rate(5 * GB, at_ns, 1e9);
    uint64_t end_ns = write_range(at_ns, 100 * GB, 5 * GB, 1 * MB, 8);
    assert_rate(5 * GB, end_ns - at_ns, 2e9);
    at_ns = end_ns;
    end_ns = write_range(at_ns, 300 * GB, 5 * GB, 1 * MB, 8);
    assert_rate(5 * GB, end_ns - at_ns, 500e6);
}

Test(model, rest_brings_the_fast_region_back_only_after_the_idle_time)
{
    struct stria_model_parameters p = flat();
    p.law.step_count = 2;
    p.law.steps[0] = (struct stria_rate_step){10 * GB, 2 * GB};
    p.law.steps[1] = (struct stria_rate_step){20 * GB, 500 * MB};
    p.idle_ns = 30 * SECOND_NS;
    p.refill_bytes_per_s = 500 * MB;
    stria_model_init(&model, &p, 1);
    uint64_t now_ns = write_range(0, 0, 12 * GB, 1 * MB, 8);
    stria_model_advance(&model, now_ns + 30 * SECOND_NS);
    cr_assert_eq(stria_model_write_bytes_per_s(&model, 0), 500 * MB);
    cr_assert_eq(model.state.law.since_bytes, 12 * GB);
    stria_model_advance(&model, now_ns + 34 * SECOND_NS);
    cr_assert_eq(model.state.law.since_bytes, 10 * GB);
    stria_model_rest(&model, 2 * SECOND_NS);
    cr_assert_eq(model.state.law.since_bytes, 9 * GB);
    cr_assert_eq(stria_model_write_bytes_per_s(&model, 0), 2 * GB);
    stria_model_rest(&model, 3600 * SECOND_NS);
    cr_assert_eq(model.state.law.since_bytes, 0);
}

Test(model, looking_often_does_not_change_what_rest_gives)
{
    struct stria_model_parameters p = rich();
    stria_model_init(&model, &p, 5);
    uint64_t now_ns = write_range(0, 0, 3 * GB, 1 * MB, 8);
    const struct stria_model before = model;
    stria_model_advance(&model, now_ns + 9 * SECOND_NS);
    const uint64_t at_once = model.state.law.since_bytes;
    model = before;
    for (uint64_t ns = 0; ns <= 9 * SECOND_NS; ns += 1000003)
        stria_model_advance(&model, now_ns + ns);
    stria_model_advance(&model, now_ns + 9 * SECOND_NS);
    cr_assert_float_eq((double)model.state.law.since_bytes, (double)at_once, 20000);
}

Test(model, trim_gives_space_and_speed_back)
{
    const struct stria_model_parameters p = rich();
    stria_model_init(&model, &p, 1);
    uint64_t now_ns = write_range(0, 0, 7 * GB, 1 * MB, 8);
    cr_assert_eq(stria_model_used_bytes(&model), 7 * GB);
    const uint64_t done_ns = stria_model_trim(&model, now_ns, 0, p.capacity_bytes);
    cr_assert_geq(done_ns, now_ns + p.trim_ns);
    cr_assert_eq(stria_model_used_bytes(&model), 0);
    cr_assert_eq(model.state.law.since_bytes, 0);
    cr_assert_eq(model.state.worn_bytes, 0);
}

Test(model, a_drive_wears_when_enough_was_written_and_trim_cures_it)
{
    struct stria_model_parameters p = flat();
    p.worn = p.law;
    p.worn.steps[0].bytes_per_s = 300 * MB;
    p.worn_after_bytes = 4 * GB;
    stria_model_init(&model, &p, 1);
    uint64_t now_ns = write_range(0, 0, 4 * GB, 1 * MB, 8);
    assert_rate(4 * GB, now_ns, 2e9);
    const uint64_t end_ns = write_range(now_ns, 0, 3 * GB, 1 * MB, 8);
    assert_rate(3 * GB, end_ns - now_ns, 300e6);
    stria_model_trim(&model, end_ns, 0, p.capacity_bytes);
    cr_assert_eq(stria_model_write_bytes_per_s(&model, 0), 2 * GB);
}

Test(model, stalls_take_their_share_and_the_mean_rate_stays)
{
    struct stria_model_parameters p = flat();
    p.stall_count = 1;
    p.stalls[0] = (struct stria_model_stall){200 * MB, 10000000, 30000000};
    stria_model_init(&model, &p, 3);
    const uint64_t end_ns = write_range(0, 0, 40 * GB, 1 * MB, 8);
    assert_rate(40 * GB, end_ns, 2e9);
    cr_assert_float_eq((double)model.state.stall_count, 200, 10);
    cr_assert_float_eq((double)model.state.stall_ns / 1e9, 4.0, 0.25);
}

Test(model, reads_and_writes_are_independent_or_share_as_told)
{
    for (unsigned per_mille = 0; per_mille <= 1000; per_mille += 1000) {
        struct stria_model_parameters p = flat();
        p.read_bytes_per_s = 2 * GB;
        p.interference_per_mille = per_mille;
        stria_model_init(&model, &p, 1);
        uint64_t reads_ns[4] = {0}, writes_ns[4] = {0};
        uint64_t written = 0, read = 0;
        while (written < 4 * GB) {
            /* Whichever direction's oldest request ends first sends its next one. */
            const bool write = writes_ns[written / MB % 4] <= reads_ns[read / MB % 4];
            uint64_t *slot = write ? &writes_ns[written / MB % 4] : &reads_ns[read / MB % 4];
            *slot = stria_model_submit(&model, *slot, write ? STRIA_MODEL_WRITE : STRIA_MODEL_READ, 0, MB);
            written += write ? MB : 0;
            read += write ? 0 : MB;
        }
        const uint64_t end_ns = writes_ns[(written / MB - 1) % 4];
        const double share = per_mille == 0 ? 2e9 : 1e9;
        cr_assert_float_eq((double)written * 1e9 / (double)end_ns / share, 1.0, 0.02, "%f",
                           (double)written * 1e9 / (double)end_ns / share);
        cr_assert_float_eq((double)read * 1e9 / (double)end_ns / share, 1.0, 0.02);
    }
}

Test(model, a_flush_waits_for_every_write_before_it)
{
    const struct stria_model_parameters p = rich();
    stria_model_init(&model, &p, 1);
    uint64_t last_ns = 0;
    for (unsigned i = 0; i < 10; i++)
        last_ns = stria_model_submit(&model, 50, STRIA_MODEL_WRITE, i * MB, MB);
    cr_assert_eq(stria_model_submit(&model, 60, STRIA_MODEL_FLUSH, 0, 0), last_ns + p.flush_ns);
    cr_assert_eq(stria_model_submit(&model, 100 * SECOND_NS, STRIA_MODEL_FLUSH, 0, 0),
                 100 * SECOND_NS + p.flush_ns);
}

Test(model, heat_slows_the_drive_down_and_rest_cools_it)
{
    struct stria_model_parameters p = flat();
    p.heat = rich().heat;
    stria_model_init(&model, &p, 1);
    cr_assert_eq(stria_model_temperature_mc(&model), 33000);
    uint64_t now_ns = write_range(0, 0, 40 * GB, 1 * MB, 8);
    stria_model_advance(&model, now_ns);
    cr_assert_gt(stria_model_temperature_mc(&model), 55000);
    cr_assert_gt(model.state.throttled_ns, 0);
    cr_assert_gt(now_ns, 20 * SECOND_NS + SECOND_NS);
    stria_model_rest(&model, 100 * SECOND_NS);
    cr_assert_float_eq((double)stria_model_temperature_mc(&model), 33000, 10);
    cr_assert_eq(stria_model_heat_rate_per_mille(&model), 1000);
}

Test(model, places_beyond_the_capacity_are_written_at_the_last_rates)
{
    struct stria_model_parameters p = rich();
    stria_model_init(&model, &p, 1);
    const uint64_t end_ns = write_range(0, 2 * p.capacity_bytes, 10 * MB, MB, 4);
    cr_assert_geq(end_ns, 10 * MB * 1000 / 1000);
    cr_assert_eq(stria_model_used_bytes(&model), 0);
    stria_model_submit(&model, end_ns, STRIA_MODEL_WRITE, UINT64_MAX - MB, MB);
}

/* A random caller: reads, writes, flushes, trims, pauses, now and then a clock that stands or lags. */
struct event {
    enum stria_model_op op;
    uint64_t bytes;
    uint64_t submitted_ns;
    uint64_t done_ns;
};

static struct event events[20000];

static unsigned run_random(uint64_t seed, const struct stria_model_parameters *p, unsigned count)
{
    struct stria_random random;
    stria_random_seed(&random, seed);
    stria_model_init(&model, p, seed);
    uint64_t now_ns = 1;
    unsigned n = 0;
    while (n < count) {
        const uint64_t dice = stria_random_below(&random, 1000);
        const uint64_t offset = stria_random_below(&random, 20 * GB) / 4096 * 4096;
        const uint64_t bytes = stria_random_between(&random, 1, 512) * 4096;
        if (dice == 0)
            stria_model_trim(&model, now_ns, offset, 4 * GB);
        if (dice < 3)
            now_ns += stria_random_below(&random, 4 * SECOND_NS);
        else if (dice < 600)
            now_ns += stria_random_below(&random, 1500000);
        const enum stria_model_op op = dice < 650   ? STRIA_MODEL_WRITE
                                       : dice < 990 ? STRIA_MODEL_READ
                                                    : STRIA_MODEL_FLUSH;
        const uint64_t size = op == STRIA_MODEL_FLUSH ? 0 : bytes;
        events[n] =
            (struct event){op, size, now_ns, stria_model_submit(&model, now_ns, op, size ? offset : 0, size)};
        n++;
    }
    return n;
}

/* The completions of one direction are in order, and between any two of them lies at least the time that the
 * cap needs for what completes after the first. */
static void assert_cap(const struct event *list, unsigned count, enum stria_model_op op, uint64_t cap)
{
    double lowest = 0, cumulative = 0;
    uint64_t before_ns = 0;
    for (unsigned i = 0; i < count; i++) {
        if (list[i].op != op)
            continue;
        cr_assert_geq(list[i].done_ns, before_ns, "completions out of order");
        cumulative += (double)list[i].bytes;
        /* S(t) − cap·t never rises: any rise would be a window with too much in it. */
        const double level = cumulative - (double)cap * (double)list[i].done_ns / 1e9;
        if (before_ns == 0 || level < lowest)
            lowest = level;
        cr_assert_leq(level - lowest, 16.0, "%.0f bytes too many at %u", level - lowest, i);
        before_ns = list[i].done_ns;
    }
}

Test(model, no_window_ever_holds_more_than_the_link_carries)
{
    const struct stria_model_parameters p = rich();
    for (uint64_t seed = 0; seed < 10; seed++) {
        const unsigned count = run_random(seed, &p, 20000);
        assert_cap(events, count, STRIA_MODEL_WRITE, p.link_bytes_per_s);
        assert_cap(events, count, STRIA_MODEL_READ, p.read_bytes_per_s);
    }
}

Test(model, no_request_completes_sooner_than_its_rate_allows_or_before_it_came)
{
    const struct stria_model_parameters p = rich();
    for (uint64_t seed = 20; seed < 30; seed++) {
        const unsigned count = run_random(seed, &p, 20000);
        for (unsigned i = 0; i < count; i++) {
            const uint64_t least_ns = events[i].bytes * SECOND_NS / p.link_bytes_per_s;
            cr_assert_geq(events[i].done_ns, events[i].submitted_ns + least_ns);
        }
    }
}

Test(model, bytes_are_conserved)
{
    const struct stria_model_parameters p = rich();
    const unsigned count = run_random(77, &p, 20000);
    uint64_t written = 0, read = 0, segments = 0;
    for (unsigned i = 0; i < count; i++) {
        written += events[i].op == STRIA_MODEL_WRITE ? events[i].bytes : 0;
        read += events[i].op == STRIA_MODEL_READ ? events[i].bytes : 0;
    }
    for (unsigned i = 0; i < STRIA_FILL_SEGMENTS; i++)
        segments += model.state.fill.segment_used_bytes[i];
    cr_assert_eq(model.state.written_bytes, written);
    cr_assert_eq(model.state.read_bytes, read);
    cr_assert_eq(stria_model_used_bytes(&model), segments);
    cr_assert_leq(stria_model_used_bytes(&model), written);
}

Test(model, the_same_seed_gives_the_same_run_and_another_seed_another)
{
    static struct event first[20000];
    const struct stria_model_parameters p = rich();
    run_random(5, &p, 20000);
    memcpy(first, events, sizeof(first));
    const struct stria_model ended = model;
    run_random(5, &p, 20000);
    for (unsigned i = 0; i < 20000; i++)
        cr_assert_eq(first[i].done_ns, events[i].done_ns);
    cr_assert_eq(memcmp(&ended.state, &model.state, sizeof(ended.state)), 0);
    stria_model_init(&model, &p, 6);
    const uint64_t other_ns = write_range(0, 0, 2 * GB, MB, 8);
    stria_model_init(&model, &p, 7);
    cr_assert_neq(write_range(0, 0, 2 * GB, MB, 8), other_ns);
}

Test(model, a_clock_that_goes_back_is_taken_as_standing)
{
    const struct stria_model_parameters p = flat();
    stria_model_init(&model, &p, 1);
    stria_model_submit(&model, 10 * SECOND_NS, STRIA_MODEL_WRITE, 0, 2 * MB);
    cr_assert_eq(stria_model_submit(&model, 5 * SECOND_NS, STRIA_MODEL_WRITE, 0, 2 * MB),
                 10 * SECOND_NS + 2000000);
}
