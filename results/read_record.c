/* stria.record/1, which docs/measuring.md and the design of the command define. */
#include "results/reading.h"

#include <inttypes.h>

static const char *drive_label(const struct stria_node *node, const char *path)
{
    const char *name = stria_node_text(node, "name");
    return name && *name ? name : stria_reading_name_of(path);
}

static void read_drive(const struct stria_node *node, struct stria_measured_drive *drive)
{
    drive->path = stria_node_needed_text(node, "path");
    drive->serial = stria_node_text(node, "serial");
    drive->label = drive_label(node, drive->path);
    drive->lost = stria_node_bool(node, "lost");
    drive->full = stria_node_bool(node, "full");
    stria_reading_rates(node, drive->readings);
    drive->readings[STRIA_QUANTITY_BYTES] = stria_node_reading(node, "bytes");
    drive->readings[STRIA_QUANTITY_ERRORS] = stria_node_reading(node, "errors");
    drive->readings[STRIA_QUANTITY_RETRIES] = stria_node_reading(node, "retries");
    drive->readings[STRIA_QUANTITY_STALLS] = stria_node_reading(node, "stalls");
    drive->readings[STRIA_QUANTITY_STALLED] = stria_node_reading(node, "stalled_ns");
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

static void read_gaps(const struct stria_node *recording, struct stria_measurement *measurement)
{
    const struct stria_node list = stria_node_array(recording, "gaps");
    const uint32_t count = stria_node_count(&list);
    measurement->gaps = stria_arena_take(&measurement->arena, count, sizeof(*measurement->gaps));
    measurement->gap_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct stria_gap_seen *gap = &measurement->gaps[i];
        const struct stria_node node = stria_node_at(&list, i);
        gap->offset_bytes = stria_node_u64(&node, "offset_bytes");
        gap->length_bytes = stria_node_reading(&node, "length_bytes");
        gap->time_ns = stria_node_reading(&node, "time_ns");
        gap->cause = stria_node_needed_text(&node, "cause");
        gap->drive = stria_node_text(&node, "drive");
    }
}

/* What was dropped, in the bin of the time at which it was. False where that is not told of every gap. */
static bool drops(const struct stria_measurement *measurement, const struct stria_track *input,
                  uint64_t *bins)
{
    for (uint32_t i = 0; i < measurement->gap_count; i++) {
        const struct stria_gap_seen *gap = &measurement->gaps[i];
        const uint64_t bin = gap->time_ns.value > 0 ? (gap->time_ns.value - 1) / input->interval_ns : 0;
        if (!gap->time_ns.known || !gap->length_bytes.known)
            return false;
        bins[bin < input->count ? bin : input->count - 1] += gap->length_bytes.value;
    }
    return true;
}

/* The fill of the buffer at the end of each bin: what came in and was neither stored nor dropped by then. */
static void derive_fill(struct stria_measurement *measurement, struct stria_round *round)
{
    const struct stria_track *input = stria_round_track(round, STRIA_TRACK_INPUT, STRIA_TRACK_ARRAY);
    const uint32_t count = stria_round_bins(round, NULL, NULL);
    if (!input || count == 0 || input->count != count)
        return;
    uint64_t *gone = stria_arena_take(&measurement->arena, count, sizeof(*gone));
    uint64_t *stored = stria_arena_take(&measurement->arena, count, sizeof(*stored));
    struct stria_track fill = *input;
    fill.kind = STRIA_TRACK_BUFFER;
    fill.values = stria_arena_take(&measurement->arena, count, sizeof(*fill.values));
    stria_round_stored(round, stored);
    if (!drops(measurement, input, gone))
        return;
    uint64_t came = 0, left = 0;
    for (uint32_t bin = 0; bin < count; bin++) {
        came += input->values[bin] == STRIA_TRACK_UNKNOWN ? 0 : input->values[bin];
        left += stored[bin] + gone[bin];
        fill.values[bin] = came > left ? came - left : 0;
    }
    round->tracks[round->track_count++] = fill;
}

static void read_series(const struct stria_node *root, struct stria_measurement *measurement,
                        struct stria_round *round)
{
    const struct stria_node series = stria_node_object(root, "series");
    const struct stria_node recording = stria_node_object(root, "recording");
    struct stria_track like = {.drive = STRIA_TRACK_ARRAY,
                               .interval_ns = stria_node_u64(&series, "interval_ns"),
                               .last_partial = stria_node_bool(&series, "last_bin_partial")};
    if (like.interval_ns == 0)
        stria_node_fail(&series, "has bins without a width: the file is damaged");
    stria_reading_make_tracks(measurement, round);
    const struct stria_node input = stria_node_optional(&series, "input_bytes");
    const struct stria_node buffer = stria_node_optional(&series, "buffer_bytes");
    const struct stria_node drives = stria_node_array(&series, "drive_bytes");
    like.kind = STRIA_TRACK_INPUT;
    stria_reading_add_track(&input, round, &like);
    like.kind = STRIA_TRACK_BUFFER;
    stria_reading_add_track(&buffer, round, &like);
    like.kind = STRIA_TRACK_STORED;
    stria_reading_add_tracks(&drives, measurement, round, &like);
    if (!buffer.value && root->document->code == STRIA_OK &&
        stria_node_reading(&recording, "gaps_unlisted_bytes").value == 0)
        derive_fill(measurement, round);
}

static void read_latency_series(const struct stria_node *root, struct stria_measurement *measurement,
                                struct stria_round *round)
{
    const struct stria_node series = stria_node_optional(root, "latency_series");
    if (!series.value)
        return;
    struct stria_track like = {.drive = STRIA_TRACK_ARRAY,
                               .interval_ns = stria_node_u64(&series, "interval_ns"),
                               .last_partial = true};
    const struct stria_node p99 = stria_node_optional(&series, "p99_ns");
    const struct stria_node longest = stria_node_optional(&series, "max_ns");
    const struct stria_node drive_p99 = stria_node_optional(&series, "drive_p99_ns");
    const struct stria_node drive_longest = stria_node_optional(&series, "drive_max_ns");
    if (like.interval_ns == 0)
        stria_node_fail(&series, "has bins without a width: the file is damaged");
    like.kind = STRIA_TRACK_LATENCY_P99;
    stria_reading_add_track(&p99, round, &like);
    stria_reading_add_tracks(&drive_p99, measurement, round, &like);
    like.kind = STRIA_TRACK_LATENCY_MAX;
    stria_reading_add_track(&longest, round, &like);
    stria_reading_add_tracks(&drive_longest, measurement, round, &like);
}

static void read_recording(const struct stria_node *recording, struct stria_measurement *measurement)
{
    struct stria_reading *readings = measurement->readings;
    readings[STRIA_QUANTITY_BYTES] = (struct stria_reading){true, stria_node_u64(recording, "bytes")};
    readings[STRIA_QUANTITY_DROPPED] = stria_node_reading(recording, "dropped_bytes");
    readings[STRIA_QUANTITY_DURATION] = stria_node_reading(recording, "duration_ns");
    measurement->length_bytes = stria_node_reading(recording, "length_bytes");
    const bool degraded = stria_node_bool(recording, "degraded");
    if (readings[STRIA_QUANTITY_DROPPED].value > 0)
        measurement->verdict = "with gaps";
    else
        measurement->verdict = degraded ? "whole, but degraded" : "whole";
    read_gaps(recording, measurement);
}

/* Of the drives, what an array adds up. */
static void sum_up(struct stria_measurement *measurement, enum stria_quantity quantity)
{
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        measurement->readings[quantity].known |= measurement->drives[i].readings[quantity].known;
        measurement->readings[quantity].value += measurement->drives[i].readings[quantity].value;
    }
}

static void set_conditions(const struct stria_node *array, struct stria_measurement *measurement)
{
    const char **conditions = measurement->conditions;
    conditions[STRIA_CONDITION_TEST] = "record";
    conditions[STRIA_CONDITION_DRIVES] =
        stria_arena_format(&measurement->arena, "%" PRIu32, measurement->drive_count);
    conditions[STRIA_CONDITION_POLICY] = stria_node_text(array, "policy");
    conditions[STRIA_CONDITION_BLOCK] =
        stria_reading_size_text(measurement, stria_node_reading(array, "chunk_bytes"));
    conditions[STRIA_CONDITION_BUFFER] = stria_reading_size_text(measurement, measurement->buffer_bytes);
}

void stria_reading_record(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node array = stria_node_object(root, "array");
    const struct stria_node recording = stria_node_object(root, "recording");
    const struct stria_node aggregate = stria_node_object(root, "aggregate");
    const struct stria_node buffer = stria_node_object(root, "buffer");
    struct stria_reading *readings = measurement->readings;
    struct stria_round *round = stria_arena_take(&measurement->arena, 1, sizeof(*round));
    measurement->title = stria_arena_format(&measurement->arena, "recording '%s' on array '%s'",
                                            stria_node_needed_text(&recording, "name"),
                                            stria_node_needed_text(&array, "name"));
    stria_reading_rates(&aggregate, readings);
    readings[STRIA_QUANTITY_LOSSLESS] = stria_node_reading(&aggregate, "lossless_bytes_per_s");
    readings[STRIA_QUANTITY_BUFFER_HIGH_WATER] = stria_node_reading(&buffer, "high_water_bytes");
    measurement->saturated = stria_node_bool(&aggregate, "saturated");
    measurement->buffer_bytes = stria_node_reading(&buffer, "bytes");
    read_recording(&recording, measurement);
    read_drives(root, measurement);
    sum_up(measurement, STRIA_QUANTITY_ERRORS);
    sum_up(measurement, STRIA_QUANTITY_RETRIES);
    sum_up(measurement, STRIA_QUANTITY_STALLS);
    set_conditions(&array, measurement);
    round->label = "recording";
    round->counts = true;
    read_series(root, measurement, round);
    read_latency_series(root, measurement, round);
    stria_reading_all_latencies(&aggregate, root, measurement, round);
    for (unsigned i = 0; i < STRIA_QUANTITIES; i++)
        round->readings[i] = readings[i];
    measurement->rounds = round;
    measurement->round_count = 1;
}
