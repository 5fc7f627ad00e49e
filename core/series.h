/* A series: bytes per fixed bin of monotonic time. Bins that saw nothing are zero, the sum of the bins equals
 * the total, and a recording of any length fits: when time runs past the last bin, neighbouring bins are
 * merged pairwise and the interval doubles. Bin k holds the bytes completed at times t with k * interval < t
 * - start <= (k + 1) * interval, so that the running sum at a bin's right edge is exactly the bytes completed
 * up to then. */
#ifndef STRIA_CORE_SERIES_H
#define STRIA_CORE_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_SERIES_INTERVAL_NS UINT64_C(100000000) /* the usual first interval, 100 ms */

struct stria_series {
    uint64_t *bins;       /* bytes per bin; the caller's memory, `capacity` entries */
    uint32_t capacity;    /* most bins held at once, at least 2 */
    uint32_t count;       /* bins in use, the last of them perhaps partial */
    uint64_t interval_ns; /* width of one bin; the initial width times a power of two */
    uint64_t start_ns;    /* left edge of bin 0 */
    uint64_t end_ns;      /* latest time seen, start_ns at first */
    uint64_t total_bytes; /* sum of the bins */
};

/* Starts an empty series at start_ns. bins (the caller's, `capacity` >= 2 entries) is used for the life of
 * the series; interval_ns > 0. */
void stria_series_init(struct stria_series *series, uint64_t *bins, uint32_t capacity, uint64_t start_ns,
                       uint64_t interval_ns);

/* Counts bytes in the bin of their completion time now_ns, which may lie before the latest time seen. Times
 * before the start count as the start. */
void stria_series_add(struct stria_series *series, uint64_t now_ns, uint64_t bytes);

/* Lets time pass without bytes, so that idle bins up to now_ns exist. Series with the same capacity, start,
 * first interval and latest time have the same bins. */
void stria_series_advance(struct stria_series *series, uint64_t now_ns);

/* Bins whose whole interval has passed: `count`, less one where the last bin is partial. */
uint32_t stria_series_whole_bins(const struct stria_series *series);

/* True when the last bin's interval has not wholly passed; such a bin counts in sums but not in minima. */
bool stria_series_last_is_partial(const struct stria_series *series);

/* The fewest bytes in any whole bin. False, with *bytes untouched, when there is no whole bin. */
bool stria_series_bytes_min(const struct stria_series *series, uint64_t *bytes);

#endif
