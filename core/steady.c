#include "core/steady.h"

#include "core/ratio.h"

#include <stdbool.h>

__extension__ typedef __int128 wide;

/* Sums in which the averages, slopes and percentages of the definition have no fractions. With rounds y at x
 * = -2..2, the line's slope is sum(x y) / 10, so its excursion over the window, 4 slopes, is 2 sum(x y) / 5.
 */
struct sums {
    wide rounds;  /* sum of y: 5 averages */
    wide moments; /* sum of x y: 5/2 excursions */
    uint64_t least, most;
};

static struct sums sums_of(const uint64_t *rounds)
{
    struct sums sums = {.least = rounds[0], .most = rounds[0]};
    for (int i = 0; i < (int)STRIA_STEADY_ROUNDS; i++) {
        sums.rounds += rounds[i];
        sums.moments += (wide)rounds[i] * (i - (int)STRIA_STEADY_ROUNDS / 2);
        if (rounds[i] < sums.least)
            sums.least = rounds[i];
        if (rounds[i] > sums.most)
            sums.most = rounds[i];
    }
    return sums;
}

static enum stria_steady_verdict verdict_of(const struct sums *sums)
{
    const wide moments = sums->moments < 0 ? -sums->moments : sums->moments;
    const bool wide_range =
        (wide)(sums->most - sums->least) * 5 * 100 > sums->rounds * STRIA_STEADY_RANGE_PERCENT;
    const bool steep = moments * 2 * 100 > sums->rounds * STRIA_STEADY_EXCURSION_PERCENT;
    if (wide_range && steep)
        return STRIA_STEADY_BOTH_TOO_LARGE;
    if (wide_range)
        return STRIA_STEADY_RANGE_TOO_WIDE;
    return steep ? STRIA_STEADY_SLOPE_TOO_STEEP : STRIA_STEADY_REACHED;
}

static int64_t excursion_of(const struct sums *sums)
{
    const bool falling = sums->moments < 0;
    const uint64_t size = stria_ratio_divide((stria_u128)(falling ? -sums->moments : sums->moments) * 2, 5);
    const int64_t clamped = size < INT64_MAX ? (int64_t)size : INT64_MAX;
    return falling ? -clamped : clamped;
}

struct stria_steady stria_steady_find(const uint64_t *rounds, uint32_t count)
{
    if (count < STRIA_STEADY_ROUNDS)
        return (struct stria_steady){.verdict = STRIA_STEADY_TOO_FEW_ROUNDS};
    struct sums sums;
    enum stria_steady_verdict verdict;
    uint32_t first = 0;
    for (;; first++) {
        sums = sums_of(&rounds[first]);
        verdict = verdict_of(&sums);
        if (verdict == STRIA_STEADY_REACHED || first + STRIA_STEADY_ROUNDS == count)
            break;
    }
    const stria_u128 total = (stria_u128)sums.rounds;
    return (struct stria_steady){
        .verdict = verdict,
        .first_round = first,
        .average = stria_ratio_divide(total, STRIA_STEADY_ROUNDS),
        .range = sums.most - sums.least,
        .range_max =
            stria_ratio_divide(total * STRIA_STEADY_RANGE_PERCENT, (uint64_t)STRIA_STEADY_ROUNDS * 100),
        .excursion = excursion_of(&sums),
        .excursion_max =
            stria_ratio_divide(total * STRIA_STEADY_EXCURSION_PERCENT, (uint64_t)STRIA_STEADY_ROUNDS * 100),
    };
}

const char *stria_steady_text(enum stria_steady_verdict verdict)
{
    switch (verdict) {
    case STRIA_STEADY_REACHED:
        return "steady";
    case STRIA_STEADY_TOO_FEW_ROUNDS:
        return "there are fewer than five rounds";
    case STRIA_STEADY_RANGE_TOO_WIDE:
        return "the rounds differ by more than 20 % of their average";
    case STRIA_STEADY_SLOPE_TOO_STEEP:
        return "the slope over five rounds is more than 10 % of their average";
    case STRIA_STEADY_BOTH_TOO_LARGE:
        return "the rounds differ by more than 20 % and their slope is more than 10 % of their average";
    }
    return "unknown verdict";
}
