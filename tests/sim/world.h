/* The simulated world: a clock, drives, a source, and the product's own recorder and pump between them. */
#ifndef STRIA_TESTS_SIM_WORLD_H
#define STRIA_TESTS_SIM_WORLD_H

#include "core/meter.h"
#include "core/superblock.h"
#include "engine/pump.h"
#include "tests/sim/draw.h"
#include "tests/sim/media.h"
#include "tests/sim/model.h"
#include "tests/sim/scenario.h"
#include "tests/sim/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* How often each kind of fault has struck, by the state that the recorder was in. */
struct sim_cover {
    uint64_t count[SIM_FAULTS][STRIA_RECORDER_FINISHED + 1];
    uint64_t simulated_bytes; /* stored by all runs */
    uint64_t chunks;
    uint64_t recordings, finished, cuts, drives_given_up, drives_full, losses, overruns, removals,
        compactions, only_read;
    uint64_t displaced, wrapped, recovered, absent;
};

/* What stays of a drive from life to life. */
struct sim_drive_past {
    struct sim_media *media;
    struct stria_superblock super;
    uint64_t *owners;  /* by extent: recording << 32 | chunk, plus one; zero: none */
    uint64_t requests; /* so far: numbers them for the draws */
    bool dead;         /* never to be seen again */
    bool damaged;      /* it has lied: what it holds may be wrong */
};

/* What a slot of the ring holds. */
struct sim_slot {
    bool held; /* by the recorder */
    uint32_t chunk;
    uint64_t id;
    uint32_t length_bytes, padded_bytes;
    uint32_t drive;    /* that got it last … */
    uint64_t given_ns; /* … and when, first, as watched time; zero: none has */
};

/* What a drive is asked for beside payload, until it has done it. */
struct sim_errand {
    enum stria_io_op op;
    uint64_t offset;
    uint64_t given_ns; /* when it was asked first, as watched time; zero: nothing is asked */
};

struct sim_source {
    uint64_t due_ns;                    /* of the next chunk */
    uint32_t next;                      /* its number */
    uint32_t count;                     /* chunks in all */
    uint64_t skipped_bytes;             /* not yet told to the recorder … */
    enum stria_gap_cause skipped_cause; /* … for this reason */
    bool blocked;                       /* waits for a slot, or to be welcome */
    bool ended;                         /* END was told */
};

struct sim_drive;
struct sim_array;

struct sim_world {
    struct sim_scenario scenario;
    struct sim_trace trace;
    struct sim_cover *cover;
    uint64_t now_ns;
    uint64_t unwatched_ns; /* of it, while the process did not run */
    uint64_t stop_count;   /* times at which it might have been stopped */
    uint64_t step;         /* counts what a power cut can come between */
    uint64_t cut_step;     /* it comes at this one; zero: never */
    bool cut;              /* power is off */
    uint32_t life;
    struct sim_ring ring;
    struct sim_drive_past past[STRIA_DRIVES_MAX];
    struct sim_model model;

    /* Of the life under way. */
    struct sim_array *array;
    struct sim_drive *drives[STRIA_DRIVES_MAX]; /* null: absent */
    struct stria_recorder *recorder;            /* null: not recording */
    struct stria_pump *pump;
    struct stria_meter *meter;
    struct sim_recording *recording;
    void **slot_data; /* as the pump sees the ring */
    struct sim_slot *slots;
    uint32_t *free_slots;
    uint32_t free_count;
    struct sim_source source;
    struct sim_errand errands[STRIA_DRIVES_MAX];
    uint64_t again_ns[STRIA_DRIVES_MAX];      /* when the drive last asked for patience */
    uint64_t moved_ns;                        /* when something last moved on */
    uint32_t failed_in_row[STRIA_DRIVES_MAX]; /* writes of payload since one ended well */
    bool finished, full_told;
    int finish_code;
    bool given_up[STRIA_DRIVES_MAX];

    char failure[512]; /* empty: all is well */
};

/* Notes the first thing that is wrong. */
__attribute__((format(printf, 2, 3))) void sim_fail(struct sim_world *world, const char *format, ...);
bool sim_failed(const struct sim_world *world);

/* Whether some flush was a lie: then even the beginning of a recording may be gone, and its extents be free.
 */
bool sim_somebody_lied(const struct sim_world *world);

/* Counts one step; true if the power is off from now on. */
bool sim_step(struct sim_world *world);

/* The recorder's state, for the counters; IDLE while there is none. */
enum stria_recorder_state sim_state(const struct sim_world *world);
void sim_cover_fault(struct sim_world *world, enum sim_fault fault, uint32_t drive);

/* The identity of what a chunk of a recording holds. */
uint64_t sim_chunk_id(const struct sim_world *world, const struct sim_recording *recording, uint32_t chunk);

/* Lives through a whole scenario. Leaves what is wrong, if anything, in world->failure. */
void sim_world_run(struct sim_world *world, const struct sim_scenario *scenario);
void sim_world_free(struct sim_world *world);

#endif
