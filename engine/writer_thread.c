/* The pump's thread of a recording. */
#include "engine/writer_internal.h"
#include "support/clock.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOT_NS 50000000u /* how often onlookers get new figures */
#define WAIT_NS_MAX 50000000u
#define GAPS_FIRST  64u

static void on_started(void *context)
{
    struct stria_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    writer->started = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

static void on_released(void *context, uint32_t slot)
{
    struct stria_writer *writer = context;
    stria_intake_release(&writer->intake, slot);
}

/* The ring is there until the drives are closed; the caller's own memory may be gone once it is reclaimed. */
static bool own_memory_needs_rest(void *context, uint32_t slot)
{
    const struct stria_writer *writer = context;
    return writer->intake.own_memory[slot] != NULL;
}

static void on_watermark(void *context, uint64_t offset_bytes)
{
    struct stria_writer *writer = context;
    writer->durable_bytes = offset_bytes;
}

static bool extends(const struct stria_gap *last, const struct stria_gap *gap)
{
    return last->offset_bytes + last->length_bytes == gap->offset_bytes && last->cause == gap->cause &&
           last->drive == gap->drive;
}

static bool gaps_have_room(struct stria_gap_list *list)
{
    if (list->count < list->capacity)
        return true;
    uint32_t capacity = list->capacity ? 2 * list->capacity : GAPS_FIRST;
    struct stria_gap *gaps =
        capacity <= STRIA_GAPS_LISTED_MAX ? realloc(list->gaps, capacity * sizeof(*gaps)) : NULL;
    if (!gaps)
        return false;
    list->gaps = gaps;
    list->capacity = capacity;
    return true;
}

static void on_gap(void *context, const struct stria_gap *gap)
{
    struct stria_gap_list *list = &((struct stria_writer *)context)->gaps;
    if (list->count > 0 && extends(&list->gaps[list->count - 1], gap))
        list->gaps[list->count - 1].length_bytes += gap->length_bytes;
    else if (gaps_have_room(list))
        list->gaps[list->count++] = *gap;
    else
        list->unlisted_bytes += gap->length_bytes;
}

static void on_gave_up(void *context, uint32_t drive, int code)
{
    struct stria_writer *writer = context;
    writer->losses[drive] = (struct stria_writer_loss){.code = code, .time_ns = stria_clock_ns()};
}

static void on_full(void *context)
{
    struct stria_writer *writer = context;
    stria_intake_refuse(&writer->intake, STRIA_ERR_ARRAY_FULL);
}

static void on_finished(void *context, int code)
{
    struct stria_writer *writer = context;
    stria_intake_refuse(&writer->intake, code == STRIA_OK ? STRIA_ERR_CLOSED : code);
    writer->ended_ns = stria_clock_ns();
    writer->code = code;
    /* The end is durable, and with it a gap behind the last chunk. */
    struct stria_recorder_status status;
    stria_recorder_status(writer->recorder, &status);
    if (code == STRIA_OK)
        writer->durable_bytes = status.length_bytes;
    writer->over = true;
}

int stria_writer_create_pump(struct stria_writer *writer, struct stria_trouble *trouble)
{
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    for (uint32_t index = 0; index < writer->array->member_count; index++)
        drives[index] = writer->array->members[index].drive;
    const struct stria_pump_config config = {
        .recorder = writer->recorder,
        .drive_count = writer->array->member_count,
        .drives = drives,
        .slot_count = writer->slot_count,
        .slot_data = writer->slot_data,
        .meter = writer->meter,
        .listener = {.context = writer,
                     .started = on_started,
                     .released = on_released,
                     .needs_rest = own_memory_needs_rest,
                     .watermark = on_watermark,
                     .gap = on_gap,
                     .gave_up = on_gave_up,
                     .full = on_full,
                     .finished = on_finished},
    };
    size_t bytes = stria_pump_memory_bytes(&config);
    void *memory = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for %" PRIu32 " slots",
                                 writer->slot_count);
    writer->pump = stria_pump_init(memory, &config);
    return STRIA_OK;
}

static struct stria_event event_of(const struct stria_writer *writer, struct stria_intake_item *item,
                                   uint64_t now_ns)
{
    if (atomic_load(&item->state) == STRIA_INTAKE_MISSING)
        return (struct stria_event){.kind = STRIA_EVENT_SKIP,
                                    .now_ns = now_ns,
                                    .length_bytes = writer->array->chunk_bytes,
                                    .cause = STRIA_GAP_SOURCE};
    return (struct stria_event){
        .kind = item->skip ? STRIA_EVENT_SKIP : STRIA_EVENT_COMMIT,
        .now_ns = now_ns,
        .slot = item->slot,
        .length_bytes = item->length_bytes,
        .captured_ns = item->captured_ns,
        .cause = item->cause,
    };
}

/* Zeroes behind a short chunk, up to the block that is written. */
static void pad(const struct stria_writer *writer, const struct stria_event *event)
{
    const size_t block = writer->array->block_bytes;
    const size_t tail = event->length_bytes % block;
    if (tail > 0)
        memset((uint8_t *)writer->slot_data[event->slot] + event->length_bytes, 0, block - tail);
}

/* One item of the stream into the recorder. */
static void feed_item(struct stria_writer *writer, struct stria_intake_item *item, uint64_t now_ns)
{
    const struct stria_event event = event_of(writer, item, now_ns);
    if (event.kind == STRIA_EVENT_COMMIT)
        pad(writer, &event);
    stria_meter_input(writer->meter, now_ns, event.length_bytes);
    stria_pump_feed(writer->pump, &event);
}

static uint32_t feed_items(struct stria_writer *writer)
{
    uint32_t count = 0;
    struct stria_intake_item *item = stria_intake_peek(&writer->intake);
    while (item && stria_recorder_accepts(writer->recorder)) {
        feed_item(writer, item, stria_clock_ns());
        stria_intake_take(&writer->intake);
        count++;
        item = stria_intake_peek(&writer->intake);
    }
    if (!writer->end_fed && stria_intake_exhausted(&writer->intake)) {
        writer->end_fed = true;
        stria_pump_feed(writer->pump,
                        &(struct stria_event){.kind = STRIA_EVENT_END, .now_ns = stria_clock_ns()});
    }
    return count;
}

static uint64_t writing_bytes(const struct stria_writer *writer)
{
    uint64_t chunks = 0;
    for (uint32_t index = 0; index < writer->array->member_count; index++) {
        struct stria_drive_status status;
        stria_recorder_drive_status(writer->recorder, index, &status);
        chunks += status.in_flight;
    }
    return chunks * writer->array->chunk_bytes;
}

/* The slowest drive that holds chunks back, when the ring is filling and the drives take less than comes in.
 */
static void warn(struct stria_writer *writer, uint64_t now_ns, struct stria_progress *progress)
{
    const struct stria_filling_state state = {
        .now_ns = now_ns,
        .buffer_bytes = progress->buffer_bytes,
        .used_bytes = progress->buffer_used_bytes,
        .writing_bytes = writing_bytes(writer),
        .input_bytes_per_s = progress->input_bytes_per_s,
        .stored_per_s = stria_flow_recent_bytes_per_s(&writer->meter->stored),
    };
    uint64_t left_ns;
    const bool fills = stria_filling_note(&writer->filling, &state, &left_ns);
    const uint32_t culprit = stria_recorder_culprit(writer->recorder);
    progress->warning[0] = '\0';
    if (!fills || culprit >= writer->array->member_count)
        return;
    const struct stria_member *member = &writer->array->members[culprit];
    snprintf(progress->warning, sizeof(progress->warning),
             "the drives take less than comes in, %s holds most back: the buffer is full in %.1f s",
             member->config ? member->config->name : "a drive", (double)left_ns / 1e9);
}

static uint64_t told(uint64_t latency_ns)
{
    return latency_ns == STRIA_LATENCY_UNKNOWN ? 0 : latency_ns;
}

static void fill_drive(struct stria_writer *writer, uint32_t index, struct stria_drive_progress *drive)
{
    struct stria_drive_status status;
    const struct stria_meter_drive *meter = &writer->meter->drives[index];
    const struct stria_writer_loss *loss = &writer->losses[index];
    stria_recorder_drive_status(writer->recorder, index, &status);
    *drive = (struct stria_drive_progress){
        .bytes = status.stored_bytes,
        .bytes_per_s = stria_flow_recent_bytes_per_s(&meter->stored),
        .free_bytes = status.free_extents * writer->array->chunk_bytes,
        .in_flight = status.in_flight,
        .waiting = status.waiting,
        .errors = status.errors,
        .retries = status.retries,
        .stalls = meter->stalls,
        .latency_ns_p99 = told(meter->latency_track.latest.p99_ns),
        .latency_ns_max = told(meter->latency_track.latest.max_ns),
        .lost = status.state == STRIA_DRIVE_LOST,
        .full = status.state == STRIA_DRIVE_FULL,
        .lost_code = loss->code,
        .lost_ns = loss->code != STRIA_OK ? loss->time_ns - writer->started_ns : 0,
    };
}

static void take_snapshot(struct stria_writer *writer, uint64_t now_ns)
{
    struct stria_recorder_status status;
    stria_recorder_status(writer->recorder, &status);
    stria_meter_advance(writer->meter, now_ns);
    struct stria_progress progress = {
        .elapsed_ns = now_ns - writer->started_ns,
        .length_bytes = status.length_bytes,
        .stored_bytes = status.stored_bytes,
        .dropped_bytes = status.dropped_bytes,
        .durable_bytes = writer->durable_bytes,
        .buffer_bytes = (uint64_t)writer->slot_count * writer->array->chunk_bytes,
        .buffer_used_bytes = (uint64_t)status.slots_used * writer->array->chunk_bytes,
        .buffer_high_water_bytes = writer->meter->buffer_high_water_bytes,
        .input_bytes_per_s = stria_flow_recent_bytes_per_s(&writer->meter->input),
        .drive_count = writer->array->member_count,
        .degraded = status.degraded,
        .full = status.full,
    };
    warn(writer, now_ns, &progress);
    pthread_mutex_lock(&writer->lock);
    writer->progress = progress;
    for (uint32_t index = 0; index < progress.drive_count; index++)
        fill_drive(writer, index, &writer->drives[index]);
    pthread_mutex_unlock(&writer->lock);
    writer->snapshot_ns = now_ns;
}

/* Drives without a thread finish only when they are asked. */
static bool must_not_sleep(const struct stria_writer *writer)
{
    for (uint32_t index = 0; index < writer->array->member_count; index++) {
        const struct stria_drive *drive = writer->array->members[index].drive;
        if (drive && !drive->backend->wake && writer->losses[index].code == STRIA_OK &&
            stria_pump_outstanding(writer->pump, index) > 0)
            return true;
    }
    return false;
}

/* Tells the producer whether its next commit has to wake us. False if there is one already. */
static bool may_sleep(struct stria_writer *writer)
{
    bool hurry = !stria_recorder_saturated(writer->recorder);
    stria_intake_hurry(&writer->intake, hurry);
    return !hurry || !stria_recorder_accepts(writer->recorder) || !stria_intake_peek(&writer->intake);
}

static void wait_for_work(struct stria_writer *writer, uint32_t ticket, uint64_t now_ns)
{
    uint64_t due_ns = stria_pump_due_ns(writer->pump);
    uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    if (wait_ns > WAIT_NS_MAX)
        wait_ns = WAIT_NS_MAX;
    if (wait_ns > 0 && !must_not_sleep(writer) && may_sleep(writer))
        stria_bell_wait(&writer->array->bell, ticket, wait_ns);
}

static void turn(struct stria_writer *writer)
{
    uint32_t ticket = stria_bell_listen(&writer->array->bell);
    uint64_t now_ns = stria_clock_ns();
    uint32_t worked = stria_pump_poll(writer->pump, now_ns);
    worked += feed_items(writer);
    if (now_ns >= stria_pump_due_ns(writer->pump)) {
        stria_pump_feed(writer->pump, &(struct stria_event){.kind = STRIA_EVENT_TICK, .now_ns = now_ns});
        worked++;
    }
    stria_meter_buffer(writer->meter,
                       stria_recorder_slots_used(writer->recorder) * (uint64_t)writer->array->chunk_bytes);
    if (now_ns - writer->snapshot_ns >= SNAPSHOT_NS)
        take_snapshot(writer, now_ns);
    if (worked == 0 && !writer->over)
        wait_for_work(writer, ticket, now_ns);
}

void *stria_writer_run(void *context)
{
    struct stria_writer *writer = context;
    stria_pump_feed(writer->pump,
                    &(struct stria_event){.kind = STRIA_EVENT_BEGIN, .now_ns = stria_clock_ns()});
    while (!writer->over)
        turn(writer);
    take_snapshot(writer, stria_clock_ns());
    stria_meter_finish(writer->meter, stria_clock_ns());
    pthread_mutex_lock(&writer->lock);
    writer->finished = true;
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

bool stria_writer_settle_array(struct stria_writer *writer)
{
    struct stria_array *array = writer->array;
    bool abandoned = false;
    for (uint32_t index = 0; writer->pump && index < array->member_count; index++) {
        struct stria_drive_status status;
        stria_recorder_drive_status(writer->recorder, index, &status);
        if (status.checkpoint_serial > array->checkpoint_serial)
            array->checkpoint_serial = status.checkpoint_serial;
        if (status.state != STRIA_DRIVE_LOST || !array->members[index].drive)
            continue;
        array->members[index].abandoned = stria_pump_outstanding(writer->pump, index) > 0;
        abandoned |= array->members[index].abandoned;
        stria_array_drop(array, index, stria_code_text(status.code));
    }
    if (writer->pump)
        stria_array_take_stock(array, NULL);
    return abandoned;
}
