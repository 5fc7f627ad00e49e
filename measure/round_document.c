#include "measure/round_document.h"

#include "core/ratio.h"
#include "support/json_latency.h"

#include <inttypes.h>
#include <stdio.h>

/* Figures of a round that is refused say nothing. */
static void add_figure(struct json_object *object, const char *key, const struct stria_round *round,
                       const struct stria_told *told)
{
    stria_json_add_figure(object, key, told->known && !round->above_link, told->value);
}

static void append_told(struct json_object *array, const struct stria_told *told)
{
    if (told->known)
        stria_json_append_u64(array, told->value);
    else
        stria_json_append_null(array);
}

static void add_plan(struct json_object *object, const struct stria_round_plan *plan)
{
    stria_json_add_text(object, "point", plan->point);
    stria_json_add_u64(object, "repeat", plan->repeat);
    stria_json_add_text(object, "direction", plan->write ? "write" : "read");
    stria_json_add_u64(object, "offset_bytes", plan->offset_bytes);
    stria_json_add_u64(object, "size_bytes", plan->size_bytes);
    stria_json_add_u64(object, "block_bytes", plan->block_bytes);
    stria_json_add_u64(object, "depth", plan->depth);
    stria_json_add_figure(object, "rate_bytes_per_s", plan->rate_bytes_per_s > 0, plan->rate_bytes_per_s);
}

static void add_sustained(struct json_object *object, const struct stria_round *round)
{
    struct json_object *sustained = stria_json_add_object(object, "sustained_bytes_per_s");
    for (uint32_t i = 0; i < STRIA_SUSTAINED_WINDOWS; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%" PRIu32 "s", stria_sustained_windows_s[i]);
        add_figure(sustained, key, round, &round->figures.sustained[i]);
    }
}

/* The second that a bin ends in. */
static const struct stria_round_second *second_of(const struct stria_round *round, uint32_t bin)
{
    const uint64_t end_ns = (bin + 1) * stria_round_total(round)->interval_ns;
    const uint64_t second = (end_ns - 1) / STRIA_SECOND_NS;
    if (round->second_count == 0)
        return NULL;
    return &round->seconds[second < round->second_count ? second : round->second_count - 1];
}

static void add_drive_bytes(struct json_object *series, const struct stria_round *round)
{
    struct json_object *drives = stria_json_add_array(series, "drive_bytes");
    for (uint32_t i = 0; i < round->drive_count; i++) {
        struct json_object *bins = stria_json_append_array(drives);
        for (uint32_t bin = 0; bin < round->drives[i].count; bin++)
            stria_json_append_u64(bins, round->drives[i].bins[bin]);
    }
}

/* What was seen once a second stands in each bin of it, so that all series are on one time line. */
static void add_seconds(struct json_object *series, const struct stria_round *round)
{
    static const struct stria_told unknown;
    const uint32_t count = stria_round_total(round)->count;
    struct json_object *p99 = stria_json_add_array(series, "latency_p99_ns");
    struct json_object *most = stria_json_add_array(series, "latency_max_ns");
    struct json_object *drive_p99s = stria_json_add_array(series, "drive_latency_p99_ns");
    struct json_object *drive_mosts = stria_json_add_array(series, "drive_latency_max_ns");
    struct json_object *temperatures = stria_json_add_array(series, "temperature_c");
    struct json_object *throttles = stria_json_add_array(series, "throttle_count");
    struct json_object *buffer = stria_json_add_array(series, "buffer_bytes");
    for (uint32_t bin = 0; bin < count; bin++) {
        const struct stria_round_second *second = second_of(round, bin);
        append_told(p99, second ? &second->latency_p99_ns : &unknown);
        append_told(most, second ? &second->latency_max_ns : &unknown);
        append_told(buffer, second ? &second->buffer_bytes : &unknown);
    }
    for (uint32_t i = 0; i < round->drive_count; i++) {
        struct json_object *drive_p99 = stria_json_append_array(drive_p99s);
        struct json_object *drive_most = stria_json_append_array(drive_mosts);
        struct json_object *temperature = stria_json_append_array(temperatures);
        struct json_object *throttle = stria_json_append_array(throttles);
        for (uint32_t bin = 0; bin < count; bin++) {
            const struct stria_round_second *second = second_of(round, bin);
            append_told(drive_p99, second ? &second->drives[i].latency_p99_ns : &unknown);
            append_told(drive_most, second ? &second->drives[i].latency_max_ns : &unknown);
            append_told(temperature, second ? &second->drives[i].temperature_c : &unknown);
            append_told(throttle, second ? &second->drives[i].throttle_count : &unknown);
        }
    }
}

static void add_series(struct json_object *object, const struct stria_round *round)
{
    const struct stria_series *total = stria_round_total(round);
    struct json_object *series = stria_json_add_object(object, "series");
    stria_json_add_u64(series, "interval_ns", total->interval_ns);
    stria_json_add_bool(series, "last_partial", stria_series_last_is_partial(total));
    add_drive_bytes(series, round);
    add_seconds(series, round);
}

void stria_round_document(struct json_object *object, const struct stria_round *round)
{
    add_plan(object, &round->plan);
    stria_json_add_bool(object, "rated", !round->plan.unrated);
    stria_json_add_bool(object, "partial", round->partial);
    stria_json_add_bool(object, "above_link", round->above_link);
    stria_json_add_bool(object, "trimmed", round->trimmed);
    stria_json_add_text(object, "trim_reason", round->trimmed ? NULL : round->trim_reason);
    stria_json_add_u64(object, "rested_ns", round->rested_ns);
    stria_json_add_u64(object, "begin_ns", round->begin_ns);
    stria_json_add_u64(object, "bytes", round->bytes);
    stria_json_add_u64(object, "duration_ns", round->duration_ns);
    add_figure(object, "mean_bytes_per_s", round, &round->figures.mean);
    add_figure(object, "min_bytes_per_s", round, &round->figures.min);
    add_figure(object, "max_bytes_per_s", round, &round->figures.max);
    add_sustained(object, round);
    stria_json_add_latency(object, stria_round_latency(round));
    add_figure(object, "lossless_bytes_per_s", round, &round->figures.lossless);
    stria_json_add_u64(object, "dropped_bytes", round->dropped_bytes);
    stria_json_add_figure(object, "temperature_max_c", round->temperature_known, round->temperature_max_c);
    stria_json_add_u64(object, "errors", round->errors);
    add_series(object, round);
    stria_json_append_histogram(stria_json_add_array(object, "histogram"), stria_round_latency(round));
    struct json_object *drives = stria_json_add_array(object, "drive_histograms");
    for (uint32_t i = 0; i < round->drive_count; i++)
        stria_json_append_histogram(stria_json_append_array(drives), &round->latencies[i]);
}
