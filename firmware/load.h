/* A bare write loop: no recorder, no hash, no ledger. It writes to free extents alone, so that no recording
 * comes to harm, and measures what the drives give. */
#ifndef STRIA_FIRMWARE_LOAD_H
#define STRIA_FIRMWARE_LOAD_H

#include "firmware/array.h"

/* What is to be written. */
struct stria_bare_load {
    struct stria_bare_array *array;
    uint32_t drive;       /* index of the one drive; STRIA_DRIVES_MAX: all, each as much as it can */
    uint32_t zone, zones; /* only this part, from 0, of so many equal parts of each drive's extents */
    uint64_t chunks;      /* in all */
    uint32_t depth;       /* requests in flight on each drive */
    const uint8_t *ring;  /* chunks are written from here in turn */
    uint32_t slot_count;
};

struct stria_bare_load_result {
    uint64_t bytes;
    uint64_t duration_ns;       /* with a flush at the end */
    bool has_least;             /* the run was long enough for a whole bin of 100 ms */
    uint64_t least_bytes_per_s; /* of the slowest whole bin */
};

/* STRIA_OK; STRIA_ERR_NO_SPACE when the free extents are fewer than the chunks, with nothing written; the
 * code of the drive that failed, else. Says nothing. */
int stria_bare_load_run(const struct stria_bare_load *load, struct stria_bare_load_result *result);

#endif
