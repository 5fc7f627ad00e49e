#include "results/versus.h"

#include "core/curve.h"
#include "core/ratio.h"
#include "core/sustained.h"

#include <stdlib.h>

#define BUFFER_USUAL_BYTES (512u << 20)

/* Equal within a hundredth is no victory. */
#define DRAW_PARTS 100u

/* The service curve of one side. */
struct side {
    const struct stria_measurement *measurement;
    const struct stria_round *round; /* the slowest; null where none has tracks */
    struct stria_curve curve;        /* its whole bins; owned */
    uint64_t *bins;
    uint64_t bytes; /* in them */
};

static uint64_t slowness(const struct stria_round *round)
{
    const struct stria_reading *readings = round->readings;
    return readings[STRIA_QUANTITY_MINIMUM].known        ? readings[STRIA_QUANTITY_MINIMUM].value
           : readings[STRIA_QUANTITY_SUSTAINED_1S].known ? readings[STRIA_QUANTITY_SUSTAINED_1S].value
                                                         : UINT64_MAX;
}

static void take_side(const struct stria_measurement *measurement, struct side *side)
{
    *side = (struct side){.measurement = measurement};
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_round *round = &measurement->rounds[i];
        if (stria_round_bins(round, NULL, NULL) > 1 &&
            (!side->round || slowness(round) < slowness(side->round)))
            side->round = round;
    }
    if (!side->round)
        return;
    bool partial = false;
    const uint32_t count = stria_round_bins(side->round, &side->curve.interval_ns, &partial);
    side->bins = calloc(count, sizeof(*side->bins));
    if (!side->bins)
        abort();
    stria_round_stored(side->round, side->bins);
    side->curve.bins = side->bins;
    side->curve.count = count - partial;
    for (uint32_t i = 0; i < side->curve.count; i++)
        side->bytes += side->bins[i];
}

/* As far as so many bytes; all of it for zero. */
static struct stria_curve up_to(const struct side *side, uint64_t bytes)
{
    struct stria_curve curve = side->curve;
    uint64_t sum = 0;
    if (bytes == 0)
        return curve;
    curve.count = 0;
    while (curve.count < side->curve.count && sum < bytes)
        sum += side->bins[curve.count++];
    return curve;
}

static struct stria_reading sustained(const struct stria_curve *curve, uint64_t window_ns)
{
    struct stria_sustained_figure figure;
    if (curve->count == 0 || curve->interval_ns > window_ns ||
        !stria_sustained_of_curve(curve, window_ns, &figure))
        return (struct stria_reading){0};
    return (struct stria_reading){true, figure.bytes_per_s};
}

static struct stria_reading mean_of(const struct stria_curve *curve)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < curve->count; i++)
        bytes += curve->bins[i];
    if (curve->count == 0)
        return (struct stria_reading){0};
    return (struct stria_reading){true, stria_ratio_bytes_per_s(bytes, curve->count * curve->interval_ns)};
}

/* The bytes that have come in when a constant input of as much as was measured first overruns the buffer; all
 * of it when it does not. At each place of the stream the drives are as fast as they were there when they
 * were measured: an input that is slower than them takes its time, and gives them none to recover. */
static uint64_t capacity(const struct side *side, uint64_t bytes_per_s, uint64_t buffer_bytes, bool *endless)
{
    const stria_u128 each = (stria_u128)bytes_per_s * side->curve.interval_ns / STRIA_SECOND_NS;
    stria_u128 backlog = 0;
    uint64_t served = 0;
    for (uint32_t i = 0; i < side->curve.count; i++) {
        const uint64_t bytes = side->bins[i];
        const stria_u128 left = side->bytes - served > backlog ? side->bytes - served - backlog : 0;
        const stria_u128 sum = backlog + (each < left ? each : left);
        if (sum > (stria_u128)bytes + buffer_bytes) {
            const stria_u128 until = (stria_u128)bytes * (buffer_bytes - backlog) / (sum - backlog - bytes);
            *endless = false;
            return (uint64_t)(served + until + buffer_bytes);
        }
        backlog = sum > bytes ? sum - bytes : 0;
        served += bytes;
    }
    *endless = true;
    return side->bytes;
}

static double price_of(const struct stria_measurement *measurement, double given)
{
    double sum = 0;
    for (uint32_t i = 0; i < measurement->drive_count && given <= 0; i++) {
        if (measurement->drives[i].price <= 0)
            return 0;
        sum += measurement->drives[i].price;
    }
    return given > 0 ? given : sum;
}

/* The document's own figures where there is no curve, or the curve was not cut: they are finer than its bins.
 */
static void take_rates(const struct side *side, const struct stria_versus *versus,
                       struct stria_reading figures[STRIA_VERSUS_FIGURES])
{
    const struct stria_reading *own = side->measurement->readings;
    const struct stria_curve curve = up_to(side, versus->bytes);
    const bool whole = curve.count == side->curve.count && side->measurement->point_count == 0;
    struct stria_curve_limit limit;
    figures[STRIA_VERSUS_SUSTAINED_1S] = sustained(&curve, STRIA_SECOND_NS);
    figures[STRIA_VERSUS_SUSTAINED_60S] = sustained(&curve, 60 * STRIA_SECOND_NS);
    figures[STRIA_VERSUS_MEAN] = mean_of(&curve);
    if (curve.count > 0 && stria_curve_lossless(&curve, versus->buffer_bytes, &limit))
        figures[STRIA_VERSUS_LOSSLESS] = (struct stria_reading){true, limit.bytes_per_s};
    if (!whole)
        return;
    if (own[STRIA_QUANTITY_SUSTAINED_1S].known || !side->round)
        figures[STRIA_VERSUS_SUSTAINED_1S] = own[STRIA_QUANTITY_SUSTAINED_1S];
    if (own[STRIA_QUANTITY_SUSTAINED_60S].known || !side->round)
        figures[STRIA_VERSUS_SUSTAINED_60S] = own[STRIA_QUANTITY_SUSTAINED_60S];
    if (own[STRIA_QUANTITY_MEAN].known)
        figures[STRIA_VERSUS_MEAN] = own[STRIA_QUANTITY_MEAN];
    if (own[STRIA_QUANTITY_LOSSLESS].known && side->measurement->buffer_bytes.value == versus->buffer_bytes)
        figures[STRIA_VERSUS_LOSSLESS] = own[STRIA_QUANTITY_LOSSLESS];
}

static void take_prices(const struct stria_measurement *measurement, double given,
                        struct stria_reading figures[STRIA_VERSUS_FIGURES])
{
    const double price = price_of(measurement, given);
    const struct stria_reading *lossless = &figures[STRIA_VERSUS_LOSSLESS];
    if (price <= 0 || price > 1e12)
        return;
    figures[STRIA_VERSUS_PRICE] = (struct stria_reading){true, (uint64_t)(price * 100 + 0.5)};
    if (lossless->known && lossless->value > 0)
        figures[STRIA_VERSUS_PRICE_PER_RATE] =
            (struct stria_reading){true, (uint64_t)(price * 10000 / ((double)lossless->value / 1e6) + 0.5)};
}

static uint64_t choose_buffer(const struct stria_measurement *const sides[2], struct stria_reading wanted)
{
    uint64_t least = UINT64_MAX;
    if (wanted.known)
        return wanted.value;
    for (unsigned i = 0; i < 2; i++)
        if (sides[i]->buffer_bytes.known && sides[i]->buffer_bytes.value < least)
            least = sides[i]->buffer_bytes.value;
    return least == UINT64_MAX ? BUFFER_USUAL_BYTES : least;
}

static void take_capacities(const struct side sides[2], const struct stria_versus_options *options,
                            struct stria_versus *versus)
{
    for (unsigned i = 0; i < 2; i++)
        if (versus->figures[i][STRIA_VERSUS_LOSSLESS].value > versus->rate_bytes_per_s)
            versus->rate_bytes_per_s = versus->figures[i][STRIA_VERSUS_LOSSLESS].value;
    if (options->rate_bytes_per_s.known)
        versus->rate_bytes_per_s = options->rate_bytes_per_s.value;
    for (unsigned i = 0; i < 2 && versus->rate_bytes_per_s > 0; i++)
        if (sides[i].round)
            versus->figures[i][STRIA_VERSUS_CAPACITY] =
                (struct stria_reading){true, capacity(&sides[i], versus->rate_bytes_per_s,
                                                      versus->buffer_bytes, &versus->endless[i])};
}

static int winner_of(const struct stria_versus *versus, enum stria_versus_figure figure)
{
    const struct stria_reading *a = &versus->figures[0][figure], *b = &versus->figures[1][figure];
    const uint64_t apart = a->value > b->value ? a->value - b->value : b->value - a->value;
    const uint64_t most = a->value > b->value ? a->value : b->value;
    const bool lower = figure == STRIA_VERSUS_PRICE || figure == STRIA_VERSUS_PRICE_PER_RATE;
    if (!a->known || !b->known || apart <= most / DRAW_PARTS)
        return -1;
    /* Who has lost nothing yet is not behind one who has not either, or has later. */
    if (figure == STRIA_VERSUS_CAPACITY && versus->endless[a->value < b->value ? 0 : 1])
        return -1;
    return (a->value > b->value) != lower ? 0 : 1;
}

void stria_versus(const struct stria_measurement *const measurements[2],
                  const struct stria_versus_options *options, struct stria_versus *versus)
{
    struct side sides[2];
    *versus = (struct stria_versus){.buffer_bytes = choose_buffer(measurements, options->buffer_bytes)};
    for (unsigned i = 0; i < 2; i++) {
        take_side(measurements[i], &sides[i]);
        versus->held_back[i] = !measurements[i]->saturated;
    }
    if (sides[0].round && sides[1].round)
        versus->bytes = sides[0].bytes < sides[1].bytes ? sides[0].bytes : sides[1].bytes;
    for (unsigned i = 0; i < 2; i++) {
        take_rates(&sides[i], versus, versus->figures[i]);
        take_prices(measurements[i], options->price[i], versus->figures[i]);
    }
    take_capacities(sides, options, versus);
    for (unsigned i = 0; i < STRIA_VERSUS_FIGURES; i++)
        versus->winner[i] = winner_of(versus, (enum stria_versus_figure)i);
    free(sides[0].bins);
    free(sides[1].bins);
}
