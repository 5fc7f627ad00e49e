/* A drive profile made of a bench, so that the drive can be imitated (man 5 stria-profile). */
#ifndef STRIA_MEASURE_PROFILE_H
#define STRIA_MEASURE_PROFILE_H

#include "measure/bench.h"

/* Whether a test's result makes a profile: fill, of one drive by itself. A sentence if not. */
int stria_bench_profile_check(const struct stria_bench_options *options, struct stria_trouble *trouble);

/* Fits the slowest whole repeat and writes the profile to path, whole or not at all. */
int stria_bench_save_profile(const struct stria_bench_result *result, const char *path,
                             struct stria_trouble *trouble);

#endif
