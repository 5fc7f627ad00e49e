/* Writes what describes itself and reads it back, in order and in reverse: is every block the one that was
 * written there last? */
#include "core/synthetic.h"
#include "measure/plan.h"

#include <stddef.h>

#define BYTES_DEFAULT (8ull << 30)

static struct stria_round_plan *plan_pass(struct stria_bench *bench, uint32_t repeat, const char *point,
                                          uint64_t bytes)
{
    struct stria_round_plan *plan = stria_bench_plan(bench, repeat, "%s", point);
    plan->size_bytes = plan->bytes_max = bytes;
    /* Each repeat writes another stream over the one before: what is left of that is seen. */
    plan->seed = bench->options->seed + repeat;
    plan->known = true;
    return plan;
}

static int plan(struct stria_bench *bench)
{
    uint64_t bytes = bench->bytes;
    if (!bench->options->sizes.count && bytes > BYTES_DEFAULT)
        bytes = BYTES_DEFAULT;
    bytes -= bytes % STRIA_SYNTHETIC_BLOCK_BYTES;
    if (stria_bench_block(bench) % STRIA_SYNTHETIC_BLOCK_BYTES != 0)
        return stria_trouble_set(
            bench->trouble, STRIA_ERR_INVALID,
            "accuracy compares blocks of 4 KiB: give a --block that is a multiple of it");
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        struct stria_round_plan *plan = plan_pass(bench, repeat, "write", bytes);
        plan->write = true;
        plan->keeps = repeat > 0;
        plan = plan_pass(bench, repeat, "read in order", bytes);
        plan->keeps = plan->compare = true;
        plan = plan_pass(bench, repeat, "read in reverse", bytes);
        plan->keeps = plan->compare = plan->reverse = true;
    }
    return STRIA_OK;
}

static void conclude(struct stria_bench *bench)
{
    struct stria_bench_result *result = bench->result;
    for (uint32_t i = 0; i < result->round_count; i++)
        stria_content_counts_add(&result->accuracy, &result->rounds[i].counts);
    result->accuracy_known = result->round_count > 0;
}

const struct stria_bench_test stria_bench_test_accuracy = {
    .about = {"accuracy", "8GiB, or --size, written, read in order and in reverse, and compared"},
    .writes = true,
    .on_drives = true,
    .on_array = true,
    .part_bytes = stria_bench_size_max,
    .file_bytes = stria_bench_size_max,
    .plan = plan,
    .conclude = conclude,
};
