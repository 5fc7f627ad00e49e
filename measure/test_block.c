/* Requests of many sizes, at several depths: which block is large enough? */
#include "measure/plan.h"
#include "support/units.h"

#include <stddef.h>

#define RUNTIME_NS_DEFAULT 10000000000ull

static const struct stria_bench_list blocks_default = {
    .values = {512, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216},
    .count = 8,
};
static const struct stria_bench_list depths_default = {.values = {1, 8, 32}, .count = 3};

static const struct stria_bench_list *blocks_of(const struct stria_bench_options *options)
{
    return options->blocks.count ? &options->blocks : &blocks_default;
}

static const struct stria_bench_list *depths_of(const struct stria_bench_options *options)
{
    return options->depths.count ? &options->depths : &depths_default;
}

static void plan_one(struct stria_bench *bench, uint32_t repeat, uint64_t block, uint32_t depth)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    struct stria_round_plan *plan =
        stria_bench_plan(bench, repeat, "%s, depth %u", stria_size_print(text, sizeof(text), block), depth);
    plan->write = true;
    plan->block_bytes = block;
    plan->depth = depth;
    plan->size_bytes = bench->bytes;
    plan->runtime_ns = bench->options->runtime_ns ? bench->options->runtime_ns : RUNTIME_NS_DEFAULT;
}

static int plan(struct stria_bench *bench)
{
    const struct stria_bench_list *blocks = blocks_of(bench->options), *depths = depths_of(bench->options);
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++)
        for (uint32_t b = 0; b < blocks->count; b++)
            for (uint32_t d = 0; d < depths->count; d++)
                /* A drive of 4 KiB blocks takes no 512 bytes; asked for by name, that is an error. */
                if (blocks != &blocks_default || blocks->values[b] >= bench->block_bytes)
                    plan_one(bench, repeat, blocks->values[b], (uint32_t)depths->values[d]);
    return STRIA_OK;
}

const struct stria_bench_test stria_bench_test_block = {
    .about = {"block", "requests of 512B to 16MiB at depths 1, 8 and 32, each for 10s"},
    .writes = true,
    .on_drives = true,
    .part_bytes = stria_bench_size_max,
    .file_bytes = stria_bench_size_max,
    .plan = plan,
};
