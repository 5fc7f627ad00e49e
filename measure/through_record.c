#include "core/ratio.h"
#include "engine/writer.h"
#include "measure/through_internal.h"
#include "support/clock.h"

#include <stdlib.h>
#include <string.h>

#define ACQUIRE_NS 50000000ull
#define WATCH_NS   200000000ull

struct feed {
    struct stria_through *through;
    const struct stria_round_plan *plan;
    struct stria_round *round;
    struct stria_writer *writer;
    uint64_t start_ns, watched_ns, second_ns;
    uint64_t bytes, turn, buffer_most;
    bool stopped, full;
};

static void look_at_second(struct feed *feed)
{
    struct stria_round_second *second = stria_round_add_second(feed->round);
    struct stria_health health;
    if (!second)
        return;
    for (uint32_t i = 0; i < feed->through->config.drive_count; i++) {
        stria_target_health(&feed->through->targets[i], &health);
        second->drives[i].temperature_c = health.temperature_c;
        second->drives[i].throttle_count = health.throttle_count;
    }
    second->buffer_bytes = (struct stria_told){true, feed->buffer_most};
    feed->buffer_most = 0;
}

/* Looks around once in a while; false: stop. */
static bool watch(struct feed *feed)
{
    const uint64_t now_ns = stria_clock_ns();
    if (now_ns - feed->watched_ns < WATCH_NS)
        return !feed->stopped;
    feed->watched_ns = now_ns;
    struct stria_progress progress;
    struct stria_crew_moment moment = {0};
    stria_writer_progress(feed->writer, &progress);
    if (progress.buffer_used_bytes > feed->buffer_most)
        feed->buffer_most = progress.buffer_used_bytes;
    moment.elapsed_ns = now_ns - feed->start_ns;
    moment.bytes = progress.stored_bytes;
    for (uint32_t i = 0; i < feed->through->config.drive_count; i++) {
        struct stria_drive_progress drive = {0};
        stria_writer_drive_progress(feed->writer, i, &drive);
        moment.bytes_per_s[i] = drive.bytes_per_s;
        moment.total_bytes_per_s += drive.bytes_per_s;
    }
    if (now_ns >= feed->second_ns) {
        look_at_second(feed);
        feed->second_ns += STRIA_NS_PER_S;
    }
    struct stria_through *through = feed->through;
    feed->stopped = through->watch && !through->watch(through->context, &moment);
    return !feed->stopped;
}

static bool is_over(const struct feed *feed)
{
    const struct stria_round_plan *plan = feed->plan;
    return (plan->bytes_max && feed->bytes >= plan->bytes_max) ||
           (plan->runtime_ns && stria_clock_ns() - feed->start_ns >= plan->runtime_ns);
}

/* A chunk of a paced input is there when its last byte is. */
static void wait_for_input(const struct feed *feed, uint64_t chunk_bytes)
{
    if (feed->plan->rate_bytes_per_s)
        stria_clock_sleep_until(feed->start_ns + stria_ratio_scale(feed->bytes + chunk_bytes, STRIA_NS_PER_S,
                                                                   feed->plan->rate_bytes_per_s));
}

static int acquire(struct feed *feed, void **buffer)
{
    if (feed->plan->rate_bytes_per_s)
        return stria_writer_acquire(feed->writer, 0, buffer);
    int code;
    do
        code = stria_writer_acquire(feed->writer, ACQUIRE_NS, buffer);
    while (code == STRIA_ERR_TIMEOUT && watch(feed));
    return code;
}

static void feed_all(struct feed *feed)
{
    const uint32_t chunk_bytes = feed->through->info.chunk_bytes;
    const struct stria_content content = {.known = feed->plan->known, .seed = feed->plan->seed};
    while (!is_over(feed) && watch(feed)) {
        void *buffer;
        wait_for_input(feed, chunk_bytes);
        const int code = acquire(feed, &buffer);
        if (code == STRIA_ERR_TIMEOUT && feed->plan->rate_bytes_per_s)
            feed->round->dropped_bytes = chunk_bytes;
        feed->full = code == STRIA_ERR_ARRAY_FULL;
        if (code != STRIA_OK)
            return;
        stria_content_make(&content, buffer, chunk_bytes, feed->bytes, feed->turn++);
        if (stria_writer_commit(feed->writer, buffer, chunk_bytes) != STRIA_OK)
            return;
        feed->bytes += chunk_bytes;
    }
}

static bool copy_series(struct stria_series *into, const struct stria_series *from)
{
    *into = *from;
    into->bins = malloc((from->count ? from->count : 1) * sizeof(*into->bins));
    if (!into->bins)
        return false;
    memcpy(into->bins, from->bins, from->count * sizeof(*into->bins));
    return true;
}

/* The meter has looked at every second of its own series, however seldom we did. */
static void take_latencies(struct stria_round *round, const struct stria_meter *meter)
{
    stria_round_take_track(round, round->drive_count, &meter->latency_track);
    for (uint32_t i = 0; i < round->drive_count; i++) {
        stria_round_take_track(round, i, &meter->drives[i].latency_track);
        stria_round_add_latencies(round, i, &meter->drives[i].latency);
    }
}

static int take_meter(struct feed *feed, struct stria_trouble *trouble)
{
    struct stria_round *round = feed->round;
    const struct stria_meter *meter = stria_writer_meter(feed->writer);
    bool whole = copy_series(&round->drives[round->drive_count], &meter->stored.series);
    for (uint32_t i = 0; i < round->drive_count && whole; i++) {
        whole = copy_series(&round->drives[i], &meter->drives[i].stored.series);
        round->drive_bytes[i] = meter->drives[i].stored.series.total_bytes;
        round->errors += meter->drives[i].errors;
    }
    if (!whole)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    take_latencies(round, meter);
    stria_round_conclude(round, feed->through->config.buffer_bytes);
    /* The meter has slid its windows over finer bins than a long series has. */
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure worst;
        if (stria_sustained_worst(&meter->stored.sustained, window, &worst))
            round->figures.sustained[window] = (struct stria_told){true, worst.bytes_per_s};
    }
    round->figures.min = round->figures.sustained[0];
    return STRIA_OK;
}

static void check_links(struct feed *feed)
{
    struct stria_round *round = feed->round;
    for (uint32_t i = 0; i < round->drive_count && !round->above_link; i++) {
        const struct stria_told *link = &feed->through->targets[i].link_bytes_per_s;
        round->above_link = link->known && stria_round_is_above_link(round, i, link->value,
                                                                     (uint64_t)feed->through->config.depth *
                                                                         feed->through->info.chunk_bytes);
        round->link_drive = i;
    }
}

static int settle(struct feed *feed, int code, struct stria_trouble *trouble)
{
    struct stria_round *round = feed->round;
    const struct stria_round_plan *plan = feed->plan;
    struct stria_result result;
    stria_writer_result(feed->writer, &result);
    round->begin_ns = stria_writer_meter(feed->writer)->config.start_ns;
    round->bytes = result.info.bytes;
    round->duration_ns = result.duration_ns;
    round->dropped_bytes += result.info.dropped_bytes;
    for (uint32_t i = 0; i < round->drive_count; i++) {
        struct stria_drive_progress drive = {0};
        stria_writer_drive_progress(feed->writer, i, &drive);
        if (!drive.lost)
            continue;
        round->failed_drive = i;
        code = STRIA_ERR_GONE;
    }
    round->code = code;
    /* What is asked to fill the array is whole when that is full. */
    const bool fills = plan->bytes_max >= stria_through_free_bytes(feed->through);
    round->partial = feed->stopped || code != STRIA_OK || (feed->full && !fills) ||
                     (!plan->rate_bytes_per_s && plan->bytes_max && round->bytes < plan->bytes_max && !fills);
    return take_meter(feed, trouble);
}

int stria_through_record(struct stria_through *through, const struct stria_round_plan *plan,
                         struct stria_round *round, struct stria_trouble *trouble)
{
    struct feed feed = {.through = through, .plan = plan, .round = round};
    if (!stria_round_init(round, plan, through->config.drive_count))
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    feed.writer = stria_through_begin(through, trouble);
    if (!feed.writer)
        return trouble->code;
    feed.start_ns = stria_clock_ns();
    feed.second_ns = feed.start_ns + STRIA_NS_PER_S;
    feed_all(&feed);
    int code = stria_writer_end(feed.writer);
    look_at_second(&feed);
    code = settle(&feed, code, trouble);
    check_links(&feed);
    stria_writer_free(feed.writer);
    return code;
}
