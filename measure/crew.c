#include "measure/crew.h"

#include "core/ratio.h"
#include "measure/worker.h"
#include "support/clock.h"

#include <stdlib.h>
#include <string.h>

/* Room for about two hours at 100 ms, before bins are merged. */
#define BINS_MAX 65536u

#define WATCH_NS 200000000ull

struct gang {
    const struct stria_crew *crew;
    struct stria_round *round;
    struct stria_worker *workers;
    uint32_t made, started;
    _Atomic bool stop;
    pthread_barrier_t ready;
    struct stria_bell bell;
    uint64_t start_ns;
    struct stria_crew_moment moment;
    uint64_t second_bytes[STRIA_DRIVES_MAX];              /* completed when the last second ended */
    struct stria_histogram second_latency, drive_latency; /* of the last second */
};

static struct stria_work work_of(const struct stria_round_plan *plan)
{
    return (struct stria_work){
        .write = plan->write,
        .reverse = plan->reverse,
        .offset_bytes = plan->offset_bytes,
        .size_bytes = plan->size_bytes,
        .bytes_max = plan->bytes_max,
        .runtime_ns = plan->runtime_ns,
        .block_bytes = plan->block_bytes,
        .depth = plan->depth,
        .content = {.known = plan->known, .seed = plan->seed},
        .compare = plan->compare,
    };
}

/* Short rounds need no large series. */
static uint32_t bins_of(const struct stria_round_plan *plan)
{
    const uint64_t bins = plan->runtime_ns / STRIA_SERIES_INTERVAL_NS + 600;
    return plan->runtime_ns && bins < BINS_MAX ? (uint32_t)bins : BINS_MAX;
}

static int make_workers(struct gang *gang, const struct stria_round_plan *plan, struct stria_trouble *trouble)
{
    const struct stria_work work = work_of(plan);
    gang->workers = calloc(gang->crew->count, sizeof(*gang->workers));
    if (!gang->workers)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    for (; gang->made < gang->crew->count; gang->made++) {
        struct stria_worker *worker = &gang->workers[gang->made];
        const int code =
            stria_worker_init(worker, &gang->crew->targets[gang->made], &work, bins_of(plan), trouble);
        if (code != STRIA_OK)
            return code;
        worker->stop = &gang->stop;
        worker->ready = &gang->ready;
        worker->start_ns = &gang->start_ns;
        worker->bell = &gang->bell;
    }
    return STRIA_OK;
}

/* A barrier that not everybody comes to would never open: what cannot be started ends the program. */
static void start_workers(struct gang *gang)
{
    pthread_barrier_init(&gang->ready, NULL, gang->made + 1);
    for (; gang->started < gang->made; gang->started++) {
        struct stria_worker *worker = &gang->workers[gang->started];
        if (pthread_create(&worker->thread, NULL, stria_worker_run, worker) != 0)
            abort();
    }
    pthread_barrier_wait(&gang->ready);
    gang->start_ns = stria_clock_ns();
    pthread_barrier_wait(&gang->ready);
}

static bool all_ended(struct gang *gang)
{
    bool ended = true;
    for (uint32_t i = 0; i < gang->started; i++)
        ended &= atomic_load(&gang->workers[i].ended);
    return ended;
}

static void tell_latency(const struct stria_histogram *latency, struct stria_told *p99_ns,
                         struct stria_told *max_ns)
{
    *max_ns = (struct stria_told){latency->count > 0, latency->max};
    p99_ns->known = stria_histogram_percentile(latency, STRIA_PERCENTILE_99_PPM, &p99_ns->value);
}

static void look_at_second(struct gang *gang)
{
    struct stria_round *round = gang->round;
    struct stria_round_second *second = stria_round_add_second(round);
    struct stria_health health;
    if (!second)
        return;
    stria_histogram_init(&gang->second_latency);
    for (uint32_t i = 0; i < gang->started; i++) {
        stria_histogram_init(&gang->drive_latency);
        stria_worker_take_recent(&gang->workers[i], &gang->drive_latency);
        stria_histogram_merge(&gang->second_latency, &gang->drive_latency);
        tell_latency(&gang->drive_latency, &second->drives[i].latency_p99_ns,
                     &second->drives[i].latency_max_ns);
        stria_target_health(&gang->crew->targets[i], &health);
        second->drives[i].temperature_c = health.temperature_c;
        second->drives[i].throttle_count = health.throttle_count;
        gang->moment.temperature_c[i] = health.temperature_c;
    }
    tell_latency(&gang->second_latency, &second->latency_p99_ns, &second->latency_max_ns);
}

static void look(struct gang *gang, uint64_t since_ns, uint64_t before[STRIA_DRIVES_MAX])
{
    const uint64_t now_ns = stria_clock_ns();
    struct stria_crew_moment *moment = &gang->moment;
    moment->elapsed_ns = now_ns - gang->start_ns;
    moment->bytes = moment->total_bytes_per_s = 0;
    for (uint32_t i = 0; i < gang->started; i++) {
        const uint64_t bytes = atomic_load_explicit(&gang->workers[i].bytes, memory_order_relaxed);
        moment->bytes += bytes;
        moment->bytes_per_s[i] =
            now_ns > since_ns ? stria_ratio_bytes_per_s(bytes - before[i], now_ns - since_ns) : 0;
        moment->total_bytes_per_s += moment->bytes_per_s[i];
        before[i] = bytes;
    }
    if (gang->crew->watch && !gang->crew->watch(gang->crew->context, moment))
        atomic_store(&gang->stop, true);
}

static void watch(struct gang *gang)
{
    uint64_t before[STRIA_DRIVES_MAX] = {0};
    uint64_t second_ns = gang->start_ns + STRIA_NS_PER_S, looked_ns = gang->start_ns;
    while (!all_ended(gang)) {
        uint32_t ticket = stria_bell_listen(&gang->bell);
        const uint64_t now_ns = stria_clock_ns();
        if (now_ns >= second_ns) {
            look_at_second(gang);
            second_ns += STRIA_NS_PER_S;
        }
        if (now_ns - looked_ns >= WATCH_NS) {
            look(gang, looked_ns, before);
            looked_ns = now_ns;
        }
        const uint64_t due_ns = second_ns < looked_ns + WATCH_NS ? second_ns : looked_ns + WATCH_NS;
        if (!all_ended(gang) && due_ns > now_ns)
            stria_bell_wait(&gang->bell, ticket, due_ns - now_ns);
    }
    look_at_second(gang);
}

/* All series end at the same time, so that they have the same bins. */
static uint64_t end_of(const struct gang *gang)
{
    uint64_t end_ns = gang->start_ns;
    for (uint32_t i = 0; i < gang->started; i++)
        if (gang->workers[i].end_ns > end_ns)
            end_ns = gang->workers[i].end_ns;
    return end_ns;
}

static void gather_drive(struct gang *gang, uint32_t index, uint64_t end_ns)
{
    struct stria_round *round = gang->round;
    struct stria_worker *worker = &gang->workers[index];
    stria_series_advance(&worker->series, end_ns);
    round->drives[index] = worker->series;
    worker->series.bins = NULL;
    round->drive_bytes[index] = round->drives[index].total_bytes;
    round->bytes += round->drive_bytes[index];
    round->errors += worker->errors;
    stria_round_add_latencies(round, index, &worker->latency);
    stria_content_counts_add(&round->counts, &worker->counts);
    if (worker->code != STRIA_OK && round->code == STRIA_OK) {
        round->code = worker->code;
        round->failed_drive = index;
    }
    if (round->plan.bytes_max && round->drive_bytes[index] < round->plan.bytes_max)
        round->partial = true;
}

static bool add_up(struct stria_round *round)
{
    struct stria_series *total = &round->drives[round->drive_count];
    *total = round->drives[0];
    total->bins = calloc(total->count ? total->count : 1, sizeof(*total->bins));
    if (!total->bins)
        return false;
    total->total_bytes = round->bytes;
    for (uint32_t i = 0; i < round->drive_count; i++)
        for (uint32_t bin = 0; bin < total->count; bin++)
            total->bins[bin] += round->drives[i].bins[bin];
    return true;
}

static int gather(struct gang *gang, struct stria_trouble *trouble)
{
    struct stria_round *round = gang->round;
    const struct stria_crew *crew = gang->crew;
    const uint64_t end_ns = end_of(gang);
    round->begin_ns = gang->start_ns;
    round->duration_ns = end_ns - gang->start_ns;
    round->partial = atomic_load(&gang->stop);
    for (uint32_t i = 0; i < crew->count; i++)
        gather_drive(gang, i, end_ns);
    round->partial |= round->code != STRIA_OK;
    if (!add_up(round))
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    for (uint32_t i = 0; i < crew->count && !round->above_link; i++) {
        const struct stria_told *link = &crew->targets[i].link_bytes_per_s;
        round->above_link =
            link->known &&
            stria_round_is_above_link(round, i, link->value, round->plan.depth * round->plan.block_bytes);
        round->link_drive = i;
    }
    stria_round_conclude(round, round->plan.write ? crew->buffer_bytes : 0);
    return STRIA_OK;
}

int stria_crew_run(const struct stria_crew *crew, const struct stria_round_plan *plan,
                   struct stria_round *round, struct stria_trouble *trouble)
{
    struct gang *gang = calloc(1, sizeof(*gang));
    const bool room = stria_round_init(round, plan, crew->count);
    int code = STRIA_ERR_NO_MEMORY;
    if (gang && room) {
        gang->crew = crew;
        gang->round = round;
        code = make_workers(gang, plan, trouble);
    } else {
        stria_trouble_set(trouble, code, "not enough memory to measure");
    }
    if (code == STRIA_OK) {
        start_workers(gang);
        watch(gang);
        for (uint32_t i = 0; i < gang->started; i++)
            pthread_join(gang->workers[i].thread, NULL);
        pthread_barrier_destroy(&gang->ready);
        code = gather(gang, trouble);
    }
    for (uint32_t i = 0; gang && gang->workers && i < gang->made; i++)
        stria_worker_free(&gang->workers[i]);
    if (gang)
        free(gang->workers);
    free(gang);
    return code;
}
