#include "backends/threaded.h"

#include "backends/threaded_internal.h"
#include "support/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTACH_NS_MAX (60 * STRIA_NS_PER_S) /* pinning terabytes of memory takes its time */

static const struct stria_backend threaded_backend;

void threaded_free(struct threaded_drive *threaded)
{
    pthread_mutex_destroy(&threaded->guard);
    free(threaded);
}

/* Signals are for the program's own threads; and whoever looks at them finds the thread by its drive. */
static int thread_start(struct threaded_drive *threaded)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&threaded->thread, NULL, threaded_pump, threaded);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return error;
    const char *path = threaded->drive.traits.path;
    const char *slash = strrchr(path, '/');
    char name[16];
    snprintf(name, sizeof(name), "%.15s", slash ? slash + 1 : path);
    pthread_setname_np(threaded->thread, name);
    return 0;
}

int stria_threaded_wrap(struct stria_drive *inner, void (*notify)(void *context), void *context,
                        struct stria_drive **out, struct stria_trouble *trouble)
{
    struct threaded_drive *threaded = calloc(1, sizeof(*threaded));
    if (!threaded)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", inner->traits.path);
    threaded->drive.backend = &threaded_backend;
    threaded->drive.traits = inner->traits;
    threaded->drive.traits.may_block = false;
    threaded->drive.traits.digests = true;
    threaded->inner = inner;
    threaded->notify = notify;
    threaded->context = context;
    for (uint32_t i = 0; i < STRIA_DEPTH_MAX; i++)
        threaded->free_slots[i] = i;
    pthread_mutex_init(&threaded->guard, NULL);
    int error = thread_start(threaded);
    if (error) {
        threaded_free(threaded);
        return stria_trouble_set(
            trouble, STRIA_ERR_NO_MEMORY,
            "%s: the system gives no thread for this drive: %s; raise the limit (ulimit -u, "
            "TasksMax=)",
            inner->traits.path, stria_errno_text(error));
    }
    *out = &threaded->drive;
    return STRIA_OK;
}

/* Gets the thread to look at what was just put before it. */
static void thread_wake(struct threaded_drive *threaded, bool even_if_saturated)
{
    stria_bell_ring(&threaded->requested);
    int rest = atomic_load(&threaded->rest);
    if ((rest == THREADED_IN_POLL || (rest == THREADED_SATURATED && even_if_saturated)) &&
        threaded->inner->backend->wake && atomic_exchange(&threaded->rest, THREADED_AWAKE) != THREADED_AWAKE)
        threaded->inner->backend->wake(threaded->inner);
}

static int threaded_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    if (count > THREADED_REGIONS_MAX)
        return STRIA_ERR_INVALID;
    /* The thread may still be at the last one, with what it was given for that. */
    if (atomic_load(&threaded->attach_wanted))
        return STRIA_ERR_TIMEOUT;
    for (unsigned i = 0; i < count; i++)
        threaded->regions[i] = regions[i];
    threaded->region_count = count;
    atomic_store(&threaded->depth_peak, threaded->under_way);
    atomic_store(&threaded->attach_wanted, true);
    thread_wake(threaded, true);
    const uint64_t deadline_ns = stria_clock_ns() + ATTACH_NS_MAX;
    for (uint64_t now_ns = stria_clock_ns(); now_ns < deadline_ns; now_ns = stria_clock_ns()) {
        uint32_t ticket = stria_bell_listen(&threaded->finished);
        if (!atomic_load(&threaded->attach_wanted)) {
            const struct stria_traits *inner = &threaded->inner->traits;
            drive->traits.registered = inner->registered;
            drive->traits.depth_max = inner->depth_max;
            memcpy(drive->traits.note, inner->note, sizeof(inner->note));
            return threaded->attach_code;
        }
        stria_bell_wait(&threaded->finished, ticket, deadline_ns - now_ns);
    }
    return STRIA_ERR_TIMEOUT;
}

static int threaded_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code == STRIA_OK)
        code = atomic_load(&threaded->revoked) ? STRIA_ERR_GONE : atomic_load(&threaded->broken);
    if (code < 0)
        return code;
    if (threaded->under_way == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    if (++threaded->under_way > atomic_load_explicit(&threaded->depth_peak, memory_order_relaxed))
        atomic_store_explicit(&threaded->depth_peak, threaded->under_way, memory_order_relaxed);
    threaded->request_entries[stria_handover_free(&threaded->requests)] = *io;
    stria_handover_give(&threaded->requests);
    thread_wake(threaded, false);
    return STRIA_OK;
}

static unsigned completions_take(struct threaded_drive *threaded, struct stria_done *done, unsigned max)
{
    unsigned count = 0;
    while (count < max && stria_handover_count(&threaded->completions)) {
        done[count++] = threaded->completion_entries[stria_handover_next(&threaded->completions)];
        stria_handover_take(&threaded->completions);
    }
    /* Revoked, the requests that the thread has not taken are ours again. */
    while (count < max && atomic_load(&threaded->revoked) && stria_handover_count(&threaded->requests)) {
        done[count++] = (struct stria_done){
            .tag = threaded->request_entries[stria_handover_next(&threaded->requests)].tag,
            .code = STRIA_ERR_GONE};
        stria_handover_take(&threaded->requests);
    }
    threaded->under_way -= count;
    return count;
}

static int threaded_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    unsigned count = completions_take(threaded, done, max);
    if (count == 0 && max > 0 && wait_ns > 0) {
        uint32_t ticket = stria_bell_listen(&threaded->finished);
        if (!stria_handover_count(&threaded->completions) && !atomic_load(&threaded->broken) &&
            !atomic_load(&threaded->woken))
            stria_bell_wait(&threaded->finished, ticket, wait_ns);
        atomic_store(&threaded->woken, false);
        count = completions_take(threaded, done, max);
    }
    int code = count ? STRIA_OK : atomic_load(&threaded->broken);
    /* The thread gives its last completions before it tells that it is broken. */
    if (code < 0)
        count = completions_take(threaded, done, max);
    return count ? (int)count : code;
}

static void threaded_revoke(struct stria_drive *drive)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    pthread_mutex_lock(&threaded->guard);
    atomic_store(&threaded->revoked, true);
    pthread_mutex_unlock(&threaded->guard);
    thread_wake(threaded, true);
}

static void threaded_wake(struct stria_drive *drive)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    atomic_store(&threaded->woken, true);
    stria_bell_ring(&threaded->finished);
}

/* True when the thread ended in time, and everything inside with it. */
static bool end_wait(struct threaded_drive *threaded)
{
    const uint64_t deadline_ns = stria_clock_ns() + STRIA_CLOSE_NS_MAX - STRIA_CLOSE_NS_MAX / 20;
    for (uint64_t now_ns = stria_clock_ns();; now_ns = stria_clock_ns()) {
        uint32_t ticket = stria_bell_listen(&threaded->finished);
        pthread_mutex_lock(&threaded->guard);
        const bool ended = threaded->ended;
        threaded->abandoned = !ended && now_ns >= deadline_ns;
        pthread_mutex_unlock(&threaded->guard);
        if (ended || now_ns >= deadline_ns)
            return ended;
        stria_bell_wait(&threaded->finished, ticket, deadline_ns - now_ns);
    }
}

static int threaded_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                         char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return stria_drive_lock(((struct threaded_drive *)drive)->inner, number, how, holder);
}

static void threaded_close(struct stria_drive *drive)
{
    struct threaded_drive *threaded = (struct threaded_drive *)drive;
    const pthread_t thread = threaded->thread;
    atomic_store(&threaded->stop_ns, stria_clock_ns());
    pthread_mutex_lock(&threaded->guard);
    if (!threaded->closing)
        thread_wake(threaded, true);
    pthread_mutex_unlock(&threaded->guard);
    if (!end_wait(threaded)) {
        pthread_detach(thread);
        return;
    }
    pthread_join(thread, NULL);
    threaded_free(threaded);
}

static bool claims_nothing(const char *path)
{
    (void)path;
    return false;
}

static const struct stria_backend threaded_backend = {
    .name = "threaded",
    .claims = claims_nothing,
    .attach = threaded_attach,
    .submit = threaded_submit,
    .poll = threaded_poll,
    .revoke = threaded_revoke,
    .wake = threaded_wake,
    .lock = threaded_lock,
    .close = threaded_close,
};
