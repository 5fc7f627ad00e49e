#include "results/latency_curve.h"

#include "core/histogram.h"

#include <stdlib.h>

/* Preferred numbers, R10: equal steps of a logarithm, from 800000 down to 10 millionths. */
static const uint32_t steps[] = {100, 80, 63, 50, 40, 32, 25, 20, 16, 12};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static uint32_t of_histogram(const struct stria_histogram *histogram, struct stria_latency_point *points)
{
    uint32_t count = 0;
    for (uint32_t decade = 10000; decade > 0; decade /= 10) {
        for (size_t step = 0; step < STEPS; step++) {
            struct stria_latency_point *point = &points[count];
            point->tail_ppm = steps[step] * decade;
            if (point->tail_ppm < STRIA_PERCENTILE_ALL_PPM &&
                stria_histogram_percentile(histogram, STRIA_PERCENTILE_ALL_PPM - point->tail_ppm, &point->ns))
                count++;
        }
    }
    return count;
}

/* As it was, but that of each bucket only the least value is known. */
static struct stria_histogram *rebuilt(const struct stria_latencies *latencies,
                                       const struct stria_reading *max)
{
    struct stria_histogram *histogram = calloc(1, sizeof(*histogram));
    if (!histogram)
        abort();
    for (uint32_t i = 0; i < latencies->count; i++) {
        const struct stria_bucket *bucket = &latencies->buckets[i];
        histogram->counts[stria_histogram_bucket(bucket->low_ns)] += bucket->count;
        histogram->count += bucket->count;
        histogram->max = bucket->low_ns;
    }
    histogram->min = latencies->buckets[0].low_ns;
    if (max->known && max->value > histogram->max)
        histogram->max = max->value;
    return histogram;
}

static uint32_t of_readings(const struct stria_reading readings[STRIA_QUANTITIES],
                            struct stria_latency_point *points)
{
    static const struct {
        enum stria_quantity quantity;
        uint32_t tail_ppm;
    } percentiles[] = {{STRIA_QUANTITY_LATENCY_P50, 500000},
                       {STRIA_QUANTITY_LATENCY_P90, 100000},
                       {STRIA_QUANTITY_LATENCY_P99, 10000},
                       {STRIA_QUANTITY_LATENCY_P999, 1000}};
    uint32_t count = 0;
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        const struct stria_reading *reading = &readings[percentiles[i].quantity];
        if (reading->known)
            points[count++] = (struct stria_latency_point){percentiles[i].tail_ppm, reading->value};
    }
    return count;
}

uint32_t stria_latency_curve(const struct stria_latencies *latencies,
                             const struct stria_reading readings[STRIA_QUANTITIES],
                             struct stria_latency_point points[STRIA_LATENCY_POINTS_MAX])
{
    const struct stria_reading *max = &readings[STRIA_QUANTITY_LATENCY_MAX];
    uint32_t count;
    if (latencies && latencies->count > 0) {
        struct stria_histogram *histogram = rebuilt(latencies, max);
        count = of_histogram(histogram, points);
        free(histogram);
    } else {
        count = of_readings(readings, points);
    }
    if (max->known)
        points[count++] = (struct stria_latency_point){0, max->value};
    return count;
}
