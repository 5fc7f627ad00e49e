/* The same amount at places spread over the drive, in an order of chance: where on it is it slow? */
#include "core/random.h"
#include "measure/plan.h"
#include "support/units.h"

#include <stddef.h>

#define ZONES_DEFAULT 8u
#define ZONES_MAX     1024u
#define SIZE_DEFAULT  (1ull << 30)

static uint32_t zones_of(const struct stria_bench_options *options)
{
    const uint32_t zones = options->zones ? options->zones : ZONES_DEFAULT;
    return zones < ZONES_MAX ? zones : ZONES_MAX;
}

static uint64_t size_of(const struct stria_bench_options *options)
{
    return options->sizes.count ? options->sizes.values[0] : SIZE_DEFAULT;
}

/* Each zone has a place of its own in a file that is made. */
static uint64_t file_bytes(const struct stria_bench_options *options)
{
    return options->sizes.count ? zones_of(options) * size_of(options) : 0;
}

static void shuffle(uint32_t *order, uint32_t count, struct stria_random *random)
{
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = (uint32_t)stria_random_below(random, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static void plan_zone(struct stria_bench *bench, uint32_t repeat, uint32_t zone, uint64_t size)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    const uint32_t zones = zones_of(bench->options);
    const uint64_t room = bench->bytes - size;
    uint64_t offset = zones > 1 ? (uint64_t)((unsigned __int128)room * zone / (zones - 1)) : 0;
    offset -= offset % stria_bench_block(bench);
    struct stria_round_plan *plan =
        stria_bench_plan(bench, repeat, "at %s", stria_size_print(text, sizeof(text), offset));
    plan->write = true;
    plan->offset_bytes = offset;
    plan->size_bytes = plan->bytes_max = size;
}

static int plan(struct stria_bench *bench)
{
    uint32_t order[ZONES_MAX];
    const uint32_t zones = zones_of(bench->options);
    const uint64_t asked = size_of(bench->options), size = asked - asked % bench->block_bytes;
    struct stria_random random;
    if (size > bench->bytes)
        return stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                 "a zone is larger than the drive: give a smaller --size");
    stria_random_seed(&random, bench->options->seed);
    for (uint32_t repeat = 0; repeat < bench->options->repeats; repeat++) {
        for (uint32_t i = 0; i < zones; i++)
            order[i] = i;
        shuffle(order, zones, &random);
        for (uint32_t i = 0; i < zones; i++)
            plan_zone(bench, repeat, order[i], size);
    }
    return STRIA_OK;
}

const struct stria_bench_test stria_bench_test_zone = {
    .about = {"zone", "the same size at places spread over the drive, in an order of chance; 8 of 1GiB"},
    .writes = true,
    .on_drives = true,
    .file_bytes = file_bytes,
    .plan = plan,
};
