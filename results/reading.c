#include "results/reading.h"

#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void stria_reading_rates(const struct stria_node *node, struct stria_reading readings[STRIA_QUANTITIES])
{
    static const struct {
        const char *object, *key;
        enum stria_quantity quantity;
    } members[] = {
        {"sustained_bytes_per_s", "1s", STRIA_QUANTITY_SUSTAINED_1S},
        {"sustained_bytes_per_s", "5s", STRIA_QUANTITY_SUSTAINED_5S},
        {"sustained_bytes_per_s", "10s", STRIA_QUANTITY_SUSTAINED_10S},
        {"sustained_bytes_per_s", "30s", STRIA_QUANTITY_SUSTAINED_30S},
        {"sustained_bytes_per_s", "60s", STRIA_QUANTITY_SUSTAINED_60S},
        {"latency_ns", "p50", STRIA_QUANTITY_LATENCY_P50},
        {"latency_ns", "p90", STRIA_QUANTITY_LATENCY_P90},
        {"latency_ns", "p99", STRIA_QUANTITY_LATENCY_P99},
        {"latency_ns", "p999", STRIA_QUANTITY_LATENCY_P999},
        {"latency_ns", "max", STRIA_QUANTITY_LATENCY_MAX},
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct stria_node object = stria_node_optional(node, members[i].object);
        if (object.value && !json_object_is_type(object.value, json_type_object))
            stria_node_fail(&object, "is not an object: the file is damaged or of another program");
        readings[members[i].quantity] = stria_node_reading(&object, members[i].key);
    }
    readings[STRIA_QUANTITY_MEAN] = stria_node_reading(node, "mean_bytes_per_s");
}

void stria_reading_make_drives(const struct stria_node *list, struct stria_measurement *measurement)
{
    const uint32_t count = stria_node_count(list);
    if (count > STRIA_DRIVES_MAX) {
        stria_node_fail(list, "has %" PRIu32 " elements, an array has at most %u drives", count,
                        STRIA_DRIVES_MAX);
        return;
    }
    measurement->drives = stria_arena_take(&measurement->arena, count, sizeof(*measurement->drives));
    measurement->drive_count = count;
}

void stria_reading_make_tracks(struct stria_measurement *measurement, struct stria_round *round)
{
    const size_t most = (size_t)STRIA_TRACK_KINDS * (measurement->drive_count + 1);
    round->tracks = stria_arena_take(&measurement->arena, most, sizeof(*round->tracks));
}

void stria_reading_add_track(const struct stria_node *array, struct stria_round *round,
                             const struct stria_track *like)
{
    if (!array->value)
        return;
    if (!json_object_is_type(array->value, json_type_array)) {
        stria_node_fail(array, "is not an array: the file is damaged or of another program");
        return;
    }
    struct stria_track *track = &round->tracks[round->track_count++];
    *track = *like;
    track->count = stria_node_count(array);
    track->values = stria_arena_take(array->document->arena, track->count, sizeof(*track->values));
    for (uint32_t i = 0; i < track->count && array->document->code == STRIA_OK; i++) {
        const struct stria_node node = stria_node_at(array, i);
        const struct stria_reading value =
            like->kind == STRIA_TRACK_TEMPERATURE ? stria_node_degrees(&node) : stria_node_value(&node);
        track->values[i] = value.known ? value.value : STRIA_TRACK_UNKNOWN;
    }
}

void stria_reading_add_tracks(const struct stria_node *arrays, const struct stria_measurement *measurement,
                              struct stria_round *round, const struct stria_track *like)
{
    const uint32_t count = stria_node_count(arrays);
    if (arrays->value && !json_object_is_type(arrays->value, json_type_array))
        stria_node_fail(arrays, "is not an array: the file is damaged or of another program");
    else if (count > 0 && count != measurement->drive_count)
        stria_node_fail(arrays, "has %" PRIu32 " series for %" PRIu32 " drives: the file is damaged", count,
                        measurement->drive_count);
    uint32_t bins = 0;
    for (uint32_t i = 0; i < count && arrays->document->code == STRIA_OK; i++) {
        struct stria_track track = *like;
        const struct stria_node node = stria_node_at(arrays, i);
        track.drive = (int)i;
        stria_reading_add_track(&node, round, &track);
        if (i > 0 && like->kind == STRIA_TRACK_STORED && stria_node_count(&node) != bins)
            stria_node_fail(&node, "is not as long as the series before it: the file is damaged");
        bins = stria_node_count(&node);
    }
}

void stria_reading_latencies(const struct stria_node *list, struct stria_latencies *latencies)
{
    latencies->count = stria_node_count(list);
    latencies->buckets =
        stria_arena_take(list->document->arena, latencies->count, sizeof(*latencies->buckets));
    for (uint32_t i = 0; i < latencies->count; i++) {
        struct stria_bucket *bucket = &latencies->buckets[i];
        const struct stria_node pair = stria_node_at(list, i);
        const struct stria_node low = stria_node_at(&pair, 0), count = stria_node_at(&pair, 1);
        if (stria_node_count(&pair) != 2)
            stria_node_fail(&pair, "is not a pair of a latency and a count: the file is damaged");
        bucket->low_ns = stria_node_value(&low).value;
        bucket->count = stria_node_value(&count).value;
        if (i > 0 && bucket->low_ns <= bucket[-1].low_ns)
            stria_node_fail(&pair, "does not lie above the bucket before it: the file is damaged");
    }
}

void stria_reading_all_latencies(const struct stria_node *together, const struct stria_node *root,
                                 struct stria_measurement *measurement, struct stria_round *round)
{
    const struct stria_node list = stria_node_array(root, "drives");
    const struct stria_node all = stria_node_optional(together, "histogram");
    stria_reading_latencies(&all, &round->latencies);
    round->drive_latencies =
        stria_arena_take(&measurement->arena, measurement->drive_count, sizeof(*round->drive_latencies));
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const struct stria_node drive = stria_node_at(&list, i);
        const struct stria_node histogram = stria_node_optional(&drive, "histogram");
        stria_reading_latencies(&histogram, &round->drive_latencies[i]);
    }
}

void stria_reading_tell_apart(struct stria_measurement *measurement)
{
    for (uint32_t i = 0; i < measurement->drive_count; i++) {
        const char *label = measurement->drives[i].label;
        uint32_t number = 1;
        for (uint32_t j = i + 1; j < measurement->drive_count; j++)
            if (strcmp(measurement->drives[j].label, label) == 0)
                measurement->drives[j].label =
                    stria_arena_format(&measurement->arena, "%s #%" PRIu32, label, ++number);
        if (number > 1)
            measurement->drives[i].label = stria_arena_format(&measurement->arena, "%s #1", label);
    }
}

const char *stria_reading_name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *stria_reading_size_text(struct stria_measurement *measurement, struct stria_reading bytes)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    if (!bytes.known)
        return NULL;
    return stria_arena_text(&measurement->arena, stria_size_print(text, sizeof(text), bytes.value));
}

const char *stria_reading_number_text(struct stria_measurement *measurement, struct stria_reading number)
{
    return number.known ? stria_arena_format(&measurement->arena, "%" PRIu64, number.value) : NULL;
}
