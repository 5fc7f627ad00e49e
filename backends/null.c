/* "null:SIZE": a drive that takes everything and keeps nothing. It shows what the machine does without any
 * drive, and it is the template for a new backend: copy it, keep the order of the functions, and replace
 * what the comments below point at. */
#include "backends/done_queue.h"
#include "backends/list.h"
#include "support/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "null:"

/* A backend's own drive struct begins with the public one, so that one pointer is both. */
struct null_drive {
    struct stria_drive drive;
    struct stria_done_queue done;
};

/* Claim by prefix. Only uring, at the end of the list, takes paths without one. */
static bool null_claims(const char *path)
{
    return strncmp(path, PREFIX, sizeof(PREFIX) - 1) == 0;
}

/* All traits are set here, honestly: whoever uses the drive decides by them and by nothing else. What the
 * caller asked for in options and cannot have is either a failure with a sentence or a note in traits. */
static int null_open(const struct stria_drive_options *options, struct stria_drive **drive,
                     struct stria_trouble *trouble)
{
    uint64_t bytes;
    struct stria_trouble size = {0};
    if (stria_size_parse(options->path + sizeof(PREFIX) - 1, &bytes, &size) < 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s: %s", options->path, size.sentence);
    if (bytes < STRIA_BLOCK_BYTES_MIN)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s is smaller than one block of %u bytes: write a larger size",
                                 options->path, STRIA_BLOCK_BYTES_MIN);
    struct null_drive *null = calloc(1, sizeof(*null));
    if (!null)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    null->drive.backend = &stria_backend_null;
    null->drive.traits = (struct stria_traits){
        .drive_bytes = bytes - bytes % STRIA_BLOCK_BYTES_MIN,
        .block_bytes = STRIA_BLOCK_BYTES_MIN,
        .memory_align_bytes = STRIA_BLOCK_BYTES_MIN,
        .transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX,
        .depth_max = options->depth,
        .read_only = options->read_only,
        .registered = true,
    };
    snprintf(null->drive.traits.path, sizeof(null->drive.traits.path), "%s", options->path);
    *drive = &null->drive;
    return STRIA_OK;
}

/* Real media register the memory with the system here, or say in traits.note why they could not. */
static int null_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    (void)drive, (void)regions, (void)count;
    return STRIA_OK;
}

/* In this order: refuse what is no request for this drive, refuse what is too much, accept. Even when the
 * work is done at once, its completion waits for poll. */
static int null_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct null_drive *null = (struct null_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    if (null->done.count == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    struct stria_done done = {.tag = io->tag};
    if (io->op == STRIA_IO_READ)
        memset(io->data, 0, io->length);
    if (io->op == STRIA_IO_READ || io->op == STRIA_IO_WRITE)
        done.bytes = io->length;
    stria_done_queue_put(&null->done, &done);
    return STRIA_OK;
}

/* Nothing is ever unfinished here, so there is nothing to wait for. A backend that does wait also has a
 * wake, which ends that wait. */
static int null_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct null_drive *null = (struct null_drive *)drive;
    (void)wait_ns;
    return (int)stria_done_queue_take(&null->done, done, max);
}

static void null_close(struct stria_drive *drive)
{
    free(drive);
}

const struct stria_backend stria_backend_null = {
    .name = "null",
    .claims = null_claims,
    .open = null_open,
    .attach = null_attach,
    .submit = null_submit,
    .poll = null_poll,
    .close = null_close,
};
