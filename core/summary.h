/* What repeats of one measurement say together. A drive is worth its minimum, so the rating is the least of
 * the values; the mean with its spread stands beside it. */
#ifndef STRIA_CORE_SUMMARY_H
#define STRIA_CORE_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

/* In the unit of the values, rounded to the nearest whole number. */
struct stria_summary {
    uint32_t count;  /* values summed up, at least 1 */
    uint64_t rating; /* least value; when each value is a repeat's minimum, the minimum of the minima */
    uint64_t most;   /* largest value */
    uint64_t mean;
    bool has_spread;        /* false for a single value: the next two fields do not exist then, and are 0 */
    uint64_t deviation;     /* standard deviation of a sample, with count - 1 in the divisor */
    uint64_t interval_half; /* half of the 95 % confidence interval of the mean, which is mean ± this:
                               Student's t with count - 1 degrees of freedom, times deviation / sqrt(count) */
};

/* Sums up `count` values. False, with *summary untouched, when count is 0. */
bool stria_summary_of(const uint64_t *values, uint32_t count, struct stria_summary *summary);

/* Whether the means of two summaries differ by more than their spread explains: Welch's test at 95 %. One of
 * a single value is taken as one more draw with the other's spread. Two single values have no spread to
 * explain anything by: true unless they are equal. */
bool stria_summary_apart(const struct stria_summary *one, const struct stria_summary *other);

#endif
