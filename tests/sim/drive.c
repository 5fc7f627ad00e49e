#include "tests/sim/drive.h"

#include "core/assert.h"
#include "tests/sim/audit.h"

#include <stdlib.h>
#include <string.h>

#define NEVER          UINT64_MAX
#define SLOW_TIMES     20u /* a slow region takes so much longer */
#define REGION_PARTS   8u  /* a bad region is this part of the drive */
#define METADATA_EXTRA 1u  /* requests beside the payload's */

/* Beside the faults themselves: how one strikes, and where a misdirected write goes. */
#define DRAW_MANNER SIM_FAULTS_PICKED
#define DRAW_PLACE  (SIM_FAULTS_PICKED + 1)

enum landing {
    LAND_WHOLE,
    LAND_NOTHING,
    LAND_PART, /* the first bytes */
    LAND_TORN,
    LAND_ELSEWHERE
};

struct request {
    struct stria_io io;
    uint64_t number;
    uint64_t ready_ns;
    uint64_t barrier; /* FLUSH: of the writes that it covers */
    int code;
    uint64_t bytes;
    uint64_t digest;
    enum landing landing;
    bool captured;
    bool lies; /* FLUSH */
    struct sim_payload payload;
};

struct sim_drive {
    struct stria_drive base;
    struct sim_world *world;
    uint32_t index;
    const struct sim_scenario_drive *kind;
    struct sim_media *media;
    struct request *requests;
    uint32_t count;
    uint64_t busy_until_ns;
    bool gone_submit, gone_poll, gone_done, hung, failing;
};

static uint64_t drive_draw(const struct sim_drive *drive, enum sim_topic topic, uint64_t what,
                           uint64_t number)
{
    return sim_draw(drive->world->scenario.seed, topic, what << 8 | drive->index, number);
}

static bool payload_write(const struct sim_drive *drive, const struct stria_io *io)
{
    const struct stria_geometry *geometry = &drive->world->past[drive->index].super.geometry;
    return io->op == STRIA_IO_WRITE && io->offset >= geometry->data_offset &&
           io->offset < geometry->super_offset[1];
}

static bool in_scope(const struct sim_drive *drive, enum sim_scope scope, const struct stria_io *io)
{
    switch (scope) {
    case SIM_SCOPE_PAYLOAD:
        return payload_write(drive, io);
    case SIM_SCOPE_META:
        return io->op == STRIA_IO_WRITE && !payload_write(drive, io);
    case SIM_SCOPE_FLUSH:
        return io->op == STRIA_IO_FLUSH;
    case SIM_SCOPE_REQUEST:
        return true;
    case SIM_SCOPE_WORLD:
        break;
    }
    return false;
}

static bool strikes(struct sim_drive *drive, enum sim_fault fault, const struct stria_io *io, uint64_t number)
{
    if (!drive->world->scenario.faults[fault] || !in_scope(drive, sim_faults[fault].scope, io) ||
        !sim_chance(drive_draw(drive, SIM_TOPIC_FAULT, fault, number), sim_faults[fault].rate))
        return false;
    sim_cover_fault(drive->world, fault, drive->index);
    if (sim_faults[fault].damages)
        drive->world->past[drive->index].damaged = true;
    return true;
}

/* Some of those that disappear come back when power does. */
static void lose(struct sim_drive *drive, bool *how, uint64_t number)
{
    *how = true;
    if (drive_draw(drive, SIM_TOPIC_LIFE, 1, number) % 2)
        drive->world->past[drive->index].dead = true;
}

static uint64_t position_of(const struct sim_drive *drive, const struct stria_io *io)
{
    const struct stria_geometry *geometry = &drive->world->past[drive->index].super.geometry;
    return (io->offset - geometry->data_offset) / geometry->chunk_bytes;
}

/* Each drive has one region of each kind, the same in all lives. */
static bool in_region(struct sim_drive *drive, enum sim_fault fault, const struct stria_io *io)
{
    if (!drive->world->scenario.faults[fault] || !payload_write(drive, io))
        return false;
    uint64_t extents = drive->kind->extents;
    uint64_t size = extents / REGION_PARTS + 1;
    uint64_t start = drive_draw(drive, SIM_TOPIC_FAULT, fault, 0) % extents;
    uint64_t position = position_of(drive, io);
    if (position < start || position >= start + size)
        return false;
    sim_cover_fault(drive->world, fault, drive->index);
    return true;
}

static void plan_failure(struct request *request, int code, uint64_t draw)
{
    request->code = code;
    request->bytes = 0;
    request->landing = draw % 3 == 0 ? LAND_WHOLE : draw % 3 == 1 ? LAND_TORN : LAND_NOTHING;
}

static void plan_short(struct sim_drive *drive, struct request *request, uint64_t draw)
{
    uint64_t block = drive->base.traits.block_bytes;
    if (request->io.length <= block)
        return;
    uint64_t blocks = request->io.length / block;
    request->bytes = block * (1 + draw % (blocks - 1));
    /* Some report bytes of a block that is not whole. */
    if (draw >> 32 & 1)
        request->bytes += draw >> 33 & (block - 1);
    request->landing = LAND_PART;
}

static void plan_payload(struct sim_drive *drive, struct request *request)
{
    const struct stria_io *io = &request->io;
    uint64_t number = request->number;
    uint64_t draw = drive_draw(drive, SIM_TOPIC_FAULT, DRAW_MANNER, number);
    if (strikes(drive, SIM_FAULT_WRITE_AGAIN, io, number)) {
        request->code = STRIA_ERR_AGAIN;
        request->bytes = 0;
        request->landing = LAND_NOTHING;
    } else if (strikes(drive, SIM_FAULT_WRITE_ERROR, io, number) ||
               in_region(drive, SIM_FAULT_DEAD_REGION, io)) {
        plan_failure(request, STRIA_ERR_IO, draw);
    } else if (strikes(drive, SIM_FAULT_WRITE_SHORT, io, number)) {
        plan_short(drive, request, draw);
    } else if (strikes(drive, SIM_FAULT_WRITE_NOTHING, io, number)) {
        request->bytes = draw % drive->base.traits.block_bytes;
        request->landing = LAND_NOTHING;
    } else if (strikes(drive, SIM_FAULT_NO_SPACE, io, number)) {
        plan_failure(request, STRIA_ERR_NO_SPACE, draw);
    } else if (strikes(drive, SIM_FAULT_MISDIRECTED, io, number)) {
        request->landing = LAND_ELSEWHERE;
    } else if (strikes(drive, SIM_FAULT_LOST_WRITE, io, number)) {
        request->landing = LAND_NOTHING;
    }
}

static void plan_meta(struct sim_drive *drive, struct request *request)
{
    const struct stria_io *io = &request->io;
    uint64_t number = request->number;
    uint64_t draw = drive_draw(drive, SIM_TOPIC_FAULT, DRAW_MANNER, number);
    if (strikes(drive, SIM_FAULT_META_AGAIN, io, number)) {
        request->code = STRIA_ERR_AGAIN;
        request->bytes = 0;
        request->landing = LAND_NOTHING;
    } else if (strikes(drive, SIM_FAULT_META_ERROR, io, number)) {
        plan_failure(request, STRIA_ERR_IO, draw);
    } else if (strikes(drive, SIM_FAULT_META_SHORT, io, number)) {
        plan_short(drive, request, draw);
    }
}

static void plan_flush(struct sim_drive *drive, struct request *request)
{
    const struct stria_io *io = &request->io;
    request->barrier = sim_media_barrier(drive->media);
    request->bytes = 0;
    if (strikes(drive, SIM_FAULT_FLUSH_AGAIN, io, request->number))
        request->code = STRIA_ERR_AGAIN;
    else if (strikes(drive, SIM_FAULT_FLUSH_ERROR, io, request->number))
        request->code = STRIA_ERR_IO;
    else
        request->lies = strikes(drive, SIM_FAULT_LYING_FLUSH, io, request->number);
}

/* When the request will be ready: the drive moves bytes one request after the other, what else it does for
 * them goes on side by side, so that they end in any order. */
static void plan_time(struct sim_drive *drive, struct request *request)
{
    struct sim_world *world = drive->world;
    const struct stria_io *io = &request->io;
    uint64_t draw = drive_draw(drive, SIM_TOPIC_LATENCY, 0, request->number);
    uint64_t transfer_ns = io->length * 1000 / (drive->kind->bytes_per_s / 1000000);
    if (in_region(drive, SIM_FAULT_SLOW_REGION, io))
        transfer_ns *= SLOW_TIMES;
    if (drive->busy_until_ns < world->now_ns)
        drive->busy_until_ns = world->now_ns;
    drive->busy_until_ns += transfer_ns;
    request->ready_ns = drive->busy_until_ns + drive->kind->latency_ns + draw % drive->kind->latency_ns;
    if (strikes(drive, SIM_FAULT_STALL, io, request->number))
        request->ready_ns += world->scenario.deadline_ns / 8 * (1 + (draw >> 20) % 4);
    if (strikes(drive, SIM_FAULT_HANG, io, request->number))
        lose(drive, &drive->hung, request->number);
    if (strikes(drive, SIM_FAULT_ALWAYS_FAILS, io, request->number))
        lose(drive, &drive->failing, request->number);
    if (drive->hung)
        request->ready_ns = NEVER;
}

static void plan(struct sim_drive *drive, struct request *request)
{
    request->bytes = request->io.length;
    if (request->io.op == STRIA_IO_FLUSH)
        plan_flush(drive, request);
    else if (payload_write(drive, &request->io))
        plan_payload(drive, request);
    else
        plan_meta(drive, request);
    plan_time(drive, request);
    if (drive->failing)
        plan_failure(request, STRIA_ERR_IO, 1 + request->number % 2);
    if (drive->gone_done) {
        request->code = STRIA_ERR_GONE;
        request->bytes = 0;
        request->landing = LAND_NOTHING;
    }
}

static void capture(struct sim_drive *drive, struct request *request)
{
    if (request->captured || request->io.op != STRIA_IO_WRITE || request->landing == LAND_NOTHING)
        return;
    request->payload = sim_media_capture(drive->media, request->io.data, request->io.length);
    request->captured = true;
}

/* True if a fault of the drive as a whole strikes at this request. */
static bool disappears(struct sim_drive *drive, const struct stria_io *io, uint64_t number)
{
    if (strikes(drive, SIM_FAULT_GONE_SUBMIT, io, number))
        lose(drive, &drive->gone_submit, number);
    if (strikes(drive, SIM_FAULT_GONE_POLL, io, number))
        lose(drive, &drive->gone_poll, number);
    if (strikes(drive, SIM_FAULT_GONE_DONE, io, number))
        lose(drive, &drive->gone_done, number);
    return drive->gone_submit;
}

static int drive_submit(struct stria_drive *base, const struct stria_io *io)
{
    struct sim_drive *drive = (struct sim_drive *)base;
    struct sim_world *world = drive->world;
    if (sim_step(world))
        return STRIA_OK;
    uint64_t number = world->past[drive->index].requests++;
    if (stria_io_check(base, io) != STRIA_OK)
        sim_fail(world, "drive %u got an impossible request: op %d, offset %llu, length %llu", drive->index,
                 io->op, (unsigned long long)io->offset, (unsigned long long)io->length);
    else if (drive->count > drive->kind->depth + METADATA_EXTRA - 1)
        sim_fail(world, "drive %u got more requests than its depth of %u and one", drive->index,
                 drive->kind->depth);
    else
        sim_audit_submit(world, drive->index, io);
    if (sim_failed(world) || disappears(drive, io, number))
        return STRIA_ERR_GONE;
    if (strikes(drive, SIM_FAULT_SUBMIT_FULL, io, number)) {
        world->again_ns[drive->index] = world->now_ns;
        return STRIA_ERR_FULL;
    }
    struct request *request = &drive->requests[drive->count++];
    *request = (struct request){.io = *io, .number = number, .code = STRIA_OK};
    if (io->digest_wanted)
        request->digest = sim_ring_digest(&world->ring, io->data, io->digest_bytes, io->digest_seed);
    plan(drive, request);
    if (drive_draw(drive, SIM_TOPIC_CAPTURE, 0, number) % 2)
        capture(drive, request);
    return STRIA_OK;
}

static uint64_t elsewhere(struct sim_drive *drive, const struct request *request)
{
    const struct stria_geometry *geometry = &drive->world->past[drive->index].super.geometry;
    uint64_t position = drive_draw(drive, SIM_TOPIC_FAULT, DRAW_PLACE, request->number);
    return geometry->data_offset + position % geometry->extent_count * geometry->chunk_bytes +
           request->io.offset % geometry->chunk_bytes;
}

static void land(struct sim_drive *drive, struct request *request)
{
    capture(drive, request);
    uint64_t offset = request->io.offset;
    switch (request->landing) {
    case LAND_NOTHING:
        break;
    case LAND_TORN:
        sim_media_write_torn(drive->media, offset, request->io.length, &request->payload,
                             drive_draw(drive, SIM_TOPIC_TEAR, 0, request->number));
        break;
    case LAND_ELSEWHERE:
        offset = elsewhere(drive, request);
        sim_media_write(drive->media, offset, request->io.length, &request->payload);
        break;
    case LAND_PART:
        sim_media_write(drive->media, offset,
                        request->bytes - request->bytes % drive->base.traits.block_bytes, &request->payload);
        break;
    case LAND_WHOLE:
        sim_media_write(drive->media, offset, request->io.length, &request->payload);
        break;
    }
    sim_payload_drop(&request->payload);
}

static void end_flush(struct sim_drive *drive, const struct request *request)
{
    uint64_t draw = drive_draw(drive, SIM_TOPIC_CUT, 1, request->number);
    if (request->code == STRIA_OK && !request->lies)
        sim_media_flush(drive->media, request->barrier);
    /* After a flush that failed the system may have forgotten what it could not write. */
    if (request->code == STRIA_ERR_IO && draw % 2)
        sim_media_cut(drive->media, SIM_CUT_MIXED, draw);
}

static void finish(struct sim_drive *drive, struct request *request, struct stria_done *done)
{
    struct sim_world *world = drive->world;
    if (request->io.op == STRIA_IO_FLUSH)
        end_flush(drive, request);
    else
        land(drive, request);
    if (request->code == STRIA_ERR_AGAIN)
        world->again_ns[drive->index] = world->now_ns;
    if (request->code == STRIA_OK)
        sim_audit_done(world, drive->index, &request->io, request->bytes);
    else if (request->code != STRIA_ERR_AGAIN)
        sim_audit_failed(world, drive->index, &request->io);
    sim_note(&world->trace, world->now_ns, "drive %llu: tag %llx ends with code -%llu", drive->index,
             request->io.tag, -request->code);
    *done = (struct stria_done){
        .tag = request->io.tag, .code = request->code, .bytes = request->bytes, .digest = request->digest};
}

static uint32_t earliest(const struct sim_drive *drive)
{
    uint32_t found = 0;
    for (uint32_t index = 1; index < drive->count; index++)
        if (drive->requests[index].ready_ns < drive->requests[found].ready_ns)
            found = index;
    return found;
}

static int drive_poll(struct stria_drive *base, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct sim_drive *drive = (struct sim_drive *)base;
    struct sim_world *world = drive->world;
    STRIA_ASSERT(wait_ns == 0);
    if (world->cut)
        return 0;
    if (drive->gone_poll)
        return STRIA_ERR_GONE;
    unsigned count = 0;
    while (count < max && drive->count > 0) {
        uint32_t index = earliest(drive);
        if (drive->requests[index].ready_ns > world->now_ns || sim_step(world))
            break;
        finish(drive, &drive->requests[index], &done[count++]);
        drive->requests[index] = drive->requests[--drive->count];
    }
    return (int)count;
}

static const struct stria_backend backend = {
    .name = "simulated",
    .submit = drive_submit,
    .poll = drive_poll,
};

struct sim_drive *sim_drive_new(struct sim_world *world, uint32_t index)
{
    struct sim_drive *drive = calloc(1, sizeof(*drive));
    STRIA_ASSERT(drive);
    drive->world = world;
    drive->index = index;
    drive->kind = &world->scenario.drives[index];
    drive->media = world->past[index].media;
    drive->requests = calloc(drive->kind->depth + METADATA_EXTRA, sizeof(struct request));
    STRIA_ASSERT(drive->requests);
    drive->base =
        (struct stria_drive){.backend = &backend,
                             .traits = {.drive_bytes = world->past[index].super.geometry.drive_bytes,
                                        .block_bytes = drive->kind->block_bytes,
                                        .memory_align_bytes = drive->kind->block_bytes,
                                        .transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX,
                                        .depth_max = drive->kind->depth + METADATA_EXTRA,
                                        .volatile_cache = true,
                                        .digests = !world->ring.filled || index % 2}};
    return drive;
}

struct stria_drive *sim_drive_base(struct sim_drive *drive)
{
    return &drive->base;
}

void sim_drive_free(struct sim_drive *drive)
{
    for (uint32_t index = 0; index < drive->count; index++)
        sim_payload_drop(&drive->requests[index].payload);
    free(drive->requests);
    free(drive);
}

uint64_t sim_drive_due_ns(const struct sim_drive *drive)
{
    if (drive->count == 0)
        return NEVER;
    if (drive->gone_poll)
        return drive->world->now_ns;
    return drive->requests[earliest(drive)].ready_ns;
}

void sim_drive_cut(struct sim_drive *drive)
{
    for (uint32_t index = 0; index < drive->count; index++)
        if (drive->requests[index].io.op == STRIA_IO_WRITE)
            land(drive, &drive->requests[index]);
    drive->count = 0;
}
