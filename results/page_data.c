#include "results/latency_curve.h"
#include "results/page_internal.h"
#include "support/json.h"

#include <stdlib.h>

static void append(struct json_object *list, bool known, uint64_t value)
{
    if (known)
        stria_json_append_u64(list, value);
    else
        json_object_array_add(list, NULL);
}

static void add_reading(struct json_object *object, const char *key, const struct stria_reading *reading)
{
    stria_json_add_figure(object, key, reading->known, reading->value);
}

static void append_curve(struct json_object *list, const struct stria_latencies *latencies,
                         const struct stria_reading readings[STRIA_QUANTITIES])
{
    struct stria_latency_point points[STRIA_LATENCY_POINTS_MAX];
    const uint32_t count = stria_latency_curve(latencies, readings, points);
    for (uint32_t i = 0; i < count; i++) {
        struct json_object *point = stria_json_append_array(list);
        stria_json_append_u64(point, points[i].tail_ppm);
        stria_json_append_u64(point, points[i].ns);
    }
}

/* Of all drives, and of each; where a round does not tell of drives, the measurement may. */
static void add_curves(struct json_object *object, const struct stria_measurement *measurement,
                       const struct stria_round *round)
{
    static const struct stria_reading unknown[STRIA_QUANTITIES];
    append_curve(stria_json_add_array(object, "latency_curve"), &round->latencies, round->readings);
    struct json_object *drives = stria_json_add_array(object, "drive_latency_curves");
    for (uint32_t i = 0; i < measurement->drive_count; i++)
        append_curve(stria_json_append_array(drives),
                     round->drive_latencies ? &round->drive_latencies[i] : NULL,
                     measurement->round_count == 1 ? measurement->drives[i].readings : unknown);
}

static void add_tracks(struct json_object *object, const struct stria_round *round)
{
    struct json_object *tracks = stria_json_add_array(object, "tracks");
    for (uint32_t i = 0; i < round->track_count; i++) {
        const struct stria_track *track = &round->tracks[i];
        struct json_object *one = stria_json_append_object(tracks);
        stria_json_add_text(one, "kind", stria_track_key(track->kind));
        stria_json_add_figure(one, "drive", track->drive >= 0, (uint64_t)track->drive);
        stria_json_add_u64(one, "interval_ns", track->interval_ns);
        stria_json_add_bool(one, "last_partial", track->last_partial);
        struct json_object *values = stria_json_add_array(one, "values");
        for (uint32_t bin = 0; bin < track->count; bin++)
            append(values, track->values[bin] != STRIA_TRACK_UNKNOWN, track->values[bin]);
    }
}

static void add_rounds(struct json_object *object, const struct stria_measurement *measurement)
{
    struct json_object *rounds = stria_json_add_array(object, "rounds");
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_round *round = &measurement->rounds[i];
        struct json_object *one = stria_json_append_object(rounds);
        stria_json_add_text(one, "label", round->label);
        stria_json_add_u64(one, "repeat", round->repeat);
        stria_json_add_bool(one, "reads", round->reads);
        stria_json_add_bool(one, "counts", round->counts);
        add_reading(one, "duration_ns", &round->readings[STRIA_QUANTITY_DURATION]);
        add_reading(one, "minimum_bytes_per_s", &round->readings[STRIA_QUANTITY_MINIMUM]);
        add_reading(one, "mean_bytes_per_s", &round->readings[STRIA_QUANTITY_MEAN]);
        add_curves(one, measurement, round);
        add_tracks(one, round);
    }
}

static void add_points(struct json_object *object, const struct stria_measurement *measurement)
{
    struct json_object *points = stria_json_add_array(object, "points");
    for (uint32_t i = 0; i < measurement->point_count; i++) {
        const struct stria_point *point = &measurement->points[i];
        struct json_object *one = stria_json_append_object(points);
        stria_json_add_text(one, "label", point->label);
        stria_json_add_bool(one, "reads", point->reads);
        add_reading(one, "mean_bytes_per_s", &point->mean);
        add_reading(one, "interval_half_bytes_per_s", &point->interval_half);
        add_reading(one, "rating_bytes_per_s", &point->rating);
    }
}

static void add_gaps(struct json_object *object, const struct stria_measurement *measurement)
{
    struct json_object *gaps = stria_json_add_array(object, "gaps");
    struct stria_gap_stretch *stretches = calloc((size_t)measurement->gap_count + 1, sizeof(*stretches));
    if (!stretches)
        abort();
    const uint32_t count = stria_gap_stretches(measurement, stretches);
    for (uint32_t i = 0; i < count; i++) {
        struct json_object *one = stria_json_append_object(gaps);
        stria_json_add_figure(one, "from_ns", stretches[i].timed, stretches[i].from_ns);
        stria_json_add_figure(one, "until_ns", stretches[i].timed, stretches[i].until_ns);
        stria_json_add_u64(one, "offset_bytes", stretches[i].offset_bytes);
        stria_json_add_text(one, "cause", stretches[i].cause);
        stria_json_add_text(one, "drive", stretches[i].drive);
    }
    free(stretches);
}

static void add_measurement(struct json_object *list, const struct stria_measurement *measurement)
{
    struct json_object *object = stria_json_append_object(list);
    stria_json_add_text(object, "label", measurement->label);
    stria_json_add_text(object, "kind", stria_measurement_kind_name(measurement->kind));
    add_reading(object, "buffer_bytes", &measurement->buffer_bytes);
    struct json_object *drives = stria_json_add_array(object, "drives");
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        struct json_object *drive = stria_json_append_object(drives);
        stria_json_add_text(drive, "label", measurement->drives[i].label);
    }
    add_rounds(object, measurement);
    add_points(object, measurement);
    add_gaps(object, measurement);
    stria_json_add_figure(object, "knee_bytes", measurement->knee.known, measurement->knee.offset_bytes);
}

/* In JSON a "<" stands in texts only, and there it may be written so: nothing in a text can end the script
 * element, or begin a comment. */
static void add_escaped(struct stria_text *out, const char *json, size_t length)
{
    size_t begin = 0;
    for (size_t i = 0; i < length; i++) {
        if (json[i] != '<')
            continue;
        stria_text_add_bytes(out, json + begin, i - begin);
        stria_text_add(out, "\\u003c");
        begin = i + 1;
    }
    stria_text_add_bytes(out, json + begin, length - begin);
}

void stria_page_data(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out)
{
    size_t length;
    struct json_object *list = json_object_new_array();
    if (!list)
        abort();
    for (uint32_t i = 0; i < count; i++)
        add_measurement(list, &measurements[i]);
    const char *json = json_object_to_json_string_length(
        list, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (!json)
        abort();
    add_escaped(out, json, length);
    json_object_put(list);
}
