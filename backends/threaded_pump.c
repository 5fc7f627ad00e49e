#include "backends/threaded_internal.h"
#include "core/digest.h"
#include "support/clock.h"

#define BATCH_MAX         16u
#define IDLE_WAIT_NS      STRIA_NS_PER_S
#define SATURATED_WAIT_NS 20000000ull /* bounds how long a request can lie here when none gets done */
#define DRAIN_NS_MAX      (STRIA_CLOSE_NS_MAX / 2)

static uint32_t depth_peak(const struct threaded_drive *threaded)
{
    return atomic_load_explicit(&threaded->depth_peak, memory_order_relaxed);
}

/* With half of the most that the caller has had under way in inner, a new request waits for the next
 * completion instead of waking the thread: a system call and a switch of threads less for each request at
 * full load. One in inner is never enough: the drive would have nothing to do until its completion was
 * answered. */
static bool saturated(const struct threaded_drive *threaded)
{
    return threaded->inner_is_full || (threaded->inside >= 2 && threaded->inside * 2 >= depth_peak(threaded));
}

/* Each notification wakes the caller's thread. One that still has more than half of its depth under way can
 * do without; what is then left waits for the next completion, or for the end of a brief wait. */
static bool caller_can_wait(const struct threaded_drive *threaded)
{
    return !threaded->hurried && threaded->inside * 2 > depth_peak(threaded);
}

/* How many ends one wait is for, where nobody wakes the thread out of it: no more than leave half of the
 * depth under way. */
static uint32_t gather(const struct threaded_drive *threaded)
{
    const uint32_t half = depth_peak(threaded) / 2;
    return threaded->urgent == 0 && threaded->inside > half ? threaded->inside - half : 1;
}

/* The caller has waited long enough for what is in flight. */
static bool given_up(struct threaded_drive *threaded)
{
    uint64_t stop_ns = atomic_load(&threaded->stop_ns);
    return stop_ns && stria_clock_ns() - stop_ns >= DRAIN_NS_MAX;
}

static bool digest_take(struct threaded_drive *threaded, uint32_t slot)
{
    const struct stria_io *io = &threaded->slots[slot];
    pthread_mutex_lock(&threaded->guard);
    const bool allowed = !threaded->abandoned;
    if (allowed)
        threaded->digests[slot] = stria_digest_seeded(io->digest_seed, io->data, io->digest_bytes);
    pthread_mutex_unlock(&threaded->guard);
    return allowed;
}

static void completion_give(struct threaded_drive *threaded, uint32_t slot, struct stria_done done)
{
    const struct stria_io *io = &threaded->slots[slot];
    done.tag = io->tag;
    if (io->op == STRIA_IO_READ && io->digest_wanted && done.code == STRIA_OK && done.bytes == io->length)
        digest_take(threaded, slot);
    done.digest = io->digest_wanted ? threaded->digests[slot] : 0;
    threaded->untold = true;
    threaded->hurried |= !io->may_coalesce;
    threaded->urgent -= !io->may_coalesce;
    threaded->free_slots[--threaded->inside] = slot;
    threaded->completion_entries[stria_handover_free(&threaded->completions)] = done;
    stria_handover_give(&threaded->completions);
}

static void caller_notify(struct threaded_drive *threaded)
{
    threaded->untold = threaded->hurried = false;
    stria_bell_ring(&threaded->finished);
    if (!threaded->notify)
        return;
    pthread_mutex_lock(&threaded->guard);
    if (!threaded->abandoned)
        threaded->notify(threaded->context);
    pthread_mutex_unlock(&threaded->guard);
}

/* Ends a request that never went into inner. */
static void slot_refuse(struct threaded_drive *threaded, uint32_t slot, int code)
{
    threaded->inner_is_full = false;
    completion_give(threaded, slot, (struct stria_done){.code = code});
    caller_notify(threaded);
}

/* Moves a slot's request into inner. False if it has to wait. */
static bool slot_submit(struct threaded_drive *threaded, uint32_t slot)
{
    if (atomic_load(&threaded->revoked)) {
        slot_refuse(threaded, slot, STRIA_ERR_GONE);
        return true;
    }
    struct stria_io io = threaded->slots[slot];
    io.tag = slot;
    io.digest_wanted = false;
    int code = threaded->inner->backend->submit(threaded->inner, &io);
    threaded->inner_is_full = code == STRIA_ERR_FULL;
    threaded->held_slot = slot;
    if (code == STRIA_OK || code == STRIA_ERR_FULL)
        return code == STRIA_OK;
    slot_refuse(threaded, slot, code);
    if (code != STRIA_ERR_INVALID && code != STRIA_ERR_PERMISSION) {
        atomic_store(&threaded->broken, code);
        caller_notify(threaded);
    }
    return true;
}

static bool requests_wait(struct threaded_drive *threaded)
{
    return !atomic_load(&threaded->revoked) && stria_handover_count(&threaded->requests);
}

/* Moves the oldest request into a slot; false when there is none. */
static bool request_take(struct threaded_drive *threaded, uint32_t *slot)
{
    pthread_mutex_lock(&threaded->guard);
    const bool taken = requests_wait(threaded);
    if (taken) {
        *slot = threaded->free_slots[threaded->inside++];
        threaded->slots[*slot] = threaded->request_entries[stria_handover_next(&threaded->requests)];
        threaded->urgent += !threaded->slots[*slot].may_coalesce;
        stria_handover_take(&threaded->requests);
    }
    pthread_mutex_unlock(&threaded->guard);
    return taken;
}

static void requests_forward(struct threaded_drive *threaded)
{
    if (threaded->inner_is_full && !slot_submit(threaded, threaded->held_slot))
        return;
    uint32_t slot;
    while (!given_up(threaded) && request_take(threaded, &slot)) {
        const struct stria_io *io = &threaded->slots[slot];
        threaded->digests[slot] = 0;
        if (io->op == STRIA_IO_WRITE && io->digest_wanted && !digest_take(threaded, slot))
            return;
        if (!slot_submit(threaded, slot))
            return;
    }
}

/* Announces how the thread will rest, then looks once more: whoever gave a request before it saw the
 * announcement relies on this look, whoever gives one after it wakes the thread. */
static bool rest_begin(struct threaded_drive *threaded, enum threaded_rest rest)
{
    atomic_store(&threaded->rest, rest);
    if ((threaded->inner_is_full || !requests_wait(threaded)) &&
        (threaded->stopping || !atomic_load(&threaded->stop_ns)))
        return true;
    atomic_store(&threaded->rest, THREADED_AWAKE);
    return false;
}

static void completions_collect(struct threaded_drive *threaded)
{
    const bool enough = saturated(threaded);
    if (!rest_begin(threaded, enough ? THREADED_SATURATED : THREADED_IN_POLL))
        return;
    struct stria_done done[BATCH_MAX];
    const bool brief = enough || threaded->stopping;
    threaded->inner->gather = enough ? gather(threaded) : 1;
    int count = threaded->inner->backend->poll(threaded->inner, done, BATCH_MAX,
                                               brief ? SATURATED_WAIT_NS : IDLE_WAIT_NS);
    atomic_store(&threaded->rest, THREADED_AWAKE);
    for (int i = 0; i < count; i++)
        completion_give(threaded, (uint32_t)done[i].tag, done[i]);
    if (count < 0)
        atomic_store(&threaded->broken, count);
    if (count < 0 || (threaded->untold && (count == 0 || !caller_can_wait(threaded))))
        caller_notify(threaded);
}

static void attach(struct threaded_drive *threaded)
{
    threaded->attach_code =
        threaded->inner->backend->attach(threaded->inner, threaded->regions, threaded->region_count);
    atomic_store(&threaded->attach_wanted, false);
    stria_bell_ring(&threaded->finished);
}

static void idle_wait(struct threaded_drive *threaded)
{
    uint32_t ticket = stria_bell_listen(&threaded->requested);
    const bool nothing = atomic_load(&threaded->broken) || !requests_wait(threaded);
    if (nothing && !atomic_load(&threaded->attach_wanted) && !atomic_load(&threaded->stop_ns))
        stria_bell_wait(&threaded->requested, ticket, IDLE_WAIT_NS);
}

static bool finished(struct threaded_drive *threaded)
{
    threaded->stopping = atomic_load(&threaded->stop_ns) != 0;
    if (!threaded->stopping)
        return false;
    return given_up(threaded) || atomic_load(&threaded->broken) ||
           (threaded->inside == 0 && !requests_wait(threaded));
}

void *threaded_pump(void *argument)
{
    struct threaded_drive *threaded = argument;
    while (!finished(threaded)) {
        if (atomic_load(&threaded->attach_wanted))
            attach(threaded);
        if (!atomic_load(&threaded->broken))
            requests_forward(threaded);
        if (threaded->inside && !atomic_load(&threaded->broken))
            completions_collect(threaded);
        else
            idle_wait(threaded);
    }
    pthread_mutex_lock(&threaded->guard);
    threaded->closing = true;
    pthread_mutex_unlock(&threaded->guard);
    threaded->inner->backend->close(threaded->inner);
    pthread_mutex_lock(&threaded->guard);
    const bool abandoned = threaded->abandoned;
    threaded->ended = true;
    pthread_mutex_unlock(&threaded->guard);
    if (abandoned)
        threaded_free(threaded);
    else
        stria_bell_ring(&threaded->finished);
    return NULL;
}
