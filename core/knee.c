#include "core/knee.h"

#include "core/ratio.h"

/* Each failed attempt goes on behind the recovery that refuted it; a curve that recovers this often has no
 * knee. */
enum { ATTEMPTS_MAX = 32 };

/* Bins first to end - 1. */
struct stretch {
    uint32_t first, end;
};

static uint64_t bytes_in(const struct stria_curve *curve, struct stretch stretch)
{
    uint64_t bytes = 0;
    for (uint32_t bin = stretch.first; bin < stretch.end; bin++)
        bytes += curve->bins[bin];
    return bytes;
}

static double mean_of(const struct stria_curve *curve, struct stretch stretch)
{
    return (double)bytes_in(curve, stretch) / (stretch.end - stretch.first);
}

static bool falls_enough(double before, double after)
{
    return after * 100 <= before * (100 - STRIA_KNEE_FALL_PERCENT);
}

/* First bin after the best split at or after `from`, 0 when none falls enough. The gain is how much less the
 * squared errors are with two means than with one. */
static uint32_t best_split(const struct stria_curve *curve, uint32_t from)
{
    const double total = (double)bytes_in(curve, (struct stretch){0, curve->count});
    uint32_t best = 0;
    double gain_best = 0;
    uint64_t bytes = bytes_in(curve, (struct stretch){0, from});
    for (uint32_t split = from; split + STRIA_KNEE_BINS_MIN <= curve->count; split++) {
        const double bins_before = split, bins_after = curve->count - split;
        const double before = (double)bytes / bins_before, after = (total - (double)bytes) / bins_after;
        const double fall = before - after;
        const double gain = fall * fall * bins_before * bins_after;
        if (falls_enough(before, after) && gain > gain_best) {
            best = split;
            gain_best = gain;
        }
        bytes += curve->bins[split];
    }
    return best;
}

enum side { BELOW, ABOVE };

/* Start of the last window of `bins` bins within the stretch whose mean lies on that side of the level; the
 * stretch's end when there is none. */
static uint32_t last_window(const struct stria_curve *curve, struct stretch stretch, uint32_t bins,
                            enum side side, double level)
{
    uint32_t found = stretch.end;
    uint64_t sum = 0;
    for (uint32_t bin = stretch.first; bin < stretch.end; bin++) {
        sum += curve->bins[bin];
        if (bin - stretch.first >= bins)
            sum -= curve->bins[bin - bins];
        if (bin + 1 - stretch.first < bins)
            continue;
        const double mean = (double)sum / bins;
        if (side == ABOVE ? mean > level : mean < level)
            found = bin + 1 - bins;
    }
    return found;
}

static uint32_t quarter(uint32_t bins)
{
    return bins / 4 > STRIA_KNEE_BINS_MIN ? bins / 4 : STRIA_KNEE_BINS_MIN;
}

static bool is_sharp(const struct stria_curve *curve, uint32_t split)
{
    const struct stretch before = {split - quarter(split), split};
    const struct stretch after = {split, split + quarter(curve->count - split)};
    return falls_enough(mean_of(curve, before), mean_of(curve, after));
}

bool stria_knee_find(const struct stria_curve *curve, struct stria_knee *knee)
{
    if (curve->count < 2 * STRIA_KNEE_BINS_MIN)
        return false;
    uint32_t from = STRIA_KNEE_BINS_MIN;
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        const uint32_t split = best_split(curve, from);
        if (split == 0)
            return false;
        const struct stretch before = {0, split}, after = {split, curve->count};
        const uint32_t bins_after = curve->count - split;
        const double middle = (mean_of(curve, before) + mean_of(curve, after)) / 2;
        const uint32_t recovery = last_window(curve, after, quarter(bins_after), ABOVE, middle);
        if (recovery < curve->count) {
            from = recovery + 1;
            continue;
        }
        const uint32_t as_long = bins_after < split ? bins_after : split;
        if (last_window(curve, before, as_long, BELOW, middle) < split || !is_sharp(curve, split))
            return false;
        *knee = (struct stria_knee){
            .at_bytes = bytes_in(curve, before),
            .at_ns = split * curve->interval_ns,
            .before_bytes_per_s =
                stria_ratio_bytes_per_s(bytes_in(curve, before), split * curve->interval_ns),
            .after_bytes_per_s =
                stria_ratio_bytes_per_s(bytes_in(curve, after), bins_after * curve->interval_ns),
        };
        return true;
    }
    return false;
}
