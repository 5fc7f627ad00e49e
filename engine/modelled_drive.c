#include "engine/modelled_drive.h"

#include <stdio.h>
#include <stdlib.h>

struct request {
    uint64_t due_ns;
    uint64_t tag;
    uint64_t bytes;
};

/* Requests that end in the order in which they came. */
struct queue {
    struct request *requests; /* of depth entries */
    uint32_t first, count;
};

struct modelled_drive {
    struct stria_drive base;
    const uint64_t *clock_ns;
    uint32_t depth;
    struct queue writes, flushes; /* a flush ends before the writes that came after it, or after them */
    struct stria_model model;
};

static void push(const struct modelled_drive *drive, struct queue *queue, struct request request)
{
    queue->requests[(queue->first + queue->count++) % drive->depth] = request;
}

static uint64_t due_ns(const struct queue *queue)
{
    return queue->count > 0 ? queue->requests[queue->first].due_ns : UINT64_MAX;
}

static int drive_submit(struct stria_drive *base, const struct stria_io *io)
{
    struct modelled_drive *drive = (struct modelled_drive *)base;
    int code = stria_io_check(base, io);
    if (code < 0)
        return code;
    if (io->op != STRIA_IO_WRITE && io->op != STRIA_IO_FLUSH)
        return STRIA_ERR_INVALID;
    if (drive->writes.count + drive->flushes.count == drive->depth)
        return STRIA_ERR_FULL;
    const bool flush = io->op == STRIA_IO_FLUSH;
    const uint64_t end_ns =
        stria_model_submit(&drive->model, *drive->clock_ns, flush ? STRIA_MODEL_FLUSH : STRIA_MODEL_WRITE,
                           io->offset, io->length);
    push(drive, flush ? &drive->flushes : &drive->writes,
         (struct request){.due_ns = end_ns, .tag = io->tag, .bytes = io->length});
    return STRIA_OK;
}

static int drive_poll(struct stria_drive *base, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct modelled_drive *drive = (struct modelled_drive *)base;
    unsigned count = 0;
    (void)wait_ns;
    while (count < max && stria_modelled_drive_due_ns(base) <= *drive->clock_ns) {
        struct queue *queue =
            due_ns(&drive->flushes) < due_ns(&drive->writes) ? &drive->flushes : &drive->writes;
        const struct request *request = &queue->requests[queue->first];
        done[count++] = (struct stria_done){.tag = request->tag, .bytes = request->bytes};
        queue->first = (queue->first + 1) % drive->depth;
        queue->count--;
    }
    return (int)count;
}

static void drive_close(struct stria_drive *base)
{
    struct modelled_drive *drive = (struct modelled_drive *)base;
    free(drive->writes.requests);
    free(drive->flushes.requests);
    free(drive);
}

static const struct stria_backend backend = {
    .name = "modelled",
    .submit = drive_submit,
    .poll = drive_poll,
    .close = drive_close,
};

struct stria_drive *stria_modelled_drive_create(const struct stria_model_parameters *parameters,
                                                uint64_t seed, uint32_t depth, const uint64_t *clock_ns)
{
    struct modelled_drive *drive = calloc(1, sizeof(*drive));
    if (!drive)
        return NULL;
    drive->base.backend = &backend;
    drive->base.traits = (struct stria_traits){
        .drive_bytes = parameters->capacity_bytes - parameters->capacity_bytes % STRIA_PAGE_BYTES,
        .block_bytes = STRIA_PAGE_BYTES,
        .memory_align_bytes = 1,
        .transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX,
        .depth_max = depth,
        .volatile_cache = true,
    };
    snprintf(drive->base.traits.path, sizeof(drive->base.traits.path), "a modelled drive");
    drive->clock_ns = clock_ns;
    drive->depth = depth;
    drive->writes.requests = calloc(depth, sizeof(struct request));
    drive->flushes.requests = calloc(depth, sizeof(struct request));
    if (!drive->writes.requests || !drive->flushes.requests) {
        drive_close(&drive->base);
        return NULL;
    }
    stria_model_init(&drive->model, parameters, seed);
    return &drive->base;
}

uint64_t stria_modelled_drive_due_ns(const struct stria_drive *base)
{
    const struct modelled_drive *drive = (const struct modelled_drive *)base;
    const uint64_t write_ns = due_ns(&drive->writes), flush_ns = due_ns(&drive->flushes);
    return flush_ns < write_ns ? flush_ns : write_ns;
}

const struct stria_model *stria_modelled_drive_model(const struct stria_drive *base)
{
    return &((const struct modelled_drive *)base)->model;
}
