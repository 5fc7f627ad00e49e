/* Keeps one drive busy: a thread that submits and polls, and counts what completes and when. */
#ifndef STRIA_MEASURE_WORKER_H
#define STRIA_MEASURE_WORKER_H

#include "core/histogram.h"
#include "core/series.h"
#include "engine/ring.h"
#include "measure/content.h"
#include "measure/target.h"
#include "support/bell.h"

#include <pthread.h>

/* What to do on one drive. */
struct stria_work {
    bool write;
    bool reverse;          /* from the end of the range to its begin */
    uint64_t offset_bytes; /* from the begin of the target's used part */
    uint64_t size_bytes;   /* the range; at its end the work begins anew unless it has done all */
    uint64_t bytes_max;    /* to be moved in all; zero: until the time is over */
    uint64_t runtime_ns;   /* zero: until the bytes are moved */
    uint64_t block_bytes;  /* a multiple of the drive's block */
    uint32_t depth;
    struct stria_content content; /* what is written, or read and compared */
    bool compare;
};

/* Requests of one block that failed this often in a row, without any progress, are given up. */
#define STRIA_WORK_RETRIES_MAX 200u
/* A drive that answers nothing for so long is given up. */
#define STRIA_WORK_SILENCE_NS_MAX 60000000000ull

struct stria_worker_slot {
    uint64_t offset, length, done_bytes;
    uint64_t submitted_ns;
    unsigned retries;
    bool busy;
};

struct stria_worker {
    struct stria_target *target;
    struct stria_work work;
    struct stria_ring ring; /* depth blocks */
    const _Atomic bool *stop;
    pthread_barrier_t *ready; /* passed twice: when memory is prepared, and when the clock runs */
    const uint64_t *start_ns; /* set between the two */
    struct stria_bell *bell;  /* rung at the end */
    pthread_t thread;

    _Atomic bool ended;
    _Atomic uint64_t bytes; /* completed so far; for onlookers */
    pthread_mutex_t lock;
    struct stria_histogram recent; /* latencies since an onlooker last took them; under lock */

    /* Of the thread until it has ended. */
    struct stria_series series;
    struct stria_histogram latency;
    struct stria_content_counts counts;
    uint64_t end_ns; /* when the last byte was durable */
    uint64_t errors;
    uint64_t turn;
    int code; /* why it could not go on; STRIA_OK: it did all, or was stopped */
    uint32_t in_flight;
    uint64_t next_bytes; /* handed out so far */
    uint64_t heard_ns;
    struct stria_worker_slot slots[STRIA_DEPTH_MAX];
};

/* Memory, registered with the drive, and a series of so many bins. */
int stria_worker_init(struct stria_worker *worker, struct stria_target *target, const struct stria_work *work,
                      uint32_t bins, struct stria_trouble *trouble);

/* The thread. */
void *stria_worker_run(void *worker);

/* Adds the latencies since the last call, and forgets them. Any thread. */
void stria_worker_take_recent(struct stria_worker *worker, struct stria_histogram *into);

/* After the thread has ended. Where a request never did, its memory stays. */
void stria_worker_free(struct stria_worker *worker);

#endif
