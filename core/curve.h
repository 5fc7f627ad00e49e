/* Service curves and the lossless rate. A service curve S(t) is the bytes stored up to t; here it is known at
 * the edges of equal bins. Let a constant input of rate R arrive while the drives serve S: the backlog that a
 * window (s, t] leaves is R (t - s) - (S(t) - S(s)), so a buffer of B bytes loses nothing exactly when no
 * window's backlog passes B (network calculus: arrival curve R t, service curve S, backlog bound sup(arrival
 * - service)). Solved for R:
 *
 *     R(B) = min over s < t of (B + S(t) - S(s)) / (t - s)
 *
 * R(0) is the lowest rate of any bin, and R rises with B towards the mean. The curve means this only when it
 * was measured under saturation: drives that waited for their input look slower than they are. Windows start
 * and end at bin edges. */
#ifndef STRIA_CORE_CURVE_H
#define STRIA_CORE_CURVE_H

#include "core/series.h"

#include <stdbool.h>
#include <stdint.h>

/* Read-only view of whole bins, from a series or from a stored report. The bins are the owner's and outlive
 * the view. */
struct stria_curve {
    const uint64_t *bins; /* bytes stored in each bin */
    uint32_t count;       /* bins, all of them whole */
    uint64_t interval_ns; /* width of one bin, > 0 */
};

/* A buffer and a constant input rate that just go together, and where the window lies that says so. */
struct stria_curve_limit {
    uint64_t bytes_per_s;  /* highest lossless rate, rounded down; or the rate that was asked about */
    uint64_t buffer_bytes; /* the buffer that was asked about; or the smallest sufficient one, rounded up */
    uint64_t from_ns;      /* where the window that decides begins, after the start of the curve */
    uint64_t to_ns;        /* where it ends */
};

/* The whole bins of a series; valid until bytes or time are added to it. */
struct stria_curve stria_curve_of_series(const struct stria_series *series);

/* R(buffer_bytes) in *limit, with the window whose drought the buffer just covers; of equals the one that
 * ends first, and of those the shortest. False, with *limit untouched, when the curve has no bin. Takes a few
 * passes over the bins. */
bool stria_curve_lossless(const struct stria_curve *curve, uint64_t buffer_bytes,
                          struct stria_curve_limit *limit);

/* R(B) for each of `count` buffers into limits[]. False, with limits[] untouched, when the curve has no bin.
 */
bool stria_curve_lossless_row(const struct stria_curve *curve, const uint64_t *buffers_bytes, uint32_t count,
                              struct stria_curve_limit *limits);

/* The inverse: the smallest buffer that takes a constant input of bytes_per_s without loss, and the window
 * that needs it. The buffer is 0 and the window empty (from = to = 0) when every bin alone is fast enough.
 * False when the curve has no bin. */
bool stria_curve_buffer(const struct stria_curve *curve, uint64_t bytes_per_s,
                        struct stria_curve_limit *limit);

#endif
