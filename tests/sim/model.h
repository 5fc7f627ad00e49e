/* What the world knows to be true about every recording: what the source delivered, what the recorder said
 * about it, and where the drives were told to put it. */
#ifndef STRIA_TESTS_SIM_MODEL_H
#define STRIA_TESTS_SIM_MODEL_H

#include "core/recorder.h"

#include <stdbool.h>
#include <stdint.h>

enum sim_fate {
    SIM_FATE_SKIPPED = 1, /* the source went on without the recorder */
    SIM_FATE_COMMITTED,   /* handed to the recorder */
    SIM_FATE_WRITTEN,     /* a drive said that it has all of it */
    SIM_FATE_UNKNOWN      /* not acknowledged when power was cut, or lost */
};

/* One chunk of a stream. */
struct sim_chunk {
    uint8_t fate;      /* enum sim_fate */
    uint8_t cause;     /* of the gap it lies in, enum stria_gap_cause; zero: in none */
    uint8_t drive;     /* WRITTEN: there, … */
    bool durable;      /* below a watermark, or found on the media after a cut */
    uint32_t position; /* … at this extent */
    uint32_t length_bytes;
};

struct sim_recording {
    uint64_t id;
    uint32_t serial; /* over all recordings of the run: of which its payload is made */
    enum stria_policy policy;
    bool started;             /* it exists on the media */
    bool finished;            /* its end, too */
    bool closed;              /* its length is final: finished, or closed by a recovery */
    bool holes;               /* closed by a recovery with a drive absent: nobody may know of some */
    bool removing;            /* its removal has begun */
    bool removed;             /* and ended */
    uint32_t begun_on;        /* which drives durably hold that it exists, a bit for each … */
    uint32_t ended_on;        /* … that it ended, and how … */
    uint32_t removed_on;      /* … that it was removed */
    uint64_t length_bytes;    /* delivered by the source or skipped; after a cut: as found */
    uint64_t delivered_bytes; /* after a recovery: how long it once was */
    uint64_t watermark_bytes;
    uint64_t dropped_bytes; /* in the gaps told */
    struct sim_chunk *chunks;
    uint32_t chunk_count, chunk_capacity;
};

struct sim_model {
    struct sim_recording *recordings;
    uint32_t count, capacity;
};

struct sim_recording *sim_model_begin(struct sim_model *model, uint64_t id, enum stria_policy policy);

/* The recording of that id that is not known to be removed; null if there is none. */
struct sim_recording *sim_model_find(struct sim_model *model, uint64_t id);

void sim_recording_append(struct sim_recording *recording, struct sim_chunk chunk);
void sim_model_free(struct sim_model *model);

#endif
