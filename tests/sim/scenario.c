#include "tests/sim/scenario.h"

#include "tests/sim/draw.h"

static uint64_t draw(const struct sim_scenario *scenario, uint64_t what, uint64_t which)
{
    return sim_draw(scenario->seed, SIM_TOPIC_SCENARIO, what, which);
}

/* low to high, both included. */
static uint64_t between(const struct sim_scenario *scenario, uint64_t what, uint64_t which, uint64_t low,
                        uint64_t high)
{
    return low + draw(scenario, what, which) % (high - low + 1);
}

enum what {
    WHAT_DRIVES = 1,
    WHAT_CHUNK,
    WHAT_POLICY,
    WHAT_CHUNKS,
    WHAT_LIVES,
    WHAT_SLOTS,
    WHAT_WINDOW,
    WHAT_COMMIT,
    WHAT_DEADLINE,
    WHAT_SOURCE,
    WHAT_OVERRUN,
    WHAT_REPEATS,
    WHAT_TAIL,
    WHAT_FILLED,
    WHAT_CROWDED,
    WHAT_FAULTS,
    WHAT_EXTENTS,
    WHAT_EQUAL,
    WHAT_RATE,
    WHAT_LATENCY,
    WHAT_DEPTH,
    WHAT_BLOCK,
    WHAT_SHORT
};

/* Mostly room for all that comes, sometimes less: full arrays are to be met too. */
static void make_drives(struct sim_scenario *scenario)
{
    uint64_t share = (uint64_t)scenario->chunks * scenario->lives / scenario->drive_count + 8;
    bool equal = draw(scenario, WHAT_EQUAL, 0) % 3 == 0;
    uint64_t parts = between(scenario, WHAT_EXTENTS, 99, 60, 240);
    scenario->block_bytes = STRIA_BLOCK_BYTES_MIN;
    for (uint32_t index = 0; index < scenario->drive_count; index++) {
        struct sim_scenario_drive *drive = &scenario->drives[index];
        uint64_t which = equal ? 0 : index;
        drive->extents = share * parts * between(scenario, WHAT_EXTENTS, which, 60, 140) / 10000 + 8;
        drive->bytes_per_s = between(scenario, WHAT_RATE, which, 200, 4000) * 1000000;
        drive->latency_ns = between(scenario, WHAT_LATENCY, which, 10, 400) * 1000;
        drive->depth = (uint32_t)between(scenario, WHAT_DEPTH, which, 1, 12);
        drive->block_bytes = draw(scenario, WHAT_BLOCK, which) % 2 ? 4096 : 512;
        if (drive->block_bytes > scenario->block_bytes)
            scenario->block_bytes = drive->block_bytes;
    }
}

static void make_faults(struct sim_scenario *scenario, const struct sim_options *options)
{
    uint64_t number = between(scenario, WHAT_FAULTS, 100, 0, 5);
    for (uint64_t pick = 0; pick < number; pick++)
        scenario->faults[draw(scenario, WHAT_FAULTS, pick) % SIM_FAULTS_PICKED] = true;
    scenario->faults[SIM_FAULT_POWER_CUT] |= draw(scenario, WHAT_FAULTS, 101) % 2 == 0;
    scenario->faults[SIM_FAULT_APART] = draw(scenario, WHAT_FAULTS, 102) % 8 == 0;
    scenario->faults[SIM_FAULT_STOP] = draw(scenario, WHAT_FAULTS, 103) % 8 == 0;
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++) {
        if (options->only || options->calm || options->without[fault])
            scenario->faults[fault] = false;
        if (options->with[fault])
            scenario->faults[fault] = true;
    }
}

static uint64_t total_rate(const struct sim_scenario *scenario)
{
    uint64_t rate = 0;
    for (uint32_t index = 0; index < scenario->drive_count; index++)
        rate += scenario->drives[index].bytes_per_s;
    return rate;
}

static void saturate(struct sim_scenario *scenario)
{
    for (uint32_t index = 0; index < scenario->drive_count; index++)
        scenario->drives[index] =
            (struct sim_scenario_drive){.extents = scenario->chunks / scenario->drive_count + 64,
                                        .bytes_per_s = UINT64_C(14000000000),
                                        .latency_ns = 50000,
                                        .depth = 8,
                                        .block_bytes = 4096};
    scenario->block_bytes = 4096;
    scenario->slots = 128;
    scenario->window_chunks = 65536;
    scenario->commit_interval_ns = 200000000;
    scenario->deadline_ns = UINT64_C(5000000000);
    scenario->source_bytes_per_s = 2 * total_rate(scenario);
    scenario->overrun = SIM_OVERRUN_BLOCK;
}

struct sim_scenario sim_scenario_make(uint64_t seed, const struct sim_options *options)
{
    struct sim_scenario scenario = {.seed = seed};
    struct sim_scenario *s = &scenario;
    s->drive_count = options->drives ? options->drives : (uint32_t)between(s, WHAT_DRIVES, 0, 1, 6);
    s->filled = options->filled || (!options->modelled && draw(s, WHAT_FILLED, 0) % 8 == 0);
    uint64_t large = between(s, WHAT_CHUNK, 0, 0, 6) * between(s, WHAT_CHUNK, 1, 0, 6) / 6;
    s->chunk_bytes = options->chunk_bytes ? options->chunk_bytes : STRIA_CHUNK_BYTES_MIN << large;
    if (s->filled && !options->chunk_bytes)
        s->chunk_bytes = STRIA_CHUNK_BYTES_MIN;
    s->policy = options->policy ? options->policy
                                : (enum stria_policy)between(s, WHAT_POLICY, 0, STRIA_POLICY_RAID0,
                                                             STRIA_POLICY_ADAPTIVE);
    s->chunks = options->chunks ? options->chunks : (uint32_t)between(s, WHAT_CHUNKS, 0, 1, 200);
    if (s->filled && !options->chunks && s->chunks > 60)
        s->chunks = 60;
    s->lives = options->lives ? options->lives : (uint32_t)between(s, WHAT_LIVES, 0, 1, 5);
    s->slots = options->slots ? options->slots : (uint32_t)between(s, WHAT_SLOTS, 0, 4, 40);
    s->window_chunks = UINT32_C(1) << between(s, WHAT_WINDOW, 0, 2, 10);
    s->commit_interval_ns = between(s, WHAT_COMMIT, 0, 1, 40) * 1000000;
    s->deadline_ns = between(s, WHAT_DEADLINE, 0, 50, 300) * 1000000;
    make_drives(s);
    s->source_bytes_per_s = total_rate(s) / 10 * between(s, WHAT_SOURCE, 0, 2, 30);
    s->overrun = draw(s, WHAT_OVERRUN, 0) % 2 ? SIM_OVERRUN_DROP : SIM_OVERRUN_BLOCK;
    s->repeats = draw(s, WHAT_REPEATS, 0) % 4 == 0;
    s->tail = draw(s, WHAT_TAIL, 0) % 2;
    s->catalogue_crowded = draw(s, WHAT_CROWDED, 0) % 8 == 0;
    s->catalogue_short = options->short_catalogue || draw(s, WHAT_SHORT, 0) % 8 == 0;
    make_faults(s, options);
    s->cut_step = options->cut_step;
    s->cut = options->cut;
    s->cut_fixed = options->cut_fixed;
    if (options->saturated)
        saturate(s);
    return scenario;
}
