/* Rounds of writing all over the drive until they are as fast as each other, as SNIA defines it. */
#include "measure/plan.h"

#include <stddef.h>

#define ROUNDS_MAX         25u
#define RUNTIME_NS_DEFAULT 60000000000ull
#define PRECONDITION_TURNS 2u /* the whole part is written so often before the first round */

static void plan_round(struct stria_bench *bench, uint32_t round)
{
    struct stria_round_plan *plan = stria_bench_plan(bench, round, "steady");
    plan->write = true;
    plan->keeps = true;
    plan->size_bytes = bench->bytes;
    plan->runtime_ns = bench->options->runtime_ns ? bench->options->runtime_ns : RUNTIME_NS_DEFAULT;
}

static int plan(struct stria_bench *bench)
{
    struct stria_round_plan *plan = stria_bench_plan(bench, 0, "precondition");
    plan->write = true;
    plan->unrated = true;
    plan->size_bytes = bench->bytes;
    plan->bytes_max = PRECONDITION_TURNS * bench->bytes;
    for (uint32_t round = 0; round < ROUNDS_MAX; round++)
        plan_round(bench, round);
    return STRIA_OK;
}

static uint32_t means_of(const struct stria_bench_result *result, uint64_t means[ROUNDS_MAX])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->round_count && count < ROUNDS_MAX; i++)
        if (!result->rounds[i].plan.unrated && !result->rounds[i].partial)
            means[count++] = result->rounds[i].figures.mean.value;
    return count;
}

static bool is_steady(const struct stria_bench_result *result)
{
    uint64_t means[ROUNDS_MAX];
    return stria_steady_find(means, means_of(result, means)).verdict == STRIA_STEADY_REACHED;
}

static int run(struct stria_bench *bench)
{
    for (; bench->current < bench->plan_count && !is_steady(bench->result); bench->current++)
        if (!stria_bench_round(bench, &bench->plans[bench->current]))
            return bench->stopped ? STRIA_OK : bench->trouble->code;
    return STRIA_OK;
}

static void conclude(struct stria_bench *bench)
{
    uint64_t means[ROUNDS_MAX];
    struct stria_bench_result *result = bench->result;
    result->steady_rounds = means_of(result, means);
    result->steady = stria_steady_find(means, result->steady_rounds);
    result->steady_known = true;
}

const struct stria_bench_test stria_bench_test_steady = {
    .about =
        {"steady",
         "rounds of 60s until five are alike as SNIA defines it, 25 at most, --size written twice before"},
    .writes = true,
    .on_drives = true,
    .part_bytes = stria_bench_size_max,
    .file_bytes = stria_bench_size_max,
    .plan = plan,
    .run = run,
    .conclude = conclude,
};
