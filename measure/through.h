/* Rounds through the recorder: the array as it will be used, with a recording of the bench's own in its free
 * space, which is removed again. */
#ifndef STRIA_MEASURE_THROUGH_H
#define STRIA_MEASURE_THROUGH_H

#include "config/array.h"
#include "engine/ring.h"
#include "measure/crew.h"
#include "stria.h"

struct stria_through {
    struct stria_array_config config; /* with the buffer in question */
    struct stria_array *array;
    struct stria_array_info info;
    struct stria_ring ring;           /* the recorder's buffer, filled with noise */
    struct stria_target *targets;     /* what is known of the drives; not opened */
    char recording[STRIA_NAME_BYTES]; /* that is there now; empty: none */
    uint32_t recorded;                /* recordings made so far */
    uint32_t stale;                   /* recordings that earlier benches had left, and that were removed */
    void *context;                    /* of watch, as in struct stria_crew */
    bool (*watch)(void *context, const struct stria_crew_moment *moment);
};

/* What the names of a bench's recordings begin with. Nothing else may be called so: they are removed. */
extern const char stria_through_prefix[];

/* Opens the array, whole and for writing, so that nobody else records on it: what a bench that was killed had
 * left there is removed. buffer_bytes zero: that of the configuration. targets has room for
 * all its drives. On failure there is nothing to close. */
int stria_through_open(const struct stria_array_config *config, uint64_t buffer_bytes, uint64_t seed,
                       struct stria_target *targets, struct stria_through **through,
                       struct stria_trouble *trouble);

/* Removes what was recorded; null does no harm. */
void stria_through_close(struct stria_through *through);

/* Bytes of payload for which there is room. */
uint64_t stria_through_free_bytes(const struct stria_through *through);

/* Removes the recording that is there, and gives the free space of the drives back by TRIM. False with the
 * reason where a drive has none. */
bool stria_through_trim(struct stria_through *through, char *reason, size_t size);

/* A round that records: bytes_max and runtime_ns are of the whole array. With a rate, nothing waits: the
 * round ends with the first byte that finds no room. */
int stria_through_record(struct stria_through *through, const struct stria_round_plan *plan,
                         struct stria_round *round, struct stria_trouble *trouble);

/* A round that reads back what was recorded last: of the array as a whole, in one series. */
int stria_through_play(struct stria_through *through, const struct stria_round_plan *plan,
                       struct stria_round *round, struct stria_trouble *trouble);

#endif
