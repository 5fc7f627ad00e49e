#include "core/meter.h"

#include "core/assert.h"
#include "core/limits.h"
#include "core/ratio.h"

enum {
    MEDIAN_STEP_DIVISOR = 64, /* the running median forgets within a few hundred completions */
    RECENT_WINDOW = 0,        /* the shortest sustained window, one second */
};

static uint32_t flow_count(uint32_t drive_count)
{
    return drive_count + 2; /* every drive's, the input's, and that of all drives */
}

static uint32_t track_count(uint32_t drive_count)
{
    return drive_count + 1; /* every drive's, and that of all drives */
}

size_t stria_meter_bytes(uint32_t drive_count, uint32_t bins)
{
    return sizeof(struct stria_meter) + drive_count * sizeof(struct stria_meter_drive) +
           (size_t)flow_count(drive_count) * bins * sizeof(uint64_t) +
           (size_t)track_count(drive_count) * bins * sizeof(struct stria_latency_bin);
}

static uint64_t *flow_init(struct stria_flow *flow, uint64_t *bins, const struct stria_meter_config *config)
{
    stria_series_init(&flow->series, bins, config->bins, config->start_ns, config->interval_ns);
    stria_sustained_init(&flow->sustained, config->start_ns);
    return bins + config->bins;
}

static struct stria_latency_bin *track_init(struct stria_latency_track *track, struct stria_latency_bin *bins,
                                            const struct stria_meter_config *config)
{
    stria_latency_track_init(track, bins, config->bins, config->start_ns);
    return bins + config->bins;
}

struct stria_meter *stria_meter_init(void *memory, const struct stria_meter_config *config)
{
    STRIA_ASSERT(config->drive_count > 0 && config->drive_count <= STRIA_DRIVES_MAX);
    STRIA_ASSERT((uintptr_t)memory % _Alignof(struct stria_meter) == 0);
    struct stria_meter *meter = memory;
    meter->config = *config;
    if (meter->config.interval_ns == 0)
        meter->config.interval_ns = STRIA_SERIES_INTERVAL_NS;
    meter->now_ns = config->start_ns;
    meter->buffer_high_water_bytes = 0;
    stria_histogram_init(&meter->latency);

    uint64_t *bins = (uint64_t *)(void *)&meter->drives[config->drive_count];
    bins = flow_init(&meter->input, bins, &meter->config);
    bins = flow_init(&meter->stored, bins, &meter->config);
    for (uint32_t i = 0; i < config->drive_count; i++) {
        struct stria_meter_drive *drive = &meter->drives[i];
        bins = flow_init(&drive->stored, bins, &meter->config);
        stria_histogram_init(&drive->latency);
        drive->errors = drive->retries = drive->stalls = 0;
        drive->stalled_ns = drive->stalled_until_ns = 0;
        drive->submit_ns_max = drive->latency_median_ns = 0;
    }
    struct stria_latency_bin *latencies =
        track_init(&meter->latency_track, (struct stria_latency_bin *)(void *)bins, &meter->config);
    for (uint32_t i = 0; i < config->drive_count; i++)
        latencies = track_init(&meter->drives[i].latency_track, latencies, &meter->config);
    return meter;
}

static struct stria_meter_drive *drive_at(struct stria_meter *meter, uint32_t drive)
{
    STRIA_ASSERT(drive < meter->config.drive_count);
    return &meter->drives[drive];
}

static uint64_t clock_forward(struct stria_meter *meter, uint64_t now_ns)
{
    if (now_ns > meter->now_ns)
        meter->now_ns = now_ns;
    return meter->now_ns;
}

static void flow_add(struct stria_flow *flow, uint64_t now_ns, uint64_t bytes)
{
    stria_series_add(&flow->series, now_ns, bytes);
    stria_sustained_add(&flow->sustained, now_ns, bytes);
}

void stria_meter_input(struct stria_meter *meter, uint64_t now_ns, uint64_t bytes)
{
    flow_add(&meter->input, clock_forward(meter, now_ns), bytes);
}

/* A running median in one word: half the steps go up and half go down only where it is the median. */
static void follow_median(struct stria_meter_drive *drive, uint64_t latency_ns)
{
    const uint64_t step = drive->latency_median_ns / MEDIAN_STEP_DIVISOR + 1;
    if (latency_ns > drive->latency_median_ns)
        drive->latency_median_ns += step;
    else if (latency_ns < drive->latency_median_ns)
        drive->latency_median_ns -= step;
}

static void note_long_wait(struct stria_meter_drive *drive, uint64_t now_ns, uint64_t waited_ns)
{
    const uint64_t from_ns = waited_ns < now_ns ? now_ns - waited_ns : 0;
    const bool same_stall = drive->stalls > 0 && from_ns < drive->stalled_until_ns;
    drive->stalls += !same_stall;
    drive->stalled_ns += now_ns - (same_stall ? drive->stalled_until_ns : from_ns);
    drive->stalled_until_ns = now_ns;
}

void stria_meter_done(struct stria_meter *meter, uint32_t drive_index, uint64_t now_ns, uint64_t bytes,
                      uint64_t latency_ns, uint64_t submit_ns)
{
    struct stria_meter_drive *drive = drive_at(meter, drive_index);
    now_ns = clock_forward(meter, now_ns);
    flow_add(&drive->stored, now_ns, bytes);
    flow_add(&meter->stored, now_ns, bytes);
    stria_histogram_add(&drive->latency, latency_ns);
    stria_histogram_add(&meter->latency, latency_ns);
    stria_latency_track_add(&drive->latency_track, now_ns, latency_ns);
    stria_latency_track_add(&meter->latency_track, now_ns, latency_ns);
    if (submit_ns > drive->submit_ns_max)
        drive->submit_ns_max = submit_ns;
    /* The first latency is all there is to know the drive by, unless it is itself suspiciously long. */
    if (drive->latency.count == 1)
        drive->latency_median_ns =
            latency_ns < STRIA_METER_STALL_NS_MIN ? latency_ns : STRIA_METER_STALL_NS_MIN;
    if (latency_ns > stria_meter_stall_threshold_ns(meter, drive_index))
        note_long_wait(drive, now_ns, latency_ns);
    follow_median(drive, latency_ns);
}

void stria_meter_error(struct stria_meter *meter, uint32_t drive)
{
    drive_at(meter, drive)->errors++;
}

void stria_meter_retry(struct stria_meter *meter, uint32_t drive)
{
    drive_at(meter, drive)->retries++;
}

void stria_meter_stall(struct stria_meter *meter, uint32_t drive, uint64_t now_ns, uint64_t waited_ns)
{
    note_long_wait(drive_at(meter, drive), clock_forward(meter, now_ns), waited_ns);
}

void stria_meter_buffer(struct stria_meter *meter, uint64_t used_bytes)
{
    if (used_bytes > meter->buffer_high_water_bytes)
        meter->buffer_high_water_bytes = used_bytes;
}

static void flow_advance(struct stria_flow *flow, uint64_t now_ns)
{
    stria_series_advance(&flow->series, now_ns);
    stria_sustained_advance(&flow->sustained, now_ns);
}

static void flow_finish(struct stria_flow *flow, uint64_t now_ns)
{
    stria_series_advance(&flow->series, now_ns);
    stria_sustained_finish(&flow->sustained, now_ns);
}

static void each_flow(struct stria_meter *meter, void (*visit)(struct stria_flow *, uint64_t),
                      uint64_t now_ns)
{
    visit(&meter->input, now_ns);
    visit(&meter->stored, now_ns);
    for (uint32_t i = 0; i < meter->config.drive_count; i++)
        visit(&meter->drives[i].stored, now_ns);
}

static void each_track(struct stria_meter *meter, void (*visit)(struct stria_latency_track *, uint64_t),
                       uint64_t now_ns)
{
    visit(&meter->latency_track, now_ns);
    for (uint32_t i = 0; i < meter->config.drive_count; i++)
        visit(&meter->drives[i].latency_track, now_ns);
}

void stria_meter_finish(struct stria_meter *meter, uint64_t now_ns)
{
    now_ns = clock_forward(meter, now_ns);
    each_flow(meter, flow_finish, now_ns);
    each_track(meter, stria_latency_track_finish, now_ns);
}

void stria_meter_advance(struct stria_meter *meter, uint64_t now_ns)
{
    now_ns = clock_forward(meter, now_ns);
    each_flow(meter, flow_advance, now_ns);
    each_track(meter, stria_latency_track_advance, now_ns);
}

uint64_t stria_meter_stall_threshold_ns(const struct stria_meter *meter, uint32_t drive)
{
    STRIA_ASSERT(drive < meter->config.drive_count);
    if (meter->config.stall_ns > 0)
        return meter->config.stall_ns;
    const uint64_t multiple_ns = STRIA_METER_STALL_FACTOR * meter->drives[drive].latency_median_ns;
    return multiple_ns > STRIA_METER_STALL_NS_MIN ? multiple_ns : STRIA_METER_STALL_NS_MIN;
}

uint64_t stria_flow_recent_bytes_per_s(const struct stria_flow *flow)
{
    return stria_sustained_recent_bytes_per_s(&flow->sustained, RECENT_WINDOW);
}

bool stria_flow_mean_bytes_per_s(const struct stria_flow *flow, uint64_t *bytes_per_s)
{
    const uint64_t duration_ns = flow->series.end_ns - flow->series.start_ns;
    if (duration_ns == 0)
        return false;
    *bytes_per_s = stria_ratio_bytes_per_s(flow->series.total_bytes, duration_ns);
    return true;
}
