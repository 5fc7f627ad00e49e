/* stria.simulate/1 of one array. */
#include "results/reading.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>

static void read_drive(const struct stria_node *node, struct stria_measured_drive *drive)
{
    drive->label = stria_node_needed_text(node, "profile");
    drive->model = stria_node_text(node, "model");
    drive->size_bytes = stria_node_reading(node, "capacity_bytes");
    drive->lost = stria_node_bool(node, "lost");
    drive->full = stria_node_bool(node, "full");
    stria_reading_rates(node, drive->readings);
    drive->readings[STRIA_QUANTITY_BYTES] = stria_node_reading(node, "bytes");
    drive->readings[STRIA_QUANTITY_LATENCY_MAX] = stria_node_reading(node, "latency_ns_max");
    drive->readings[STRIA_QUANTITY_STALLED] = stria_node_reading(node, "stalled_ns");
    const struct stria_node temperature = stria_node_optional(node, "temperature_c");
    drive->readings[STRIA_QUANTITY_TEMPERATURE_MAX] = stria_node_degrees(&temperature);
}

static void read_drives(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node list = stria_node_optional(root, "drives");
    if (!list.value)
        stria_node_fail(root, "chooses or compares arrays and holds no recording: simulate one with --drive");
    stria_reading_make_drives(&list, measurement);
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const struct stria_node node = stria_node_at(&list, i);
        read_drive(&node, &measurement->drives[i]);
    }
    stria_reading_tell_apart(measurement);
}

/* Where it begins is known; each gap behind it is not told. */
static void read_first_loss(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node loss = stria_node_optional(root, "first_loss");
    if (!loss.value)
        return;
    struct stria_gap_seen *gap = stria_arena_take(&measurement->arena, 1, sizeof(*gap));
    const struct stria_reading drive = stria_node_reading(&loss, "drive");
    gap->offset_bytes = stria_node_u64(&loss, "offset_bytes");
    gap->time_ns = stria_node_reading(&loss, "time_ns");
    gap->cause = stria_node_needed_text(&loss, "cause");
    if (drive.known && drive.value < measurement->drive_count)
        gap->drive = measurement->drives[drive.value].label;
    measurement->gaps = gap;
    measurement->gap_count = 1;
}

static void read_tracks(const struct stria_node *root, const struct stria_node *buffer,
                        struct stria_measurement *measurement, struct stria_round *round)
{
    const struct stria_node series = stria_node_object(root, "series");
    const struct stria_node input = stria_node_optional(&series, "input_bytes");
    const struct stria_node drives = stria_node_array(&series, "drive_bytes");
    const struct stria_node fill = stria_node_optional(buffer, "high_water_bytes_series");
    struct stria_track like = {.drive = STRIA_TRACK_ARRAY, .last_partial = true};
    stria_reading_make_tracks(measurement, round);
    like.interval_ns = stria_node_u64(&series, "interval_ns");
    like.kind = STRIA_TRACK_INPUT;
    stria_reading_add_track(&input, round, &like);
    like.kind = STRIA_TRACK_STORED;
    stria_reading_add_tracks(&drives, measurement, round, &like);
    const uint64_t fill_interval_ns = stria_node_reading(buffer, "interval_ns").value;
    if (like.interval_ns == 0)
        stria_node_fail(&series, "has bins without a width: the file is damaged");
    if (fill_interval_ns == 0)
        return;
    like.interval_ns = fill_interval_ns;
    like.kind = STRIA_TRACK_BUFFER;
    stria_reading_add_track(&fill, round, &like);
}

static void set_conditions(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node asked = stria_node_object(root, "asked");
    const char **conditions = measurement->conditions;
    const struct stria_reading rate = stria_node_reading(&asked, "rate_bytes_per_s");
    conditions[STRIA_CONDITION_TEST] = "simulate";
    conditions[STRIA_CONDITION_DRIVES] =
        stria_arena_format(&measurement->arena, "%" PRIu32, measurement->drive_count);
    conditions[STRIA_CONDITION_POLICY] = stria_node_text(&asked, "policy");
    conditions[STRIA_CONDITION_BLOCK] =
        stria_reading_size_text(measurement, stria_node_reading(&asked, "chunk_bytes"));
    conditions[STRIA_CONDITION_DEPTH] =
        stria_reading_number_text(measurement, stria_node_reading(&asked, "depth"));
    conditions[STRIA_CONDITION_BUFFER] = stria_reading_size_text(measurement, measurement->buffer_bytes);
    if (rate.known && rate.value > 0)
        conditions[STRIA_CONDITION_RATE] =
            stria_arena_format(&measurement->arena, "%s/s", stria_reading_size_text(measurement, rate));
    const char *models = "";
    for (uint32_t i = 0; i < measurement->drive_count; i++)
        models = stria_arena_format(&measurement->arena, "%s%s%s", models, i ? ", " : "",
                                    measurement->drives[i].model ? measurement->drives[i].model : "?");
    conditions[STRIA_CONDITION_MODEL] = models;
}

static void read_figures(const struct stria_node *root, const struct stria_node *buffer,
                         struct stria_measurement *measurement)
{
    struct stria_reading *readings = measurement->readings;
    char key[24];
    stria_reading_rates(root, readings);
    const struct stria_node lossless = stria_node_optional(root, "lossless_bytes_per_s");
    measurement->buffer_bytes = stria_node_reading(buffer, "bytes");
    snprintf(key, sizeof(key), "%" PRIu64, measurement->buffer_bytes.value);
    readings[STRIA_QUANTITY_LOSSLESS] = stria_node_reading(&lossless, key);
    readings[STRIA_QUANTITY_BUFFER_HIGH_WATER] = stria_node_reading(buffer, "high_water_bytes");
    readings[STRIA_QUANTITY_BYTES] = stria_node_reading(root, "stored_bytes");
    readings[STRIA_QUANTITY_DROPPED] = stria_node_reading(root, "dropped_bytes");
    readings[STRIA_QUANTITY_DURATION] = stria_node_reading(root, "duration_ns");
    measurement->length_bytes = stria_node_reading(root, "stream_bytes");
    measurement->capacity_bytes = stria_node_reading(root, "capacity_bytes");
    measurement->verdict = stria_node_text(root, "verdict");
}

/* A run without a sensor says how much was written by its drives only. */
static void complete(struct stria_measurement *measurement)
{
    struct stria_reading *bytes = &measurement->readings[STRIA_QUANTITY_BYTES];
    if (bytes->known)
        return;
    bytes->known = true;
    for (uint32_t i = 0; i < measurement->drive_count; i++)
        bytes->value += measurement->drives[i].readings[STRIA_QUANTITY_BYTES].value;
    measurement->length_bytes = *bytes;
}

void stria_reading_simulate(const struct stria_node *root, struct stria_measurement *measurement)
{
    struct stria_round *round = stria_arena_take(&measurement->arena, 1, sizeof(*round));
    read_drives(root, measurement);
    const struct stria_node buffer = stria_node_object(root, "buffer");
    read_figures(root, &buffer, measurement);
    complete(measurement);
    set_conditions(root, measurement);
    const char *policy = measurement->conditions[STRIA_CONDITION_POLICY];
    measurement->title = stria_arena_format(
        &measurement->arena, "simulation of %" PRIu32 " drive%s%s%s", measurement->drive_count,
        measurement->drive_count == 1 ? "" : "s", policy ? ", " : "", policy ? policy : "");
    measurement->saturated = !measurement->conditions[STRIA_CONDITION_RATE];
    read_first_loss(root, measurement);
    round->label = "simulation";
    round->counts = true;
    read_tracks(root, &buffer, measurement, round);
    stria_reading_all_latencies(root, root, measurement, round);
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++)
        round->readings[i] = measurement->readings[i];
    measurement->rounds = round;
    measurement->round_count = 1;
}
