/* Large transfers on many drives at once: for reading and writing metadata, when nothing else is in flight.
 */
#ifndef STRIA_ENGINE_GANG_H
#define STRIA_ENGINE_GANG_H

#include "backends/backend.h"
#include "support/bell.h"

#define STRIA_GANG_PIECES_MAX 4u /* of a job, in flight at once */

struct stria_gang_job {
    struct stria_drive *drive; /* null: the job is skipped, with STRIA_ERR_GONE */
    enum stria_io_op op;
    uint64_t offset;
    uint64_t length; /* any multiple of the block size: split as the drive needs it */
    uint8_t *data;   /* null for flush and trim */
    int code;        /* result: STRIA_OK or negative */
    /* The gang's own. */
    uint64_t handed; /* bytes; of a flush, one */
    uint32_t in_flight;
    uint32_t retries;                      /* in a row */
    uint32_t again_count;                  /* pieces that wait to be sent again … */
    uint64_t again[STRIA_GANG_PIECES_MAX]; /* … where they begin … */
    uint64_t again_ns;                     /* … and when */
    uint64_t heard_ns;                     /* last, as watched time */
};

/* Runs all jobs to their end, the drives side by side, at most one job a drive. A job that hears nothing for
 * deadline_ns while it is looked at ends with STRIA_ERR_TIMEOUT: its drive and memory must then be given up
 * together. bell is the one that the drives ring. */
void stria_gang_run(struct stria_gang_job *jobs, unsigned count, struct stria_bell *bell,
                    uint64_t deadline_ns);

#endif
