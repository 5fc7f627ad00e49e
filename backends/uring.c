#include "backends/uring.h"

#include "support/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define BUFFERS_MAX      16384u       /* the kernel's limits, of a ring's fixed buffers … */
#define BUFFER_BYTES_MAX (1ull << 30) /* … and of one */
#define CLOSE_NS_MAX     (STRIA_CLOSE_NS_MAX / 4)
#define REAP_MAX         64u

void *uring_new(size_t bytes, const struct stria_drive_options *options, const struct stria_backend *backend,
                const struct uring_dialect *dialect)
{
    struct uring_drive *uring = calloc(1, bytes);
    if (!uring)
        return NULL;
    uring->drive.backend = backend;
    uring->dialect = dialect;
    uring->fd = uring->hold_fd = uring->wake_fd = -1;
    uring->unregistered = options->unregistered;
    uring->buffer_bytes = BUFFER_BYTES_MAX;
    for (uint32_t i = 0; i < STRIA_DEPTH_MAX; i++)
        uring->free_slots[i] = i;
    struct stria_traits *traits = &uring->drive.traits;
    snprintf(traits->path, sizeof(traits->path), "%s", options->path);
    traits->depth_max = options->depth;
    traits->read_only = options->read_only;
    traits->transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX;
    traits->may_block = true;
    return uring;
}

int uring_start(struct uring_drive *uring, struct stria_trouble *trouble)
{
    uring->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (uring->wake_fd < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno),
                                 "%s: no file descriptor is left: raise the limit (ulimit -n, LimitNOFILE=)",
                                 uring->drive.traits.path);
    return uring_ring_open(uring, trouble);
}

/* How many fixed buffers a region comes to. */
static uint64_t buffers_in(const struct uring_drive *uring, const struct stria_region *region)
{
    return region->bytes / uring->buffer_bytes + (region->bytes % uring->buffer_bytes > 0);
}

static void buffers_free(struct uring_drive *uring)
{
    free(uring->buffers);
    free(uring->regions);
    uring->buffers = NULL;
    uring->regions = NULL;
    uring->buffer_count = uring->region_count = 0;
}

void uring_free(struct uring_drive *uring)
{
    uring_ring_close(uring);
    if (uring->wake_fd >= 0)
        close(uring->wake_fd);
    if (uring->fd >= 0)
        close(uring->fd);
    if (uring->hold_fd >= 0)
        close(uring->hold_fd);
    buffers_free(uring);
    free(uring);
}

static int buffers_cut(struct uring_drive *uring, const struct stria_region *regions, unsigned count)
{
    uint64_t pieces = 0;
    for (unsigned i = 0; i < count; i++)
        pieces += buffers_in(uring, &regions[i]);
    if (pieces > BUFFERS_MAX) {
        stria_traits_note(&uring->drive.traits, "no fixed buffers: more than %u are needed", BUFFERS_MAX);
        return STRIA_OK;
    }
    uring->buffers = calloc(pieces ? pieces : 1, sizeof(*uring->buffers));
    uring->regions = calloc(count ? count : 1, sizeof(*uring->regions));
    if (!uring->buffers || !uring->regions)
        return STRIA_ERR_NO_MEMORY;
    for (unsigned i = 0; i < count; i++) {
        uring->regions[uring->region_count++] = regions[i];
        for (uint64_t at = 0; at < regions[i].bytes; at += uring->buffer_bytes) {
            const uint64_t left = regions[i].bytes - at;
            uring->buffers[uring->buffer_count++] = (struct iovec){
                .iov_base = (char *)regions[i].base + at,
                .iov_len = left < uring->buffer_bytes ? left : uring->buffer_bytes,
            };
        }
    }
    return STRIA_OK;
}

int uring_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct uring_drive *uring = (struct uring_drive *)drive;
    int code = uring->busy_count ? STRIA_ERR_INVALID : uring_ring_own(uring);
    if (code < 0)
        return code;
    uring_ring_unregister(uring);
    buffers_free(uring);
    code = buffers_cut(uring, regions, count);
    if (code < 0) {
        buffers_free(uring);
        return code;
    }
    uring_ring_register(uring);
    return STRIA_OK;
}

int uring_buffer_of(const struct uring_drive *uring, const void *data, uint64_t length)
{
    uint64_t first = 0;
    for (unsigned i = 0; uring->drive.traits.registered && i < uring->region_count; i++) {
        const struct stria_region *region = &uring->regions[i];
        const uint64_t at = (uintptr_t)data - (uintptr_t)region->base;
        if ((uintptr_t)data < (uintptr_t)region->base || at >= region->bytes) {
            first += buffers_in(uring, region);
            continue;
        }
        const uint64_t index = first + at / uring->buffer_bytes;
        const struct iovec *buffer = &uring->buffers[index];
        const uint64_t left = buffer->iov_len - at % uring->buffer_bytes;
        const bool fits =
            uring->dialect->whole_buffers ? length == buffer->iov_len && left == length : length <= left;
        return fits ? (int)index : -1;
    }
    return -1;
}

/* Carried out in submit, as traits allow (may_block); a recorder trims before it records, never while. */
static int trim(struct uring_drive *uring, const struct stria_io *io)
{
    struct stria_done done = {.tag = io->tag};
    const uint64_t begin_ns = stria_clock_ns();
    uring->dialect->trim(uring, io, &done);
    done.submit_ns = stria_clock_ns() - begin_ns;
    stria_done_queue_put(&uring->finished, &done);
    return STRIA_OK;
}

/* Gives the kernel what was prepared. That it cannot take it now is no failure: the next call tries again. */
static int enter(struct uring_drive *uring)
{
    int count = io_uring_submit(&uring->ring);
    if (count < 0 && count != -EAGAIN && count != -EBUSY && count != -EINTR)
        uring->broken = stria_code_of_errno(-count);
    return uring->broken;
}

int uring_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct uring_drive *uring = (struct uring_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    code = uring->broken ? uring->broken : uring_ring_own(uring);
    if (code < 0)
        return code;
    if (uring->busy_count + uring->finished.count >= drive->traits.depth_max)
        return STRIA_ERR_FULL;
    if (io->op == STRIA_IO_TRIM && uring->dialect->trim)
        return trim(uring, io);
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    if (!sqe)
        return STRIA_ERR_FULL;
    uint32_t index = uring->free_slots[uring->busy_count++];
    struct uring_slot *slot = &uring->slots[index];
    *slot = (struct uring_slot){
        .tag = io->tag, .length = io->length, .turn = slot->turn + 1, .op = io->op, .busy = true};
    uring->dialect->prepare(uring, sqe, index, io);
    sqe->user_data = (uint64_t)slot->turn << 32 | index;
    if (io->may_coalesce)
        return STRIA_OK; /* poll enters */
    uint64_t begin_ns = stria_clock_ns();
    code = enter(uring);
    slot->submit_ns = stria_clock_ns() - begin_ns;
    return code;
}

/* Takes one completion; true if it ended a request of the caller. */
static bool completion_take(struct uring_drive *uring, const struct io_uring_cqe *cqe,
                            struct stria_done *done)
{
    if (cqe->user_data == URING_WAKE) {
        uring->wake_armed = false;
        uring->woken = true;
        return false;
    }
    uint32_t index = (uint32_t)cqe->user_data;
    struct uring_slot *slot = index < STRIA_DEPTH_MAX ? &uring->slots[index] : NULL;
    if (!slot || !slot->busy || slot->turn != cqe->user_data >> 32) {
        uring->broken = STRIA_ERR_SYSTEM;
        return false;
    }
    *done = (struct stria_done){.tag = slot->tag, .submit_ns = slot->submit_ns};
    uring->dialect->result(uring, slot, cqe->res, done);
    slot->busy = false;
    uring->free_slots[--uring->busy_count] = index;
    return true;
}

static unsigned reap(struct uring_drive *uring, struct stria_done *done, unsigned max)
{
    unsigned count = stria_done_queue_take(&uring->finished, done, max);
    struct io_uring_cqe *cqes[REAP_MAX];
    if (uring->polled && uring->busy_count > 0)
        io_uring_get_events(&uring->ring);
    while (count < max) {
        unsigned want = max - count < REAP_MAX ? max - count : REAP_MAX;
        unsigned ready = io_uring_peek_batch_cqe(&uring->ring, cqes, want);
        for (unsigned i = 0; i < ready; i++)
            if (completion_take(uring, cqes[i], &done[count]))
                count++;
        io_uring_cq_advance(&uring->ring, ready);
        if (ready < want)
            break;
    }
    return count;
}

static void wake_arm(struct uring_drive *uring)
{
    struct io_uring_sqe *sqe = uring->wake_armed ? NULL : io_uring_get_sqe(&uring->ring);
    if (!sqe)
        return;
    io_uring_prep_read(sqe, uring->wake_fd, &uring->wake_value, sizeof(uring->wake_value), 0);
    sqe->user_data = URING_WAKE;
    uring->wake_armed = true;
}

/* Waits for as many completions as are to be gathered, the wake's included. */
static void wait_any(struct uring_drive *uring, uint64_t wait_ns)
{
    wake_arm(uring);
    if (io_uring_sq_ready(&uring->ring) && enter(uring) < 0)
        return;
    struct __kernel_timespec wait = {.tv_sec = (long long)(wait_ns / STRIA_NS_PER_S),
                                     .tv_nsec = (long long)(wait_ns % STRIA_NS_PER_S)};
    const uint32_t count = uring->drive.gather < uring->busy_count ? uring->drive.gather : uring->busy_count;
    struct io_uring_cqe *cqe;
    int error = io_uring_wait_cqes(&uring->ring, &cqe, count > 0 ? count : 1, &wait, NULL);
    if (error < 0 && error != -ETIME && error != -EINTR && error != -EAGAIN && error != -EBUSY)
        uring->broken = stria_code_of_errno(-error);
}

int uring_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct uring_drive *uring = (struct uring_drive *)drive;
    if (uring->broken)
        return uring->broken;
    int code = uring_ring_own(uring);
    if (code < 0)
        return code;
    if (io_uring_sq_ready(&uring->ring))
        enter(uring);
    unsigned count = reap(uring, done, max);
    if (count == 0 && max > 0 && wait_ns > 0 && !uring->broken && !uring->woken) {
        wait_any(uring, wait_ns);
        count = reap(uring, done, max);
    }
    if (wait_ns > 0)
        uring->woken = false;
    return count == 0 && uring->broken ? uring->broken : (int)count;
}

void uring_wake(struct stria_drive *drive)
{
    struct uring_drive *uring = (struct uring_drive *)drive;
    eventfd_write(uring->wake_fd, 1);
}

void uring_close(struct stria_drive *drive)
{
    struct uring_drive *uring = (struct uring_drive *)drive;
    const uint64_t deadline_ns = stria_clock_ns() + CLOSE_NS_MAX;
    struct stria_done done[REAP_MAX];
    for (uint64_t now_ns = stria_clock_ns(); uring->busy_count && now_ns < deadline_ns;
         now_ns = stria_clock_ns())
        if (drive->backend->poll(drive, done, REAP_MAX, deadline_ns - now_ns) < 0)
            break;
    uring_free(uring);
}
