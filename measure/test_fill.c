/* The whole drive once: the rate over what was written, and where it falls for good. */
#include "core/curve.h"
#include "core/ratio.h"
#include "measure/plan.h"

#include <stddef.h>
#include <stdlib.h>

#define STEP_BYTES      (1ull << 30)
#define STEPS_SMALL_MIN 32u /* of a drive that is too small for steps of 1 GiB */

static int plan(struct stria_bench *bench)
{
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        struct stria_round_plan *plan = stria_bench_plan(bench, repeat, "fill");
        plan->write = true;
        plan->size_bytes = plan->bytes_max = bench->bytes;
    }
    return STRIA_OK;
}

static const struct stria_round *slowest(const struct stria_bench_result *result)
{
    const struct stria_round *found = NULL;
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        if (!round->above_link && round->figures.mean.known &&
            (!found || round->figures.mean.value < found->figures.mean.value))
            found = round;
    }
    return found;
}

/* When so many bytes were written, its bin's bytes being spread evenly over it. */
static uint64_t time_of(const struct stria_series *series, uint64_t bytes)
{
    uint64_t sum = 0;
    for (uint32_t bin = 0; bin < series->count; bin++) {
        if (series->bins[bin] && sum + series->bins[bin] >= bytes)
            return bin * series->interval_ns +
                   stria_ratio_scale(series->interval_ns, bytes - sum, series->bins[bin]);
        sum += series->bins[bin];
    }
    return series->count * series->interval_ns;
}

static void make_steps(struct stria_bench_result *result, const struct stria_round *round)
{
    const struct stria_series *series = stria_round_total(round);
    uint64_t step = STEP_BYTES;
    if (round->bytes / step < STEPS_SMALL_MIN)
        step = round->bytes / STEPS_SMALL_MIN;
    while (step && round->bytes / step > STRIA_BENCH_FILL_STEPS_MAX)
        step *= 2;
    const uint32_t count = step ? (uint32_t)(round->bytes / step) : 0;
    result->fill_bytes_per_s = calloc(count ? count : 1, sizeof(uint64_t));
    if (!count || !result->fill_bytes_per_s)
        return;
    uint64_t before_ns = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t now_ns = time_of(series, (i + 1) * step);
        result->fill_bytes_per_s[i] =
            now_ns > before_ns ? stria_ratio_bytes_per_s(step, now_ns - before_ns) : 0;
        before_ns = now_ns;
    }
    result->fill_step_bytes = step;
    result->fill_count = count;
}

/* The knee that comes first, over all repeats. */
static void find_knee(struct stria_bench_result *result)
{
    for (uint32_t i = 0; i < result->round_count; i++) {
        struct stria_knee knee;
        const struct stria_curve curve = stria_curve_of_series(stria_round_total(&result->rounds[i]));
        if (result->rounds[i].above_link || !stria_knee_find(&curve, &knee))
            continue;
        if (!result->knee_known || knee.at_bytes < result->knee.at_bytes)
            result->knee = knee;
        result->knee_known = true;
    }
}

static void conclude(struct stria_bench *bench)
{
    const struct stria_round *round = slowest(bench->result);
    if (round)
        make_steps(bench->result, round);
    find_knee(bench->result);
}

const struct stria_bench_test stria_bench_test_fill = {
    .about = {"fill", "the whole drive once, or --size of it: the rate over what is written, and its knee"},
    .writes = true,
    .on_drives = true,
    .on_array = true,
    .part_bytes = stria_bench_size_max,
    .file_bytes = stria_bench_size_max,
    .plan = plan,
    .conclude = conclude,
};
