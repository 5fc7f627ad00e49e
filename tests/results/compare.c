#include "results/compare.h"

#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stria_measurement base, fresh;
static struct stria_comparison comparison;
static struct stria_compare_options options = {.tolerance = STRIA_COMPARE_TOLERANCE};

/* The document against itself with one change. */
static void compare(const char *document, const char *from, const char *to)
{
    struct stria_trouble trouble;
    char *text = document_with(document, from, to);
    cr_assert_eq(document_read("base.json", document, &base, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_assert_eq(document_read("new.json", text, &fresh, &trouble), STRIA_OK, "%s", trouble.sentence);
    stria_compare(&base, &fresh, &options, &comparison);
    free(text);
}

static void tear_down(void)
{
    stria_comparison_clear(&comparison);
    stria_measurement_clear(&base);
    stria_measurement_clear(&fresh);
}

TestSuite(compare, .fini = tear_down);

static const struct stria_compared *figure_of(const char *point, enum stria_quantity quantity)
{
    for (uint32_t i = 0; i < comparison.figure_count; i++) {
        const struct stria_compared *figure = &comparison.figures[i];
        if (figure->quantity == quantity &&
            (point ? figure->point && strcmp(figure->point, point) == 0 : !figure->point))
            return figure;
    }
    cr_assert_fail("%s is not compared", stria_quantity_infos[quantity].key);
    return NULL;
}

Test(compare, a_measurement_is_the_same_as_itself)
{
    compare(document_record, "stria.record/1", "stria.record/1");
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
    cr_expect_eq(comparison.reason_count, 0);
    cr_expect_gt(comparison.figure_count, 8);
}

Test(compare, a_lower_rate_is_worse_and_a_higher_one_better)
{
    compare(document_record, "\"1s\": 120000000", "\"1s\": 100000000");
    cr_expect_eq(figure_of(NULL, STRIA_QUANTITY_SUSTAINED_1S)->change, STRIA_CHANGE_WORSE);
    cr_expect_float_eq(figure_of(NULL, STRIA_QUANTITY_SUSTAINED_1S)->ratio, -1.0 / 6, 1e-9);
    cr_expect_eq(comparison.change, STRIA_CHANGE_WORSE);
    tear_down();
    compare(document_record, "\"1s\": 120000000", "\"1s\": 140000000");
    cr_expect_eq(comparison.change, STRIA_CHANGE_BETTER);
}

Test(compare, a_higher_latency_is_worse_and_a_lower_one_better)
{
    compare(document_record, "\"p99\": 9000000", "\"p99\": 10000000");
    cr_expect_eq(figure_of(NULL, STRIA_QUANTITY_LATENCY_P99)->change, STRIA_CHANGE_WORSE);
    tear_down();
    compare(document_record, "\"p99\": 9000000", "\"p99\": 8000000");
    cr_expect_eq(comparison.change, STRIA_CHANGE_BETTER);
}

Test(compare, a_change_within_the_tolerance_is_none)
{
    compare(document_record, "\"1s\": 120000000", "\"1s\": 114000000");
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
    tear_down();
    compare(document_record, "\"1s\": 120000000", "\"1s\": 113999999");
    cr_expect_eq(comparison.change, STRIA_CHANGE_WORSE);
    tear_down();
    options.tolerance = 0.2;
    compare(document_record, "\"1s\": 120000000", "\"1s\": 100000000");
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
}

Test(compare, the_first_lost_byte_is_worse_than_none)
{
    char *whole = document_with(document_record, "\"dropped_bytes\": 20000000", "\"dropped_bytes\": 0");
    compare(whole, "\"dropped_bytes\": 0", "\"dropped_bytes\": 1");
    cr_expect_eq(figure_of(NULL, STRIA_QUANTITY_DROPPED)->change, STRIA_CHANGE_WORSE);
    cr_expect_not(figure_of(NULL, STRIA_QUANTITY_DROPPED)->ratio_known);
    cr_expect_eq(comparison.change, STRIA_CHANGE_WORSE);
    free(whole);
}

Test(compare, a_single_worst_event_is_told_and_does_not_count)
{
    compare(document_record, "\"max\": 12000000", "\"max\": 90000000");
    const struct stria_compared *figure = figure_of(NULL, STRIA_QUANTITY_LATENCY_MAX);
    cr_expect_eq(figure->change, STRIA_CHANGE_WORSE);
    cr_expect_not(figure->counts);
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
}

Test(compare, a_figure_that_only_one_has_is_left_out)
{
    compare(document_record, "\"lossless_bytes_per_s\": 130000000", "\"lossless_bytes_per_s\": null");
    for (uint32_t i = 0; i < comparison.figure_count; i++)
        cr_expect_neq(comparison.figures[i].quantity, STRIA_QUANTITY_LOSSLESS);
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
}

Test(compare, different_conditions_are_named_and_make_no_verdict)
{
    static const struct {
        const char *document, *from, *to, *reason;
    } changes[] = {
        {document_bench, "\"firmware\": \"F1\"", "\"firmware\": \"F2\"", "firmware differs: F1 against F2"},
        {document_bench, "\"gts\": 8.0, \"width\": 4", "\"gts\": 8.0, \"width\": 2",
         "link differs: 8.0 GT/s x4 against 8.0 GT/s x2"},
        {document_bench, "\"kernel\": \"6.1.0\"", "\"kernel\": \"6.12.0\"",
         "kernel differs: 6.1.0 against 6.12.0"},
        {document_bench, "\"options\": {\"block_bytes\": 1048576", "\"options\": {\"block_bytes\": 524288",
         "block differs: 1MiB against 512KiB"},
        {document_bench, "\"depth\": 8, \"engine\"", "\"depth\": 32, \"engine\"",
         "depth differs: 8 against 32"},
        {document_bench, "\"trimmed\": true", "\"trimmed\": false",
         "preconditioning differs: trimmed, 1s rest against trimmed in part, 1s rest"},
        {document_bench, "\"test\": \"size\"", "\"test\": \"fill\"", "test differs: size against fill"},
        {document_bench, "\"model\": \"M\"", "\"model\": \"N\"", "model differs: M against N"},
        {document_bench, "\"partial\": false", "\"partial\": true", "partial: new was interrupted"},
        {document_record, "\"policy\": \"adaptive\"", "\"policy\": \"raid0\"",
         "policy differs: adaptive against raid0"},
        {document_record, "\"buffer\": {\"bytes\": 67108864", "\"buffer\": {\"bytes\": 134217728",
         "buffer differs: 64MiB against 128MiB"},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        compare(changes[i].document, changes[i].from, changes[i].to);
        cr_expect_eq(comparison.change, STRIA_CHANGE_NOT_COMPARABLE, "%s", changes[i].reason);
        cr_expect_eq(comparison.reason_count, 1);
        cr_expect_str_eq(comparison.reasons[0], changes[i].reason);
        tear_down();
        char name[32];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(changes[i].reason, " :"), changes[i].reason);
        const unsigned despite = stria_despite_find(name);
        cr_assert_lt(despite, STRIA_DESPITES, "%s is no condition", name);
        options.despite[despite] = true;
        compare(changes[i].document, changes[i].from, changes[i].to);
        cr_expect_eq(comparison.change, STRIA_CHANGE_SAME, "despite %s", name);
        cr_expect_str_eq(comparison.notes[0], changes[i].reason);
        options.despite[despite] = false;
        tear_down();
    }
}

Test(compare, surroundings_are_noted_only)
{
    compare(document_bench, "\"governor\": \"performance\"", "\"governor\": \"powersave\"");
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME);
    cr_expect_str_eq(comparison.notes[0], "governor differs: performance against powersave");
}

Test(compare, amounts_that_differ_in_length_and_time_are_not_comparable)
{
    struct stria_trouble trouble;
    char *longer =
        document_with(document_record, "\"length_bytes\": 600000000", "\"length_bytes\": 900000000");
    compare(longer, "\"duration_ns\": 4000000000", "\"duration_ns\": 6000000000");
    cr_expect_eq(comparison.change, STRIA_CHANGE_SAME, "the same length in another time is an outcome");
    tear_down();
    cr_assert_eq(document_read("base.json", document_record, &base, &trouble), STRIA_OK);
    char *both = document_with(longer, "\"duration_ns\": 4000000000", "\"duration_ns\": 6000000000");
    cr_assert_eq(document_read("new.json", both, &fresh, &trouble), STRIA_OK);
    stria_compare(&base, &fresh, &options, &comparison);
    cr_expect_eq(comparison.change, STRIA_CHANGE_NOT_COMPARABLE);
    cr_expect_str_eq(comparison.reasons[0], "amount differs: 600 MB against 900 MB");
    free(longer), free(both);
}

Test(compare, repeats_decide_whether_a_change_is_more_than_their_spread)
{
    compare(document_bench, "\"min_bytes_per_s\": 900000000", "\"min_bytes_per_s\": 700000000");
    const struct stria_compared *figure = figure_of("1GiB", STRIA_QUANTITY_MINIMUM);
    cr_expect_eq(figure->base_count, 3);
    cr_expect_eq(figure->fresh, 700000000, "the rating is the minimum of the minima");
    cr_expect_eq(figure->change, STRIA_CHANGE_SAME, "one repeat of three is no trend");
    cr_expect_str_eq(figure->why, "within the spread of the repeats");
    tear_down();
    char *one =
        document_with(document_bench, "\"min_bytes_per_s\": 900000000", "\"min_bytes_per_s\": 700000000");
    char *two = document_with(one, "\"min_bytes_per_s\": 910000000", "\"min_bytes_per_s\": 710000000");
    char *three = document_with(two, "\"min_bytes_per_s\": 920000000", "\"min_bytes_per_s\": 720000000");
    struct stria_trouble trouble;
    cr_assert_eq(document_read("base.json", document_bench, &base, &trouble), STRIA_OK);
    cr_assert_eq(document_read("new.json", three, &fresh, &trouble), STRIA_OK);
    stria_compare(&base, &fresh, &options, &comparison);
    cr_expect_eq(figure_of("1GiB", STRIA_QUANTITY_MINIMUM)->change, STRIA_CHANGE_WORSE);
    cr_expect_eq(figure_of("4GiB", STRIA_QUANTITY_MINIMUM)->change, STRIA_CHANGE_SAME);
    cr_expect_eq(comparison.change, STRIA_CHANGE_WORSE);
    free(one), free(two), free(three);
}

Test(compare, the_document_tells_all_of_it)
{
    compare(document_record, "\"1s\": 120000000", "\"1s\": 100000000");
    struct json_object *document = stria_comparison_document(&base, &fresh, &options, &comparison), *value;
    json_object_object_get_ex(document, "schema", &value);
    cr_expect_str_eq(json_object_get_string(value), "stria.compare/1");
    json_object_object_get_ex(document, "verdict", &value);
    cr_expect_str_eq(json_object_get_string(value), "worse");
    json_object_object_get_ex(document, "figures", &value);
    cr_expect_eq(json_object_array_length(value), comparison.figure_count);
    cr_expect(json_object_object_get_ex(document, "versus", &value));
    cr_expect_null(value);
    json_object_put(document);
}

Test(compare, a_bench_beside_what_fio_measured_is_compared_as_a_whole)
{
    struct stria_trouble trouble;
    static const char *const asked[] = {"test", "engine", "drives", "depth", "amount"};
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
        options.despite[stria_despite_find(asked[i])] = true;
    cr_assert_eq(document_read("bench.json", document_bench, &base, &trouble), STRIA_OK);
    cr_assert_eq(document_read("fio.json", document_fio, &fresh, &trouble), STRIA_OK);
    stria_compare(&base, &fresh, &options, &comparison);
    for (uint32_t i = 0; i < comparison.reason_count; i++)
        cr_log_warn("%s", comparison.reasons[i]);
    cr_expect_eq(comparison.reason_count, 0, "fio's 1M is 1MiB, and there are figures in common");
    cr_expect_eq(figure_of(NULL, STRIA_QUANTITY_MEAN)->base, 1000000000);
    cr_expect_eq(figure_of(NULL, STRIA_QUANTITY_LATENCY_P99)->fresh, 9000000);
}
