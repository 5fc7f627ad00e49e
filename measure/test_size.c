/* A row of sizes, each written from the start: how much a drive takes at which rate. */
#include "measure/plan.h"
#include "support/units.h"

#include <stddef.h>

#define SIZES 7u /* 1, 2, 4 … 64 GiB */

static uint64_t size_at(const struct stria_bench *bench, uint32_t index)
{
    const struct stria_bench_list *sizes = &bench->options->sizes;
    return sizes->count ? sizes->values[index] : 1ull << (30 + index);
}

static int plan(struct stria_bench *bench)
{
    const struct stria_bench_list *sizes = &bench->options->sizes;
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        for (uint32_t i = 0; i < (sizes->count ? sizes->count : SIZES); i++) {
            char text[STRIA_UNITS_TEXT_BYTES];
            const uint64_t size = size_at(bench, i);
            /* Sizes that nobody asked for are left out where there is no room for them. */
            if (!sizes->count && size > bench->bytes && i > 0)
                continue;
            struct stria_round_plan *plan =
                stria_bench_plan(bench, repeat, "%s", stria_size_print(text, sizeof(text), size));
            plan->write = true;
            plan->size_bytes = plan->bytes_max = size - size % bench->block_bytes;
        }
    }
    return STRIA_OK;
}

const struct stria_bench_test stria_bench_test_size = {
    .about = {"size", "a row of sizes, each written from the start; 1, 2, 4 … 64GiB"},
    .writes = true,
    .on_drives = true,
    .on_array = true,

    .file_bytes = stria_bench_size_max,
    .plan = plan,
};
