/* Latency through time: what the requests that completed in each second had to wait. Like a series, a track
 * holds a run of any length: when it is full, neighbouring bins are merged pairwise, and the worse of two
 * seconds stands for both. */
#ifndef STRIA_CORE_LATENCY_TRACK_H
#define STRIA_CORE_LATENCY_TRACK_H

#include "core/histogram.h"

#include <stdbool.h>
#include <stdint.h>

/* A figure that does not exist: nothing completed, or too little to tell a percentile. */
#define STRIA_LATENCY_UNKNOWN UINT64_MAX

struct stria_latency_bin {
    uint64_t p99_ns; /* by the rule of stria_histogram_percentile(), else STRIA_LATENCY_UNKNOWN */
    uint64_t max_ns; /* exact; STRIA_LATENCY_UNKNOWN when nothing completed */
};

struct stria_latency_track {
    struct stria_latency_bin *bins;  /* the caller's memory, `capacity` entries; `count` are in use */
    uint32_t capacity;               /* at least 2 */
    uint32_t count;                  /* bins in which a second has ended */
    uint32_t bin_seconds;            /* width of a bin, a power of two */
    uint64_t second;                 /* the one that is being collected, from 0 … */
    uint64_t second_end_ns;          /* … and when it is over */
    struct stria_latency_bin latest; /* of the last whole second */
    struct stria_histogram open;     /* of the second that is being collected */
};

/* Starts an empty track at start_ns; bins (the caller's, `capacity` >= 2 entries) is used for its life. */
void stria_latency_track_init(struct stria_latency_track *track, struct stria_latency_bin *bins,
                              uint32_t capacity, uint64_t start_ns);

/* A request completed at now_ns, latency_ns after it was submitted. The second k holds what completed at
 * times t with k < t - start <= k + 1 seconds; times before the latest second seen count as in it. */
void stria_latency_track_add(struct stria_latency_track *track, uint64_t now_ns, uint64_t latency_ns);

/* Lets time pass: seconds that are over by now_ns get their figures. */
void stria_latency_track_advance(struct stria_latency_track *track, uint64_t now_ns);

/* Ends the track at now_ns: the last second, which may be shorter, gets its figures as well. Nothing is added
 * afterwards. */
void stria_latency_track_finish(struct stria_latency_track *track, uint64_t now_ns);

/* The figures of the second that begins so many seconds after the start; unknown behind the end. */
struct stria_latency_bin stria_latency_track_at(const struct stria_latency_track *track, uint64_t second);

#endif
