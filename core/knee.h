/* The knee of a service curve: where the rate fell for good, as a drive's does when its cache is full. */
#ifndef STRIA_CORE_KNEE_H
#define STRIA_CORE_KNEE_H

#include "core/curve.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_KNEE_BINS_MIN     10u /* fewest bins on either side of a knee */
#define STRIA_KNEE_FALL_PERCENT 20u /* the least fall that is called a knee, of the rate before */

struct stria_knee {
    uint64_t at_bytes;           /* bytes written before the knee */
    uint64_t at_ns;              /* time of the knee after the start of the curve */
    uint64_t before_bytes_per_s; /* mean rate from the start to the knee, rounded down */
    uint64_t after_bytes_per_s;  /* mean rate from the knee to the end, rounded down */
};

/* Finds the knee of a curve measured under saturation, to the bin: the split that two constant rates fit best
 * by least squares, provided that the rate
 *   - falls by at least STRIA_KNEE_FALL_PERCENT from the one side's mean to the other's, and from the last
 * quarter before it to the first quarter after it (a slope all along is no knee);
 *   - stays down: no stretch of a quarter of the time after it is nearer to the rate before (a pause is no
 * knee);
 *   - had been up: no stretch before it, as long as the time after it, was nearer to the rate after (what
 * comes and goes is no knee). Of several steps down it is the one that counts most. False, with *knee
 * untouched, when there is none. */
bool stria_knee_find(const struct stria_curve *curve, struct stria_knee *knee);

#endif
