#include "core/ratio.h"
#include "support/json_latency.h"
#include "tools/simulate_answer.h"

#include <inttypes.h>
#include <math.h>

static const char *profile_of(const struct simulate_answer *answer, uint32_t drive)
{
    return drive < answer->array->drive_count ? answer->array->profiles[drive]->name : NULL;
}

static void add_verdict(struct json_object *document, const struct simulate_answer *answer)
{
    const struct stria_simulation *paced = &answer->paced;
    if (answer->rate_bytes_per_s == 0)
        return;
    stria_json_add_text(document, "verdict", paced->lossless ? "lossless" : "lossy");
    stria_json_add_u64(document, "stream_bytes", paced->stream_bytes);
    stria_json_add_u64(document, "stored_bytes", paced->stored_bytes);
    stria_json_add_u64(document, "dropped_bytes", paced->dropped_bytes);
    stria_json_add_u64(document, "duration_ns", paced->duration_ns);
    if (!paced->lossless) {
        const struct stria_gap *gap = &paced->first_loss;
        const bool known = gap->drive < answer->array->drive_count;
        struct json_object *loss = stria_json_add_object(document, "first_loss");
        stria_json_add_u64(loss, "time_ns", gap->time_ns);
        stria_json_add_u64(loss, "offset_bytes", gap->offset_bytes);
        stria_json_add_figure(loss, "drive", known, gap->drive);
        stria_json_add_text(loss, "profile", profile_of(answer, gap->drive));
        stria_json_add_text(loss, "cause", stria_gap_cause_text(gap->cause));
    }
    if (answer->limit_known) {
        struct json_object *limit = stria_json_add_object(document, "limit");
        stria_json_add_text(limit, "reason", answer->limit_full ? "full" : "too slow");
        stria_json_add_u64(limit, "time_ns", answer->limit_ns);
        stria_json_add_u64(limit, "offset_bytes", answer->limit_bytes);
    }
}

static void add_lossless(struct json_object *document, const struct simulate_job *job,
                         const struct simulate_answer *answer)
{
    uint64_t buffers[SIMULATE_BUFFERS_MAX];
    const uint32_t count = simulate_buffers(job, buffers);
    struct json_object *object = stria_json_add_object(document, "lossless_bytes_per_s");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bytes_per_s = 0;
        char key[24];
        snprintf(key, sizeof(key), "%" PRIu64, buffers[i]);
        const bool known =
            stria_simulation_lossless(&answer->free_run, answer->recorded_bytes, buffers[i], &bytes_per_s);
        stria_json_add_figure(object, key, known, bytes_per_s);
    }
}

static void add_buffer(struct json_object *document, const struct stria_simulation *run, uint64_t bytes)
{
    struct json_object *buffer = stria_json_add_object(document, "buffer");
    stria_json_add_u64(buffer, "bytes", bytes);
    stria_json_add_u64(buffer, "high_water_bytes", run->meter->buffer_high_water_bytes);
    stria_json_add_u64(buffer, "interval_ns", run->buffer.interval_ns);
    struct json_object *series = stria_json_add_array(buffer, "high_water_bytes_series");
    for (uint32_t i = 0; i < run->buffer.count; i++)
        stria_json_append_u64(series, run->buffer.bins[i]);
}

static void add_drives(struct json_object *document, const struct simulate_answer *answer,
                       const struct stria_simulation *run)
{
    struct json_object *list = stria_json_add_array(document, "drives");
    for (uint32_t i = 0; i < run->drive_count; i++) {
        const struct stria_simulated_drive *drive = &run->drives[i];
        const struct stria_meter_drive *meter = &run->meter->drives[i];
        const struct stria_curve curve = stria_curve_of_series(&meter->stored.series);
        struct json_object *object = stria_json_append_object(list);
        uint64_t mean = 0;
        stria_json_add_u64(object, "drive", i);
        stria_json_add_text(object, "profile", answer->array->profiles[i]->name);
        stria_json_add_text(object, "model", answer->array->profiles[i]->model);
        stria_json_add_u64(object, "bytes", drive->status.stored_bytes);
        stria_json_add_u64(object, "capacity_bytes", drive->capacity_bytes);
        const bool known = stria_flow_mean_bytes_per_s(&meter->stored, &mean);
        stria_json_add_figure(object, "mean_bytes_per_s", known, mean);
        simulate_add_sustained(object, &curve);
        stria_json_add_figure(object, "latency_ns_max", meter->latency.count > 0, meter->latency.max);
        stria_json_add_latency(object, &meter->latency);
        stria_json_append_histogram(stria_json_add_array(object, "histogram"), &meter->latency);
        stria_json_add_bool(object, "full", drive->status.state == STRIA_DRIVE_FULL);
        stria_json_add_bool(object, "lost", drive->status.state == STRIA_DRIVE_LOST);
        stria_json_add_u64(object, "stalled_ns", drive->stalled_ns);
        stria_json_add_u64(object, "throttled_ns", drive->throttled_ns);
        const bool heats = answer->array->profiles[i]->parameters.heat.time_constant_ns > 0;
        stria_json_add_real(object, "temperature_c", heats ? (double)drive->temperature_mc / 1000 : NAN);
    }
}

/* As many bins as a plot can use. */
#define SERIES_BINS 512u

static void append_bins(struct json_object *array, const struct stria_series *series, uint32_t merged)
{
    for (uint32_t i = 0; i < series->count; i += merged) {
        uint64_t bytes = 0;
        for (uint32_t j = i; j < i + merged && j < series->count; j++)
            bytes += series->bins[j];
        stria_json_append_u64(array, bytes);
    }
}

static void add_series(struct json_object *document, const struct stria_simulation *run)
{
    const struct stria_meter *meter = run->meter;
    const uint32_t merged = meter->stored.series.count / SERIES_BINS + 1;
    struct json_object *object = stria_json_add_object(document, "series");
    stria_json_add_u64(object, "interval_ns", merged * meter->stored.series.interval_ns);
    append_bins(stria_json_add_array(object, "input_bytes"), &meter->input.series, merged);
    struct json_object *drives = stria_json_add_array(object, "drive_bytes");
    for (uint32_t i = 0; i < run->drive_count; i++)
        append_bins(stria_json_append_array(drives), &meter->drives[i].stored.series, merged);
}

int simulate_write_answer(const struct simulate_job *job, const struct simulate_answer *answer)
{
    const struct stria_simulation *run = answer->rate_bytes_per_s > 0 ? &answer->paced : &answer->free_run;
    struct json_object *document = simulate_document(job);
    add_verdict(document, answer);
    stria_json_add_u64(document, "capacity_bytes", run->capacity_bytes);
    stria_json_add_u64(document, "mean_bytes_per_s",
                       answer->curve_ns > 0 ? stria_ratio_bytes_per_s(answer->curve_bytes, answer->curve_ns)
                                            : 0);
    add_lossless(document, job, answer);
    simulate_add_sustained(document, &answer->curve);
    stria_json_add_latency(document, &run->meter->latency);
    stria_json_append_histogram(stria_json_add_array(document, "histogram"), &run->meter->latency);
    add_buffer(document, run, job->config.buffer_bytes);
    add_drives(document, answer, run);
    add_series(document, run);
    return simulate_write_document(document);
}
