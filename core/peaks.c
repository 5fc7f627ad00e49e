#include "core/peaks.h"

#include "core/assert.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void stria_peaks_init(struct stria_peaks *peaks, uint64_t *bins, uint32_t capacity, uint64_t start_ns,
                      uint64_t interval_ns)
{
    STRIA_ASSERT(capacity >= 2 && capacity % 2 == 0 && interval_ns > 0);
    *peaks = (struct stria_peaks){
        .bins = bins, .capacity = capacity, .interval_ns = interval_ns, .start_ns = start_ns};
}

static void merge(struct stria_peaks *peaks)
{
    if (peaks->count % 2 == 1)
        peaks->bins[peaks->count++] = 0;
    for (uint32_t i = 0; i < peaks->count; i += 2)
        peaks->bins[i / 2] = larger(peaks->bins[i], peaks->bins[i + 1]);
    peaks->count /= 2;
    peaks->interval_ns *= 2;
}

void stria_peaks_set(struct stria_peaks *peaks, uint64_t now_ns, uint64_t level)
{
    const uint64_t elapsed_ns = now_ns > peaks->start_ns ? now_ns - peaks->start_ns : 0;
    while (elapsed_ns / peaks->interval_ns >= peaks->capacity)
        merge(peaks);
    const uint32_t bin = (uint32_t)(elapsed_ns / peaks->interval_ns);
    while (peaks->count <= bin)
        peaks->bins[peaks->count++] = peaks->level;
    peaks->bins[bin] = larger(peaks->bins[bin], level);
    peaks->level = level;
}
