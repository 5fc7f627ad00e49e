/* What can be asked of a recorder: when it is due, how it stands, whether it is sound. */
#include "core/assert.h"
#include "core/recorder_internal.h"

#include <string.h>

bool stria_recorder_accepts(const struct stria_recorder *recorder)
{
    return recorder->state == STRIA_RECORDER_RECORDING && !recorder->end_wanted &&
           !stria_window_full(&recorder->window);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t drive_due_ns(const struct stria_recorder *recorder, const struct drive *drive)
{
    uint64_t due_ns = UINT64_MAX;
    if (drive->writing.count > 0)
        due_ns = stria_watch_due_ns(&recorder->watch, recorder->slots[drive->writing.first].since_ns);
    if (drive->paused > 0)
        due_ns = smaller(due_ns, drive->pause_until_ns);
    if (drive->cycle.in_flight || drive->cycle.retry)
        due_ns = smaller(due_ns, stria_watch_due_ns(&recorder->watch, drive->cycle.since_ns));
    if (drive->cycle.retry)
        due_ns = smaller(due_ns, drive->cycle.retry_ns);
    if (drive->cycle.phase == CYCLE_IDLE &&
        (drive->stored_extents > 0 || stria_recorder_checkpoint_lags(recorder, drive)))
        due_ns = smaller(due_ns, drive->cycle.started_ns + recorder->config.commit_interval_ns);
    return due_ns;
}

uint64_t stria_recorder_due_ns(const struct stria_recorder *recorder)
{
    uint64_t due_ns = UINT64_MAX;
    for (uint32_t index = 0; index < recorder->drive_count; index++)
        if (recorder->drives[index].state != STRIA_DRIVE_LOST)
            due_ns = smaller(due_ns, drive_due_ns(recorder, &recorder->drives[index]));
    return due_ns;
}

bool stria_recorder_saturated(const struct stria_recorder *recorder)
{
    bool live = false;
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->state != STRIA_DRIVE_LIVE)
            continue;
        if (stria_recorder_queue_has_room(recorder, drive))
            return false;
        live = true;
    }
    return live;
}

uint32_t stria_recorder_slots_used(const struct stria_recorder *recorder)
{
    uint32_t used = recorder->ready.count;
    for (uint32_t index = 0; index < recorder->drive_count; index++)
        used += recorder->drives[index].ready.count + recorder->drives[index].writing.count;
    return used;
}

void stria_recorder_status(const struct stria_recorder *recorder, struct stria_recorder_status *status)
{
    *status = (struct stria_recorder_status){
        .state = recorder->state,
        .length_bytes = recorder->length_bytes,
        .stored_bytes = recorder->stored_bytes,
        .dropped_bytes = recorder->dropped_bytes,
        .on_the_way_bytes = recorder->on_the_way_bytes,
        .watermark_bytes = stria_recorder_watermark_bytes(recorder),
        .chunks = recorder->window.next,
        .slots_used = stria_recorder_slots_used(recorder),
        .full = recorder->full,
        .degraded = recorder->degraded || recorder->displaced,
        .displaced = recorder->displaced,
        .off_rows = recorder->off_rows,
        .base_row = recorder->base_row,
    };
}

void stria_recorder_drive_status(const struct stria_recorder *recorder, uint32_t index,
                                 struct stria_drive_status *status)
{
    const struct drive *drive = &recorder->drives[index];
    *status = (struct stria_drive_status){
        .state = drive->state,
        .code = drive->code,
        .stored_bytes = drive->stored_bytes,
        .lost_bytes = drive->lost_bytes,
        .free_extents = drive->space.free,
        .errors = drive->errors,
        .retries = drive->retries,
        .in_flight = drive->writing.count,
        .waiting = drive->ready.count,
        .checkpoint_serial = drive->config.checkpoint_serial,
    };
}

uint32_t stria_recorder_culprit(const struct stria_recorder *recorder)
{
    uint32_t culprit = STRIA_GAP_DRIVE_NONE;
    uint32_t most = 0;
    uint64_t oldest_ns = UINT64_MAX;
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->state == STRIA_DRIVE_LOST || drive->writing.count == 0)
            continue;
        uint32_t held = drive->ready.count + drive->writing.count;
        uint64_t since_ns = recorder->slots[drive->writing.first].since_ns;
        if (held > most || (held == most && since_ns < oldest_ns)) {
            culprit = index;
            most = held;
            oldest_ns = since_ns;
        }
    }
    return culprit;
}

bool stria_recorder_awaits(const struct stria_recorder *recorder, uint64_t tag)
{
    uint32_t drive_index = stria_tag_drive(tag);
    if (drive_index >= recorder->drive_count || recorder->drives[drive_index].state == STRIA_DRIVE_LOST)
        return false;
    if (stria_tag_kind(tag) == TAG_META) {
        const struct cycle *cycle = &recorder->drives[drive_index].cycle;
        return cycle->in_flight && cycle->turn == stria_tag_turn(tag);
    }
    if (stria_tag_kind(tag) != TAG_DATA || stria_tag_slot(tag) >= recorder->config.slot_count)
        return false;
    const struct stria_slot *slot = &recorder->slots[stria_tag_slot(tag)];
    return slot->state == STRIA_SLOT_WRITING && slot->drive == drive_index &&
           slot->turn == stria_tag_turn(tag) && !slot->paused;
}

/* Walks a list both ways; UINT32_MAX if it is not a list of slots in that state. */
static uint32_t list_length(const struct stria_recorder *recorder, const struct stria_slot_list *list,
                            enum stria_slot_state state)
{
    uint32_t length = 0;
    uint32_t previous = STRIA_SLOT_NONE;
    for (uint32_t index = list->first; index != STRIA_SLOT_NONE; index = recorder->slots[index].next) {
        const struct stria_slot *slot = &recorder->slots[index];
        if (slot->previous != previous || slot->state != state || ++length > recorder->config.slot_count)
            return UINT32_MAX;
        previous = index;
    }
    return previous == list->last && length == list->count ? length : UINT32_MAX;
}

static bool slots_sound(const struct stria_recorder *recorder)
{
    uint64_t listed = list_length(recorder, &recorder->ready, STRIA_SLOT_READY);
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->writing.count > drive->config.depth)
            return false;
        listed += (uint64_t)list_length(recorder, &drive->ready, STRIA_SLOT_READY) +
                  list_length(recorder, &drive->writing, STRIA_SLOT_WRITING);
    }
    uint64_t used = 0;
    for (uint32_t index = 0; index < recorder->config.slot_count; index++)
        used += recorder->slots[index].state != STRIA_SLOT_FREE;
    return used == listed;
}

static bool space_sound(const struct drive *drive)
{
    uint64_t count[STRIA_EXTENT_BAD + 1] = {0};
    if (!drive->config.present)
        return true;
    for (uint64_t position = 0; position < drive->space.count; position++) {
        if (drive->space.state[position] > STRIA_EXTENT_BAD)
            return false;
        count[drive->space.state[position]]++;
    }
    return count[STRIA_EXTENT_FREE] == drive->space.free &&
           count[STRIA_EXTENT_TAKEN] == drive->writing.count &&
           count[STRIA_EXTENT_STORED] == drive->stored_extents;
}

bool stria_recorder_sound(const struct stria_recorder *recorder)
{
    uint64_t stored_bytes = 0;
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        if (!space_sound(&recorder->drives[index]))
            return false;
        stored_bytes += recorder->drives[index].stored_bytes;
    }
    return slots_sound(recorder) && stored_bytes == recorder->stored_bytes &&
           recorder->length_bytes ==
               recorder->stored_bytes + recorder->dropped_bytes + recorder->on_the_way_bytes &&
           recorder->watermark_told <= recorder->window.watermark_bytes &&
           recorder->window.watermark_bytes <= recorder->length_bytes;
}
