#include "core/sustained.h"

#include "core/assert.h"
#include "core/ratio.h"

enum { BINS_PER_SECOND = 10 };
_Static_assert(BINS_PER_SECOND *STRIA_SUSTAINED_BIN_NS == STRIA_SECOND_NS, "a second is whole bins");

const uint32_t stria_sustained_windows_s[STRIA_SUSTAINED_WINDOWS] = {1, 5, 10, 30, 60};

static uint64_t window_bins(uint32_t window)
{
    STRIA_ASSERT(window < STRIA_SUSTAINED_WINDOWS);
    return (uint64_t)stria_sustained_windows_s[window] * BINS_PER_SECOND;
}

void stria_sustained_init(struct stria_sustained *sustained, uint64_t start_ns)
{
    *sustained = (struct stria_sustained){.start_ns = start_ns};
}

static void close_bin(struct stria_sustained *sustained)
{
    const uint64_t bytes = sustained->open_bytes;
    const uint64_t bin = sustained->closed++;
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        const uint64_t bins = window_bins(window);
        uint64_t *sum = &sustained->windows[window].sum;
        *sum += bytes;
        if (bin >= bins)
            *sum -= sustained->ring[(bin - bins) % STRIA_SUSTAINED_BINS];
        if (sustained->closed == bins ||
            (sustained->closed > bins && *sum < sustained->windows[window].sum_min)) {
            sustained->windows[window].sum_min = *sum;
            sustained->windows[window].closed_min = sustained->closed;
        }
    }
    sustained->ring[bin % STRIA_SUSTAINED_BINS] = bytes;
    sustained->open_bytes = 0;
}

static void close_until(struct stria_sustained *sustained, uint64_t bins)
{
    /* The open bin and one full ring of idle ones leave every sum at zero; more idle bins change only their
     * count. */
    for (uint32_t step = 0; step <= STRIA_SUSTAINED_BINS && sustained->closed < bins; step++)
        close_bin(sustained);
    if (sustained->closed < bins)
        sustained->closed = bins;
}

void stria_sustained_advance(struct stria_sustained *sustained, uint64_t now_ns)
{
    if (now_ns > sustained->start_ns)
        close_until(sustained, (now_ns - sustained->start_ns - 1) / STRIA_SUSTAINED_BIN_NS);
}

void stria_sustained_add(struct stria_sustained *sustained, uint64_t now_ns, uint64_t bytes)
{
    stria_sustained_advance(sustained, now_ns);
    sustained->open_bytes += bytes;
}

void stria_sustained_finish(struct stria_sustained *sustained, uint64_t now_ns)
{
    if (now_ns > sustained->start_ns)
        close_until(sustained, (now_ns - sustained->start_ns) / STRIA_SUSTAINED_BIN_NS);
}

bool stria_sustained_worst(const struct stria_sustained *sustained, uint32_t window,
                           struct stria_sustained_figure *figure)
{
    const uint64_t bins = window_bins(window);
    if (sustained->closed < bins)
        return false;
    const uint64_t window_ns = bins * STRIA_SUSTAINED_BIN_NS;
    *figure = (struct stria_sustained_figure){
        .bytes_per_s = stria_ratio_bytes_per_s(sustained->windows[window].sum_min, window_ns),
        .window_ns = window_ns,
        .from_ns = (sustained->windows[window].closed_min - bins) * STRIA_SUSTAINED_BIN_NS,
    };
    return true;
}

uint64_t stria_sustained_recent_bytes_per_s(const struct stria_sustained *sustained, uint32_t window)
{
    const uint64_t bins = window_bins(window);
    const uint64_t seen = sustained->closed < bins ? sustained->closed : bins;
    return seen ? stria_ratio_bytes_per_s(sustained->windows[window].sum, seen * STRIA_SUSTAINED_BIN_NS) : 0;
}

struct worst {
    uint64_t bytes;
    uint64_t from_ns;
};

static void keep_least(struct worst *worst, uint64_t bytes, uint64_t from_ns)
{
    if (bytes < worst->bytes)
        *worst = (struct worst){bytes, from_ns};
}

/* Between edges the window's bytes change evenly, so the least is where the window begins or ends at an edge:
 * at the left or at the right of a group of just enough bins. */
bool stria_sustained_of_curve(const struct stria_curve *curve, uint64_t window_ns,
                              struct stria_sustained_figure *figure)
{
    STRIA_ASSERT(window_ns > 0 && curve->interval_ns > 0);
    const uint64_t reach = (window_ns - 1) / curve->interval_ns + 1;
    if (curve->count < reach)
        return false;
    const uint64_t slack_ns = reach * curve->interval_ns - window_ns;
    const uint64_t part_ns = curve->interval_ns - slack_ns;
    struct worst worst = {UINT64_MAX, 0};
    uint64_t group = 0;
    for (uint64_t last = 0; last < curve->count; last++) {
        group += curve->bins[last];
        if (last >= reach)
            group -= curve->bins[last - reach];
        if (last + 1 < reach)
            continue;
        const uint64_t first = last + 1 - reach;
        const uint64_t without_last = group - curve->bins[last];
        const uint64_t without_first = group - curve->bins[first];
        keep_least(&worst, without_last + stria_ratio_scale(curve->bins[last], part_ns, curve->interval_ns),
                   first * curve->interval_ns);
        keep_least(&worst, without_first + stria_ratio_scale(curve->bins[first], part_ns, curve->interval_ns),
                   first * curve->interval_ns + slack_ns);
    }
    *figure = (struct stria_sustained_figure){
        .bytes_per_s = stria_ratio_bytes_per_s(worst.bytes, window_ns),
        .window_ns = window_ns,
        .from_ns = worst.from_ns,
    };
    return true;
}
