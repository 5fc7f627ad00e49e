#include "core/series.h"

#include "core/assert.h"

void stria_series_init(struct stria_series *series, uint64_t *bins, uint32_t capacity, uint64_t start_ns,
                       uint64_t interval_ns)
{
    STRIA_ASSERT(bins && capacity >= 2 && interval_ns > 0);
    *series = (struct stria_series){
        .capacity = capacity,
        .interval_ns = interval_ns,
        .start_ns = start_ns,
        .end_ns = start_ns,
    };
    series->bins = bins;
}

static uint64_t bin_of(const struct stria_series *series, uint64_t now_ns)
{
    return now_ns <= series->start_ns ? 0 : (now_ns - series->start_ns - 1) / series->interval_ns;
}

static void merge_pairs(struct stria_series *series)
{
    const uint32_t merged = series->count / 2 + series->count % 2;
    for (uint32_t bin = 0; bin < merged; bin++) {
        const uint32_t left = 2 * bin, right = left + 1;
        series->bins[bin] = series->bins[left] + (right < series->count ? series->bins[right] : 0);
    }
    series->count = merged;
    series->interval_ns *= 2;
}

static uint32_t reach(struct stria_series *series, uint64_t now_ns)
{
    while (bin_of(series, now_ns) >= series->capacity)
        merge_pairs(series);
    const uint32_t bin = (uint32_t)bin_of(series, now_ns);
    while (series->count <= bin)
        series->bins[series->count++] = 0;
    if (now_ns > series->end_ns)
        series->end_ns = now_ns;
    return bin;
}

void stria_series_add(struct stria_series *series, uint64_t now_ns, uint64_t bytes)
{
    series->bins[reach(series, now_ns)] += bytes;
    series->total_bytes += bytes;
}

void stria_series_advance(struct stria_series *series, uint64_t now_ns)
{
    if (now_ns > series->end_ns)
        reach(series, now_ns);
}

uint32_t stria_series_whole_bins(const struct stria_series *series)
{
    return (uint32_t)((series->end_ns - series->start_ns) / series->interval_ns);
}

bool stria_series_last_is_partial(const struct stria_series *series)
{
    return stria_series_whole_bins(series) < series->count;
}

bool stria_series_bytes_min(const struct stria_series *series, uint64_t *bytes)
{
    const uint32_t whole = stria_series_whole_bins(series);
    if (whole == 0)
        return false;
    uint64_t least = series->bins[0];
    for (uint32_t bin = 1; bin < whole; bin++)
        if (series->bins[bin] < least)
            least = series->bins[bin];
    *bytes = least;
    return true;
}
