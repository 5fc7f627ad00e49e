#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stria_measurement measurement;
static struct stria_trouble trouble;

static void read_whole(const char *text)
{
    cr_assert_eq(document_read("a.json", text, &measurement, &trouble), STRIA_OK, "%s", trouble.sentence);
}

static uint64_t known(enum stria_quantity quantity)
{
    cr_assert(measurement.readings[quantity].known, "%s is not known", stria_quantity_infos[quantity].key);
    return measurement.readings[quantity].value;
}

Test(measurement, of_a_recording_has_its_figures_drives_gaps_and_tracks)
{
    read_whole(document_record);
    cr_assert_str_eq(measurement.label, "a");
    cr_assert_str_eq(measurement.title, "recording 'take' on array 'rig'");
    cr_assert_str_eq(measurement.verdict, "with gaps");
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_BLOCK], "1MiB");
    cr_assert_eq(known(STRIA_QUANTITY_SUSTAINED_1S), 120000000);
    cr_assert_eq(known(STRIA_QUANTITY_ERRORS), 2);
    cr_assert_not(measurement.readings[STRIA_QUANTITY_SUSTAINED_5S].known);
    cr_assert_not(measurement.readings[STRIA_QUANTITY_LATENCY_P999].known);
    cr_assert_eq(measurement.drive_count, 2);
    cr_assert_str_eq(measurement.drives[1].label, "right</script>,\"x");
    cr_assert_eq(measurement.gap_count, 2);
    cr_assert_str_eq(measurement.gaps[1].drive, "right");
    uint64_t interval_ns, bins[4];
    cr_assert_eq(stria_round_bins(&measurement.rounds[0], &interval_ns, NULL), 4);
    cr_assert_eq(interval_ns, 1000000000);
    stria_round_stored(&measurement.rounds[0], bins);
    cr_assert_eq(bins[1], 120000000);
    stria_measurement_clear(&measurement);
}

Test(measurement, the_fill_of_a_recordings_buffer_is_what_came_in_and_has_not_left)
{
    char *faster =
        document_with(document_record, "\"input_bytes\": [150000000, 150000000, 150000000, 150000000]",
                      "\"input_bytes\": [260000000, 180000000, 160000000, 0]");
    read_whole(faster);
    const struct stria_track *fill =
        stria_round_track(&measurement.rounds[0], STRIA_TRACK_BUFFER, STRIA_TRACK_ARRAY);
    cr_assert(fill);
    cr_expect_eq(fill->values[0], 60000000);
    /* 5 MB were dropped at the very end of the second bin, 15 MB in the third. */
    cr_expect_eq(fill->values[1], 60000000 + 60000000 - 5000000);
    cr_expect_eq(fill->values[2], 115000000 + 40000000 - 15000000);
    cr_expect_eq(fill->values[3], 0);
    stria_measurement_clear(&measurement);
    char *unlisted =
        document_with(faster, "\"degraded\": false,", "\"degraded\": false, \"gaps_unlisted_bytes\": 7,");
    read_whole(unlisted);
    cr_expect_null(stria_round_track(&measurement.rounds[0], STRIA_TRACK_BUFFER, STRIA_TRACK_ARRAY));
    stria_measurement_clear(&measurement);
    free(faster), free(unlisted);
}

Test(measurement, of_a_bench_has_rounds_points_and_conditions_and_is_rated_by_its_minimum)
{
    read_whole(document_bench);
    cr_assert_eq(known(STRIA_QUANTITY_MINIMUM), 500000000);
    cr_assert_eq(known(STRIA_QUANTITY_MEAN), 1000000000);
    cr_assert_eq(known(STRIA_QUANTITY_BYTES), 12000000000);
    cr_assert_eq(known(STRIA_QUANTITY_TEMPERATURE_MAX), 41000);
    cr_assert_eq(measurement.round_count, 6);
    cr_assert_eq(measurement.rounds[4].repeat, 1);
    cr_assert_eq(measurement.point_count, 2);
    cr_assert_eq(measurement.points[1].interval_half.value, 24840000);
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_LINK], "8.0 GT/s x4");
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_PRECONDITIONING], "trimmed, 1s rest");
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_POINTS], "1GiB 4GiB");
    cr_assert_eq(measurement.drives[0].price, 45.0);
    cr_assert(measurement.knee.known);
    const struct stria_track *latency =
        stria_round_track(&measurement.rounds[0], STRIA_TRACK_LATENCY_P99, STRIA_TRACK_ARRAY);
    cr_assert_eq(latency->values[0], 9000000);
    cr_assert_eq(latency->values[1], STRIA_TRACK_UNKNOWN);
    cr_assert_eq(measurement.rounds[0].latencies.count, 2);
    stria_measurement_clear(&measurement);
}

Test(measurement, of_fio_is_converted_from_its_units_and_its_warnings_are_passed_over)
{
    read_whole(document_fio);
    cr_assert_eq(known(STRIA_QUANTITY_MEAN), 1000000000);
    cr_assert_eq(known(STRIA_QUANTITY_MINIMUM), 900000u * 1024u);
    cr_assert_eq(known(STRIA_QUANTITY_DURATION), 2000000000);
    cr_assert_eq(known(STRIA_QUANTITY_LATENCY_P99), 9000000);
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_TEST], "fio write");
    cr_assert_str_eq(measurement.conditions[STRIA_CONDITION_BLOCK], "1MiB");
    cr_assert_str_eq(measurement.started, "2026-11-30T12:00:21Z");
    stria_measurement_clear(&measurement);
}

/* One change to a good document, and a part of the sentence that it makes. */
struct damage {
    const char *document, *from, *to, *sentence;
};

Test(measurement, a_damaged_document_gets_a_sentence_that_names_the_place)
{
    const struct damage damages[] = {
        {document_record, "}]}", "", "ends in the middle"},
        {document_record, "\"schema\"", "schema", "is not JSON: line 1"},
        {document_record, "stria.record/1", "stria.record/2", "read it with the stria that wrote it"},
        {document_record, "stria.record/1", "stria.recorder/1", "is of schema stria.recorder/1"},
        {document_record, "\"stria.record/1\"", "null", "has no schema"},
        {document_record, "\"stria.record/1\"", "1", "schema is not a text"},
        {document_record, "\"aggregate\"", "\"aggregates\"", "aggregate is missing"},
        {document_record, "\"drives\": [", "\"drives\": null, \"x\": [", "drives is missing"},
        {document_record, "\"gaps\": [", "\"gaps\": 3, \"x\": [", "recording.gaps is not an array"},
        {document_record, "145000000", "\"145000000\"", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "145000000", "-1", "aggregate.mean_bytes_per_s is negative"},
        {document_record, "145000000", "-1.5", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "145000000", "1e400", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "145000000", "\"NaN\"", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "145000000", "NaN", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "145000000", "nan", ""},
        {document_record, "145000000", "-Infinity", "aggregate.mean_bytes_per_s is no number"},
        {document_record, "\"interval_ns\": 1000000000", "\"interval_ns\": 0", "bins without a width"},
        {document_record, "\"interval_ns\": 1000000000, ", "", "series.interval_ns is missing"},
        {document_record, "[100000000, 20000000,", "[100000000,", "series.drive_bytes[1] is not as long"},
        {document_record, ", [100000000, 20000000, 20000000, 100000000]", "", "has 1 series for 2 drives"},
        {document_record, "\"offset_bytes\": 310000000, ", "", "recording.gaps[1].offset_bytes is missing"},
        {document_record, "\"degraded\": false", "\"degraded\": \"no\"",
         "recording.degraded is neither true nor false"},
        {document_bench, "\"points\": [", "\"points\": {}, \"x\": [", "points is not an array"},
        {document_bench, "[2000000, 480]", "[1000000, 480]", "does not lie above the bucket before it"},
        {document_bench, "[2000000, 480]", "[2000000]", "is not a pair"},
        {document_bench, "\"temperature_c\": [[40", "\"temperature_c\": [[\"hot\"", "is no temperature"},
        {document_bench, "\"gts\": 8.0", "\"gts\": \"8\"", "link.gts is no number"},
        {document_fio, "\"jobs\": [{", "\"jobs\": [], \"x\": [{", "fio ran no job"},
    };
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        char *text = document_with(damages[i].document, damages[i].from, damages[i].to);
        const int code = document_read("a.json", text, &measurement, &trouble);
        cr_expect_eq(code, STRIA_ERR_FORMAT, "%s for %s: code %d", damages[i].to, damages[i].from, code);
        cr_expect(strstr(trouble.sentence, damages[i].sentence), "%s for %s: %s", damages[i].to,
                  damages[i].from, trouble.sentence);
        cr_expect(strstr(trouble.sentence, "a.json"), "%s", trouble.sentence);
        cr_expect_null(strchr(trouble.sentence, '\n'));
        cr_expect_null(measurement.arena.blocks, "something is left after %s", trouble.sentence);
        free(text);
    }
}

Test(measurement, what_is_no_result_at_all_gets_a_sentence)
{
    static const struct {
        const char *text, *sentence;
    } texts[] = {
        {"", "ends in the middle"},
        {"[]", "holds no JSON object"},
        {"{}", "has no schema"},
        {"{} {}", "goes on behind its document"},
        {"\x7f"
         "ELF",
         "is not JSON"},
        {"fio: nothing but a warning\n", "ends in the middle"},
        {"{\"schema\": \"stria.record/1\"}", "array is missing"},
        {"{\"schema\": \"stria.simulate/1\", \"drives\": null}", "simulate one with --drive"},
        {"{\"schema\": \"stria.ls/1\"}", "is of schema stria.ls/1"},
        {"{\"schema\": \"\xff\xfe\"}", "is not JSON"},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_eq(document_read("a.json", texts[i].text, &measurement, &trouble), STRIA_ERR_FORMAT);
        cr_expect(strstr(trouble.sentence, texts[i].sentence), "%s: %s", texts[i].text, trouble.sentence);
    }
    cr_expect_eq(stria_measurement_read("/nonexistent", &measurement, &trouble), STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "cannot read /nonexistent"), "%s", trouble.sentence);
    cr_expect_eq(stria_measurement_read("/", &measurement, &trouble), STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "is a folder"), "%s", trouble.sentence);
}

/* Built by repeating a part of a document: count copies between its begin and its end. */
static char *repeated(const char *begin, const char *part, size_t count, const char *end)
{
    const size_t bytes = strlen(begin) + count * strlen(part) + strlen(end) + 1;
    char *text = malloc(bytes), *at = text;
    cr_assert(text);
    at = stpcpy(at, begin);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, part);
    strcpy(at, end);
    return text;
}

Test(measurement, huge_arrays_and_deep_nests_are_read_or_refused_in_a_sentence)
{
    char *nest = repeated("{\"schema\": ", "[", 100000, "");
    cr_expect_eq(document_read("a.json", nest, &measurement, &trouble), STRIA_ERR_FORMAT);
    cr_expect(strstr(trouble.sentence, "is not JSON"), "%s", trouble.sentence);
    char *bins = repeated("\"input_bytes\": [", "1, ", 1000000, "1, 150000000");
    char *text = document_with(document_record, "\"input_bytes\": [150000000", bins);
    read_whole(text);
    cr_expect_eq(stria_round_track(&measurement.rounds[0], STRIA_TRACK_INPUT, STRIA_TRACK_ARRAY)->count,
                 1000005);
    stria_measurement_clear(&measurement);
    char *many = repeated("\"drives\": [", "{\"path\": \"p\"}, ", 100, "{\"path\": \"p\"}, {");
    char *drives = document_with(document_record, "\"drives\": [{", many);
    cr_expect_eq(document_read("a.json", drives, &measurement, &trouble), STRIA_ERR_FORMAT);
    cr_expect(strstr(trouble.sentence, "drives has 103 elements"), "%s", trouble.sentence);
    free(nest), free(bins), free(text), free(many), free(drives);
}

Test(measurement, figures_that_are_missing_or_null_are_not_known)
{
    char *text = document_with(document_record, "\"mean_bytes_per_s\": 145000000, ", "");
    read_whole(text);
    cr_expect_not(measurement.readings[STRIA_QUANTITY_MEAN].known);
    stria_measurement_clear(&measurement);
    free(text);
    text = document_with(document_record, "\"lossless_bytes_per_s\": 130000000",
                         "\"lossless_bytes_per_s\": null");
    read_whole(text);
    cr_expect_not(measurement.readings[STRIA_QUANTITY_LOSSLESS].known);
    stria_measurement_clear(&measurement);
    free(text);
}

Test(measurement, of_the_same_label_are_told_apart)
{
    struct stria_measurement three[3];
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(document_read("run.json", document_record, &three[i], &trouble), STRIA_OK);
    stria_measurements_tell_apart(three, 3);
    cr_expect_str_eq(three[0].label, "run");
    cr_expect_str_eq(three[1].label, "run #2");
    cr_expect_str_eq(three[2].label, "run #3");
    for (unsigned i = 0; i < 3; i++)
        stria_measurement_clear(&three[i]);
}

Test(measurement, drives_of_the_same_name_are_told_apart)
{
    char *text = document_with(document_record, "\"name\": \"right</script>,\\\"x\"", "\"name\": \"left\"");
    read_whole(text);
    cr_expect_str_eq(measurement.drives[0].label, "left #1");
    cr_expect_str_eq(measurement.drives[1].label, "left #2");
    stria_measurement_clear(&measurement);
    free(text);
}
