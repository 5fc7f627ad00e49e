/* Exact integer ratios: every rate that Stria prints is one of these, rounded down. */
#ifndef STRIA_CORE_RATIO_H
#define STRIA_CORE_RATIO_H

#include <stdint.h>

#define STRIA_SECOND_NS UINT64_C(1000000000) /* nanoseconds in one second */

__extension__ typedef unsigned __int128 stria_u128;

/* floor(dividend / divisor), UINT64_MAX where the quotient does not fit. divisor > 0. */
uint64_t stria_ratio_divide(stria_u128 dividend, uint64_t divisor);

/* floor(value * numerator / denominator) without overflow in between, UINT64_MAX where it does not fit.
 * denominator > 0. */
uint64_t stria_ratio_scale(uint64_t value, uint64_t numerator, uint64_t denominator);

/* The mean rate of bytes moved in duration_ns > 0, in bytes per second, rounded down. */
uint64_t stria_ratio_bytes_per_s(uint64_t bytes, uint64_t duration_ns);

#endif
