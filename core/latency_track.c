#include "core/latency_track.h"

#include "core/assert.h"

static const struct stria_latency_bin unknown = {STRIA_LATENCY_UNKNOWN, STRIA_LATENCY_UNKNOWN};

void stria_latency_track_init(struct stria_latency_track *track, struct stria_latency_bin *bins,
                              uint32_t capacity, uint64_t start_ns)
{
    STRIA_ASSERT(bins && capacity >= 2);
    track->bins = bins;
    track->capacity = capacity;
    track->count = 0;
    track->bin_seconds = 1;
    track->second = 0;
    track->second_end_ns = start_ns + STRIA_SECOND_NS;
    track->latest = unknown;
    stria_histogram_init(&track->open);
}

static uint64_t worse(uint64_t a, uint64_t b)
{
    if (a == STRIA_LATENCY_UNKNOWN || b == STRIA_LATENCY_UNKNOWN)
        return a == STRIA_LATENCY_UNKNOWN ? b : a;
    return a > b ? a : b;
}

static struct stria_latency_bin worse_of(const struct stria_latency_bin *a, const struct stria_latency_bin *b)
{
    return (struct stria_latency_bin){worse(a->p99_ns, b->p99_ns), worse(a->max_ns, b->max_ns)};
}

static void merge_pairs(struct stria_latency_track *track)
{
    const uint32_t merged = track->count / 2 + track->count % 2;
    for (uint32_t bin = 0; bin < merged; bin++) {
        const uint32_t left = 2 * bin, right = left + 1;
        track->bins[bin] =
            right < track->count ? worse_of(&track->bins[left], &track->bins[right]) : track->bins[left];
    }
    track->count = merged;
    track->bin_seconds *= 2;
}

static void close_second(struct stria_latency_track *track)
{
    struct stria_latency_bin figures = unknown;
    if (track->open.count > 0) {
        figures.max_ns = track->open.max;
        (void)stria_histogram_percentile(&track->open, STRIA_PERCENTILE_99_PPM, &figures.p99_ns);
        stria_histogram_clear(&track->open);
    }
    while (track->second / track->bin_seconds >= track->capacity)
        merge_pairs(track);
    const uint32_t bin = (uint32_t)(track->second / track->bin_seconds);
    if (bin == track->count)
        track->bins[track->count++] = figures;
    else
        track->bins[bin] = worse_of(&track->bins[bin], &figures);
    track->latest = figures;
    track->second++;
    track->second_end_ns += STRIA_SECOND_NS;
}

void stria_latency_track_advance(struct stria_latency_track *track, uint64_t now_ns)
{
    while (now_ns > track->second_end_ns)
        close_second(track);
}

void stria_latency_track_add(struct stria_latency_track *track, uint64_t now_ns, uint64_t latency_ns)
{
    stria_latency_track_advance(track, now_ns);
    stria_histogram_add(&track->open, latency_ns);
}

void stria_latency_track_finish(struct stria_latency_track *track, uint64_t now_ns)
{
    stria_latency_track_advance(track, now_ns);
    if (track->open.count > 0 || now_ns > track->second_end_ns - STRIA_SECOND_NS)
        close_second(track);
}

struct stria_latency_bin stria_latency_track_at(const struct stria_latency_track *track, uint64_t second)
{
    const uint64_t bin = second / track->bin_seconds;
    return bin < track->count ? track->bins[bin] : unknown;
}
