/* What the repeats of each point say together. */
#ifndef STRIA_MEASURE_POINTS_H
#define STRIA_MEASURE_POINTS_H

#include "measure/bench.h"

/* Makes the points, in the order in which they were first measured, and the rating, of the rounds that are
 * whole, rated and believed. */
int stria_bench_make_points(struct stria_bench_result *result, struct stria_trouble *trouble);

#endif
