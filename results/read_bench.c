/* stria.bench/1, which docs/bench-result.md defines. */
#include "core/ratio.h"
#include "results/reading.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *link_text(const struct stria_node *drive)
{
    const struct stria_node link = stria_node_optional(drive, "link");
    const double speed = stria_node_real(&link, "gts");
    const struct stria_reading width = stria_node_reading(&link, "width");
    if (speed <= 0 || !width.known)
        return NULL;
    const unsigned tenths = (unsigned)(speed * 10 + 0.5);
    return stria_arena_format(drive->document->arena, "%u.%u GT/s x%" PRIu64, tenths / 10, tenths % 10,
                              width.value);
}

static void read_drive(const struct stria_node *node, struct stria_measured_drive *drive)
{
    drive->path = stria_node_needed_text(node, "path");
    drive->label = stria_reading_name_of(drive->path);
    drive->model = stria_node_text(node, "model");
    drive->serial = stria_node_text(node, "serial");
    drive->firmware = stria_node_text(node, "firmware");
    drive->file_system = stria_node_text(node, "file_system");
    drive->size_bytes = stria_node_reading(node, "size_bytes");
    drive->price = stria_node_real(node, "price");
    drive->link = link_text(node);
}

static void read_drives(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node list = stria_node_array(root, "drives");
    stria_reading_make_drives(&list, measurement);
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const struct stria_node node = stria_node_at(&list, i);
        read_drive(&node, &measurement->drives[i]);
    }
    stria_reading_tell_apart(measurement);
}

static void read_tracks(const struct stria_node *node, struct stria_measurement *measurement,
                        struct stria_round *round)
{
    const struct stria_node series = stria_node_optional(node, "series");
    if (!series.value)
        return;
    struct stria_track like = {.drive = STRIA_TRACK_ARRAY,
                               .interval_ns = stria_node_u64(&series, "interval_ns"),
                               .last_partial = stria_node_bool(&series, "last_partial")};
    if (like.interval_ns == 0)
        stria_node_fail(&series, "has bins without a width: the file is damaged");
    const struct stria_node stored = stria_node_array(&series, "drive_bytes");
    const struct stria_node latency = stria_node_optional(&series, "latency_p99_ns");
    const struct stria_node longest = stria_node_optional(&series, "latency_max_ns");
    const struct stria_node drive_latency = stria_node_optional(&series, "drive_latency_p99_ns");
    const struct stria_node drive_longest = stria_node_optional(&series, "drive_latency_max_ns");
    const struct stria_node buffer = stria_node_optional(&series, "buffer_bytes");
    const struct stria_node temperature = stria_node_optional(&series, "temperature_c");
    const struct stria_node throttles = stria_node_optional(&series, "throttle_count");
    stria_reading_make_tracks(measurement, round);
    like.kind = STRIA_TRACK_STORED;
    stria_reading_add_tracks(&stored, measurement, round, &like);
    like.kind = STRIA_TRACK_LATENCY_P99;
    stria_reading_add_track(&latency, round, &like);
    stria_reading_add_tracks(&drive_latency, measurement, round, &like);
    like.kind = STRIA_TRACK_LATENCY_MAX;
    stria_reading_add_track(&longest, round, &like);
    stria_reading_add_tracks(&drive_longest, measurement, round, &like);
    like.kind = STRIA_TRACK_BUFFER;
    stria_reading_add_track(&buffer, round, &like);
    like.kind = STRIA_TRACK_TEMPERATURE;
    stria_reading_add_tracks(&temperature, measurement, round, &like);
    like.kind = STRIA_TRACK_THROTTLES;
    stria_reading_add_tracks(&throttles, measurement, round, &like);
}

static void read_latencies(const struct stria_node *node, struct stria_measurement *measurement,
                           struct stria_round *round)
{
    const struct stria_node all = stria_node_optional(node, "histogram");
    const struct stria_node drives = stria_node_optional(node, "drive_histograms");
    stria_reading_latencies(&all, &round->latencies);
    /* What is read from an array is one series, whatever its drives. */
    if (stria_node_count(&drives) != measurement->drive_count)
        return;
    round->drive_latencies =
        stria_arena_take(&measurement->arena, measurement->drive_count, sizeof(*round->drive_latencies));
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const struct stria_node drive = stria_node_at(&drives, i);
        stria_reading_latencies(&drive, &round->drive_latencies[i]);
    }
}

static bool counts(const struct stria_node *node)
{
    const struct stria_node rated = stria_node_optional(node, "rated");
    return (!rated.value || stria_node_bool(node, "rated")) && !stria_node_bool(node, "partial") &&
           !stria_node_bool(node, "above_link");
}

static void read_round(const struct stria_node *node, struct stria_measurement *measurement,
                       struct stria_round *round)
{
    const char *direction = stria_node_text(node, "direction");
    round->label = stria_node_needed_text(node, "point");
    round->repeat = (uint32_t)stria_node_reading(node, "repeat").value;
    round->reads = direction && strcmp(direction, "read") == 0;
    round->counts = counts(node);
    round->begin_ns = stria_node_reading(node, "begin_ns");
    stria_reading_rates(node, round->readings);
    round->readings[STRIA_QUANTITY_MINIMUM] = stria_node_reading(node, "min_bytes_per_s");
    round->readings[STRIA_QUANTITY_LOSSLESS] = stria_node_reading(node, "lossless_bytes_per_s");
    round->readings[STRIA_QUANTITY_BYTES] = stria_node_reading(node, "bytes");
    round->readings[STRIA_QUANTITY_DURATION] = stria_node_reading(node, "duration_ns");
    round->readings[STRIA_QUANTITY_ERRORS] = stria_node_reading(node, "errors");
    const struct stria_node temperature = stria_node_optional(node, "temperature_max_c");
    round->readings[STRIA_QUANTITY_TEMPERATURE_MAX] = stria_node_degrees(&temperature);
    read_tracks(node, measurement, round);
    read_latencies(node, measurement, round);
}

static void read_rounds(const struct stria_node *list, struct stria_measurement *measurement)
{
    measurement->round_count = stria_node_count(list);
    measurement->rounds =
        stria_arena_take(&measurement->arena, measurement->round_count, sizeof(*measurement->rounds));
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_node node = stria_node_at(list, i);
        read_round(&node, measurement, &measurement->rounds[i]);
    }
}

static void read_points(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node list = stria_node_array(root, "points");
    measurement->point_count = stria_node_count(&list);
    measurement->points =
        stria_arena_take(&measurement->arena, measurement->point_count, sizeof(*measurement->points));
    for (uint32_t i = 0; i < measurement->point_count; i++) {
        struct stria_point *point = &measurement->points[i];
        const struct stria_node node = stria_node_at(&list, i);
        point->label = stria_node_needed_text(&node, "point");
        const char *direction = stria_node_text(&node, "direction");
        point->reads = direction && strcmp(direction, "read") == 0;
        point->repeats = (uint32_t)stria_node_reading(&node, "repeats").value;
        point->mean = stria_node_reading(&node, "mean_bytes_per_s");
        point->deviation = stria_node_reading(&node, "stddev_bytes_per_s");
        point->interval_half = stria_node_reading(&node, "ci95_bytes_per_s");
        point->rating = stria_node_reading(&node, "rating_bytes_per_s");
        point->latency_p99 = stria_node_reading(&node, "latency_p99_ns");
    }
}

static void read_findings(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node knee = stria_node_optional(root, "knee");
    const struct stria_node steady = stria_node_optional(root, "steady");
    const struct stria_node lossless = stria_node_optional(root, "lossless");
    if (knee.value) {
        measurement->knee.known = true;
        measurement->knee.offset_bytes = stria_node_u64(&knee, "offset_bytes");
        measurement->knee.before_bytes_per_s = stria_node_u64(&knee, "before_bytes_per_s");
        measurement->knee.after_bytes_per_s = stria_node_u64(&knee, "after_bytes_per_s");
    }
    if (steady.value) {
        measurement->steady.known = true;
        measurement->steady.attained = stria_node_bool(&steady, "attained");
        measurement->steady.rounds = stria_node_reading(&steady, "rounds").value;
    }
    measurement->lossless_predicted = stria_node_reading(&lossless, "predicted_bytes_per_s");
    if (lossless.value) {
        measurement->readings[STRIA_QUANTITY_LOSSLESS] =
            stria_node_reading(&lossless, "measured_bytes_per_s");
        measurement->buffer_bytes = stria_node_reading(&lossless, "buffer_bytes");
    }
}

/* A rate that no round went below, a latency that none went above; how much in all. */
static void take_worst(struct stria_measurement *measurement, enum stria_quantity quantity)
{
    struct stria_reading *whole = &measurement->readings[quantity];
    if (whole->known)
        return;
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_reading reading = measurement->rounds[i].readings[quantity];
        const bool sums = quantity == STRIA_QUANTITY_BYTES || quantity == STRIA_QUANTITY_DURATION ||
                          quantity == STRIA_QUANTITY_ERRORS;
        const bool lower = stria_quantity_infos[quantity].better == STRIA_BETTER_HIGHER;
        if (!reading.known || !measurement->rounds[i].counts)
            continue;
        if (!whole->known)
            *whole = reading;
        else if (sums)
            whole->value += reading.value;
        else if (lower ? reading.value < whole->value : reading.value > whole->value)
            whole->value = reading.value;
    }
}

static const char *joined(struct stria_measurement *measurement,
                          const char *(*text)(const struct stria_measured_drive *))
{
    const char *all = NULL;
    bool told = false;
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const char *one = text(&measurement->drives[i]);
        told |= one != NULL;
        all = stria_arena_format(&measurement->arena, "%s%s%s", all ? all : "", all ? ", " : "",
                                 one ? one : "?");
    }
    return told ? all : NULL;
}

static const char *model_of(const struct stria_measured_drive *drive)
{
    return drive->model;
}

static const char *firmware_of(const struct stria_measured_drive *drive)
{
    return drive->firmware;
}

static const char *link_of(const struct stria_measured_drive *drive)
{
    return drive->link;
}

static const char *file_system_of(const struct stria_measured_drive *drive)
{
    return drive->file_system;
}

static const char *preconditioning(const struct stria_node *rounds, const struct stria_node *options,
                                   struct stria_measurement *measurement)
{
    const uint32_t count = stria_node_count(rounds);
    uint32_t trimmed = 0;
    char text[STRIA_UNITS_TEXT_BYTES];
    for (uint32_t i = 0; i < count; i++) {
        const struct stria_node round = stria_node_at(rounds, i);
        trimmed += stria_node_bool(&round, "trimmed");
    }
    const struct stria_reading rest = stria_node_reading(options, "rest_ns");
    return stria_arena_format(&measurement->arena, "%s, %s rest",
                              trimmed == 0       ? "not trimmed"
                              : trimmed == count ? "trimmed"
                                                 : "trimmed in part",
                              rest.value ? stria_time_print(text, sizeof(text), rest.value) : "no");
}

static const char *point_labels(struct stria_measurement *measurement)
{
    const char *all = "";
    for (uint32_t i = 0; i < measurement->point_count; i++)
        all = stria_arena_format(&measurement->arena, "%s%s%s", all, i ? " " : "",
                                 measurement->points[i].label);
    return all;
}

static void set_conditions(const struct stria_node *root, const struct stria_node *rounds,
                           struct stria_measurement *measurement)
{
    const struct stria_node options = stria_node_object(root, "options");
    const struct stria_node versions = stria_node_object(root, "versions");
    const struct stria_node host = stria_node_object(root, "host");
    const char **conditions = measurement->conditions;
    conditions[STRIA_CONDITION_TEST] = stria_node_needed_text(root, "test");
    conditions[STRIA_CONDITION_DRIVES] =
        stria_arena_format(&measurement->arena, "%" PRIu32, measurement->drive_count);
    conditions[STRIA_CONDITION_MODEL] = joined(measurement, model_of);
    conditions[STRIA_CONDITION_FIRMWARE] = joined(measurement, firmware_of);
    conditions[STRIA_CONDITION_LINK] = joined(measurement, link_of);
    conditions[STRIA_CONDITION_FILE_SYSTEM] = joined(measurement, file_system_of);
    conditions[STRIA_CONDITION_PRECONDITIONING] = preconditioning(rounds, &options, measurement);
    conditions[STRIA_CONDITION_POINTS] = point_labels(measurement);
    conditions[STRIA_CONDITION_BLOCK] =
        stria_reading_size_text(measurement, stria_node_reading(&options, "block_bytes"));
    conditions[STRIA_CONDITION_DEPTH] =
        stria_reading_number_text(measurement, stria_node_reading(&options, "depth"));
    conditions[STRIA_CONDITION_ENGINE] = stria_node_text(&options, "engine");
    conditions[STRIA_CONDITION_POLICY] = stria_node_text(&options, "policy");
    conditions[STRIA_CONDITION_BUFFER] = stria_reading_size_text(measurement, measurement->buffer_bytes);
    conditions[STRIA_CONDITION_KERNEL] = stria_node_text(&versions, "kernel");
    conditions[STRIA_CONDITION_VERSION] = stria_node_text(&versions, "stria");
    conditions[STRIA_CONDITION_CPU] = stria_node_text(&host, "cpu");
    conditions[STRIA_CONDITION_GOVERNOR] = stria_node_text(&host, "governor");
}

/* Over all rounds: bytes through time, which is not the lowest of the rounds' means. */
static void set_mean(struct stria_measurement *measurement)
{
    uint64_t bytes = 0, duration_ns = 0;
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        if (!measurement->rounds[i].counts)
            continue;
        bytes += measurement->rounds[i].readings[STRIA_QUANTITY_BYTES].value;
        duration_ns += measurement->rounds[i].readings[STRIA_QUANTITY_DURATION].value;
    }
    if (duration_ns > 0)
        measurement->readings[STRIA_QUANTITY_MEAN] =
            (struct stria_reading){true, stria_ratio_bytes_per_s(bytes, duration_ns)};
}

void stria_reading_bench(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node rounds = stria_node_array(root, "rounds");
    const struct stria_node options = stria_node_object(root, "options");
    measurement->partial = stria_node_bool(root, "partial");
    measurement->verdict = measurement->partial ? "partial" : NULL;
    measurement->saturated = true;
    measurement->buffer_bytes = stria_node_reading(&options, "buffer_bytes");
    read_drives(root, measurement);
    read_rounds(&rounds, measurement);
    read_points(root, measurement);
    measurement->readings[STRIA_QUANTITY_MINIMUM] = stria_node_reading(root, "rating_bytes_per_s");
    read_findings(root, measurement);
    set_conditions(root, &rounds, measurement);
    set_mean(measurement);
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++)
        take_worst(measurement, (enum stria_quantity)i);
    measurement->title =
        stria_arena_format(&measurement->arena, "bench '%s' of %" PRIu32 " drive%s",
                           measurement->conditions[STRIA_CONDITION_TEST], measurement->drive_count,
                           measurement->drive_count == 1 ? "" : "s");
}
