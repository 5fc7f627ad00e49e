#include "backends/backend.h"

#include "backends/list.h"
#include "core/watch.h"
#include "support/clock.h"
#include "support/pages.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define RUN_NS_MAX       (60 * STRIA_NS_PER_S) /* longer than the kernel's own timeout of a request */
#define RUN_RETRIES_MAX  200u                  /* one after the other without any progress */
#define RUN_RETRY_NS     1000000ull
#define RUN_MEMORY_BYTES (8ull << 20)

const struct stria_backend *const stria_backends[] = {
    &stria_backend_null,
    &stria_backend_memory,
    &stria_backend_fabrics,
    &stria_backend_uring_cmd,
    &stria_backend_nvme,
    &stria_backend_uring,
    NULL,
};

const struct stria_backend *stria_backend_find(const char *path, struct stria_trouble *trouble)
{
    for (unsigned i = 0; stria_backends[i]; i++)
        if (stria_backends[i]->claims(path))
            return stria_backends[i];
    stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                      "%s: no backend serves what begins with '%.*s': correct the path, or write ./%s for a "
                      "file of that name",
                      path, (int)strcspn(path, ":") + 1, path, path);
    return NULL;
}

int stria_drive_open(const struct stria_drive_options *options, struct stria_drive **drive,
                     struct stria_trouble *trouble)
{
    *drive = NULL;
    if (!options->path || !*options->path)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a drive has no path: give it a file or a device");
    if (options->depth < 1 || options->depth > STRIA_DEPTH_MAX)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s: a queue depth of %u is out of range: choose 1 to %u", options->path,
                                 options->depth, STRIA_DEPTH_MAX);
    const struct stria_backend *backend = stria_backend_find(options->path, trouble);
    return backend ? backend->open(options, drive, trouble) : STRIA_ERR_UNSUPPORTED;
}

int stria_drive_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                     char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return drive->backend->lock ? drive->backend->lock(drive, number, how, holder) : STRIA_OK;
}

static bool in_range(const struct stria_traits *traits, const struct stria_io *io)
{
    return io->offset % traits->block_bytes == 0 && io->length % traits->block_bytes == 0 && io->length > 0 &&
           io->length <= traits->drive_bytes && io->offset <= traits->drive_bytes - io->length;
}

int stria_io_check(const struct stria_drive *drive, const struct stria_io *io)
{
    const struct stria_traits *traits = &drive->traits;
    switch (io->op) {
    case STRIA_IO_FLUSH:
        return io->digest_wanted ? STRIA_ERR_INVALID : STRIA_OK;
    case STRIA_IO_TRIM:
        if (!in_range(traits, io) || io->digest_wanted)
            return STRIA_ERR_INVALID;
        return traits->read_only ? STRIA_ERR_PERMISSION : STRIA_OK;
    case STRIA_IO_READ:
    case STRIA_IO_WRITE:
        if (!in_range(traits, io) || io->length > traits->transfer_bytes_max || !io->data ||
            (uintptr_t)io->data % traits->memory_align_bytes != 0 ||
            (io->digest_wanted && io->digest_bytes > io->length))
            return STRIA_ERR_INVALID;
        return io->op == STRIA_IO_WRITE && traits->read_only ? STRIA_ERR_PERMISSION : STRIA_OK;
    }
    return STRIA_ERR_INVALID;
}

void stria_traits_note(struct stria_traits *traits, const char *format, ...)
{
    char phrase[sizeof(traits->note)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase, sizeof(phrase), format, arguments);
    va_end(arguments);
    if (strstr(traits->note, phrase))
        return;
    size_t used = strlen(traits->note);
    snprintf(traits->note + used, sizeof(traits->note) - used, "%s%s", used ? "; " : "", phrase);
}

/* A request of stria_drive_run, and the memory that the drive sees of it. */
struct run {
    struct stria_drive *drive;
    struct stria_io io;
    uint64_t limit_ns;
    void *memory; /* null for what transfers nothing */
    uint64_t memory_bytes;
    bool stuck; /* a request did not end: it may still use the memory */
};

/* Submits the request and waits for just its completion; older ones, which somebody gave up, are dropped. */
static int run_once(struct run *run, struct stria_done *done)
{
    static _Atomic uint64_t tags;
    struct stria_drive *drive = run->drive;
    run->io.tag = atomic_fetch_add(&tags, 1);
    int code = drive->backend->submit(drive, &run->io);
    if (code < 0)
        return code;
    run->stuck = true;
    struct stria_watch watch;
    stria_watch_init(&watch, run->limit_ns);
    stria_watch_look(&watch, stria_clock_ns());
    const uint64_t since_ns = watch.watched_ns;
    for (; !stria_watch_over(&watch, since_ns); stria_watch_look(&watch, stria_clock_ns())) {
        int count = drive->backend->poll(drive, done, 1, stria_watch_due_ns(&watch, since_ns) - watch.now_ns);
        if (count < 0)
            return count;
        if (count == 1 && done->tag == run->io.tag) {
            run->stuck = false;
            return done->code;
        }
    }
    return STRIA_ERR_TIMEOUT;
}

static uint64_t run_piece_bytes(const struct run *run, uint64_t left)
{
    uint64_t most =
        run->io.op == STRIA_IO_TRIM ? STRIA_TRIM_BYTES_MAX : run->drive->traits.transfer_bytes_max;
    if (run->memory && most > run->memory_bytes)
        most = run->memory_bytes;
    return left < most ? left : most;
}

/* One piece; *progress is how far that brought it. */
static int run_piece(struct run *run, char *data, uint64_t *progress)
{
    struct stria_done done;
    *progress = 0;
    if (data && run->memory && run->io.op == STRIA_IO_WRITE)
        memcpy(run->memory, data, run->io.length);
    int code = run_once(run, &done);
    if (code != STRIA_OK)
        return code;
    if (!run->memory)
        *progress = run->io.length;
    else if (done.bytes <= run->io.length)
        *progress = done.bytes - done.bytes % run->drive->traits.block_bytes;
    if (data && run->memory && run->io.op == STRIA_IO_READ)
        memcpy(data, run->memory, *progress);
    return STRIA_OK;
}

static int run_pieces(struct run *run, uint64_t offset, uint64_t length, void *data)
{
    unsigned retries = 0;
    uint64_t at = 0;
    do {
        run->io.offset = offset + at;
        run->io.length = run_piece_bytes(run, length - at);
        uint64_t progress;
        int code = run_piece(run, data ? (char *)data + at : NULL, &progress);
        if (code < 0 && code != STRIA_ERR_AGAIN && code != STRIA_ERR_FULL)
            return code;
        if (code == STRIA_OK && run->io.op == STRIA_IO_FLUSH)
            return STRIA_OK;
        at += progress;
        if (progress) {
            retries = 0;
        } else {
            if (++retries > RUN_RETRIES_MAX)
                return code < 0 ? code : STRIA_ERR_IO;
            stria_clock_sleep_until(stria_clock_ns() + RUN_RETRY_NS);
        }
    } while (at < length);
    return STRIA_OK;
}

int stria_drive_run_within(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                           void *data, uint64_t limit_ns)
{
    struct run run = {.drive = drive, .io = {.op = op}, .limit_ns = limit_ns};
    if (op == STRIA_IO_READ || op == STRIA_IO_WRITE) {
        if (length == 0 || !data)
            return STRIA_ERR_INVALID;
        run.memory_bytes = length < RUN_MEMORY_BYTES ? length : RUN_MEMORY_BYTES;
        run.memory = stria_pages_map(run.memory_bytes);
        if (!run.memory)
            return STRIA_ERR_NO_MEMORY;
        run.io.data = run.memory;
    }
    int code = run_pieces(&run, offset, length, data);
    if (!run.stuck)
        stria_pages_unmap(run.memory, run.memory_bytes);
    return code;
}

int stria_drive_run(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                    void *data)
{
    return stria_drive_run_within(drive, op, offset, length, data, RUN_NS_MAX);
}
