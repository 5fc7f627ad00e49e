/* Reads what is there, which changes nothing; a file that is made is written first. */
#include "measure/plan.h"

#include <stddef.h>

#define ARRAY_BYTES_DEFAULT (8ull << 30)

static bool any_is_made(const struct stria_bench *bench)
{
    for (uint32_t i = 0; i < bench->result->target_count; i++)
        if (bench->result->targets[i].made)
            return true;
    return false;
}

static int plan(struct stria_bench *bench)
{
    struct stria_round_plan *plan;
    uint64_t bytes = bench->bytes;
    if (bench->through && !bench->options->sizes.count && bytes > ARRAY_BYTES_DEFAULT)
        bytes = ARRAY_BYTES_DEFAULT;
    /* What was never written, or is only memory, would be read from nowhere. */
    if (bench->through || any_is_made(bench)) {
        plan = stria_bench_plan(bench, 0, "write");
        plan->write = plan->unrated = plan->keeps = true;
        plan->size_bytes = plan->bytes_max = bytes;
    }
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        plan = stria_bench_plan(bench, repeat, "read");
        plan->keeps = true;
        plan->size_bytes = bytes;
        plan->runtime_ns = bench->options->runtime_ns;
        plan->bytes_max = plan->runtime_ns ? 0 : bytes;
    }
    return STRIA_OK;
}

const struct stria_bench_test stria_bench_test_read = {
    .about = {"read",
              "reads the drive, or --size of it; changes nothing, but a file that is made is written first"},
    .on_drives = true,
    .on_array = true,
    .part_bytes = stria_bench_size_max,
    .file_bytes = stria_bench_size_max,
    .plan = plan,
};
