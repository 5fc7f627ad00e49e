/* A level that rises and falls, such as the fill of a buffer, as the highest value in each bin of time. When
 * time runs past the last bin, neighbours are merged pairwise and the interval doubles, so that a run of any
 * length fits. */
#ifndef STRIA_CORE_PEAKS_H
#define STRIA_CORE_PEAKS_H

#include <stdint.h>

struct stria_peaks {
    uint64_t *bins;       /* the highest value in each; the caller's memory, `capacity` entries */
    uint32_t capacity;    /* even, at least 2 */
    uint32_t count;       /* bins in use, the last of them perhaps not over */
    uint64_t interval_ns; /* width of one bin; the initial width times a power of two */
    uint64_t start_ns;    /* left edge of bin 0 */
    uint64_t level;       /* the latest value: holds until the next one */
};

/* Starts at level zero. bins is used for the life of the peaks; interval_ns > 0. */
void stria_peaks_init(struct stria_peaks *peaks, uint64_t *bins, uint32_t capacity, uint64_t start_ns,
                      uint64_t interval_ns);

/* From now on the level is this. Times come in order; one before the start counts as the start. */
void stria_peaks_set(struct stria_peaks *peaks, uint64_t now_ns, uint64_t level);

#endif
