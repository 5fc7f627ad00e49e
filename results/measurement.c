#include "results/measurement.h"

#include "results/reading.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *schema; /* without its version */
    enum stria_measurement_kind kind;
    void (*read)(const struct stria_node *root, struct stria_measurement *measurement);
} schemas[] = {
    {"stria.record", STRIA_MEASUREMENT_RECORD, stria_reading_record},
    {"stria.bench", STRIA_MEASUREMENT_BENCH, stria_reading_bench},
    {"stria.simulate", STRIA_MEASUREMENT_SIMULATE, stria_reading_simulate},
};

static const char *const condition_names[STRIA_CONDITIONS] = {
    [STRIA_CONDITION_TEST] = "test",
    [STRIA_CONDITION_DRIVES] = "drives",
    [STRIA_CONDITION_MODEL] = "model",
    [STRIA_CONDITION_FIRMWARE] = "firmware",
    [STRIA_CONDITION_LINK] = "link",
    [STRIA_CONDITION_FILE_SYSTEM] = "file-system",
    [STRIA_CONDITION_PRECONDITIONING] = "preconditioning",
    [STRIA_CONDITION_POINTS] = "points",
    [STRIA_CONDITION_BLOCK] = "block",
    [STRIA_CONDITION_DEPTH] = "depth",
    [STRIA_CONDITION_ENGINE] = "engine",
    [STRIA_CONDITION_POLICY] = "policy",
    [STRIA_CONDITION_BUFFER] = "buffer",
    [STRIA_CONDITION_RATE] = "rate",
    [STRIA_CONDITION_KERNEL] = "kernel",
    [STRIA_CONDITION_CPU] = "cpu",
    [STRIA_CONDITION_GOVERNOR] = "governor",
    [STRIA_CONDITION_VERSION] = "version",
};

const char *stria_condition_name(enum stria_condition condition)
{
    return condition_names[condition];
}

static void read_known(const struct stria_node *root, const char *schema,
                       struct stria_measurement *measurement)
{
    const size_t name_length = strcspn(schema, "/");
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        if (strlen(schemas[i].schema) != name_length || strncmp(schemas[i].schema, schema, name_length) != 0)
            continue;
        if (strcmp(schema + name_length, "/1") != 0) {
            stria_node_fail(
                root, "is of schema %.60s and this stria reads %s/1: read it with the stria that wrote it",
                schema, schemas[i].schema);
            return;
        }
        measurement->kind = schemas[i].kind;
        measurement->started = stria_node_text(root, "started");
        schemas[i].read(root, measurement);
        return;
    }
    stria_node_fail(
        root,
        "is of schema %.60s: results are stria.record/1, stria.bench/1, stria.simulate/1 and what fio "
        "prints with --output-format=json",
        schema);
}

static void read_any(const struct stria_node *root, struct stria_measurement *measurement)
{
    const char *schema = stria_node_text(root, "schema");
    if (schema) {
        read_known(root, schema, measurement);
    } else if (stria_node_optional(root, "fio version").value) {
        measurement->kind = STRIA_MEASUREMENT_FIO;
        stria_reading_fio(root, measurement);
    } else {
        stria_node_fail(root, "has no schema: it is not the result of a measurement by stria or fio");
    }
}

static const char *label_of(struct stria_measurement *measurement, const char *path)
{
    char *label = stria_arena_text(&measurement->arena,
                                   strcmp(path, "-") == 0 ? "standard input" : stria_reading_name_of(path));
    char *ending = strrchr(label, '.');
    if (ending && ending > label && strcmp(ending, ".json") == 0)
        *ending = '\0';
    return label;
}

int stria_measurement_read(const char *path, struct stria_measurement *measurement,
                           struct stria_trouble *trouble)
{
    struct stria_document document;
    *measurement = (struct stria_measurement){0};
    if (stria_document_read(path, &measurement->arena, &document, trouble) == STRIA_OK) {
        const struct stria_node root = stria_document_root(&document);
        measurement->source = stria_arena_text(&measurement->arena, path);
        measurement->label = label_of(measurement, path);
        read_any(&root, measurement);
    }
    json_object_put(document.root);
    if (document.code != STRIA_OK)
        stria_measurement_clear(measurement);
    return document.code;
}

static uint32_t of_label(const struct stria_measurement *measurements, uint32_t count, const char *label)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += strcmp(measurements[i].label, label) == 0;
    return found;
}

void stria_measurements_tell_apart(struct stria_measurement *measurements, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const char *label = measurements[i].label;
        for (uint32_t number = 2; of_label(measurements, i, measurements[i].label) > 0; number++)
            measurements[i].label = stria_arena_format(&measurements[i].arena, "%s #%" PRIu32, label, number);
    }
}

const char *stria_measurement_kind_name(enum stria_measurement_kind kind)
{
    static const char *const names[] = {
        [STRIA_MEASUREMENT_RECORD] = "record",
        [STRIA_MEASUREMENT_BENCH] = "bench",
        [STRIA_MEASUREMENT_SIMULATE] = "simulate",
        [STRIA_MEASUREMENT_FIO] = "fio",
    };
    return names[kind];
}

void stria_measurement_clear(struct stria_measurement *measurement)
{
    stria_arena_clear(&measurement->arena);
    *measurement = (struct stria_measurement){0};
}

const char *stria_track_key(enum stria_track_kind kind)
{
    static const char *const keys[STRIA_TRACK_KINDS] = {
        [STRIA_TRACK_INPUT] = "input_bytes",          [STRIA_TRACK_STORED] = "stored_bytes",
        [STRIA_TRACK_BUFFER] = "buffer_bytes",        [STRIA_TRACK_LATENCY_P99] = "latency_p99_ns",
        [STRIA_TRACK_LATENCY_MAX] = "latency_max_ns", [STRIA_TRACK_TEMPERATURE] = "temperature_mc",
        [STRIA_TRACK_THROTTLES] = "throttle_count",
    };
    return keys[kind];
}

const struct stria_track *stria_round_track(const struct stria_round *round, enum stria_track_kind kind,
                                            int drive)
{
    for (uint32_t i = 0; i < round->track_count; i++)
        if (round->tracks[i].kind == kind && round->tracks[i].drive == drive)
            return &round->tracks[i];
    return NULL;
}

uint32_t stria_round_bins(const struct stria_round *round, uint64_t *interval_ns, bool *last_partial)
{
    const struct stria_track *track = stria_round_track(round, STRIA_TRACK_STORED, 0);
    if (!track)
        return 0;
    if (interval_ns)
        *interval_ns = track->interval_ns;
    if (last_partial)
        *last_partial = track->last_partial;
    return track->count;
}

void stria_round_stored(const struct stria_round *round, uint64_t *bins)
{
    const uint32_t count = stria_round_bins(round, NULL, NULL);
    for (uint32_t bin = 0; bin < count; bin++)
        bins[bin] = 0;
    for (uint32_t i = 0; i < round->track_count; i++)
        for (uint32_t bin = 0; bin < count && round->tracks[i].kind == STRIA_TRACK_STORED; bin++)
            if (round->tracks[i].values[bin] != STRIA_TRACK_UNKNOWN)
                bins[bin] += round->tracks[i].values[bin];
}
