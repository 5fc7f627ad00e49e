/* Sealing, placement and the completions of payload. */
#include "core/assert.h"
#include "core/digest.h"
#include "core/recorder_internal.h"

static uint32_t padded_bytes(const struct stria_recorder *recorder, uint32_t length_bytes)
{
    uint32_t mask = recorder->config.block_bytes - 1;
    return (length_bytes + mask) & ~mask;
}

static bool fixed_policy(const struct stria_recorder *recorder)
{
    return stria_placement_fixed(recorder->config.policy);
}

static void release(struct stria_recorder *recorder, uint32_t index)
{
    recorder->slots[index].state = STRIA_SLOT_FREE;
    stria_recorder_emit(recorder, STRIA_ACTION_RELEASE)->slot = index;
}

void stria_recorder_rows_begin(struct stria_recorder *recorder)
{
    recorder->base_row = recorder->row = stria_rows_best(&recorder->rows);
    recorder->row_end = recorder->rows.count;
    recorder->row_index = 0;
}

/* The position of the row-th row of this recording; rises from call to call. After the last row of the
 * array come those before the base row, so that nothing is left unused. */
static uint64_t row_position(struct stria_recorder *recorder, uint64_t row_index)
{
    while (recorder->row_index < row_index && recorder->row < recorder->row_end) {
        uint64_t next = stria_rows_next(&recorder->rows, recorder->row + 1, recorder->row_end);
        if (next == recorder->row_end && recorder->row >= recorder->base_row) {
            recorder->row_end = recorder->base_row;
            next = stria_rows_next(&recorder->rows, 0, recorder->row_end);
        }
        recorder->row = next;
        recorder->row_index++;
    }
    return recorder->row;
}

/* Whether one more chunk can be promised a place, as far as can be known now. */
static bool has_place(struct stria_recorder *recorder)
{
    uint64_t unplaced = recorder->ready.count;
    uint64_t free = 0;
    for (uint32_t drive = 0; drive < recorder->drive_count; drive++) {
        const struct drive *d = &recorder->drives[drive];
        unplaced += d->ready.count;
        if (d->state == STRIA_DRIVE_LIVE)
            free += d->space.free;
    }
    if (free <= unplaced)
        return false;
    if (!fixed_policy(recorder))
        return true;
    uint64_t chunk = recorder->length_bytes / recorder->config.chunk_bytes;
    return row_position(recorder, chunk / recorder->drive_count) < recorder->row_end;
}

void stria_recorder_close_gap(struct stria_recorder *recorder)
{
    if (recorder->gap.length_bytes == 0)
        return;
    stria_recorder_emit(recorder, STRIA_ACTION_GAP)->gap = recorder->gap;
    recorder->gap.length_bytes = 0;
}

void stria_recorder_skip(struct stria_recorder *recorder, uint64_t length_bytes, enum stria_gap_cause cause,
                         uint32_t drive)
{
    struct stria_gap *gap = &recorder->gap;
    if (gap->length_bytes > 0 && (gap->cause != cause || gap->drive != drive))
        stria_recorder_close_gap(recorder);
    if (gap->length_bytes == 0)
        *gap = (struct stria_gap){.offset_bytes = recorder->length_bytes,
                                  .cause = cause,
                                  .drive = drive,
                                  .time_ns = recorder->now_ns};
    gap->length_bytes += length_bytes;
    recorder->seal_gap_cause = (uint8_t)cause;
    recorder->seal_gap_drive = (uint8_t)drive;
    recorder->length_bytes += length_bytes;
    recorder->dropped_bytes += length_bytes;
}

/* A committed chunk that has no place becomes a gap at once: it is never sealed. */
static void turn_away(struct stria_recorder *recorder, uint32_t index)
{
    bool live = stria_recorder_any_live(recorder);
    recorder->full |= live;
    stria_recorder_skip(recorder, recorder->slots[index].length_bytes,
                        live ? STRIA_GAP_FULL : STRIA_GAP_DRIVE, STRIA_GAP_DRIVE_NONE);
    release(recorder, index);
}

static void seal(struct stria_recorder *recorder, uint32_t index)
{
    struct stria_slot *slot = &recorder->slots[index];
    stria_recorder_close_gap(recorder);
    slot->gap_cause = recorder->seal_gap_cause;
    slot->gap_drive = recorder->seal_gap_cause ? recorder->seal_gap_drive : STRIA_GAP_DRIVE_NONE;
    recorder->seal_gap_cause = 0;
    slot->stream_offset = recorder->length_bytes;
    recorder->length_bytes += slot->length_bytes;
    recorder->on_the_way_bytes += slot->length_bytes;
    slot->sequence = stria_window_seal(&recorder->window, recorder->length_bytes);
    slot->state = STRIA_SLOT_READY;
    slot->avoid = STRIA_SLOT_ANY;
    slot->home = STRIA_SLOT_ANY;
    slot->digest_known = false;
    slot->written_bytes = 0;
    if (fixed_policy(recorder)) {
        struct stria_raid0_place place =
            stria_raid0_place(slot->stream_offset / recorder->config.chunk_bytes, recorder->drive_count);
        slot->row = row_position(recorder, place.row);
        recorder->off_rows |= slot->row != recorder->base_row + place.row;
        if (recorder->drives[place.drive].state == STRIA_DRIVE_LIVE)
            slot->home = (uint8_t)place.drive;
    }
    struct stria_slot_list *list =
        slot->home == STRIA_SLOT_ANY ? &recorder->ready : &recorder->drives[slot->home].ready;
    stria_slot_list_append(list, recorder->slots, index);
}

void stria_recorder_commit(struct stria_recorder *recorder, const struct stria_event *event)
{
    STRIA_ASSERT(event->slot < recorder->config.slot_count && stria_recorder_accepts(recorder));
    struct stria_slot *slot = &recorder->slots[event->slot];
    STRIA_ASSERT(slot->state == STRIA_SLOT_FREE && !recorder->tail_seen);
    STRIA_ASSERT(event->length_bytes > 0 && event->length_bytes <= recorder->config.chunk_bytes);
    uint64_t captured_ns = event->captured_ns ? event->captured_ns : event->now_ns;
    slot->captured_ns = captured_ns > recorder->begun_ns ? captured_ns - recorder->begun_ns : 0;
    slot->length_bytes = (uint32_t)event->length_bytes;
    recorder->tail_seen = event->length_bytes < recorder->config.chunk_bytes;
    if (has_place(recorder))
        seal(recorder, event->slot);
    else
        turn_away(recorder, event->slot);
}

static void submit(struct stria_recorder *recorder, uint32_t index)
{
    struct stria_slot *slot = &recorder->slots[index];
    const struct drive *drive = &recorder->drives[slot->drive];
    struct stria_action *action = stria_recorder_emit(recorder, STRIA_ACTION_WRITE);
    slot->paused = false;
    slot->turn++;
    action->drive = slot->drive;
    action->slot = index;
    action->slot_offset = slot->written_bytes;
    action->tag = stria_tag(TAG_DATA, slot->drive, slot->turn, index);
    action->offset =
        stria_geometry_extent_offset(&drive->config.geometry, slot->position) + slot->written_bytes;
    action->length_bytes = padded_bytes(recorder, slot->length_bytes) - slot->written_bytes;
    action->digest_wanted = recorder->config.digest && !slot->digest_known;
    action->digest_bytes = slot->length_bytes;
    action->digest_seed = stria_digest_seed(recorder->config.recording, slot->sequence);
}

static void start_write(struct stria_recorder *recorder, struct stria_slot_list *list, uint32_t index,
                        uint32_t drive_index, uint64_t position)
{
    struct drive *drive = &recorder->drives[drive_index];
    struct stria_slot *slot = &recorder->slots[index];
    stria_slot_list_remove(list, recorder->slots, index);
    stria_slot_list_append(&drive->writing, recorder->slots, index);
    drive->taken++;
    if (drive->space.free == 0 && drive->state == STRIA_DRIVE_LIVE)
        drive->state = STRIA_DRIVE_FULL;
    slot->state = STRIA_SLOT_WRITING;
    slot->drive = (uint8_t)drive_index;
    slot->position = position;
    slot->written_bytes = 0;
    slot->shorts = 0;
    slot->since_ns = recorder->watch.watched_ns;
    submit(recorder, index);
}

bool stria_recorder_queue_has_room(const struct stria_recorder *recorder, const struct drive *drive)
{
    return drive->state != STRIA_DRIVE_LOST && drive->writing.count < drive->config.depth &&
           (drive->paused == 0 || recorder->now_ns >= drive->pause_until_ns);
}

/* RAID0: the chunks whose own place is on this drive, in order. */
static void place_own(struct stria_recorder *recorder, uint32_t drive_index)
{
    struct drive *drive = &recorder->drives[drive_index];
    while (drive->ready.count > 0 && stria_recorder_queue_has_room(recorder, drive) &&
           stria_recorder_room(recorder, 1)) {
        uint32_t index = drive->ready.first;
        uint64_t row = recorder->slots[index].row;
        if (stria_space_take_at(&drive->space, row)) {
            start_write(recorder, &drive->ready, index, drive_index, row);
            continue;
        }
        stria_slot_list_remove(&drive->ready, recorder->slots, index);
        stria_recorder_requeue(recorder, index, STRIA_PLACEMENT_NONE);
    }
}

static uint32_t choose(const struct stria_recorder *recorder, uint32_t avoid)
{
    struct stria_share shares[STRIA_DRIVES_MAX];
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        shares[index] = (struct stria_share){
            .can_take = drive->state == STRIA_DRIVE_LIVE && !drive->top_exhausted &&
                        stria_recorder_queue_has_room(recorder, drive),
            .taken = drive->taken,
            .left = drive->left_at_start,
        };
    }
    return stria_placement_choose(shares, recorder->drive_count,
                                  avoid == STRIA_SLOT_ANY ? STRIA_PLACEMENT_NONE : avoid);
}

static void place_anywhere(struct stria_recorder *recorder)
{
    while (recorder->ready.count > 0 && stria_recorder_room(recorder, 1)) {
        uint32_t index = recorder->ready.first;
        uint32_t chosen = choose(recorder, recorder->slots[index].avoid);
        if (chosen == STRIA_PLACEMENT_NONE)
            return;
        struct drive *drive = &recorder->drives[chosen];
        uint64_t position = fixed_policy(recorder) ? stria_space_take_high(&drive->space)
                                                   : stria_space_take_low(&drive->space);
        if (position == STRIA_SPACE_NONE) {
            drive->top_exhausted = true;
            continue;
        }
        recorder->displaced |= fixed_policy(recorder);
        start_write(recorder, &recorder->ready, index, chosen, position);
    }
}

static void resubmit_paused(struct stria_recorder *recorder, struct drive *drive)
{
    if (drive->paused == 0 || recorder->now_ns < drive->pause_until_ns)
        return;
    for (uint32_t index = drive->writing.first; index != STRIA_SLOT_NONE && drive->paused > 0;
         index = recorder->slots[index].next) {
        if (!recorder->slots[index].paused)
            continue;
        if (!stria_recorder_room(recorder, 1))
            return;
        drive->paused--;
        submit(recorder, index);
    }
}

void stria_recorder_place_all(struct stria_recorder *recorder)
{
    for (uint32_t drive = 0; drive < recorder->drive_count; drive++) {
        resubmit_paused(recorder, &recorder->drives[drive]);
        place_own(recorder, drive);
    }
    place_anywhere(recorder);
}

/* Puts a chunk that has no drive now among those that any drive may take. */
void stria_recorder_requeue(struct stria_recorder *recorder, uint32_t index, uint32_t avoid)
{
    struct stria_slot *slot = &recorder->slots[index];
    slot->state = STRIA_SLOT_READY;
    slot->home = STRIA_SLOT_ANY;
    slot->avoid = avoid == STRIA_PLACEMENT_NONE ? STRIA_SLOT_ANY : (uint8_t)avoid;
    stria_slot_list_insert(&recorder->ready, recorder->slots, index);
}

static void write_succeeded(struct stria_recorder *recorder, struct drive *drive, uint32_t index)
{
    struct stria_slot *slot = &recorder->slots[index];
    struct stria_ledger_entry entry = {
        .stream = recorder->config.stream,
        .gap_cause = slot->gap_cause,
        .gap_drive = slot->gap_drive,
        .recording = recorder->config.recording,
        .sequence = slot->sequence,
        .stream_offset = slot->stream_offset,
        .length_bytes = slot->length_bytes,
        .captured_ns = slot->captured_ns,
        .digest = slot->digest,
    };
    stria_ledger_encode(drive->config.ledger + slot->position * STRIA_LEDGER_ENTRY_BYTES, &entry,
                        &drive->config.binding, slot->position);
    stria_space_advance(&drive->space, slot->position, STRIA_EXTENT_TAKEN, STRIA_EXTENT_STORED);
    stria_slot_list_remove(&drive->writing, recorder->slots, index);
    drive->stored_extents++;
    drive->stored_bytes += slot->length_bytes;
    drive->errors_in_row = 0;
    recorder->stored_bytes += slot->length_bytes;
    recorder->on_the_way_bytes -= slot->length_bytes;
    release(recorder, index);
}

static void write_failed(struct stria_recorder *recorder, uint32_t drive_index, uint32_t index, int code)
{
    struct drive *drive = &recorder->drives[drive_index];
    stria_space_advance(&drive->space, recorder->slots[index].position, STRIA_EXTENT_TAKEN, STRIA_EXTENT_BAD);
    stria_slot_list_remove(&drive->writing, recorder->slots, index);
    stria_recorder_requeue(recorder, index, drive_index);
    drive->errors++;
    drive->errors_in_row++;
    bool gone = code == STRIA_ERR_GONE || (code == STRIA_ERR_NO_SPACE && drive->config.no_space_is_loss);
    if (gone || drive->errors_in_row >= recorder->config.errors_max)
        stria_recorder_give_up(recorder, drive_index, gone ? STRIA_ERR_GONE : code);
}

/* Not the drive's fault: the same request goes again, after a pause; the deadline bounds it. */
static void write_again(struct stria_recorder *recorder, struct drive *drive, uint32_t index)
{
    drive->retries++;
    drive->paused++;
    drive->pause_until_ns = recorder->now_ns + STRIA_AGAIN_PAUSE_NS;
    recorder->slots[index].paused = true;
}

/* Goes on from the last whole block; each time must bring some. Returns false if it does not. */
static bool write_shortened(struct stria_recorder *recorder, struct drive *drive, uint32_t index,
                            uint64_t bytes)
{
    struct stria_slot *slot = &recorder->slots[index];
    uint32_t progress = (uint32_t)bytes & ~(recorder->config.block_bytes - 1);
    if (progress == 0 || ++slot->shorts > STRIA_SHORTS_MAX)
        return false;
    drive->retries++;
    slot->written_bytes += progress;
    submit(recorder, index);
    return true;
}

void stria_recorder_data_done(struct stria_recorder *recorder, const struct stria_event *event)
{
    uint32_t index = stria_tag_slot(event->tag);
    uint32_t drive_index = stria_tag_drive(event->tag);
    if (!stria_recorder_awaits(recorder, event->tag))
        return;
    struct drive *drive = &recorder->drives[drive_index];
    struct stria_slot *slot = &recorder->slots[index];
    uint32_t wanted = padded_bytes(recorder, slot->length_bytes) - slot->written_bytes;
    if (event->code == STRIA_OK && event->bytes <= wanted && !slot->digest_known) {
        slot->digest = event->digest;
        slot->digest_known = true;
    }
    if (event->code == STRIA_OK && event->bytes == wanted)
        write_succeeded(recorder, drive, index);
    else if (event->code == STRIA_ERR_AGAIN)
        write_again(recorder, drive, index);
    else if (event->code == STRIA_OK && event->bytes < wanted) {
        if (!write_shortened(recorder, drive, index, event->bytes))
            write_failed(recorder, drive_index, index, STRIA_ERR_NO_SPACE);
    } else
        write_failed(recorder, drive_index, index, event->code == STRIA_OK ? STRIA_ERR_IO : event->code);
}
