#include "tools/record_report.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull
#define CHUNK  (1u << 20)

static struct stria_record_report *report;
static struct stria_gap_info gaps[12];

/* Two drives for three seconds; the second one is slow, and lost at the end. */
static void set_up(void)
{
    report = calloc(1, sizeof(*report));
    void *memory = malloc(stria_meter_bytes(2, 64));
    const struct stria_meter_config config = {.drive_count = 2, .bins = 64, .start_ns = SECOND};
    struct stria_meter *meter = stria_meter_init(memory, &config);
    for (unsigned i = 1; i <= 300; i++) {
        const uint64_t now = SECOND + i * SECOND / 100;
        stria_meter_input(meter, now, 2 * CHUNK);
        stria_meter_done(meter, 0, now, CHUNK, 1000000 + i, 10);
        if (i % 2)
            stria_meter_done(meter, 1, now, CHUNK, 5000000, 10);
    }
    stria_meter_buffer(meter, 60u << 20);
    stria_meter_finish(meter, 4 * SECOND);
    report->meter = meter;
    report->buffer_bytes = 64u << 20;
    report->array =
        (struct stria_array_info){.name = "rig", .uuid = "u", .drive_count = 2, .chunk_bytes = CHUNK};
    strcpy(report->drives[0].name, "left");
    strcpy(report->drives[0].path, "/dev/left");
    strcpy(report->drives[0].serial, "S1");
    strcpy(report->drives[1].name, "right");
    report->progress[0].bytes = 300ull * CHUNK;
    report->progress[1].bytes = 150ull * CHUNK;
    report->progress[1].lost = true;
    report->progress[1].lost_code = STRIA_ERR_TIMEOUT;
    report->progress[1].lost_ns = 2500 * SECOND / 1000;
    report->progress[1].errors = 1;
    report->result = (struct stria_result){.info = {.name = "take",
                                                    .id = 7,
                                                    .bytes = 450ull * CHUNK,
                                                    .length_bytes = 600ull * CHUNK,
                                                    .dropped_bytes = 150ull * CHUNK,
                                                    .started_unix_ns = 1796040000125000000ull},
                                           .durable_bytes = 600ull * CHUNK,
                                           .duration_ns = 3 * SECOND,
                                           .degraded = true,
                                           .gap_count = 12};
    for (unsigned i = 0; i < 12; i++)
        gaps[i] = (struct stria_gap_info){.offset_bytes = i * 2 * CHUNK,
                                          .length_bytes = CHUNK,
                                          .time_ns = i * SECOND / 10,
                                          .cause = i ? STRIA_GAP_BUFFER : STRIA_GAP_FULL,
                                          .drive = i ? 1 : -1};
    report->gaps = gaps;
}

TestSuite(report, .init = set_up);

/* "a.b.c" and "a.0.b" lead through objects and arrays; null where the path ends in null. */
static struct json_object *at(struct json_object *document, const char *path)
{
    char copy[128];
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *word = strtok(copy, "."); word; word = strtok(NULL, ".")) {
        struct json_object *next = NULL;
        if (json_object_is_type(document, json_type_array))
            next = json_object_array_get_idx(document, (size_t)atoi(word));
        else
            cr_assert(json_object_object_get_ex(document, word, &next), "there is no key %s of %s", word,
                      path);
        document = next;
    }
    return document;
}

static uint64_t number(struct json_object *document, const char *path)
{
    struct json_object *value = at(document, path);
    cr_assert(json_object_is_type(value, json_type_int), "%s is no integer", path);
    return json_object_get_uint64(value);
}

Test(report, the_document_has_every_key_of_its_schema)
{
    struct json_object *document = stria_record_report_document(report);
    static const char *const keys[] = {"array.uuid",
                                       "array.policy",
                                       "recording.durable_bytes",
                                       "recording.gaps.0.cause",
                                       "aggregate.latency_ns.p999",
                                       "aggregate.lossless_bytes_per_s",
                                       "drives.0.path",
                                       "drives.1.serial",
                                       "drives.1.sustained_bytes_per_s.60s",
                                       "drives.1.stalls",
                                       "series.drive_bytes.1.0",
                                       "series.input_bytes.0",
                                       "started",
                                       "aggregate.histogram.0.1",
                                       "drives.1.histogram.0.0",
                                       "latency_series.interval_ns",
                                       "latency_series.p99_ns.2",
                                       "latency_series.drive_max_ns.1.2"};
    cr_assert_str_eq(json_object_get_string(at(document, "schema")), "stria.record/1");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        at(document, keys[i]);
    json_object_put(document);
}

Test(report, figures_are_those_of_the_meter)
{
    struct json_object *document = stria_record_report_document(report);
    cr_assert_eq(number(document, "recording.bytes"), 450ull * CHUNK);
    cr_assert_eq(number(document, "recording.length_bytes"), 600ull * CHUNK);
    cr_assert_eq(number(document, "aggregate.mean_bytes_per_s"), 150ull * CHUNK);
    cr_assert_eq(number(document, "aggregate.sustained_bytes_per_s.1s"), 150ull * CHUNK);
    cr_assert_eq(number(document, "drives.0.mean_bytes_per_s"), 100ull * CHUNK);
    cr_assert_eq(number(document, "drives.1.errors"), 1);
    cr_assert_eq(number(document, "buffer.high_water_bytes"), 60ull << 20);
    cr_assert_eq(number(document, "series.interval_ns"), SECOND / 10);
    cr_assert_eq(number(document, "latency_series.interval_ns"), SECOND);
    cr_assert_eq(number(document, "latency_series.drive_max_ns.0.1"), 1000200);
    cr_assert_eq(number(document, "latency_series.max_ns.2"), 5000000);
    cr_assert_null(at(document, "latency_series.p99_ns.0"), "too few for a percentile");
    cr_assert_str_eq(json_object_get_string(at(document, "started")), "2026-11-30T12:00:00.125Z");
    json_object_put(document);
}

Test(report, what_does_not_exist_is_null)
{
    struct json_object *document = stria_record_report_document(report);
    cr_assert_null(at(document, "aggregate.sustained_bytes_per_s.60s"));
    cr_assert_null(at(document, "aggregate.latency_ns.p999"));
    cr_assert_null(at(document, "recording.gaps.0.drive"));
    json_object_put(document);
}

Test(report, each_gap_names_its_cause_and_drive)
{
    struct json_object *document = stria_record_report_document(report);
    cr_assert_str_eq(json_object_get_string(at(document, "recording.gaps.0.cause")), "full");
    cr_assert_str_eq(json_object_get_string(at(document, "recording.gaps.11.cause")), "buffer");
    cr_assert_str_eq(json_object_get_string(at(document, "recording.gaps.11.drive")), "right");
    json_object_put(document);
}

Test(report, a_drive_that_was_lost_has_a_reason_and_a_time)
{
    struct json_object *document = stria_record_report_document(report);
    cr_assert_null(at(document, "drives.0.lost_reason"));
    cr_assert_null(at(document, "drives.0.lost_ns"));
    cr_assert_str_eq(json_object_get_string(at(document, "drives.1.lost_reason")), "timed out");
    cr_assert_eq(json_object_get_int64(at(document, "drives.1.lost_ns")), 2500 * SECOND / 1000);
    json_object_put(document);
    report->progress[1].lost_code = STRIA_OK;
    strcpy(report->drives[1].complaint, "/dev/right is not there");
    document = stria_record_report_document(report);
    cr_assert_str_eq(json_object_get_string(at(document, "drives.1.lost_reason")), "/dev/right is not there");
    cr_assert_null(at(document, "drives.1.lost_ns"));
    json_object_put(document);
}

Test(report, a_full_buffer_is_what_makes_a_lossless_rate_certain)
{
    struct json_object *document = stria_record_report_document(report);
    cr_assert(json_object_get_boolean(at(document, "aggregate.saturated")));
    json_object_put(document);
    report->buffer_bytes = 1u << 30;
    document = stria_record_report_document(report);
    cr_assert_not(json_object_get_boolean(at(document, "aggregate.saturated")));
    json_object_put(document);
}

Test(report, the_table_tells_the_same_to_people)
{
    static const char *const words[] = {"'take' on array 'rig', with gaps",
                                        "sustained(1 s)      157.3 MB/s (150.0 MiB/s)",
                                        "lossless ",
                                        "left",
                                        "lost after 2.5 s: timed out\n",
                                        "gap at 0: 1.0 MB (1.0 MiB)",
                                        "cause buffer, drive right",
                                        "and 4 gaps more"};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    stria_record_report_print(report, out);
    fclose(out);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        cr_assert(strstr(text, words[i]), "'%s' is not in:\n%s", words[i], text);
    free(text);
}
