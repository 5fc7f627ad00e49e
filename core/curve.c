#include "core/curve.h"

#include "core/assert.h"
#include "core/ratio.h"

/* Rates are kept as fractions and deficits as signed multiples of 1/denominator byte, so that nothing is
 * rounded before the end. */
__extension__ typedef __int128 wide;

struct arrival {
    wide bytes_per_bin; /* times denominator */
    uint32_t denominator;
};

struct window {
    wide deficit; /* arrival minus service over the window, times the arrival's denominator */
    uint32_t first;
    uint32_t end; /* one past the last bin */
};

struct stria_curve stria_curve_of_series(const struct stria_series *series)
{
    return (struct stria_curve){
        .bins = series->bins,
        .count = stria_series_whole_bins(series),
        .interval_ns = series->interval_ns,
    };
}

/* The window with the largest deficit; of equals the one that ends first, and of those the shortest. One
 * pass: a window worth extending backwards is one whose own deficit is positive (Lindley's recursion for a
 * queue, Kadane's for a largest sum). */
static struct window worst_window(const struct stria_curve *curve, struct arrival arrival)
{
    struct window worst = {0};
    wide backlog = 0;
    uint32_t first = 0;
    for (uint32_t bin = 0; bin < curve->count; bin++) {
        if (backlog <= 0) {
            backlog = 0;
            first = bin;
        }
        backlog += arrival.bytes_per_bin - (wide)curve->bins[bin] * arrival.denominator;
        if (bin == 0 || backlog > worst.deficit)
            worst = (struct window){backlog, first, bin + 1};
    }
    return worst;
}

static wide bytes_in(const struct stria_curve *curve, struct window window)
{
    wide bytes = 0;
    for (uint32_t bin = window.first; bin < window.end; bin++)
        bytes += curve->bins[bin];
    return bytes;
}

static struct stria_curve_limit limit_of(const struct stria_curve *curve, struct window window)
{
    return (struct stria_curve_limit){
        .from_ns = window.first * curve->interval_ns,
        .to_ns = window.end * curve->interval_ns,
    };
}

/* Dinkelbach's iteration: the rate that just fits one window is tried on all of them, and the window that it
 * overruns most gives the next, lower rate, until none is overrun. It ends on the exact minimum, after a few
 * passes because each step at least follows the tangent of the convex function deficit(rate). */
bool stria_curve_lossless(const struct stria_curve *curve, uint64_t buffer_bytes,
                          struct stria_curve_limit *limit)
{
    if (curve->count == 0)
        return false;
    struct window window = {0, 0, curve->count};
    struct arrival arrival;
    for (;;) {
        arrival.bytes_per_bin = buffer_bytes + bytes_in(curve, window);
        arrival.denominator = window.end - window.first;
        window = worst_window(curve, arrival);
        if (window.deficit <= (wide)buffer_bytes * arrival.denominator)
            break;
    }
    *limit = limit_of(curve, window);
    limit->buffer_bytes = buffer_bytes;
    limit->bytes_per_s = stria_ratio_divide((stria_u128)arrival.bytes_per_bin * STRIA_SECOND_NS,
                                            arrival.denominator * curve->interval_ns);
    return true;
}

bool stria_curve_lossless_row(const struct stria_curve *curve, const uint64_t *buffers_bytes, uint32_t count,
                              struct stria_curve_limit *limits)
{
    if (curve->count == 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        stria_curve_lossless(curve, buffers_bytes[i], &limits[i]);
    return true;
}

bool stria_curve_buffer(const struct stria_curve *curve, uint64_t bytes_per_s,
                        struct stria_curve_limit *limit)
{
    if (curve->count == 0)
        return false;
    const struct arrival arrival = {(wide)((stria_u128)bytes_per_s * curve->interval_ns), STRIA_SECOND_NS};
    const struct window window = worst_window(curve, arrival);
    if (window.deficit <= 0) {
        *limit = (struct stria_curve_limit){.bytes_per_s = bytes_per_s};
        return true;
    }
    *limit = limit_of(curve, window);
    limit->bytes_per_s = bytes_per_s;
    limit->buffer_bytes =
        stria_ratio_divide((stria_u128)window.deficit + STRIA_SECOND_NS - 1, STRIA_SECOND_NS);
    return true;
}
