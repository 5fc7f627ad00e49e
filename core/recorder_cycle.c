/* Commit cycles: how chunks that are written become durable, each drive at its own pace. */
#include "core/assert.h"
#include "core/checkpoint.h"
#include "core/recorder_internal.h"

#include <string.h>

static void emit_request(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct cycle *cycle = &recorder->drives[drive_index].cycle;
    cycle->turn++;
    cycle->in_flight = true;
    cycle->retry = false;
    cycle->request.drive = drive_index;
    cycle->request.tag = stria_tag(TAG_META, drive_index, cycle->turn, 0);
    struct stria_action *action = stria_recorder_emit(recorder, cycle->request.kind);
    *action = cycle->request;
}

static void start_request(struct stria_recorder *recorder, uint32_t drive_index, struct stria_action request)
{
    struct cycle *cycle = &recorder->drives[drive_index].cycle;
    cycle->request = request;
    cycle->attempts = 0;
    cycle->since_ns = recorder->watch.watched_ns;
    emit_request(recorder, drive_index);
}

static void start_flush(struct stria_recorder *recorder, uint32_t drive_index)
{
    start_request(recorder, drive_index, (struct stria_action){.kind = STRIA_ACTION_FLUSH});
}

static void start_write(struct stria_recorder *recorder, uint32_t drive_index, uint64_t offset, void *data,
                        uint64_t length_bytes)
{
    start_request(
        recorder, drive_index,
        (struct stria_action){
            .kind = STRIA_ACTION_WRITE_META, .offset = offset, .data = data, .length_bytes = length_bytes});
}

/* An entry may go to the media only when its payload is durable: the others of its page stay blank. */
static bool entry_may_be_written(uint8_t state)
{
    return state == STRIA_EXTENT_USED || state == STRIA_EXTENT_FLUSHING || state == STRIA_EXTENT_COMMITTED;
}

static bool page_has_flushing(const struct drive *drive, uint64_t page)
{
    uint64_t end = (page + 1) * STRIA_LEDGER_PAGE_ENTRIES;
    for (uint64_t position = page * STRIA_LEDGER_PAGE_ENTRIES;
         position < end && position < drive->space.count; position++)
        if (drive->space.state[position] == STRIA_EXTENT_FLUSHING)
            return true;
    return false;
}

static void stage_page(const struct drive *drive, uint64_t page, uint8_t *out)
{
    memset(out, 0, STRIA_PAGE_BYTES);
    for (uint32_t index = 0; index < STRIA_LEDGER_PAGE_ENTRIES; index++) {
        uint64_t position = page * STRIA_LEDGER_PAGE_ENTRIES + index;
        if (position < drive->space.count && entry_may_be_written(drive->space.state[position]))
            memcpy(out + index * STRIA_LEDGER_ENTRY_BYTES,
                   drive->config.ledger + position * STRIA_LEDGER_ENTRY_BYTES, STRIA_LEDGER_ENTRY_BYTES);
    }
}

/* Writes the next run of ledger pages that this cycle changed; false when none is left. */
static bool write_ledger(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    uint64_t position = stria_space_find(&drive->space, drive->cycle.ledger_next, STRIA_EXTENT_FLUSHING);
    if (position == STRIA_SPACE_NONE)
        return false;
    uint64_t first = position / STRIA_LEDGER_PAGE_ENTRIES;
    uint32_t pages = 0;
    do {
        stage_page(drive, first + pages, drive->config.staging + pages * STRIA_PAGE_BYTES);
        pages++;
    } while (pages < STRIA_STAGING_PAGES && page_has_flushing(drive, first + pages));
    drive->cycle.ledger_next = (first + pages) * STRIA_LEDGER_PAGE_ENTRIES;
    start_write(recorder, drive_index, drive->config.geometry.ledger_offset + first * STRIA_PAGE_BYTES,
                drive->config.staging, (uint64_t)pages * STRIA_PAGE_BYTES);
    return true;
}

/* Writes the next catalogue pages that this drive has not got; false when none is left. A copy, as entries
 * are appended to the image while it is under way. */
static bool write_catalogue(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    struct cycle *cycle = &drive->cycle;
    const struct stria_catalogue *catalogue = recorder->config.catalogue;
    const uint32_t cells_per_page = STRIA_PAGE_BYTES / STRIA_CATALOGUE_ENTRY_BYTES;
    uint32_t count = cycle->catalogue_target - cycle->catalogue_next;
    if (count == 0)
        return false;
    const uint32_t room = STRIA_STAGING_PAGES * cells_per_page - cycle->catalogue_next % cells_per_page;
    if (count > room)
        count = room;
    const struct stria_catalogue_pages pages =
        stria_catalogue_pages(catalogue, &drive->config.geometry, cycle->catalogue_next, count);
    memcpy(drive->config.staging, catalogue->image + pages.image_offset_bytes, pages.length_bytes);
    cycle->catalogue_next += count;
    start_write(recorder, drive_index, pages.drive_offset_bytes, drive->config.staging, pages.length_bytes);
    return true;
}

static void write_checkpoint(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    uint8_t *page = drive->config.staging + STRIA_STAGING_PAGES * STRIA_PAGE_BYTES;
    struct stria_checkpoint checkpoint = {
        .serial = ++drive->config.checkpoint_serial,
        .recording = recorder->config.recording,
        .stream = recorder->config.stream,
        .watermark_bytes = recorder->window.watermark_bytes,
        .watermark_sequence = recorder->window.first,
        .length_bytes = recorder->length_bytes,
        .stored_bytes = recorder->stored_bytes,
        .dropped_bytes = recorder->dropped_bytes,
        .wall_ns = recorder->config.wall_ns + (recorder->now_ns - recorder->begun_ns),
    };
    stria_checkpoint_encode(page, &checkpoint, &drive->config.binding);
    drive->cycle.checkpoint_bytes = checkpoint.watermark_bytes;
    start_write(recorder, drive_index,
                drive->config.geometry.checkpoint_offset +
                    (uint64_t)stria_checkpoint_page(checkpoint.serial) * STRIA_PAGE_BYTES,
                page, STRIA_PAGE_BYTES);
}

/* The cycle's chunks survive a power cut from now on. */
static void finish_cycle(struct stria_recorder *recorder, struct drive *drive)
{
    struct stria_space *space = &drive->space;
    for (uint64_t position = stria_space_find(space, 0, STRIA_EXTENT_FLUSHING); position != STRIA_SPACE_NONE;
         position = stria_space_find(space, position + 1, STRIA_EXTENT_FLUSHING)) {
        struct stria_ledger_entry entry;
        enum stria_ledger_verdict verdict =
            stria_ledger_decode(drive->config.ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry,
                                &drive->config.binding, position);
        STRIA_ASSERT(verdict == STRIA_LEDGER_VALID);
        stria_space_advance(space, position, STRIA_EXTENT_FLUSHING, STRIA_EXTENT_COMMITTED);
        stria_window_settle(&recorder->window, entry.sequence);
    }
    stria_space_settle(space);
    drive->cycle.catalogue_durable = drive->cycle.catalogue_target;
    drive->cycle.checkpoint_durable_bytes = drive->cycle.checkpoint_bytes;
    drive->cycle.phase = CYCLE_IDLE;
}

/* Whether the watermark waits for a checkpoint on this drive. */
bool stria_recorder_checkpoint_lags(const struct stria_recorder *recorder, const struct drive *drive)
{
    return recorder->unnamed_ever &&
           drive->cycle.checkpoint_durable_bytes != recorder->window.watermark_bytes;
}

/* Half a window of chunks has been sealed since the drive's last cycle began, or nothing more can be before
 * chunks are settled: to wait for the interval would stop the recording. */
static bool window_presses(const struct stria_recorder *recorder, const struct drive *drive)
{
    return recorder->window.next - drive->cycle.sealed_before >= recorder->window.capacity / 2 ||
           stria_window_full(&recorder->window);
}

static bool cycle_due(const struct stria_recorder *recorder, const struct drive *drive)
{
    if (recorder->config.catalogue->count != drive->cycle.catalogue_durable)
        return true;
    if (drive->stored_extents == 0 && !stria_recorder_checkpoint_lags(recorder, drive))
        return false;
    return recorder->state == STRIA_RECORDER_DRAINING || window_presses(recorder, drive) ||
           recorder->now_ns - drive->cycle.started_ns >= recorder->config.commit_interval_ns;
}

static void begin_cycle(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    drive->cycle.started_ns = recorder->now_ns;
    drive->cycle.sealed_before = recorder->window.next;
    drive->cycle.ledger_next = 0;
    stria_space_advance_all(&drive->space, STRIA_EXTENT_STORED, STRIA_EXTENT_FLUSHING);
    if (drive->stored_extents > 0) {
        drive->cycle.phase = CYCLE_FLUSH_DATA;
        start_flush(recorder, drive_index);
    } else {
        drive->cycle.phase = CYCLE_LEDGER;
    }
    drive->stored_extents = 0;
}

/* Goes from phase to phase until a request is in flight, or the cycle is over. */
static void run_cycle(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    struct cycle *cycle = &drive->cycle;
    if (cycle->retry) {
        if (recorder->now_ns >= cycle->retry_ns && stria_recorder_room(recorder, 1))
            emit_request(recorder, drive_index);
        return;
    }
    /* When a cycle ends the next may be due at once: nothing else might come to start it. */
    while (!cycle->in_flight && stria_recorder_room(recorder, 1)) {
        switch (cycle->phase) {
        case CYCLE_IDLE:
            if (!cycle_due(recorder, drive))
                return;
            begin_cycle(recorder, drive_index);
            break;
        case CYCLE_FLUSH_DATA:
            cycle->phase = CYCLE_LEDGER;
            break;
        case CYCLE_LEDGER:
            if (write_ledger(recorder, drive_index))
                break;
            cycle->phase = CYCLE_CATALOGUE;
            cycle->catalogue_target = recorder->config.catalogue->count;
            cycle->catalogue_next = cycle->catalogue_durable;
            break;
        case CYCLE_CATALOGUE:
            if (!write_catalogue(recorder, drive_index))
                cycle->phase = CYCLE_CHECKPOINT;
            break;
        case CYCLE_CHECKPOINT:
            cycle->phase = CYCLE_FLUSH_META;
            write_checkpoint(recorder, drive_index);
            break;
        case CYCLE_FLUSH_META:
            cycle->phase = CYCLE_DONE;
            start_flush(recorder, drive_index);
            break;
        case CYCLE_DONE:
            finish_cycle(recorder, drive);
            break;
        }
    }
}

void stria_recorder_cycles(struct stria_recorder *recorder)
{
    for (uint32_t drive = 0; drive < recorder->drive_count; drive++)
        if (recorder->drives[drive].state != STRIA_DRIVE_LOST)
            run_cycle(recorder, drive);
}

bool stria_recorder_cycles_idle(const struct stria_recorder *recorder)
{
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->state != STRIA_DRIVE_LOST &&
            (drive->cycle.phase != CYCLE_IDLE || drive->stored_extents > 0))
            return false;
    }
    return true;
}

uint32_t stria_recorder_catalogue_durable(const struct stria_recorder *recorder)
{
    uint32_t durable = UINT32_MAX;
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->state != STRIA_DRIVE_LOST && drive->cycle.catalogue_durable < durable)
            durable = drive->cycle.catalogue_durable;
    }
    return durable;
}

void stria_recorder_meta_done(struct stria_recorder *recorder, const struct stria_event *event)
{
    uint32_t drive_index = stria_tag_drive(event->tag);
    if (!stria_recorder_awaits(recorder, event->tag))
        return;
    struct drive *drive = &recorder->drives[drive_index];
    struct cycle *cycle = &drive->cycle;
    cycle->in_flight = false;
    bool flush = cycle->request.kind == STRIA_ACTION_FLUSH;
    if (event->code == STRIA_OK && (flush || event->bytes == cycle->request.length_bytes))
        return;
    bool again = event->code == STRIA_ERR_AGAIN;
    if (!again) {
        drive->errors++;
        cycle->attempts++;
    }
    /* After a flush has failed nobody knows what the drive kept: repeating it would prove nothing. */
    if ((flush && !again) || event->code == STRIA_ERR_GONE || cycle->attempts >= STRIA_META_ATTEMPTS_MAX) {
        stria_recorder_give_up(recorder, drive_index, event->code == STRIA_OK ? STRIA_ERR_IO : event->code);
        return;
    }
    drive->retries++;
    cycle->retry = true;
    cycle->retry_ns = recorder->now_ns + STRIA_AGAIN_PAUSE_NS;
}
