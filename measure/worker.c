#include "measure/worker.h"

#include "support/clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 64u
#define POLL_NS   20000000ull
#define RETRY_NS  1000000ull
#define LOOK_NS   50000000ull
#define TAG_FLUSH UINT64_MAX

int stria_worker_init(struct stria_worker *worker, struct stria_target *target, const struct stria_work *work,
                      uint32_t bins, struct stria_trouble *trouble)
{
    memset(worker, 0, sizeof(*worker));
    worker->target = target;
    worker->work = *work;
    struct stria_drive *drive = target->drive;
    int code = stria_ring_create(&worker->ring, (size_t)work->depth * work->block_bytes, trouble);
    if (code != STRIA_OK)
        return code;
    worker->series.bins = calloc(bins, sizeof(uint64_t));
    if (!worker->series.bins) {
        stria_ring_destroy(&worker->ring);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure %s",
                                 target->config.path);
    }
    worker->series.capacity = bins;
    const struct stria_region region = {.base = worker->ring.base, .bytes = worker->ring.bytes};
    /* Only an optimisation: a drive that does not take the memory says so in its note. */
    (void)drive->backend->attach(drive, &region, 1);
    if (worker->work.depth > drive->traits.depth_max)
        worker->work.depth = drive->traits.depth_max;
    pthread_mutex_init(&worker->lock, NULL);
    stria_histogram_init(&worker->recent);
    stria_histogram_init(&worker->latency);
    return STRIA_OK;
}

void stria_worker_free(struct stria_worker *worker)
{
    if (!worker->ring.base)
        return;
    struct stria_drive *drive = worker->target->drive;
    if (worker->in_flight == 0) {
        (void)drive->backend->attach(drive, NULL, 0);
        stria_ring_destroy(&worker->ring);
    }
    free(worker->series.bins);
    pthread_mutex_destroy(&worker->lock);
    worker->ring.base = NULL;
}

void stria_worker_take_recent(struct stria_worker *worker, struct stria_histogram *into)
{
    pthread_mutex_lock(&worker->lock);
    stria_histogram_merge(into, &worker->recent);
    stria_histogram_init(&worker->recent);
    pthread_mutex_unlock(&worker->lock);
}

static bool time_is_over(const struct stria_worker *worker, uint64_t now_ns)
{
    return atomic_load_explicit(worker->stop, memory_order_relaxed) ||
           (worker->work.runtime_ns && now_ns - *worker->start_ns >= worker->work.runtime_ns);
}

/* The next block's place within the range and its length; false when all bytes are handed out. */
static bool next_block(struct stria_worker *worker, uint64_t *offset, uint64_t *length)
{
    const struct stria_work *work = &worker->work;
    if (work->bytes_max && worker->next_bytes >= work->bytes_max)
        return false;
    const uint64_t at = worker->next_bytes % work->size_bytes;
    *length = work->size_bytes - at < work->block_bytes ? work->size_bytes - at : work->block_bytes;
    if (work->bytes_max && work->bytes_max - worker->next_bytes < *length)
        *length = work->bytes_max - worker->next_bytes;
    *offset = work->reverse ? work->size_bytes - at - *length : at;
    worker->next_bytes += *length;
    return true;
}

static char *slot_data(const struct stria_worker *worker, uint32_t index)
{
    return (char *)worker->ring.base + index * worker->work.block_bytes;
}

/* Hands over what is left of a slot's block. */
static int submit_slot(struct stria_worker *worker, uint32_t index)
{
    struct stria_worker_slot *slot = &worker->slots[index];
    struct stria_drive *drive = worker->target->drive;
    const uint64_t left = slot->length - slot->done_bytes, most = drive->traits.transfer_bytes_max;
    const struct stria_io io = {
        .op = worker->work.write ? STRIA_IO_WRITE : STRIA_IO_READ,
        .offset = worker->target->begin_bytes + worker->work.offset_bytes + slot->offset + slot->done_bytes,
        .length = left < most ? left : most,
        .data = slot_data(worker, index) + slot->done_bytes,
        .tag = index,
    };
    const int code = drive->backend->submit(drive, &io);
    if (code == STRIA_OK)
        worker->in_flight++;
    return code;
}

static bool fail(struct stria_worker *worker, int code)
{
    if (worker->code == STRIA_OK)
        worker->code = code;
    return false;
}

/* Fills the queue. False when the drive cannot be used any more. */
static bool submit_all(struct stria_worker *worker)
{
    for (uint32_t i = 0; i < worker->work.depth; i++) {
        struct stria_worker_slot *slot = &worker->slots[i];
        if (slot->busy)
            continue;
        if (time_is_over(worker, stria_clock_ns()) || !next_block(worker, &slot->offset, &slot->length))
            return true;
        slot->done_bytes = 0;
        slot->retries = 0;
        slot->busy = true;
        if (worker->work.write)
            stria_content_make(&worker->work.content, slot_data(worker, i), slot->length,
                               worker->work.offset_bytes + slot->offset, worker->turn++);
        slot->submitted_ns = stria_clock_ns();
        const int code = submit_slot(worker, i);
        if (code == STRIA_OK)
            continue;
        slot->busy = false;
        worker->next_bytes -= slot->length;
        return code == STRIA_ERR_FULL || fail(worker, code);
    }
    return true;
}

static void count_block(struct stria_worker *worker, uint32_t index, uint64_t now_ns)
{
    struct stria_worker_slot *slot = &worker->slots[index];
    const uint64_t latency_ns = now_ns - slot->submitted_ns;
    stria_series_add(&worker->series, now_ns, slot->length);
    stria_histogram_add(&worker->latency, latency_ns);
    pthread_mutex_lock(&worker->lock);
    stria_histogram_add(&worker->recent, latency_ns);
    pthread_mutex_unlock(&worker->lock);
    atomic_fetch_add_explicit(&worker->bytes, slot->length, memory_order_relaxed);
    if (worker->work.compare)
        stria_content_compare(slot_data(worker, index), slot->length,
                              worker->work.offset_bytes + slot->offset, worker->work.content.seed,
                              &worker->counts);
    slot->busy = false;
}

/* A short transfer or a refusal for now is tried again from where it stands; a block that fails is counted
 * and left out. False when the drive cannot be used any more. */
static bool take_done(struct stria_worker *worker, const struct stria_done *done, uint64_t now_ns)
{
    const uint32_t index = (uint32_t)done->tag;
    struct stria_worker_slot *slot = &worker->slots[index];
    worker->in_flight--;
    if (done->code == STRIA_ERR_GONE)
        return fail(worker, done->code);
    uint64_t progress = 0;
    if (done->code == STRIA_OK)
        progress = done->bytes - done->bytes % worker->target->drive->traits.block_bytes;
    slot->done_bytes += progress;
    if (slot->done_bytes == slot->length) {
        count_block(worker, index, now_ns);
        return true;
    }
    slot->retries = progress ? 0 : slot->retries + 1;
    const bool again = done->code == STRIA_OK || done->code == STRIA_ERR_AGAIN;
    if (again && slot->retries < STRIA_WORK_RETRIES_MAX) {
        if (!progress)
            stria_clock_sleep_until(now_ns + RETRY_NS);
        const int code = submit_slot(worker, index);
        return code == STRIA_OK || fail(worker, code);
    }
    worker->errors++;
    slot->busy = false;
    return true;
}

/* Takes what has ended. False when the drive cannot be used any more. */
static bool poll_some(struct stria_worker *worker)
{
    struct stria_done done[BATCH_MAX];
    struct stria_drive *drive = worker->target->drive;
    const int count = drive->backend->poll(drive, done, BATCH_MAX, POLL_NS);
    const uint64_t now_ns = stria_clock_ns();
    if (count < 0)
        return fail(worker, count);
    if (count > 0)
        worker->heard_ns = now_ns;
    bool usable = true;
    for (int i = 0; i < count; i++)
        usable &= take_done(worker, &done[i], now_ns);
    if (worker->in_flight && now_ns - worker->heard_ns > STRIA_WORK_SILENCE_NS_MAX)
        return fail(worker, STRIA_ERR_TIMEOUT);
    return usable;
}

/* What was written counts when it is durable: the flush is inside the clock. */
static bool flush(struct stria_worker *worker)
{
    struct stria_drive *drive = worker->target->drive;
    const struct stria_io io = {.op = STRIA_IO_FLUSH, .tag = TAG_FLUSH};
    int code = drive->backend->submit(drive, &io);
    if (code != STRIA_OK)
        return fail(worker, code);
    worker->in_flight++;
    const uint64_t since_ns = stria_clock_ns();
    while (stria_clock_ns() - since_ns < STRIA_WORK_SILENCE_NS_MAX) {
        struct stria_done done;
        const int count = drive->backend->poll(drive, &done, 1, POLL_NS);
        if (count < 0)
            return fail(worker, count);
        if (count == 0)
            continue;
        worker->in_flight--;
        return done.code == STRIA_OK || fail(worker, done.code);
    }
    return fail(worker, STRIA_ERR_TIMEOUT);
}

static void work(struct stria_worker *worker)
{
    uint64_t look_ns = 0;
    worker->heard_ns = stria_clock_ns();
    bool usable = true;
    while (usable) {
        usable = submit_all(worker);
        if (!usable || worker->in_flight == 0)
            break;
        usable = poll_some(worker);
        const uint64_t now_ns = stria_clock_ns();
        if (now_ns >= look_ns) {
            stria_target_look(worker->target);
            look_ns = now_ns + LOOK_NS;
        }
    }
    if (usable && worker->work.write)
        flush(worker);
}

void *stria_worker_run(void *context)
{
    struct stria_worker *worker = context;
    stria_content_prepare(&worker->work.content, worker->ring.base, worker->ring.bytes);
    pthread_barrier_wait(worker->ready);
    pthread_barrier_wait(worker->ready);
    stria_series_init(&worker->series, worker->series.bins, worker->series.capacity, *worker->start_ns,
                      STRIA_SERIES_INTERVAL_NS);
    work(worker);
    worker->end_ns = stria_clock_ns();
    stria_target_look(worker->target);
    atomic_store(&worker->ended, true);
    stria_bell_ring(worker->bell);
    return NULL;
}
