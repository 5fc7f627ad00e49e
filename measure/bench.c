#include "measure/bench.h"

#include "measure/plan.h"
#include "measure/points.h"
#include "support/clock.h"
#include "support/nearest.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory in which the generator is measured: more than a cache holds of a processor's own. */
#define GENERATOR_BYTES ((size_t)16 << 20)

const struct stria_bench_test *stria_bench_test_find(const char *name, struct stria_trouble *trouble)
{
    struct stria_nearest nearest = stria_nearest_to(name);
    for (size_t i = 0; stria_bench_tests[i]; i++) {
        if (strcmp(stria_bench_tests[i]->about.name, name) == 0)
            return stria_bench_tests[i];
        stria_nearest_offer(&nearest, stria_bench_tests[i]->about.name);
    }
    if (nearest.best)
        stria_trouble_set(trouble, STRIA_ERR_INVALID, "there is no test '%.64s': did you mean %s?", name,
                          nearest.best);
    else
        stria_trouble_set(trouble, STRIA_ERR_INVALID,
                          "there is no test '%.64s': see 'stria bench --help' for those there are", name);
    return NULL;
}

static int check(const struct stria_bench *bench)
{
    const struct stria_bench_options *options = bench->options;
    const char *name = bench->test->about.name;
    if (options->array && !bench->test->on_array)
        return stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                 "%s is about places on a drive, which a recorder chooses by itself: measure "
                                 "the drives of the array one by one, with --raw",
                                 name);
    if (!options->array && !bench->test->on_drives)
        return stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                 "%s goes through the recorder: name an ARRAY.ini, not a drive", name);
    return STRIA_OK;
}

static uint32_t depth_max(const struct stria_bench_options *options)
{
    uint32_t most = stria_bench_depth(options);
    for (uint32_t i = 0; i < options->depths.count; i++)
        if (options->depths.values[i] > most)
            most = (uint32_t)options->depths.values[i];
    return most > 32 ? most : 32;
}

static int open_array(struct stria_bench *bench)
{
    const struct stria_bench_options *options = bench->options;
    struct stria_bench_result *result = bench->result;
    const uint64_t part = bench->test->part_bytes ? bench->test->part_bytes(options) : 0;
    const int code = stria_through_open(options->array, options->buffer_bytes, options->seed, result->targets,
                                        &bench->through, bench->trouble);
    if (code != STRIA_OK)
        return code;
    if (bench->through->stale && options->say) {
        char sentence[128];
        snprintf(sentence, sizeof(sentence),
                 "removed %" PRIu32 " recording%s that a bench which was killed had left on the array",
                 bench->through->stale, bench->through->stale == 1 ? "" : "s");
        options->say(options->context, sentence);
    }
    result->target_count = options->array->drive_count;
    result->buffer_bytes = bench->through->config.buffer_bytes;
    bench->bytes = stria_through_free_bytes(bench->through);
    bench->block_bytes = bench->through->info.chunk_bytes;
    if (part && part < bench->bytes)
        bench->bytes = part - part % bench->block_bytes;
    return STRIA_OK;
}

/* One that is refused spares the others: nothing is changed before all are admitted. */
static int admit_all(struct stria_bench *bench, const struct stria_target_request *request)
{
    const struct stria_bench_options *options = bench->options;
    const struct stria_guard *guard = &options->guard;
    int code = STRIA_OK;
    for (uint32_t i = 0; !options->array && i < options->drive_count && code == STRIA_OK; i++)
        code = stria_target_admit(&options->drives[i], request, bench->trouble);
    for (uint32_t i = 0; options->array && i < options->array->drive_count && code == STRIA_OK; i++)
        code = stria_target_refuse_cache(&options->array->drives[i], bench->trouble);
    for (unsigned i = 0; guard->erase_used && i < guard->erase_count && code == STRIA_OK; i++)
        if (!guard->erase_used[i])
            code = stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                     "--erase %s is none of what would be overwritten: name a drive's serial "
                                     "number, or a file's path",
                                     guard->erase[i]);
    return code;
}

static int open_targets(struct stria_bench *bench)
{
    const struct stria_bench_options *options = bench->options;
    const struct stria_bench_test *test = bench->test;
    struct stria_bench_result *result = bench->result;
    const struct stria_target_request request = {
        .writes = test->writes,
        .bytes = test->part_bytes ? test->part_bytes(options) : 0,
        .file_bytes = test->file_bytes ? test->file_bytes(options) : 0,
        .depth = depth_max(options),
        .engine = options->engine,
        .guard = &options->guard,
    };
    result->targets = calloc(options->drive_count, sizeof(*result->targets));
    if (!result->targets)
        return stria_trouble_set(bench->trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    int code = admit_all(bench, &request);
    if (code != STRIA_OK || options->array)
        return code == STRIA_OK ? open_array(bench) : code;
    result->buffer_bytes = options->buffer_bytes;
    bench->bytes = UINT64_MAX;
    bench->block_bytes = STRIA_BLOCK_BYTES_MIN;
    for (; result->target_count < options->drive_count; result->target_count++) {
        struct stria_target *target = &result->targets[result->target_count];
        code = stria_target_open(&options->drives[result->target_count], &request, target, bench->trouble);
        if (code != STRIA_OK)
            return code;
        if (!target->link_bytes_per_s.known && options->link_bytes_per_s)
            target->link_bytes_per_s = (struct stria_told){true, options->link_bytes_per_s};
        if (target->bytes < bench->bytes)
            bench->bytes = target->bytes;
        if (target->drive->traits.block_bytes > bench->block_bytes)
            bench->block_bytes = target->drive->traits.block_bytes;
        if (target->warning[0] && options->say)
            options->say(options->context, target->warning);
    }
    return STRIA_OK;
}

/* What no drive can do is found before the first is touched. */
static int check_plans(struct stria_bench *bench)
{
    char block[STRIA_UNITS_TEXT_BYTES], size[STRIA_UNITS_TEXT_BYTES], has[STRIA_UNITS_TEXT_BYTES];
    for (uint32_t i = 0; i < bench->plan_count; i++) {
        const struct stria_round_plan *plan = &bench->plans[i];
        if (plan->block_bytes == 0 || plan->block_bytes % bench->block_bytes != 0 ||
            plan->block_bytes > STRIA_TRANSFER_BYTES_MAX)
            return stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                     "a block of %s is no multiple of the drive's own %" PRIu32
                                     " bytes, or more than 64MiB: choose another --block",
                                     stria_size_print(block, sizeof(block), plan->block_bytes),
                                     bench->block_bytes);
        if (plan->depth < 1 || plan->depth > STRIA_DEPTH_MAX)
            return stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                     "a depth of %" PRIu32 " is out of range: choose 1 to %u", plan->depth,
                                     STRIA_DEPTH_MAX);
        if (plan->size_bytes == 0 || plan->offset_bytes + plan->size_bytes > bench->bytes)
            return stria_trouble_set(
                bench->trouble, STRIA_ERR_INVALID,
                "'%s' needs %s of the drive, which has room for %s: give a smaller --size", plan->point,
                stria_size_print(size, sizeof(size), plan->offset_bytes + plan->size_bytes),
                stria_size_print_both(has, sizeof(has), bench->bytes));
    }
    return bench->plan_count ? STRIA_OK
                             : stria_trouble_set(bench->trouble, STRIA_ERR_INVALID,
                                                 "nothing is left to be measured: give a smaller --size");
}

int stria_bench_plan_unopened(struct stria_bench *bench)
{
    const struct stria_bench_options *options = bench->options;
    const uint64_t part = bench->test->part_bytes ? bench->test->part_bytes(options) : 0;
    const uint64_t file = bench->test->file_bytes ? bench->test->file_bytes(options) : 0;
    int code = check(bench);
    bench->bytes = UINT64_MAX;
    bench->block_bytes = STRIA_BLOCK_BYTES_MIN;
    for (uint32_t i = 0; code == STRIA_OK && i < options->drive_count; i++) {
        struct stria_target_extent extent;
        code = stria_target_measure(options->drives[i].path, file, &extent, bench->trouble);
        if (code == STRIA_OK && extent.bytes < bench->bytes)
            bench->bytes = extent.bytes;
        if (code == STRIA_OK && extent.block_bytes > bench->block_bytes)
            bench->block_bytes = extent.block_bytes;
        if (i == 0)
            bench->begin_bytes = extent.begin_bytes;
    }
    if (code == STRIA_OK && part && part < bench->bytes)
        bench->bytes = part - part % bench->block_bytes;
    if (code == STRIA_OK)
        code = bench->test->plan(bench);
    return code == STRIA_OK ? check_plans(bench) : code;
}

void stria_bench_plans_free(struct stria_bench *bench)
{
    free(bench->plans);
    bench->plans = NULL;
}

/* Measured first: a drive that is faster than what feeds it would look like the feeder. */
static int measure_generator(struct stria_bench *bench)
{
    const struct stria_round_plan *plan = &bench->plans[0];
    struct stria_content content = {.known = plan->known, .seed = plan->seed};
    void *memory = aligned_alloc(4096, GENERATOR_BYTES);
    if (!memory)
        return stria_trouble_set(bench->trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    const size_t block = plan->block_bytes < GENERATOR_BYTES ? plan->block_bytes : GENERATOR_BYTES;
    stria_content_prepare(&content, memory, GENERATOR_BYTES);
    bench->result->generator_bytes_per_s =
        stria_content_bytes_per_s(&content, memory, GENERATOR_BYTES, block);
    free(memory);
    return STRIA_OK;
}

static int measure(struct stria_bench *bench)
{
    struct stria_bench_result *result = bench->result;
    int code = bench->test->plan(bench);
    if (code == STRIA_OK)
        code = check_plans(bench);
    if (code == STRIA_OK)
        code = measure_generator(bench);
    if (code != STRIA_OK)
        return code;
    for (uint32_t i = 0; i < result->target_count; i++)
        stria_target_condition(&result->targets[i], &result->targets[i].before);
    code = bench->test->run ? bench->test->run(bench) : stria_bench_rounds(bench);
    for (uint32_t i = 0; i < result->target_count; i++)
        stria_target_condition(&result->targets[i], &result->targets[i].after);
    if (code == STRIA_OK)
        code = stria_bench_make_points(result, bench->trouble);
    if (code == STRIA_OK && bench->test->conclude)
        bench->test->conclude(bench);
    return code;
}

int stria_bench_run(const struct stria_bench_options *options, struct stria_bench_result *result,
                    struct stria_trouble *trouble)
{
    struct stria_bench bench = {.options = options, .result = result, .trouble = trouble};
    *result = (struct stria_bench_result){.options = options};
    bench.test = stria_bench_test_find(options->test, trouble);
    if (!bench.test)
        return STRIA_ERR_INVALID;
    result->started_unix_ns = stria_clock_wall_ns();
    bench.started_ns = stria_clock_ns();
    int code = check(&bench);
    if (code == STRIA_OK)
        code = open_targets(&bench);
    if (code == STRIA_OK)
        code = measure(&bench);
    stria_through_close(bench.through);
    for (uint32_t i = 0; i < result->target_count; i++)
        stria_target_close(&result->targets[i]);
    result->duration_ns = stria_clock_ns() - bench.started_ns;
    stria_bench_plans_free(&bench);
    if (code != STRIA_OK)
        stria_bench_result_free(result);
    return code;
}

void stria_bench_result_free(struct stria_bench_result *result)
{
    for (uint32_t i = 0; i < result->round_count; i++)
        stria_round_free(&result->rounds[i]);
    free(result->rounds);
    free(result->points);
    free(result->fill_bytes_per_s);
    free(result->targets);
    memset(result, 0, sizeof(*result));
}
