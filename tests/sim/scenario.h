/* One run's conditions, all of them made from a seed; options may narrow them down. */
#ifndef STRIA_TESTS_SIM_SCENARIO_H
#define STRIA_TESTS_SIM_SCENARIO_H

#include "core/limits.h"
#include "core/policy.h"
#include "tests/sim/fault.h"
#include "tests/sim/media.h"

#include <stdbool.h>
#include <stdint.h>

struct sim_scenario_drive {
    uint64_t extents;
    uint64_t bytes_per_s;
    uint64_t latency_ns; /* of an idle drive; each request has up to as much again on top */
    uint32_t depth;
    uint32_t block_bytes;
};

enum sim_overrun { SIM_OVERRUN_BLOCK, SIM_OVERRUN_DROP };

struct sim_scenario {
    uint64_t seed;
    uint32_t drive_count;
    struct sim_scenario_drive drives[STRIA_DRIVES_MAX];
    uint32_t chunk_bytes;
    uint32_t block_bytes; /* the largest among the drives */
    enum stria_policy policy;
    uint32_t chunks; /* that the source delivers in each life */
    uint32_t lives;  /* the array is opened, recorded to and closed (or cut off) so many times */
    uint32_t slots;
    uint32_t window_chunks;
    uint64_t commit_interval_ns, deadline_ns;
    uint64_t source_bytes_per_s;
    enum sim_overrun overrun;
    bool repeats;           /* some chunks of the stream are alike, byte for byte */
    bool tail;              /* the last chunk is short */
    bool filled;            /* payload is real bytes */
    bool catalogue_crowded; /* a small catalogue, filled up before the run */
    bool catalogue_short;   /* each recording finds room for hardly any losses in it */
    bool faults[SIM_FAULTS];
    uint64_t cut_step; /* of the first life: power is cut there; zero: where the seed says, if at all */
    enum sim_cut cut;
    bool cut_fixed; /* cut counts; else the seed says */
};

/* What the command line asked for. Zero: as the seed says. */
struct sim_options {
    uint32_t drives, chunks, lives, slots;
    uint32_t chunk_bytes;
    enum stria_policy policy;
    bool filled, modelled;
    bool short_catalogue;     /* losses find no room in the catalogue, whatever the seed says */
    bool calm;                /* no faults at all */
    bool with[SIM_FAULTS];    /* these strike, whatever the seed says … */
    bool without[SIM_FAULTS]; /* … and these do not */
    bool only;                /* none but those in with */
    uint64_t cut_step;
    enum sim_cut cut;
    bool cut_fixed;
    bool saturated; /* for speed: big equal drives, a source that outruns them, nothing else */
};

struct sim_scenario sim_scenario_make(uint64_t seed, const struct sim_options *options);

#endif
