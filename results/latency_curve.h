/* Latencies by percentile, as a curve: how long the slowest tenth, hundredth, thousandth of all had to wait.
 */
#ifndef STRIA_RESULTS_LATENCY_CURVE_H
#define STRIA_RESULTS_LATENCY_CURVE_H

#include "results/measurement.h"

#define STRIA_LATENCY_POINTS_MAX 64u

struct stria_latency_point {
    uint32_t tail_ppm; /* millionths of the requests that took longer; 500000 is the median, 0 the maximum */
    uint64_t ns;
};

/* Points of falling tail_ppm: ten for each power of ten as far as ten requests rank above them, and the
 * maximum. Without a histogram, the percentiles among the readings. Returns how many there are; none where
 * nothing is known. */
uint32_t stria_latency_curve(const struct stria_latencies *latencies,
                             const struct stria_reading readings[STRIA_QUANTITIES],
                             struct stria_latency_point points[STRIA_LATENCY_POINTS_MAX]);

#endif
