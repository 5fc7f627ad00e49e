#include "core/histogram.h"

#include "core/assert.h"

#include <string.h>

enum {
    MANTISSA_BITS = STRIA_HISTOGRAM_MANTISSA_BITS,
    BUCKETS_PER_OCTAVE = 1 << MANTISSA_BITS,
};

void stria_histogram_init(struct stria_histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
}

uint32_t stria_histogram_bucket(uint64_t value)
{
    if (value < BUCKETS_PER_OCTAVE)
        return (uint32_t)value;
    const uint32_t shift = 63u - (uint32_t)__builtin_clzll(value) - MANTISSA_BITS;
    /* value >> shift still has its leading one, which counts as the first octave's buckets. */
    return (shift << MANTISSA_BITS) + (uint32_t)(value >> shift);
}

uint64_t stria_histogram_bucket_max(uint32_t bucket)
{
    STRIA_ASSERT(bucket < STRIA_HISTOGRAM_BUCKETS);
    if (bucket < BUCKETS_PER_OCTAVE)
        return bucket;
    const uint32_t shift = (bucket >> MANTISSA_BITS) - 1;
    const uint64_t mantissa = BUCKETS_PER_OCTAVE + bucket % BUCKETS_PER_OCTAVE;
    /* Wraps to all ones for the last bucket of the range. */
    return ((mantissa + 1) << shift) - 1;
}

void stria_histogram_clear(struct stria_histogram *histogram)
{
    const uint32_t first = stria_histogram_bucket(histogram->min),
                   last = stria_histogram_bucket(histogram->max);
    memset(&histogram->counts[first], 0, (last - first + 1) * sizeof(histogram->counts[0]));
    histogram->count = histogram->min = histogram->max = 0;
    histogram->sum = 0;
}

void stria_histogram_add(struct stria_histogram *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min)
        histogram->min = value;
    if (value > histogram->max)
        histogram->max = value;
    histogram->count++;
    histogram->sum += value;
    histogram->counts[stria_histogram_bucket(value)]++;
}

void stria_histogram_merge(struct stria_histogram *into, const struct stria_histogram *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    for (uint32_t bucket = 0; bucket < STRIA_HISTOGRAM_BUCKETS; bucket++)
        into->counts[bucket] += from->counts[bucket];
}

/* The value of the sample with this rank, 1 for the smallest, at its bucket's upper end. */
static uint64_t value_at_rank(const struct stria_histogram *histogram, uint64_t rank)
{
    uint64_t seen = 0;
    for (uint32_t bucket = stria_histogram_bucket(histogram->min); bucket < STRIA_HISTOGRAM_BUCKETS;
         bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= rank) {
            const uint64_t value = stria_histogram_bucket_max(bucket);
            return value < histogram->max ? value : histogram->max;
        }
    }
    return histogram->max;
}

bool stria_histogram_percentile(const struct stria_histogram *histogram, uint32_t ppm, uint64_t *value)
{
    STRIA_ASSERT(ppm > 0 && ppm <= STRIA_PERCENTILE_ALL_PPM);
    const uint64_t above =
        stria_ratio_scale(histogram->count, STRIA_PERCENTILE_ALL_PPM - ppm, STRIA_PERCENTILE_ALL_PPM);
    if (above < STRIA_HISTOGRAM_TAIL_MIN)
        return false;
    *value = value_at_rank(histogram, histogram->count - above);
    return true;
}

bool stria_histogram_mean(const struct stria_histogram *histogram, uint64_t *value)
{
    if (histogram->count == 0)
        return false;
    *value = stria_ratio_divide(histogram->sum, histogram->count);
    return true;
}
