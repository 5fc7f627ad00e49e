#include "measure/bench.h"

#include "measure/document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static struct stria_drive_config drives[2];
static bool used[1];

static struct stria_bench_options options_of(const char *test, const char *path, uint64_t size)
{
    struct stria_bench_options options = {
        .test = test, .drives = drives, .drive_count = 1, .repeats = 1, .seed = 1};
    for (unsigned i = 0; i < 2; i++) {
        snprintf(drives[i].path, sizeof(drives[i].path), "%s", path);
        drives[i].capacity_scale = drives[i].rate_scale = 1;
    }
    options.guard.erase_used = used;
    options.blocks = (struct stria_bench_list){.values = {65536}, .count = 1};
    if (size)
        options.sizes = (struct stria_bench_list){.values = {size}, .count = 1};
    return options;
}

static struct stria_bench_result run(const struct stria_bench_options *options)
{
    struct stria_bench_result result;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_bench_run(options, &result, &trouble), STRIA_OK, "%s", trouble.sentence);
    return result;
}

static void expect_refusal(const struct stria_bench_options *options, int code, const char *words)
{
    struct stria_bench_result result;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_bench_run(options, &result, &trouble), code, "%d: %s", trouble.code, trouble.sentence);
    cr_assert(strstr(trouble.sentence, words), "%s", trouble.sentence);
}

Test(bench, every_test_of_the_table_has_a_name_and_words_for_it)
{
    const struct stria_bench_about *abouts = stria_bench_abouts();
    unsigned count = 0;
    for (; abouts[count].name; count++)
        cr_assert(abouts[count].summary[0]);
    cr_assert_eq(count, 8);
}

Test(bench, what_is_asked_for_is_done_on_every_drive)
{
    struct stria_bench_options options = options_of("size", "memory:4MiB", 3 * MIB + 512);
    options.drive_count = 2;
    options.repeats = 2;
    struct stria_bench_result result = run(&options);
    cr_assert_eq(result.round_count, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct stria_round *round = &result.rounds[i];
        cr_assert_eq(round->drive_bytes[0], 3 * MIB + 512);
        cr_assert_eq(round->drive_bytes[1], 3 * MIB + 512);
        cr_assert_eq(stria_round_latency(round)->count, 2 * 49);
        cr_assert(round->trimmed);
        cr_assert_not(round->partial);
        cr_assert_gt(round->duration_ns, 0);
        cr_assert_eq(stria_round_total(round)->total_bytes, round->bytes);
    }
    cr_assert_gt(result.generator_bytes_per_s, 0);
    stria_bench_result_free(&result);
}

Test(bench, a_range_is_gone_over_again_until_the_time_is_over)
{
    struct stria_bench_options options = options_of("block", "memory:1MiB", 0);
    options.runtime_ns = 50000000;
    options.depths = (struct stria_bench_list){.values = {1}, .count = 1};
    struct stria_bench_result result = run(&options);
    cr_assert_geq(result.rounds[0].duration_ns, 50000000);
    cr_assert_eq(result.rounds[0].bytes % 65536, 0);
    cr_assert_not(result.rounds[0].partial);
    stria_bench_result_free(&result);
}

Test(bench, what_was_written_is_read_back_in_both_directions)
{
    struct stria_bench_options options = options_of("accuracy", "memory:2MiB", 0);
    options.repeats = 2;
    struct stria_bench_result result = run(&options);
    cr_assert(result.accuracy_known);
    cr_assert_eq(result.accuracy.ok, 2 * 2 * 512);
    cr_assert_eq(result.round_count, 6);
    stria_bench_result_free(&result);
}

Test(bench, what_was_lost_in_the_first_repeat_is_missing_and_in_the_second_stale)
{
    struct stria_bench_options options = options_of("accuracy", "memory:2MiB", 0);
    options.repeats = 2;
    options.depths = (struct stria_bench_list){.values = {1}, .count = 1};
    snprintf(drives[0].fault, sizeof(drives[0].fault), "write#2:ignored; write#40:ignored");
    struct stria_bench_result result = run(&options);
    cr_assert_eq(result.accuracy.missing, 2 * 16);
    cr_assert_eq(result.accuracy.stale, 2 * 16);
    cr_assert_eq(result.accuracy.corrupt + result.accuracy.misplaced, 0);
    stria_bench_result_free(&result);
}

Test(bench, short_and_put_off_requests_are_finished_and_no_errors)
{
    struct stria_bench_options options = options_of("accuracy", "memory:2MiB", 0);
    snprintf(drives[0].fault, sizeof(drives[0].fault), "write,every=3:short=4096; read,every=5:again");
    struct stria_bench_result result = run(&options);
    cr_assert_eq(result.accuracy.ok, 2 * 512);
    for (uint32_t i = 0; i < result.round_count; i++) {
        cr_assert_eq(result.rounds[i].errors, 0);
        cr_assert_eq(result.rounds[i].bytes, 2 * MIB);
    }
    stria_bench_result_free(&result);
}

Test(bench, a_drive_that_goes_ends_it_and_what_there_is_stays)
{
    struct stria_bench_options options = options_of("size", "memory:4MiB", 4 * MIB);
    options.repeats = 3;
    snprintf(drives[0].fault, sizeof(drives[0].fault), "write#80:gone");
    struct stria_bench_result result = run(&options);
    cr_assert(result.partial);
    cr_assert_eq(result.round_count, 2);
    cr_assert_eq(result.rounds[1].code, STRIA_ERR_GONE);
    cr_assert(result.rounds[1].partial);
    cr_assert_eq(result.points[0].repeats, 1);
    stria_bench_result_free(&result);
}

static bool stop_in_second_round(void *context, const struct stria_bench_moment *moment)
{
    (void)context;
    return moment->round < 1;
}

Test(bench, whoever_watches_can_stop_it)
{
    struct stria_bench_options options = options_of("size", "memory:1MiB", MIB);
    options.repeats = 100;
    options.watch = stop_in_second_round;
    struct stria_bench_result result = run(&options);
    cr_assert(result.partial);
    cr_assert_str_eq(result.why, "it was stopped");
    cr_assert_eq(result.round_count, 1);
    cr_assert_eq(result.points[0].repeats, 1);
    stria_bench_result_free(&result);
}

Test(bench, what_cannot_be_is_refused_before_anything_is_done)
{
    struct stria_bench_options options = options_of("size", "memory:1MiB", 2 * MIB);
    expect_refusal(&options, STRIA_ERR_INVALID, "smaller --size");
    options = options_of("sice", "memory:1MiB", MIB);
    expect_refusal(&options, STRIA_ERR_INVALID, "did you mean size");
    options = options_of("size", "memory:1MiB", MIB);
    options.blocks.values[0] = 1000;
    expect_refusal(&options, STRIA_ERR_INVALID, "no multiple");
    options = options_of("size", "memory:1MiB", MIB);
    options.depths = (struct stria_bench_list){.values = {100000}, .count = 1};
    expect_refusal(&options, STRIA_ERR_INVALID, "depth");
    options = options_of("size", "memory:1MiB", MIB);
    options.engine = "uring";
    expect_refusal(&options, STRIA_ERR_INVALID, "served by the backend memory");
    const char *names[] = {"S123"};
    options = options_of("size", "memory:1MiB", MIB);
    options.guard.erase = names;
    options.guard.erase_count = 1;
    expect_refusal(&options, STRIA_ERR_INVALID, "--erase S123 is none");
}

Test(bench, the_document_has_no_text_where_a_number_belongs)
{
    struct stria_bench_options options = options_of("fill", "memory:1MiB", 0);
    struct stria_bench_result result = run(&options);
    struct json_object *document = stria_bench_document(&result);
    const char *text = json_object_to_json_string(document);
    cr_assert(strstr(text, "\"schema\": \"stria.bench\\/1\"") ||
              strstr(text, "\"schema\": \"stria.bench/1\""));
    cr_assert_null(strstr(text, "nan"));
    cr_assert_null(strstr(text, "inf"));
    json_object_put(document);
    stria_bench_result_free(&result);
}
