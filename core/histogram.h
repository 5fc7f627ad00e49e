/* A log-linear histogram of nanoseconds (or any other unsigned figure): values under 128 have buckets of
 * their own, each power of two above is cut into 128, so a bucket is never wider than 1/128 of its values.
 * The full 64-bit range fits; count, sum, minimum and maximum are exact. */
#ifndef STRIA_CORE_HISTOGRAM_H
#define STRIA_CORE_HISTOGRAM_H

#include "core/ratio.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_HISTOGRAM_MANTISSA_BITS 7u
#define STRIA_HISTOGRAM_BUCKETS       ((65u - STRIA_HISTOGRAM_MANTISSA_BITS) << STRIA_HISTOGRAM_MANTISSA_BITS)
#define STRIA_HISTOGRAM_TAIL_MIN      10u /* samples that must lie above a percentile for it to be shown */

#define STRIA_PERCENTILE_ALL_PPM 1000000u /* percentiles are given in millionths of the samples */
#define STRIA_PERCENTILE_50_PPM  500000u
#define STRIA_PERCENTILE_90_PPM  900000u
#define STRIA_PERCENTILE_99_PPM  990000u
#define STRIA_PERCENTILE_999_PPM 999000u

struct stria_histogram {
    uint64_t count; /* samples */
    uint64_t min;   /* smallest sample, 0 when there is none */
    uint64_t max;   /* largest sample, 0 when there is none */
    stria_u128 sum; /* of all samples */
    uint64_t counts[STRIA_HISTOGRAM_BUCKETS];
};

void stria_histogram_init(struct stria_histogram *histogram);

/* Forgets all samples of a histogram in use; dearer the further they lie apart, and cheaper than building one
 * anew. */
void stria_histogram_clear(struct stria_histogram *histogram);

void stria_histogram_add(struct stria_histogram *histogram, uint64_t value);

/* Adds all samples of `from` to `into`, as if each had been added there. */
void stria_histogram_merge(struct stria_histogram *into, const struct stria_histogram *from);

/* The value that ppm millionths of the samples do not pass, 0 < ppm <= 1000000: the upper end of its bucket,
 * never above the exact maximum, hence at most 1/128 too high and never too low. False, with *value
 * untouched, when fewer than STRIA_HISTOGRAM_TAIL_MIN samples rank above it: there are too few to tell. (The
 * maximum is the field `max`.) */
bool stria_histogram_percentile(const struct stria_histogram *histogram, uint32_t ppm, uint64_t *value);

/* The mean, rounded down. False, with *value untouched, without a sample. */
bool stria_histogram_mean(const struct stria_histogram *histogram, uint64_t *value);

/* The bucket that value falls into, below STRIA_HISTOGRAM_BUCKETS. */
uint32_t stria_histogram_bucket(uint64_t value);

/* The largest value that falls into the bucket. */
uint64_t stria_histogram_bucket_max(uint32_t bucket);

#endif
