#include "measure/round.h"

#include "core/curve.h"
#include "core/ratio.h"

#include <stdlib.h>
#include <string.h>

bool stria_round_init(struct stria_round *round, const struct stria_round_plan *plan, uint32_t drive_count)
{
    *round = (struct stria_round){.plan = *plan, .drive_count = drive_count};
    round->drives = calloc(drive_count + 1, sizeof(*round->drives));
    round->latencies = calloc(drive_count + 1, sizeof(*round->latencies));
    return round->drives && round->latencies;
}

void stria_round_free(struct stria_round *round)
{
    for (uint32_t i = 0; round->drives && i <= round->drive_count; i++)
        free(round->drives[i].bins);
    free(round->drives);
    free(round->latencies);
    free(round->seconds);
    memset(round, 0, sizeof(*round));
}

const struct stria_series *stria_round_total(const struct stria_round *round)
{
    return &round->drives[round->drive_count];
}

const struct stria_histogram *stria_round_latency(const struct stria_round *round)
{
    return &round->latencies[round->drive_count];
}

void stria_round_add_latencies(struct stria_round *round, uint32_t drive,
                               const struct stria_histogram *latency)
{
    stria_histogram_merge(&round->latencies[drive], latency);
    stria_histogram_merge(&round->latencies[round->drive_count], latency);
}

struct stria_round_second *stria_round_add_second(struct stria_round *round)
{
    struct stria_round_second *seconds =
        realloc(round->seconds, (round->second_count + 1) * sizeof(*round->seconds));
    if (!seconds)
        return NULL;
    round->seconds = seconds;
    struct stria_round_second *second = &seconds[round->second_count++];
    memset(second, 0, sizeof(*second));
    return second;
}

static struct stria_told told(uint64_t latency_ns)
{
    const bool known = latency_ns != STRIA_LATENCY_UNKNOWN;
    return (struct stria_told){known, known ? latency_ns : 0};
}

void stria_round_take_track(struct stria_round *round, uint32_t drive,
                            const struct stria_latency_track *track)
{
    while (round->second_count < track->second && stria_round_add_second(round))
        continue;
    for (uint32_t i = 0; i < round->second_count; i++) {
        struct stria_round_second *second = &round->seconds[i];
        const struct stria_latency_bin bin = stria_latency_track_at(track, i);
        const bool all = drive == round->drive_count;
        *(all ? &second->latency_p99_ns : &second->drives[drive].latency_p99_ns) = told(bin.p99_ns);
        *(all ? &second->latency_max_ns : &second->drives[drive].latency_max_ns) = told(bin.max_ns);
    }
}

/* The fastest second, in whole bins: as many as make a second or just more. */
static struct stria_told fastest(const struct stria_curve *curve)
{
    const uint64_t bins = (STRIA_SECOND_NS + curve->interval_ns - 1) / curve->interval_ns;
    struct stria_told most = {0};
    uint64_t sum = 0;
    for (uint64_t i = 0; i < curve->count; i++) {
        sum += curve->bins[i];
        if (i >= bins)
            sum -= curve->bins[i - bins];
        if (i + 1 < bins)
            continue;
        const uint64_t rate = stria_ratio_bytes_per_s(sum, bins * curve->interval_ns);
        if (rate > most.value)
            most.value = rate;
        most.known = true;
    }
    return most;
}

static void make_figures(struct stria_round *round, uint64_t buffer_bytes)
{
    struct stria_round_figures *figures = &round->figures;
    const struct stria_curve curve = stria_curve_of_series(stria_round_total(round));
    struct stria_sustained_figure worst;
    struct stria_curve_limit limit;
    if (round->duration_ns)
        figures->mean = (struct stria_told){true, stria_ratio_bytes_per_s(round->bytes, round->duration_ns)};
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++)
        if (stria_sustained_of_curve(&curve, stria_sustained_windows_s[window] * STRIA_SECOND_NS, &worst))
            figures->sustained[window] = (struct stria_told){true, worst.bytes_per_s};
    figures->min = figures->sustained[0];
    figures->max = fastest(&curve);
    if (buffer_bytes && stria_curve_lossless(&curve, buffer_bytes, &limit))
        figures->lossless = (struct stria_told){true, limit.bytes_per_s};
}

static void merge_pairs(struct stria_series *series)
{
    const uint32_t merged = (series->count + 1) / 2;
    for (uint32_t i = 0; i < merged; i++)
        series->bins[i] = series->bins[2 * i] + (2 * i + 1 < series->count ? series->bins[2 * i + 1] : 0);
    series->count = merged;
    series->interval_ns *= 2;
}

static void compact(struct stria_series *series)
{
    while (series->count > STRIA_ROUND_BINS_MAX)
        merge_pairs(series);
    uint64_t *bins = realloc(series->bins, (series->count ? series->count : 1) * sizeof(*bins));
    if (!bins)
        return;
    series->bins = bins;
    series->capacity = series->count > 2 ? series->count : 2;
}

void stria_round_conclude(struct stria_round *round, uint64_t buffer_bytes)
{
    make_figures(round, buffer_bytes);
    for (uint32_t i = 0; i <= round->drive_count; i++)
        compact(&round->drives[i]);
    for (uint32_t s = 0; s < round->second_count; s++) {
        for (uint32_t i = 0; i < round->drive_count; i++) {
            const struct stria_told *told = &round->seconds[s].drives[i].temperature_c;
            if (told->known && (!round->temperature_known || told->value > round->temperature_max_c))
                round->temperature_max_c = told->value;
            round->temperature_known |= told->known;
        }
    }
}

bool stria_round_is_above_link(const struct stria_round *round, uint32_t drive, uint64_t link_bytes_per_s,
                               uint64_t slack_bytes)
{
    const uint64_t carried = stria_ratio_scale(link_bytes_per_s, round->duration_ns, STRIA_SECOND_NS);
    return round->drive_bytes[drive] > slack_bytes && round->drive_bytes[drive] - slack_bytes > carried;
}
