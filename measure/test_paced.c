/* A sensor of constant rate, through the recorder: which is the highest that nothing is lost of, with this
 * buffer? Beside it stands what the service curve of a saturated recording foretells. */
#include "measure/plan.h"

#include <stdio.h>

#define BYTES_DEFAULT     (64ull << 30)
#define TRIALS_MAX        20u
#define TOLERANCE_PERCENT 2u  /* between the highest rate that went and the lowest that did not */
#define STEP_PERCENT      10u /* by which the rate is changed until it is between the two */

static int plan(struct stria_bench *bench)
{
    struct stria_round_plan *plan = stria_bench_plan(bench, 0, "saturated");
    plan->write = plan->unrated = true;
    plan->size_bytes = plan->bytes_max =
        bench->options->sizes.count || bench->bytes < BYTES_DEFAULT ? bench->bytes : BYTES_DEFAULT;
    return STRIA_OK;
}

static bool is_close(uint64_t low, uint64_t high)
{
    return low && high && high - low <= high / 100 * TOLERANCE_PERCENT;
}

static uint64_t next_rate(uint64_t rate, uint64_t low, uint64_t high)
{
    if (!high)
        return rate + rate / 100 * STEP_PERCENT;
    if (!low)
        return rate - rate / 100 * STEP_PERCENT;
    return low + (high - low) / 2;
}

/* One repeat. False when the bench is over. */
static bool bisect(struct stria_bench *bench, const struct stria_round_plan *saturated, uint32_t repeat,
                   uint64_t rate, uint64_t *lossless)
{
    struct stria_bench_result *result = bench->result;
    struct stria_round_plan plan = *saturated;
    uint64_t low = 0, high = 0;
    plan.repeat = repeat;
    snprintf(plan.point, sizeof(plan.point), "trial");
    for (uint32_t trial = 0; trial < TRIALS_MAX && rate > 0 && !is_close(low, high); trial++) {
        plan.rate_bytes_per_s = rate;
        if (!stria_bench_round(bench, &plan))
            return false;
        if (result->rounds[result->round_count - 1].dropped_bytes)
            high = rate;
        else
            low = rate;
        rate = next_rate(rate, low, high);
    }
    *lossless = low;
    return true;
}

static int run(struct stria_bench *bench)
{
    struct stria_bench_result *result = bench->result;
    const struct stria_round_plan saturated = bench->plans[0];
    if (!stria_bench_round(bench, &saturated))
        return bench->stopped ? STRIA_OK : bench->trouble->code;
    bench->current = 1;
    const struct stria_round_figures *figures = &result->rounds[0].figures;
    const uint64_t guess = figures->lossless.known ? figures->lossless.value : figures->mean.value;
    result->lossless_predicted = figures->lossless;
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        uint64_t lossless;
        if (!bisect(bench, &saturated, repeat, guess, &lossless))
            return bench->stopped ? STRIA_OK : bench->trouble->code;
        bench->lossless[bench->lossless_count++] = lossless;
    }
    return STRIA_OK;
}

static void conclude(struct stria_bench *bench)
{
    struct stria_bench_result *result = bench->result;
    struct stria_bench_point *point = &result->points[result->point_count];
    *point = (struct stria_bench_point){.point = "paced", .write = true, .repeats = bench->lossless_count};
    point->known = stria_summary_of(bench->lossless, bench->lossless_count, &point->means);
    if (!point->known)
        return;
    result->point_count++;
    point->rating = (struct stria_told){true, point->means.rating};
    result->lossless_measured = result->rating = point->rating;
}

const struct stria_bench_test stria_bench_test_paced = {
    .about = {"paced", "the highest rate of a sensor that an array takes without loss, for --buffer"},
    .writes = true,
    .on_array = true,
    .adaptive = true,
    .part_bytes = stria_bench_size_max,
    .plan = plan,
    .run = run,
    .conclude = conclude,
};
