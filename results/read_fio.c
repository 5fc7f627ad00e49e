/* What fio prints with --output-format=json (or json+), as of fio 3. Its rates are bytes a second in
 * "bw_bytes", but KiB a second in "bw_min"; its times are milliseconds, its latencies nanoseconds. */
#include "results/reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An option of the job itself, or of all. */
static const char *option(const struct stria_node *job, const struct stria_node *root, const char *key)
{
    const struct stria_node own = stria_node_optional(job, "job options");
    const struct stria_node global = stria_node_optional(root, "global options");
    const char *text = stria_node_text(&own, key);
    return text ? text : stria_node_text(&global, key);
}

/* The direction in which a job moved more. */
static struct stria_node busier_direction(const struct stria_node *job, bool *reads)
{
    const struct stria_node write = stria_node_object(job, "write");
    const struct stria_node read = stria_node_object(job, "read");
    *reads = stria_node_reading(&read, "io_bytes").value > stria_node_reading(&write, "io_bytes").value;
    return *reads ? read : write;
}

/* Latencies from submission to completion, in whole where fio was told so (lat_percentiles), or without the
 * time that submitting took, which is what it gives by default. */
static void read_latency(const struct stria_node *direction, struct stria_reading readings[STRIA_QUANTITIES])
{
    static const struct {
        const char *key;
        enum stria_quantity quantity;
    } percentiles[] = {
        {"50.000000", STRIA_QUANTITY_LATENCY_P50},
        {"90.000000", STRIA_QUANTITY_LATENCY_P90},
        {"99.000000", STRIA_QUANTITY_LATENCY_P99},
        {"99.900000", STRIA_QUANTITY_LATENCY_P999},
    };
    const struct stria_node whole = stria_node_optional(direction, "lat_ns");
    const struct stria_node completion = stria_node_optional(direction, "clat_ns");
    struct stria_node list = stria_node_optional(&whole, "percentile");
    if (!list.value)
        list = stria_node_optional(&completion, "percentile");
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
        readings[percentiles[i].quantity] = stria_node_reading(&list, percentiles[i].key);
    readings[STRIA_QUANTITY_LATENCY_MAX] = stria_node_reading(&whole, "max");
}

static int by_latency(const void *a, const void *b)
{
    const struct stria_bucket *one = a, *other = b;
    return (one->low_ns > other->low_ns) - (one->low_ns < other->low_ns);
}

/* With json+, its bins, each by its middle. */
static void read_bins(const struct stria_node *direction, struct stria_latencies *latencies)
{
    const struct stria_node whole = stria_node_optional(direction, "lat_ns");
    const struct stria_node completion = stria_node_optional(direction, "clat_ns");
    struct stria_node bins = stria_node_optional(&whole, "bins");
    if (!bins.value)
        bins = stria_node_optional(&completion, "bins");
    if (!json_object_is_type(bins.value, json_type_object))
        return;
    const size_t room = (size_t)json_object_object_length(bins.value);
    latencies->buckets = stria_arena_take(bins.document->arena, room, sizeof(*latencies->buckets));
    json_object_object_foreach(bins.value, key, count)
    {
        char *end;
        const unsigned long long ns = strtoull(key, &end, 10);
        if (*end == '\0' && end != key && json_object_get_uint64(count) > 0)
            latencies->buckets[latencies->count++] = (struct stria_bucket){ns, json_object_get_uint64(count)};
    }
    qsort(latencies->buckets, latencies->count, sizeof(*latencies->buckets), by_latency);
}

static void read_job(const struct stria_node *job, struct stria_round *round)
{
    const struct stria_node direction = busier_direction(job, &round->reads);
    struct stria_reading *readings = round->readings;
    round->label = stria_node_needed_text(job, "jobname");
    round->counts = true;
    readings[STRIA_QUANTITY_MEAN] = stria_node_reading(&direction, "bw_bytes");
    readings[STRIA_QUANTITY_BYTES] = stria_node_reading(&direction, "io_bytes");
    readings[STRIA_QUANTITY_ERRORS] = stria_node_reading(&direction, "total_err");
    const struct stria_reading lowest = stria_node_reading(&direction, "bw_min");
    const struct stria_reading samples = stria_node_reading(&direction, "bw_samples");
    if (lowest.known && samples.value > 1)
        readings[STRIA_QUANTITY_MINIMUM] = (struct stria_reading){true, lowest.value * 1024};
    const struct stria_reading runtime_ms = stria_node_reading(&direction, "runtime");
    if (runtime_ms.known)
        readings[STRIA_QUANTITY_DURATION] = (struct stria_reading){true, runtime_ms.value * 1000000};
    read_latency(&direction, readings);
    read_bins(&direction, &round->latencies);
}

/* Jobs of one document run at the same time, unless they are stonewalled, which makes groups. */
static void add_up(struct stria_measurement *measurement, bool together)
{
    struct stria_reading *whole = measurement->readings;
    if (measurement->round_count == 1) {
        memcpy(whole, measurement->rounds[0].readings, sizeof(measurement->readings));
        return;
    }
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_reading *job = measurement->rounds[i].readings;
        whole[STRIA_QUANTITY_BYTES].known = whole[STRIA_QUANTITY_ERRORS].known = true;
        whole[STRIA_QUANTITY_BYTES].value += job[STRIA_QUANTITY_BYTES].value;
        whole[STRIA_QUANTITY_ERRORS].value += job[STRIA_QUANTITY_ERRORS].value;
        whole[STRIA_QUANTITY_MEAN].known = together;
        whole[STRIA_QUANTITY_MEAN].value += together ? job[STRIA_QUANTITY_MEAN].value : 0;
        if (job[STRIA_QUANTITY_LATENCY_MAX].value >= whole[STRIA_QUANTITY_LATENCY_MAX].value)
            whole[STRIA_QUANTITY_LATENCY_MAX] = job[STRIA_QUANTITY_LATENCY_MAX];
    }
}

static void read_drives(const struct stria_node *jobs, const struct stria_node *root,
                        struct stria_measurement *measurement)
{
    uint32_t count = 0;
    measurement->drives =
        stria_arena_take(&measurement->arena, stria_node_count(jobs), sizeof(*measurement->drives));
    for (uint32_t i = 0; i < stria_node_count(jobs) && count < STRIA_DRIVES_MAX; i++) {
        const struct stria_node job = stria_node_at(jobs, i);
        const char *path = option(&job, root, "filename");
        if (!path)
            continue;
        struct stria_measured_drive *drive = &measurement->drives[count++];
        drive->path = path;
        drive->label = stria_reading_name_of(path);
        memcpy(drive->readings, measurement->rounds[i].readings, sizeof(drive->readings));
    }
    measurement->drive_count = count;
    stria_reading_tell_apart(measurement);
}

/* A size of fio's, in which k is 1024 whatever stands behind it, as others have it; else as it is. */
static const char *size_of(struct stria_measurement *measurement, const char *text)
{
    static const char letters[] = "kmgt";
    char *end = NULL;
    const uint64_t number = text ? strtoull(text, &end, 10) : 0;
    const char *letter = number && *end ? strchr(letters, *end | 0x20) : NULL;
    if (number == 0 || number > UINT32_MAX || (*end && !letter))
        return text;
    const unsigned power = letter ? (unsigned)(letter - letters) + 1 : 0;
    return stria_reading_size_text(measurement, (struct stria_reading){true, number << (10 * power)});
}

static void set_conditions(const struct stria_node *jobs, const struct stria_node *root,
                           struct stria_measurement *measurement)
{
    const struct stria_node first = stria_node_at(jobs, 0);
    const char *kind = option(&first, root, "rw"), *block = option(&first, root, "bs");
    const char **conditions = measurement->conditions;
    conditions[STRIA_CONDITION_TEST] =
        stria_arena_format(&measurement->arena, "fio %s", kind ? kind : "read");
    conditions[STRIA_CONDITION_DRIVES] =
        stria_arena_format(&measurement->arena, "%" PRIu32, measurement->round_count);
    conditions[STRIA_CONDITION_BLOCK] =
        size_of(measurement, block ? block : option(&first, root, "blocksize"));
    conditions[STRIA_CONDITION_DEPTH] = option(&first, root, "iodepth");
    conditions[STRIA_CONDITION_ENGINE] = option(&first, root, "ioengine");
    conditions[STRIA_CONDITION_VERSION] = stria_node_text(root, "fio version");
}

static const char *started(const struct stria_node *root)
{
    const struct stria_reading seconds = stria_node_reading(root, "timestamp");
    const time_t when = (time_t)seconds.value;
    struct tm utc;
    char text[32];
    if (!seconds.known || !gmtime_r(&when, &utc) ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return NULL;
    return stria_arena_text(root->document->arena, text);
}

void stria_reading_fio(const struct stria_node *root, struct stria_measurement *measurement)
{
    const struct stria_node jobs = stria_node_array(root, "jobs");
    bool together = true;
    measurement->round_count = stria_node_count(&jobs);
    measurement->rounds =
        stria_arena_take(&measurement->arena, measurement->round_count, sizeof(*measurement->rounds));
    if (measurement->round_count == 0)
        stria_node_fail(&jobs, "is empty: fio ran no job");
    for (uint32_t i = 0; i < measurement->round_count; i++) {
        const struct stria_node job = stria_node_at(&jobs, i);
        read_job(&job, &measurement->rounds[i]);
        together &= stria_node_reading(&job, "groupid").value == 0;
    }
    add_up(measurement, together);
    read_drives(&jobs, root, measurement);
    set_conditions(&jobs, root, measurement);
    measurement->started = started(root);
    measurement->saturated = true;
    measurement->title =
        stria_arena_format(&measurement->arena, "fio, %" PRIu32 " job%s", measurement->round_count,
                           measurement->round_count == 1 ? "" : "s");
}
