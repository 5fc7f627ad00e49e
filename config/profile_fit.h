/* Makes a profile from a measurement: a drive was written from empty, as fast as it went. */
#ifndef STRIA_CONFIG_PROFILE_FIT_H
#define STRIA_CONFIG_PROFILE_FIT_H

#include "config/profile.h"

/* One piece of the measurement, in order. */
struct stria_fit_bin {
    uint64_t bytes;       /* written in it; zero while the drive stood still */
    uint64_t duration_ns; /* at least 1 */
};

/* More bins than this are first joined to this many. */
#define STRIA_FIT_BINS_MAX 2048u

/* At most this many steps are made of them. */
#define STRIA_FIT_STEPS_MAX 16u

/* Finds the steps of the write table. They keep the times: written again, the same bytes take as long. What
 * was not measured is left at its simplest: the link and the reads are as fast as the fastest step, only trim
 * brings the fast region back. capacity_bytes zero: as much as was written. STRIA_ERR_INVALID with a sentence
 * if nothing was written, or more than the capacity. */
int stria_profile_fit(const struct stria_fit_bin *bins, size_t count, const char *model,
                      uint64_t capacity_bytes, struct stria_profile *profile, struct stria_trouble *trouble);

#endif
