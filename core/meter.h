/* The recorder's measuring instrument: everything a report or a live display says about a run comes out of
 * here. Pure arithmetic on events that carry their time; all times are nanoseconds of one monotonic clock. */
#ifndef STRIA_CORE_METER_H
#define STRIA_CORE_METER_H

#include "core/histogram.h"
#include "core/latency_track.h"
#include "core/series.h"
#include "core/sustained.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_METER_BINS_DEFAULT 4096u /* a little under 7 minutes at 100 ms before the first merge */
#define STRIA_METER_STALL_NS_MIN UINT64_C(100000000) /* no wait shorter than this is a stall by default */
#define STRIA_METER_STALL_FACTOR 10u                 /* times the running median latency, by default */

struct stria_meter_config {
    uint32_t drive_count; /* 1 to STRIA_DRIVES_MAX */
    uint32_t bins;        /* capacity of every series and track, at least 2 */
    uint64_t interval_ns; /* first bin width of every series; 0 means STRIA_SERIES_INTERVAL_NS */
    uint64_t start_ns;    /* when the run begins; earlier events count as then */
    uint64_t stall_ns;    /* a wait longer than this is a stall; 0 means, for each drive, the longer of
                             STRIA_METER_STALL_NS_MIN and STRIA_METER_STALL_FACTOR running median latencies */
};

/* A stream of bytes, measured. All flows of one meter that is finished have the same bins. */
struct stria_flow {
    struct stria_series series;
    struct stria_sustained sustained;
};

/* One drive. Read by anybody, written by the functions below. */
struct stria_meter_drive {
    struct stria_flow stored;                 /* bytes of completed writes */
    struct stria_histogram latency;           /* submission to completion, ns, of completed writes */
    struct stria_latency_track latency_track; /* the same, by the second */
    uint64_t errors;                          /* requests that failed */
    uint64_t retries;                         /* requests submitted again, whole or in part */
    uint64_t stalls;            /* stretches of time in which some request waited longer than the threshold */
    uint64_t stalled_ns;        /* total length of those stretches, each from submission to completion */
    uint64_t stalled_until_ns;  /* end of the latest stretch; 0 when there was none */
    uint64_t submit_ns_max;     /* longest time that handing over one request took */
    uint64_t latency_median_ns; /* running median: moves by 1/64 towards each latency; 0 before the first */
};

struct stria_meter {
    struct stria_meter_config config; /* as given, with its defaults filled in */
    uint64_t now_ns;                  /* latest time seen */
    uint64_t buffer_high_water_bytes; /* most bytes of the ring in use at once */
    struct stria_flow input;          /* bytes that came from the source */
    struct stria_flow stored;         /* bytes stored on all drives */
    struct stria_histogram latency;   /* of all drives */
    struct stria_latency_track latency_track;
    struct stria_meter_drive drives[];
};

/* Memory that a meter of drive_count drives, series and tracks of `bins` bins needs. */
size_t stria_meter_bytes(uint32_t drive_count, uint32_t bins);

/* Builds a meter in memory, which is the caller's, holds stria_meter_bytes() bytes, is aligned to 16, and
 * outlives the meter (the result is the same address). */
struct stria_meter *stria_meter_init(void *memory, const struct stria_meter_config *config);

/* Feeding. Time does not run backwards: an earlier now_ns counts as the latest seen. */

/* bytes came from the source. */
void stria_meter_input(struct stria_meter *meter, uint64_t now_ns, uint64_t bytes);

/* A write on `drive` completed at now_ns with `bytes` (those really stored), latency_ns after it was
 * submitted; submit_ns is how long submitting it blocked the submitter. Also finds stalls: overlapping long
 * waits are one stall. */
void stria_meter_done(struct stria_meter *meter, uint32_t drive, uint64_t now_ns, uint64_t bytes,
                      uint64_t latency_ns, uint64_t submit_ns);

/* A request on `drive` failed. */
void stria_meter_error(struct stria_meter *meter, uint32_t drive);

/* A request on `drive` is submitted again. */
void stria_meter_retry(struct stria_meter *meter, uint32_t drive);

/* A request on `drive` has been waiting for waited_ns and is not done: for those that never complete, or to
 * show a stall while it lasts. Counts as a stall whatever the threshold; its later completion is not counted
 * again. */
void stria_meter_stall(struct stria_meter *meter, uint32_t drive, uint64_t now_ns, uint64_t waited_ns);

/* used_bytes of the memory ring are in use. */
void stria_meter_buffer(struct stria_meter *meter, uint64_t used_bytes);

/* Ends the run: idle bins up to now_ns exist, all flows have the same bins, and all tracks. Nothing is fed
 * afterwards. */
void stria_meter_finish(struct stria_meter *meter, uint64_t now_ns);

/* Asking, also while the run goes on. */

/* Lets time pass without an event, so that a silent flow's recent rate falls, and seconds end. */
void stria_meter_advance(struct stria_meter *meter, uint64_t now_ns);

/* The wait above which a request on `drive` counts as a stall at present. */
uint64_t stria_meter_stall_threshold_ns(const struct stria_meter *meter, uint32_t drive);

/* A flow's mean rate over the last whole second, up to the latest time given to stria_meter_advance(). */
uint64_t stria_flow_recent_bytes_per_s(const struct stria_flow *flow);

/* A flow's mean rate since the start of the run. False, with the result untouched, when no time has passed.
 */
bool stria_flow_mean_bytes_per_s(const struct stria_flow *flow, uint64_t *bytes_per_s);

#endif
