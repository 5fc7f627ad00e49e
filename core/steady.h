/* Steady state as the SNIA Solid State Storage Performance Test Specification defines it, on a tracked figure
 * per round (a rate, say): in a window of five consecutive rounds the largest and the smallest differ by at
 * most 20 % of the window's average, and the least-squares line through them rises or falls by at most 10 %
 * of the average from the first round of the window to the last. Decided in whole numbers, without rounding.
 */
#ifndef STRIA_CORE_STEADY_H
#define STRIA_CORE_STEADY_H

#include <stdint.h>

#define STRIA_STEADY_ROUNDS            5u /* rounds in the window */
#define STRIA_STEADY_RANGE_PERCENT     20u
#define STRIA_STEADY_EXCURSION_PERCENT 10u

enum stria_steady_verdict {
    STRIA_STEADY_REACHED,
    STRIA_STEADY_TOO_FEW_ROUNDS,
    STRIA_STEADY_RANGE_TOO_WIDE,
    STRIA_STEADY_SLOPE_TOO_STEEP,
    STRIA_STEADY_BOTH_TOO_LARGE,
};

/* A finding about one window. All zero but the verdict and the first round when there are too few rounds. */
struct stria_steady {
    enum stria_steady_verdict verdict;
    uint32_t first_round; /* index of the window's first round, from 0 */
    uint64_t
        average;    /* mean of the window's rounds, rounded down, in the unit of the rounds, like all below */
    uint64_t range; /* largest less smallest round */
    uint64_t range_max; /* what the range may be: 20 % of the average, rounded down */
    int64_t excursion;  /* change of the least-squares line over the window, negative when falling; rounded to
                           zero,  clamped to the type */
    uint64_t excursion_max; /* what the excursion's size may be: 10 % of the average, rounded down */
};

/* Finds the first window among `count` rounds that is steady. When none is, *steady tells about the last one,
 * and why not. */
struct stria_steady stria_steady_find(const uint64_t *rounds, uint32_t count);

/* A static phrase for a verdict, such as "the slope is too steep". */
const char *stria_steady_text(enum stria_steady_verdict verdict);

#endif
