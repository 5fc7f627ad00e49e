#include "engine/pump.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/digest.h"
#include "core/tag.h"

#include <string.h>

#define DONE_BATCH 64u

/* What is known of a write in flight, by slot. */
struct write {
    uint64_t tag;
    uint64_t submitted_ns;
    uint64_t digest; /* where the drive does not take it */
    bool digested_here;
    bool in_flight;
    bool resting;   /* released, but not told so before the last stray has ended */
    uint8_t strays; /* requests for this slot on drives given up, one for each at most, that have not ended */
};

struct lane {
    struct stria_drive *drive; /* null: absent */
    bool given_up;             /* it is only waited for what it still holds, if it tells */
    bool mute;                 /* given up, and it does not even tell that */
    uint32_t outstanding;
    int gone; /* why it takes no request any more, not yet told to the recorder; zero: it does */
};

/* Requests that a drive had no room for, in the order in which that is to be told to the recorder. A slot has
 * one request at a time and so have a drive's metadata, so each is in the queue at most once. */
struct bounced {
    uint64_t *tags;  /* by slot, then by drive; zero: not in the queue */
    uint32_t *queue; /* indices of tags */
    uint32_t capacity, first, count;
};

struct stria_pump {
    struct stria_pump_config config;
    struct write *writes;
    struct stria_actions actions;
    struct bounced bounced;
    bool any_gone;
    struct lane lanes[STRIA_DRIVES_MAX];
};

static size_t aligned(size_t bytes)
{
    return (size_t)stria_align_up(bytes, 16);
}

static uint32_t bounced_capacity(const struct stria_pump_config *config)
{
    return config->slot_count + config->drive_count;
}

size_t stria_pump_memory_bytes(const struct stria_pump_config *config)
{
    return aligned(sizeof(struct stria_pump)) + aligned(config->slot_count * sizeof(struct write)) +
           aligned(bounced_capacity(config) * sizeof(uint64_t)) + bounced_capacity(config) * sizeof(uint32_t);
}

struct stria_pump *stria_pump_init(void *memory, const struct stria_pump_config *config)
{
    memset(memory, 0, stria_pump_memory_bytes(config));
    struct stria_pump *pump = memory;
    pump->config = *config;
    uint8_t *next = (uint8_t *)memory + aligned(sizeof(*pump));
    pump->writes = (struct write *)next;
    next += aligned(config->slot_count * sizeof(struct write));
    pump->bounced.capacity = bounced_capacity(config);
    pump->bounced.tags = (uint64_t *)next;
    next += aligned(pump->bounced.capacity * sizeof(uint64_t));
    pump->bounced.queue = (uint32_t *)next;
    for (uint32_t index = 0; index < config->drive_count; index++)
        pump->lanes[index].drive = config->drives[index];
    pump->config.drives = NULL;
    return pump;
}

static void bounce(struct stria_pump *pump, const struct stria_action *action, int code)
{
    struct bounced *bounced = &pump->bounced;
    if (code != STRIA_ERR_FULL) {
        pump->lanes[action->drive].gone = code;
        pump->any_gone = true;
        return;
    }
    uint32_t index =
        action->kind == STRIA_ACTION_WRITE ? action->slot : pump->config.slot_count + action->drive;
    /* One that is in the queue was made void meanwhile, since its drive was given up. */
    if (bounced->tags[index] == 0) {
        STRIA_ASSERT(bounced->count < bounced->capacity);
        bounced->queue[(bounced->first + bounced->count++) % bounced->capacity] = index;
    }
    bounced->tags[index] = action->tag;
}

/* The next thing to tell the recorder about requests that were not taken; false when there is none. */
static bool next_bounced(struct stria_pump *pump, struct stria_event *event)
{
    struct bounced *bounced = &pump->bounced;
    for (uint32_t index = 0; pump->any_gone && index < pump->config.drive_count; index++) {
        if (pump->lanes[index].gone == 0)
            continue;
        *event =
            (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = index, .code = pump->lanes[index].gone};
        pump->lanes[index].gone = 0;
        return true;
    }
    pump->any_gone = false;
    if (bounced->count == 0)
        return false;
    uint32_t index = bounced->queue[bounced->first];
    bounced->first = (bounced->first + 1) % bounced->capacity;
    bounced->count--;
    *event =
        (struct stria_event){.kind = STRIA_EVENT_DONE, .tag = bounced->tags[index], .code = STRIA_ERR_AGAIN};
    bounced->tags[index] = 0;
    return true;
}

/* True if it was accepted. */
static bool submit(struct stria_pump *pump, const struct stria_action *action, const struct stria_io *io)
{
    struct lane *lane = &pump->lanes[action->drive];
    int code =
        lane->drive && !lane->given_up ? lane->drive->backend->submit(lane->drive, io) : STRIA_ERR_GONE;
    if (code == STRIA_OK)
        lane->outstanding++;
    else
        bounce(pump, action, code);
    return code == STRIA_OK;
}

/* The write in flight is left to its drive, which is given up. */
static void make_stray(struct write *write)
{
    write->strays += write->in_flight;
    write->in_flight = false;
}

static void write_payload(struct stria_pump *pump, const struct stria_action *action, uint64_t now_ns)
{
    uint8_t *data = pump->config.slot_data[action->slot];
    struct write *write = &pump->writes[action->slot];
    make_stray(write);
    if (action->slot_offset == 0)
        write->submitted_ns = now_ns;
    write->tag = action->tag;
    struct stria_io io = {
        .op = STRIA_IO_WRITE,
        .offset = action->offset,
        .length = action->length_bytes,
        .data = data + action->slot_offset,
        .tag = action->tag,
        .digest_bytes = action->digest_bytes,
        .digest_seed = action->digest_seed,
    };
    const struct stria_drive *drive = pump->lanes[action->drive].drive;
    /* A drive hashes from the start of what it writes, so a resumed write is hashed here. */
    if (action->digest_wanted && drive && drive->traits.digests && action->slot_offset == 0)
        io.digest_wanted = true;
    write->digested_here = action->digest_wanted && !io.digest_wanted;
    if (write->digested_here)
        write->digest = stria_digest_seeded(action->digest_seed, data, action->digest_bytes);
    write->in_flight = submit(pump, action, &io);
}

static void write_meta(struct stria_pump *pump, const struct stria_action *action)
{
    struct stria_io io = {.op = STRIA_IO_WRITE,
                          .offset = action->offset,
                          .length = action->length_bytes,
                          .data = action->data,
                          .tag = action->tag};
    submit(pump, action, &io);
}

static void flush(struct stria_pump *pump, const struct stria_action *action)
{
    struct stria_io io = {.op = STRIA_IO_FLUSH, .tag = action->tag};
    submit(pump, action, &io);
}

/* A drive given up is asked for nothing new; what it still holds ends when it lets go, or is closed. */
static void give_up(struct stria_pump *pump, const struct stria_action *action, uint64_t now_ns)
{
    struct stria_meter *meter = pump->config.meter;
    struct lane *lane = &pump->lanes[action->drive];
    for (uint32_t slot = 0; slot < pump->config.slot_count; slot++) {
        struct write *write = &pump->writes[slot];
        if (write->tag == 0 || stria_tag_drive(write->tag) != action->drive)
            continue;
        if (meter && action->code == STRIA_ERR_TIMEOUT)
            stria_meter_stall(meter, action->drive, now_ns, now_ns - write->submitted_ns);
        make_stray(write);
    }
    lane->given_up = true;
    if (lane->drive)
        stria_drive_revoke(lane->drive);
    if (pump->config.listener.gave_up)
        pump->config.listener.gave_up(pump->config.listener.context, action->drive, action->code);
}

static void release(struct stria_pump *pump, uint32_t slot)
{
    const struct stria_pump_listener *listener = &pump->config.listener;
    struct write *write = &pump->writes[slot];
    make_stray(write);
    write->tag = 0;
    write->resting =
        write->strays > 0 && listener->needs_rest && listener->needs_rest(listener->context, slot);
    if (listener->released && !write->resting)
        listener->released(listener->context, slot);
}

static void carry_out(struct stria_pump *pump, const struct stria_action *action, uint64_t now_ns)
{
    const struct stria_pump_listener *listener = &pump->config.listener;
    switch (action->kind) {
    case STRIA_ACTION_WRITE:
        write_payload(pump, action, now_ns);
        break;
    case STRIA_ACTION_WRITE_META:
        write_meta(pump, action);
        break;
    case STRIA_ACTION_FLUSH:
        flush(pump, action);
        break;
    case STRIA_ACTION_RELEASE:
        release(pump, action->slot);
        break;
    case STRIA_ACTION_STARTED:
        if (listener->started)
            listener->started(listener->context);
        break;
    case STRIA_ACTION_WATERMARK:
        if (listener->watermark)
            listener->watermark(listener->context, action->offset);
        break;
    case STRIA_ACTION_GAP:
        if (listener->gap)
            listener->gap(listener->context, &action->gap);
        break;
    case STRIA_ACTION_GIVE_UP:
        give_up(pump, action, now_ns);
        break;
    case STRIA_ACTION_FULL:
        if (listener->full)
            listener->full(listener->context);
        break;
    case STRIA_ACTION_FINISHED:
        if (listener->finished)
            listener->finished(listener->context, action->code);
        break;
    }
}

static void step(struct stria_pump *pump, const struct stria_event *event)
{
    stria_recorder_step(pump->config.recorder, event, &pump->actions);
    for (uint32_t index = 0; index < pump->actions.count; index++)
        carry_out(pump, &pump->actions.list[index], event->now_ns);
}

void stria_pump_feed(struct stria_pump *pump, const struct stria_event *event)
{
    struct stria_event next = {.kind = STRIA_EVENT_TICK};
    step(pump, event);
    while (next_bounced(pump, &next) || pump->actions.more) {
        next.now_ns = event->now_ns;
        step(pump, &next);
        next = (struct stria_event){.kind = STRIA_EVENT_TICK};
    }
}

static void measure(struct stria_pump *pump, uint32_t drive, const struct stria_done *done, uint64_t now_ns)
{
    struct stria_meter *meter = pump->config.meter;
    uint32_t slot = stria_tag_slot(done->tag);
    if (!meter || slot >= pump->config.slot_count || pump->writes[slot].tag != done->tag)
        return;
    if (done->code == STRIA_OK)
        stria_meter_done(meter, drive, now_ns, done->bytes, now_ns - pump->writes[slot].submitted_ns,
                         done->submit_ns);
    else if (done->code == STRIA_ERR_AGAIN)
        stria_meter_retry(meter, drive);
    else
        stria_meter_error(meter, drive);
}

static void complete(struct stria_pump *pump, uint32_t drive, const struct stria_done *done, uint64_t now_ns)
{
    uint32_t slot = stria_tag_slot(done->tag);
    struct stria_event event = {.kind = STRIA_EVENT_DONE,
                                .now_ns = now_ns,
                                .tag = done->tag,
                                .code = done->code,
                                .bytes = done->bytes};
    bool here = slot < pump->config.slot_count && pump->writes[slot].tag == done->tag &&
                pump->writes[slot].digested_here;
    if (slot < pump->config.slot_count && pump->writes[slot].tag == done->tag)
        pump->writes[slot].in_flight = false;
    event.digest = here ? pump->writes[slot].digest : done->digest;
    measure(pump, drive, done, now_ns);
    stria_pump_feed(pump, &event);
}

/* Of a drive given up only this counts: that it touches a slot's memory no more. */
static void end_stray(struct stria_pump *pump, uint64_t tag)
{
    const struct stria_pump_listener *listener = &pump->config.listener;
    const uint32_t slot = stria_tag_slot(tag);
    if (stria_tag_kind(tag) != TAG_DATA || slot >= pump->config.slot_count)
        return;
    struct write *write = &pump->writes[slot];
    STRIA_ASSERT(write->strays > 0);
    if (--write->strays > 0 || !write->resting)
        return;
    write->resting = false;
    listener->released(listener->context, slot);
}

static uint32_t poll_lane(struct stria_pump *pump, uint32_t index, uint64_t now_ns)
{
    struct lane *lane = &pump->lanes[index];
    struct stria_done done[DONE_BATCH];
    int count = lane->drive->backend->poll(lane->drive, done, DONE_BATCH, 0);
    if (count < 0 && lane->given_up) {
        lane->mute = true;
        return 0;
    }
    if (count < 0) {
        stria_pump_feed(pump, &(struct stria_event){
                                  .kind = STRIA_EVENT_GONE, .now_ns = now_ns, .drive = index, .code = count});
        return 1;
    }
    for (int number = 0; number < count; number++) {
        lane->outstanding -= lane->outstanding > 0;
        if (lane->given_up)
            end_stray(pump, done[number].tag);
        else
            complete(pump, index, &done[number], now_ns);
    }
    return (uint32_t)count;
}

uint32_t stria_pump_poll(struct stria_pump *pump, uint64_t now_ns)
{
    uint32_t count = 0;
    for (uint32_t index = 0; index < pump->config.drive_count; index++)
        if (pump->lanes[index].drive && !pump->lanes[index].mute && pump->lanes[index].outstanding > 0)
            count += poll_lane(pump, index, now_ns);
    return count;
}

uint64_t stria_pump_due_ns(const struct stria_pump *pump)
{
    return stria_recorder_due_ns(pump->config.recorder);
}

uint32_t stria_pump_outstanding(const struct stria_pump *pump, uint32_t drive)
{
    return pump->lanes[drive].outstanding;
}
