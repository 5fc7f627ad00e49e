/* One measurement, from the first request to the flush behind the last, and everything that was seen. */
#ifndef STRIA_MEASURE_ROUND_H
#define STRIA_MEASURE_ROUND_H

#include "core/histogram.h"
#include "core/latency_track.h"
#include "core/limits.h"
#include "core/series.h"
#include "core/sustained.h"
#include "measure/content.h"
#include "measure/health.h"

#include <stdbool.h>
#include <stdint.h>

/* Series are published with at most so many bins; those of longer rounds are merged in pairs. */
#define STRIA_ROUND_BINS_MAX 4096u

#define STRIA_ROUND_POINT_BYTES 48u

/* What is to be done. */
struct stria_round_plan {
    char point[STRIA_ROUND_POINT_BYTES]; /* what is measured, in words that are the same in each repeat */
    uint32_t repeat;                     /* from 0 */
    bool write;
    bool reverse;
    bool compare; /* what is read with the stream of this seed … */
    bool known;   /* … or write that stream, where noise would do otherwise */
    uint64_t seed;
    bool keeps;            /* what is on the drives: no TRIM, no rest before it */
    bool unrated;          /* part of the preparation: neither a point nor the rating is made of it */
    uint64_t offset_bytes; /* on each drive */
    uint64_t size_bytes;   /* on each drive; the range */
    uint64_t bytes_max;    /* on each drive; zero: until runtime_ns is over */
    uint64_t runtime_ns;   /* zero: until bytes_max are done */
    uint64_t block_bytes;
    uint32_t depth;
    uint64_t rate_bytes_per_s; /* of a paced input to an array; zero: as fast as it goes */
};

/* What happened in one second; the last one may be shorter. */
struct stria_round_second {
    struct stria_told latency_p99_ns; /* of what completed in it; not known for too few */
    struct stria_told latency_max_ns; /* not known when nothing completed in it */
    struct stria_told buffer_bytes;   /* the highest seen in it; not known without a buffer */
    struct {
        struct stria_told latency_p99_ns, latency_max_ns; /* as above, of what it did */
        struct stria_told temperature_c, throttle_count;  /* at its end */
    } drives[STRIA_DRIVES_MAX];
};

/* Rates that may not exist. */
struct stria_round_figures {
    struct stria_told mean, min, max; /* bytes per second; see docs/measuring.md */
    struct stria_told sustained[STRIA_SUSTAINED_WINDOWS];
    struct stria_told lossless; /* for the buffer in question */
};

struct stria_round {
    struct stria_round_plan plan;
    bool trimmed;
    char trim_reason[160]; /* why not, or empty */
    uint64_t rested_ns;
    bool partial; /* it was stopped, or a drive failed, before it had done all */
    int code;     /* why a drive could not go on; STRIA_OK: none failed */
    uint32_t failed_drive;
    bool above_link; /* faster than the link carries: its figures mean nothing */
    uint32_t link_drive;
    uint64_t begin_ns; /* of its series; monotonic, and in a result since that was begun */
    uint64_t bytes, duration_ns;
    uint64_t errors;
    uint64_t dropped_bytes; /* of a paced input */
    struct stria_round_figures figures;
    struct stria_histogram *latencies; /* of each drive, and one more of all; owned */
    struct stria_content_counts counts;
    uint32_t drive_count;
    struct stria_series *drives; /* of each drive, and one more of all; owned, with their bins */
    uint64_t drive_bytes[STRIA_DRIVES_MAX];
    struct stria_round_second *seconds; /* owned */
    uint32_t second_count;
    uint64_t temperature_max_c;
    bool temperature_known;
};

/* Room for what drive_count drives do: series without bins, and empty histograms. *round is to be freed also
 * when false tells that there is no memory. */
bool stria_round_init(struct stria_round *round, const struct stria_round_plan *plan, uint32_t drive_count);

void stria_round_free(struct stria_round *round);

/* The series of all drives together. */
const struct stria_series *stria_round_total(const struct stria_round *round);

/* The latencies of all drives together. */
const struct stria_histogram *stria_round_latency(const struct stria_round *round);

/* Adds the latencies of a drive to its own and to those of all. */
void stria_round_add_latencies(struct stria_round *round, uint32_t drive,
                               const struct stria_histogram *latency);

/* Takes room for one more second; null without memory. */
struct stria_round_second *stria_round_add_second(struct stria_round *round);

/* Takes the latencies of each second from a finished track that begins with the series: of one drive, or,
 * with drive_count for a drive, of all together. */
void stria_round_take_track(struct stria_round *round, uint32_t drive,
                            const struct stria_latency_track *track);

/* Makes the figures from the series, which have all their bins still, and then merges bins until they are
 * few enough to publish. buffer_bytes is what the lossless rate is told for; zero: it is not told. */
void stria_round_conclude(struct stria_round *round, uint64_t buffer_bytes);

/* Whether the drive wrote or read more in the round than its link carries in that time, slack_bytes aside:
 * what may have been under way when the clock began. */
bool stria_round_is_above_link(const struct stria_round *round, uint32_t drive, uint64_t link_bytes_per_s,
                               uint64_t slack_bytes);

#endif
