#include "tools/record_report.h"

#include "core/curve.h"
#include "core/knee.h"
#include "support/json_latency.h"
#include "support/plain.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Gaps beyond these are only counted in the table; the document has all. */
#define GAPS_PRINTED_MAX 8u

static void add_sustained(struct json_object *into, const struct stria_sustained *sustained)
{
    struct json_object *object = stria_json_add_object(into, "sustained_bytes_per_s");
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure figure = {0};
        char key[16];
        snprintf(key, sizeof(key), "%" PRIu32 "s", stria_sustained_windows_s[window]);
        const bool known = stria_sustained_worst(sustained, window, &figure);
        stria_json_add_figure(object, key, known, figure.bytes_per_s);
    }
}

static void add_mean(struct json_object *into, const struct stria_flow *flow)
{
    uint64_t mean = 0;
    const bool known = stria_flow_mean_bytes_per_s(flow, &mean);
    stria_json_add_figure(into, "mean_bytes_per_s", known, mean);
}

/* Of the array's own service curve and buffer. */
static bool lossless(const struct stria_record_report *report, uint64_t *bytes_per_s)
{
    struct stria_curve curve = stria_curve_of_series(&report->meter->stored.series);
    struct stria_curve_limit limit;
    if (report->meter->stored.series.total_bytes == 0 ||
        !stria_curve_lossless(&curve, report->buffer_bytes, &limit))
        return false;
    *bytes_per_s = limit.bytes_per_s;
    return true;
}

/* Drives that wait for their input look slower than they are: only a run that kept the buffer full at some
 * time tells what they can. */
static bool was_saturated(const struct stria_record_report *report)
{
    return report->meter->buffer_high_water_bytes >= report->buffer_bytes - report->buffer_bytes / 8;
}

static void add_array(struct json_object *document, const struct stria_array_info *array)
{
    struct json_object *object = stria_json_add_object(document, "array");
    stria_json_add_text(object, "uuid", array->uuid);
    stria_json_add_text(object, "name", array->name);
    stria_json_add_text(object, "policy", array->raid0 ? "raid0" : "adaptive");
    stria_json_add_u64(object, "chunk_bytes", array->chunk_bytes);
}

static const char *drive_name(const struct stria_record_report *report, int drive)
{
    return drive >= 0 && (uint32_t)drive < report->array.drive_count ? report->drives[drive].name : NULL;
}

static void add_recording(struct json_object *document, const struct stria_record_report *report)
{
    const struct stria_result *result = &report->result;
    struct json_object *object = stria_json_add_object(document, "recording");
    stria_json_add_text(object, "name", result->info.name);
    stria_json_add_u64(object, "id", result->info.id);
    stria_json_add_u64(object, "bytes", result->info.bytes);
    stria_json_add_u64(object, "length_bytes", result->info.length_bytes);
    stria_json_add_u64(object, "durable_bytes", result->durable_bytes);
    stria_json_add_u64(object, "dropped_bytes", result->info.dropped_bytes);
    stria_json_add_u64(object, "duration_ns", result->duration_ns);
    stria_json_add_bool(object, "degraded", result->degraded);
    stria_json_add_bool(object, "full", result->full);
    struct json_object *gaps = stria_json_add_array(object, "gaps");
    for (uint32_t i = 0; i < result->gap_count; i++) {
        struct json_object *gap = stria_json_append_object(gaps);
        stria_json_add_u64(gap, "offset_bytes", report->gaps[i].offset_bytes);
        stria_json_add_u64(gap, "length_bytes", report->gaps[i].length_bytes);
        stria_json_add_text(gap, "cause", stria_gap_cause_text(report->gaps[i].cause));
        stria_json_add_text(gap, "drive", drive_name(report, report->gaps[i].drive));
        stria_json_add_u64(gap, "time_ns", report->gaps[i].time_ns);
    }
    stria_json_add_u64(object, "gaps_unlisted_bytes", result->gaps_unlisted_bytes);
}

static void add_aggregate(struct json_object *document, const struct stria_record_report *report)
{
    uint64_t rate = 0;
    struct json_object *object = stria_json_add_object(document, "aggregate");
    stria_json_add_u64(object, "bytes", report->result.info.bytes);
    add_mean(object, &report->meter->stored);
    add_sustained(object, &report->meter->stored.sustained);
    stria_json_add_latency(object, &report->meter->latency);
    stria_json_append_histogram(stria_json_add_array(object, "histogram"), &report->meter->latency);
    const bool known = lossless(report, &rate);
    stria_json_add_figure(object, "lossless_bytes_per_s", known, rate);
    stria_json_add_bool(object, "saturated", was_saturated(report));
}

/* Where a drive fell off its cliff, as far as the stream let it show. */
static bool find_knee(const struct stria_record_report *report, uint32_t drive, struct stria_knee *knee)
{
    const struct stria_curve curve = stria_curve_of_series(&report->meter->drives[drive].stored.series);
    return !report->progress[drive].lost && !report->progress[drive].full && stria_knee_find(&curve, knee);
}

static void add_knee(struct json_object *into, const struct stria_record_report *report, uint32_t drive)
{
    struct stria_knee knee;
    if (!find_knee(report, drive, &knee)) {
        stria_json_add_null(into, "knee");
        return;
    }
    struct json_object *object = stria_json_add_object(into, "knee");
    stria_json_add_u64(object, "offset_bytes", knee.at_bytes);
    stria_json_add_u64(object, "time_ns", knee.at_ns);
    stria_json_add_u64(object, "before_bytes_per_s", knee.before_bytes_per_s);
    stria_json_add_u64(object, "after_bytes_per_s", knee.after_bytes_per_s);
}

/* Why a drive was lost; null when it was not. */
static const char *lost_reason(const struct stria_record_report *report, uint32_t drive)
{
    const struct stria_drive_progress *progress = &report->progress[drive];
    if (!progress->lost)
        return NULL;
    if (progress->lost_code != STRIA_OK)
        return stria_code_text(progress->lost_code);
    return report->drives[drive].complaint[0] ? report->drives[drive].complaint : "absent from the start";
}

static void add_drives(struct json_object *document, const struct stria_record_report *report)
{
    struct json_object *list = stria_json_add_array(document, "drives");
    for (uint32_t i = 0; i < report->array.drive_count; i++) {
        const struct stria_meter_drive *drive = &report->meter->drives[i];
        struct json_object *object = stria_json_append_object(list);
        stria_json_add_text(object, "path", report->drives[i].path);
        stria_json_add_text(object, "serial", report->drives[i].serial[0] ? report->drives[i].serial : NULL);
        stria_json_add_text(object, "name", report->drives[i].name);
        stria_json_add_bool(object, "lost", report->progress[i].lost);
        stria_json_add_text(object, "lost_reason", lost_reason(report, i));
        stria_json_add_figure(object, "lost_ns", report->progress[i].lost_code != STRIA_OK,
                              report->progress[i].lost_ns);
        stria_json_add_bool(object, "full", report->progress[i].full);
        stria_json_add_u64(object, "bytes", report->progress[i].bytes);
        add_mean(object, &drive->stored);
        add_sustained(object, &drive->stored.sustained);
        stria_json_add_latency(object, &drive->latency);
        stria_json_append_histogram(stria_json_add_array(object, "histogram"), &drive->latency);
        stria_json_add_u64(object, "errors", report->progress[i].errors);
        stria_json_add_u64(object, "retries", report->progress[i].retries);
        stria_json_add_u64(object, "stalls", report->progress[i].stalls);
        stria_json_add_u64(object, "stalled_ns", drive->stalled_ns);
        stria_json_add_u64(object, "submit_ns_max", drive->submit_ns_max);
        add_knee(object, report, i);
    }
}

static void append_bins(struct json_object *array, const struct stria_series *series)
{
    for (uint32_t i = 0; i < series->count; i++)
        stria_json_append_u64(array, series->bins[i]);
}

static void add_series(struct json_object *document, const struct stria_record_report *report)
{
    const struct stria_series *input = &report->meter->input.series;
    struct json_object *object = stria_json_add_object(document, "series");
    stria_json_add_u64(object, "interval_ns", input->interval_ns);
    stria_json_add_bool(object, "last_bin_partial", stria_series_last_is_partial(input));
    append_bins(stria_json_add_array(object, "input_bytes"), input);
    struct json_object *drives = stria_json_add_array(object, "drive_bytes");
    for (uint32_t i = 0; i < report->array.drive_count; i++)
        append_bins(stria_json_append_array(drives), &report->meter->drives[i].stored.series);
}

static void append_latency(struct json_object *array, uint64_t latency_ns)
{
    if (latency_ns == STRIA_LATENCY_UNKNOWN)
        stria_json_append_null(array);
    else
        stria_json_append_u64(array, latency_ns);
}

static void append_track(struct json_object *p99, struct json_object *most,
                         const struct stria_latency_track *track)
{
    for (uint32_t i = 0; i < track->count; i++) {
        append_latency(p99, track->bins[i].p99_ns);
        append_latency(most, track->bins[i].max_ns);
    }
}

static void add_latency_series(struct json_object *document, const struct stria_record_report *report)
{
    const struct stria_meter *meter = report->meter;
    struct json_object *object = stria_json_add_object(document, "latency_series");
    stria_json_add_u64(object, "interval_ns", meter->latency_track.bin_seconds * STRIA_SECOND_NS);
    append_track(stria_json_add_array(object, "p99_ns"), stria_json_add_array(object, "max_ns"),
                 &meter->latency_track);
    struct json_object *p99 = stria_json_add_array(object, "drive_p99_ns");
    struct json_object *most = stria_json_add_array(object, "drive_max_ns");
    for (uint32_t i = 0; i < report->array.drive_count; i++)
        append_track(stria_json_append_array(p99), stria_json_append_array(most),
                     &meter->drives[i].latency_track);
}

struct json_object *stria_record_report_document(const struct stria_record_report *report)
{
    char started[STRIA_UNITS_TEXT_BYTES];
    struct json_object *document = json_object_new_object();
    if (!document)
        stria_memory_missing();
    stria_json_add_text(document, "schema", "stria.record/1");
    stria_json_add_text(document, "started",
                        stria_date_print(started, sizeof(started), report->result.info.started_unix_ns));
    add_array(document, &report->array);
    add_recording(document, report);
    add_aggregate(document, report);
    add_drives(document, report);
    struct json_object *buffer = stria_json_add_object(document, "buffer");
    stria_json_add_u64(buffer, "bytes", report->buffer_bytes);
    stria_json_add_u64(buffer, "high_water_bytes", report->meter->buffer_high_water_bytes);
    add_series(document, report);
    add_latency_series(document, report);
    return document;
}

static void print_rate(FILE *out, const char *label, bool known, uint64_t bytes_per_s, const char *why_not)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    fprintf(out, "  %-20s%s\n", label,
            known ? stria_rate_print_both(text, sizeof(text), bytes_per_s) : why_not);
}

static void print_size(FILE *out, const char *label, uint64_t bytes)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    fprintf(out, "  %-20s%s\n", label, stria_size_print_both(text, sizeof(text), bytes));
}

static void print_rates(const struct stria_record_report *report, FILE *out)
{
    uint64_t rate = 0;
    bool known = stria_flow_mean_bytes_per_s(&report->meter->stored, &rate);
    print_rate(out, "mean", known, rate, "-");
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure figure = {0};
        char label[32];
        snprintf(label, sizeof(label), "sustained(%" PRIu32 " s)", stria_sustained_windows_s[window]);
        if (stria_sustained_worst(&report->meter->stored.sustained, window, &figure))
            print_rate(out, label, true, figure.bytes_per_s, NULL);
    }
    known = lossless(report, &rate);
    if (known)
        print_rate(out, was_saturated(report) ? "lossless" : "lossless, at least", true, rate, NULL);
}

static void print_buffer(const struct stria_record_report *report, FILE *out)
{
    char used[STRIA_UNITS_TEXT_BYTES], all[STRIA_UNITS_TEXT_BYTES];
    const uint64_t high = report->meter->buffer_high_water_bytes;
    fprintf(out, "  %-20s%s of %s (%u %%)\n", "buffer at most",
            stria_size_print_both(used, sizeof(used), high),
            stria_size_print_both(all, sizeof(all), report->buffer_bytes),
            (unsigned)(report->buffer_bytes ? (unsigned __int128)high * 100 / report->buffer_bytes : 0));
}

static const char *megabytes_per_s(char *out, size_t size, bool known, uint64_t bytes_per_s)
{
    const uint64_t tenths = bytes_per_s / 100000 + (bytes_per_s % 100000 >= 50000);
    if (known)
        snprintf(out, size, "%" PRIu64 ".%u", tenths / 10, (unsigned)(tenths % 10));
    else
        snprintf(out, size, "-");
    return out;
}

static const char *latency_text(char *out, size_t size, bool known, uint64_t ns)
{
    return known ? stria_time_print_short(out, size, ns) : "-";
}

static const char *state_text(char *out, size_t size, const struct stria_drive_progress *progress)
{
    char when[STRIA_UNITS_TEXT_BYTES];
    if (!progress->lost)
        return progress->full ? "  full" : "";
    if (progress->lost_code == STRIA_OK)
        return "  lost";
    snprintf(out, size, "  lost after %s: %s", stria_time_print_short(when, sizeof(when), progress->lost_ns),
             stria_code_text(progress->lost_code));
    return out;
}

static void print_drives(const struct stria_record_report *report, FILE *out)
{
    fprintf(out, "\n  %-12s %14s %10s %12s %12s %12s %7s %7s %7s\n", "drive", "stored MB", "mean MB/s",
            "worst 1s", "p99", "max", "errors", "retries", "stalls");
    for (uint32_t i = 0; i < report->array.drive_count; i++) {
        const struct stria_meter_drive *drive = &report->meter->drives[i];
        char state[128], stored[32], mean[32], worst[32], p99[STRIA_UNITS_TEXT_BYTES],
            most[STRIA_UNITS_TEXT_BYTES];
        uint64_t rate = 0, latency = 0;
        struct stria_sustained_figure figure = {0};
        const bool mean_known = stria_flow_mean_bytes_per_s(&drive->stored, &rate);
        const bool worst_known = stria_sustained_worst(&drive->stored.sustained, 0, &figure);
        const bool p99_known = stria_histogram_percentile(&drive->latency, STRIA_PERCENTILE_99_PPM, &latency);
        fprintf(out, "  %-12.32s %14s %10s %12s %12s %12s %7" PRIu64 " %7" PRIu64 " %7" PRIu64 "%s\n",
                report->drives[i].name,
                megabytes_per_s(stored, sizeof(stored), true, report->progress[i].bytes),
                megabytes_per_s(mean, sizeof(mean), mean_known, rate),
                megabytes_per_s(worst, sizeof(worst), worst_known, figure.bytes_per_s),
                latency_text(p99, sizeof(p99), p99_known, latency),
                latency_text(most, sizeof(most), drive->latency.count > 0, drive->latency.max),
                report->progress[i].errors, report->progress[i].retries, report->progress[i].stalls,
                state_text(state, sizeof(state), &report->progress[i]));
    }
}

static void print_knees(const struct stria_record_report *report, FILE *out)
{
    bool any = false;
    for (uint32_t i = 0; i < report->array.drive_count; i++) {
        struct stria_knee knee;
        char at[STRIA_UNITS_TEXT_BYTES], when[STRIA_UNITS_TEXT_BYTES], before[STRIA_UNITS_TEXT_BYTES],
            after[STRIA_UNITS_TEXT_BYTES];
        if (!find_knee(report, i, &knee))
            continue;
        fprintf(out, "%s  drive %s fell from %s to %s behind %s, after %s\n", any ? "" : "\n",
                report->drives[i].name,
                stria_rate_print_both(before, sizeof(before), knee.before_bytes_per_s),
                stria_rate_print_both(after, sizeof(after), knee.after_bytes_per_s),
                stria_size_print_both(at, sizeof(at), knee.at_bytes),
                stria_time_print_short(when, sizeof(when), knee.at_ns));
        any = true;
    }
}

static void print_gaps(const struct stria_record_report *report, FILE *out)
{
    const struct stria_result *result = &report->result;
    if (result->gap_count)
        fprintf(out, "\n");
    for (uint32_t i = 0; i < result->gap_count && i < GAPS_PRINTED_MAX; i++) {
        const struct stria_gap_info *gap = &report->gaps[i];
        const char *drive = drive_name(report, gap->drive);
        char length[STRIA_UNITS_TEXT_BYTES], when[STRIA_UNITS_TEXT_BYTES];
        fprintf(out, "  gap at %" PRIu64 ": %s, after %s, cause %s%s%s\n", gap->offset_bytes,
                stria_size_print_both(length, sizeof(length), gap->length_bytes),
                stria_time_print_short(when, sizeof(when), gap->time_ns), stria_gap_cause_text(gap->cause),
                drive ? ", drive " : "", drive ? drive : "");
    }
    if (result->gap_count > GAPS_PRINTED_MAX)
        fprintf(out, "  … and %" PRIu32 " gaps more\n", result->gap_count - GAPS_PRINTED_MAX);
}

static const char *state_of(const struct stria_record_report *report)
{
    bool lost = false;
    for (uint32_t i = 0; i < report->array.drive_count; i++)
        lost |= report->progress[i].lost;
    if (report->result.info.dropped_bytes)
        return "with gaps";
    if (lost)
        return "whole, but with a drive less";
    return report->result.degraded ? "whole, but no longer plain RAID0" : "whole";
}

void stria_record_report_print(const struct stria_record_report *report, FILE *out)
{
    const struct stria_result *result = &report->result;
    char duration[STRIA_UNITS_TEXT_BYTES];
    fprintf(out, "recording '%s' on array '%s', %s\n", stria_shown(result->info.name),
            stria_shown(report->array.name), state_of(report));
    print_size(out, "stored", result->info.bytes);
    print_size(out, "dropped", result->info.dropped_bytes);
    fprintf(out, "  %-20s%s\n", "time",
            stria_time_print_short(duration, sizeof(duration), result->duration_ns));
    print_rates(report, out);
    print_buffer(report, out);
    print_drives(report, out);
    print_knees(report, out);
    print_gaps(report, out);
}
