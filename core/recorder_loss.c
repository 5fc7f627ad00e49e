/* Drives given up, chunks lost, and the entries that name them. */
#include "core/assert.h"
#include "core/recorder_internal.h"

#include <string.h>

/* Entries that LOST ones must leave free in the catalogue: the recording's ENDED. */
#define CATALOGUE_RESERVE 1u

static bool bit_set(const struct stria_catalogue_entry *entry, uint32_t bit)
{
    return entry->lost.bitmap[bit / 8] >> (bit % 8) & 1;
}

static uint64_t sequence_end(const struct stria_recorder *recorder, uint64_t sequence)
{
    return recorder->window.ends[sequence & (recorder->window.capacity - 1)] >> 1;
}

static uint64_t sequence_start(const struct stria_recorder *recorder, uint64_t sequence)
{
    uint64_t last_byte = sequence_end(recorder, sequence) - 1;
    return last_byte - last_byte % recorder->config.chunk_bytes;
}

/* One gap for each run of lost chunks that follow each other in the stream. */
static void tell_entry(struct stria_recorder *recorder, const struct stria_catalogue_entry *entry)
{
    uint32_t bit = recorder->lost_told_bit;
    while (bit < STRIA_LOST_SEQUENCES && stria_recorder_room(recorder, 1)) {
        if (!bit_set(entry, bit)) {
            bit++;
            continue;
        }
        uint64_t sequence = entry->lost.base_sequence + bit;
        struct stria_gap gap = {.offset_bytes = sequence_start(recorder, sequence),
                                .cause = (enum stria_gap_cause)entry->lost.cause,
                                .drive = entry->lost.drive,
                                .time_ns = recorder->now_ns};
        uint64_t end = sequence_end(recorder, sequence);
        for (bit++, sequence++;
             bit < STRIA_LOST_SEQUENCES && bit_set(entry, bit) && sequence_start(recorder, sequence) == end;
             bit++, sequence++)
            end = sequence_end(recorder, sequence);
        gap.length_bytes = end - gap.offset_bytes;
        stria_recorder_emit(recorder, STRIA_ACTION_GAP)->gap = gap;
    }
    recorder->lost_told_bit = bit;
}

static struct unnamed *unnamed_at(const struct stria_recorder *recorder, uint64_t sequence)
{
    return &recorder->unnamed[sequence & (recorder->window.capacity - 1)];
}

/* Keeps what no entry can name until it is told. So long it stays pending in the window, which bounds how
 * much there can be. */
static void keep_unnamed(struct stria_recorder *recorder)
{
    const struct stria_catalogue_lost *lost = &recorder->lost.lost;
    for (uint32_t bit = 0; bit < STRIA_LOST_SEQUENCES; bit++) {
        if (!bit_set(&recorder->lost, bit))
            continue;
        const uint64_t sequence = lost->base_sequence + bit;
        *unnamed_at(recorder, sequence) =
            (struct unnamed){.cause = (uint8_t)lost->cause, .drive = (uint8_t)lost->drive};
        if (recorder->unnamed_count++ == 0 || sequence < recorder->unnamed_next)
            recorder->unnamed_next = sequence;
    }
    recorder->unnamed_ever = true;
}

/* One gap for each run of lost chunks of one cause and drive. They are settled at once: on the media nothing
 * will ever speak of them but a checkpoint that lies beyond. */
static void tell_unnamed(struct stria_recorder *recorder)
{
    while (recorder->unnamed_count > 0 && stria_recorder_room(recorder, 1)) {
        uint64_t first = recorder->unnamed_next;
        while (unnamed_at(recorder, first)->cause == STRIA_GAP_NONE)
            first++;
        STRIA_ASSERT(first < recorder->window.next);
        const struct unnamed kind = *unnamed_at(recorder, first);
        const uint64_t offset_bytes = sequence_start(recorder, first);
        uint64_t end_bytes = offset_bytes;
        uint64_t sequence = first;
        while (sequence < recorder->window.next && unnamed_at(recorder, sequence)->cause == kind.cause &&
               unnamed_at(recorder, sequence)->drive == kind.drive &&
               sequence_start(recorder, sequence) == end_bytes) {
            end_bytes = sequence_end(recorder, sequence);
            unnamed_at(recorder, sequence)->cause = STRIA_GAP_NONE;
            stria_window_settle(&recorder->window, sequence);
            recorder->unnamed_count--;
            sequence++;
        }
        recorder->unnamed_next = sequence;
        stria_recorder_emit(recorder, STRIA_ACTION_GAP)->gap =
            (struct stria_gap){.offset_bytes = offset_bytes,
                               .length_bytes = end_bytes - offset_bytes,
                               .cause = (enum stria_gap_cause)kind.cause,
                               .drive = kind.drive,
                               .time_ns = recorder->now_ns};
    }
}

void stria_recorder_lose_flush(struct stria_recorder *recorder)
{
    if (!recorder->lost_open)
        return;
    recorder->lost_open = false;
    struct stria_catalogue *catalogue = recorder->config.catalogue;
    if (catalogue->entries_max - catalogue->count > CATALOGUE_RESERVE &&
        stria_catalogue_append(catalogue, &recorder->lost) >= 0)
        return;
    /* No room to name them on the media: there they are missing without a cause, and the totals in ENDED tell
     * how much. */
    keep_unnamed(recorder);
}

void stria_recorder_lose(struct stria_recorder *recorder, uint64_t sequence, uint64_t length_bytes,
                         enum stria_gap_cause cause, uint32_t drive)
{
    struct stria_catalogue_lost *lost = &recorder->lost.lost;
    uint64_t base = sequence - sequence % STRIA_LOST_SEQUENCES;
    if (recorder->lost_open &&
        (lost->base_sequence != base || lost->cause != (uint32_t)cause || lost->drive != drive))
        stria_recorder_lose_flush(recorder);
    if (!recorder->lost_open) {
        memset(&recorder->lost, 0, sizeof(recorder->lost));
        recorder->lost.kind = STRIA_CATALOGUE_LOST;
        recorder->lost.recording = recorder->config.recording;
        recorder->lost.wall_ns = recorder->config.wall_ns + (recorder->now_ns - recorder->begun_ns);
        lost->cause = (uint32_t)cause;
        lost->drive = drive;
        lost->base_sequence = base;
        recorder->lost_open = true;
    }
    uint32_t bit = (uint32_t)(sequence - base);
    lost->bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
    recorder->dropped_bytes += length_bytes;
}

/* What a dying drive holds without having committed it cannot be counted on: its slots are gone. */
static void lose_uncommitted(struct stria_recorder *recorder, uint32_t drive_index,
                             enum stria_extent_state state)
{
    struct drive *drive = &recorder->drives[drive_index];
    for (uint64_t position = stria_space_find(&drive->space, 0, state); position != STRIA_SPACE_NONE;
         position = stria_space_find(&drive->space, position + 1, state)) {
        struct stria_ledger_entry entry;
        enum stria_ledger_verdict verdict =
            stria_ledger_decode(drive->config.ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry,
                                &drive->config.binding, position);
        STRIA_ASSERT(verdict == STRIA_LEDGER_VALID);
        stria_space_advance(&drive->space, position, state, STRIA_EXTENT_BAD);
        drive->stored_bytes -= entry.length_bytes;
        drive->lost_bytes += entry.length_bytes;
        recorder->stored_bytes -= entry.length_bytes;
        stria_recorder_lose(recorder, entry.sequence, entry.length_bytes, STRIA_GAP_DRIVE, drive_index);
    }
    stria_recorder_lose_flush(recorder);
}

void stria_recorder_give_up(struct stria_recorder *recorder, uint32_t drive_index, int code)
{
    struct drive *drive = &recorder->drives[drive_index];
    if (drive->state == STRIA_DRIVE_LOST)
        return;
    drive->state = STRIA_DRIVE_LOST;
    drive->code = code;
    drive->give_up_told = false;
    recorder->degraded = true;
    while (drive->writing.count > 0) {
        uint32_t index = drive->writing.first;
        stria_space_advance(&drive->space, recorder->slots[index].position, STRIA_EXTENT_TAKEN,
                            STRIA_EXTENT_BAD);
        stria_slot_list_remove(&drive->writing, recorder->slots, index);
        stria_recorder_requeue(recorder, index, STRIA_PLACEMENT_NONE);
    }
    while (drive->ready.count > 0) {
        uint32_t index = drive->ready.first;
        stria_slot_list_remove(&drive->ready, recorder->slots, index);
        stria_recorder_requeue(recorder, index, STRIA_PLACEMENT_NONE);
    }
    drive->paused = 0;
    drive->cycle.in_flight = drive->cycle.retry = false;
    lose_uncommitted(recorder, drive_index, STRIA_EXTENT_FLUSHING);
    lose_uncommitted(recorder, drive_index, STRIA_EXTENT_STORED);
    drive->stored_extents = 0;
}

void stria_recorder_expire(struct stria_recorder *recorder)
{
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        struct drive *drive = &recorder->drives[index];
        if (drive->state == STRIA_DRIVE_LOST)
            continue;
        uint64_t oldest_ns = recorder->watch.watched_ns;
        if (drive->writing.count > 0)
            oldest_ns = recorder->slots[drive->writing.first].since_ns;
        if ((drive->cycle.in_flight || drive->cycle.retry) && drive->cycle.since_ns < oldest_ns)
            oldest_ns = drive->cycle.since_ns;
        if (stria_watch_over(&recorder->watch, oldest_ns))
            stria_recorder_give_up(recorder, index, STRIA_ERR_TIMEOUT);
    }
}

static bool drive_can_ever_take(const struct stria_recorder *recorder)
{
    for (uint32_t index = 0; index < recorder->drive_count; index++)
        if (recorder->drives[index].state == STRIA_DRIVE_LIVE && !recorder->drives[index].top_exhausted)
            return true;
    return false;
}

/* Chunks for which no drive is left, or none with room, are lost now: waiting would not help. */
void stria_recorder_lose_ready(struct stria_recorder *recorder)
{
    if (recorder->ready.count == 0 || drive_can_ever_take(recorder))
        return;
    enum stria_gap_cause cause = stria_recorder_any_live(recorder) ? STRIA_GAP_FULL : STRIA_GAP_DRIVE;
    while (recorder->ready.count > 0 && stria_recorder_room(recorder, 1)) {
        uint32_t index = recorder->ready.first;
        struct stria_slot *slot = &recorder->slots[index];
        stria_slot_list_remove(&recorder->ready, recorder->slots, index);
        stria_recorder_lose(recorder, slot->sequence, slot->length_bytes, cause, STRIA_GAP_DRIVE_NONE);
        recorder->on_the_way_bytes -= slot->length_bytes;
        slot->state = STRIA_SLOT_FREE;
        stria_recorder_emit(recorder, STRIA_ACTION_RELEASE)->slot = index;
    }
    recorder->full |= cause == STRIA_GAP_FULL;
    stria_recorder_lose_flush(recorder);
}

static bool lost_entry(const struct stria_recorder *recorder, uint32_t index,
                       struct stria_catalogue_entry *entry)
{
    return stria_catalogue_read(recorder->config.catalogue, index, entry) &&
           entry->kind == STRIA_CATALOGUE_LOST && entry->recording == recorder->config.recording;
}

void stria_recorder_tell_losses(struct stria_recorder *recorder)
{
    const struct stria_catalogue *catalogue = recorder->config.catalogue;
    tell_unnamed(recorder);
    while (recorder->lost_told < catalogue->count && stria_recorder_room(recorder, 1)) {
        struct stria_catalogue_entry entry;
        if (lost_entry(recorder, recorder->lost_told, &entry)) {
            tell_entry(recorder, &entry);
            if (recorder->lost_told_bit < STRIA_LOST_SEQUENCES)
                return;
        }
        recorder->lost_told++;
        recorder->lost_told_bit = 0;
    }
}

bool stria_recorder_losses_told(const struct stria_recorder *recorder)
{
    return recorder->unnamed_count == 0 && recorder->lost_told == recorder->config.catalogue->count;
}

/* A loss is settled when it was told and its entry is durable wherever there is a drive to ask. */
void stria_recorder_settle_losses(struct stria_recorder *recorder)
{
    if (!stria_recorder_any_live(recorder))
        return;
    uint32_t durable = stria_recorder_catalogue_durable(recorder);
    while (recorder->lost_settled < durable && recorder->lost_settled < recorder->lost_told) {
        struct stria_catalogue_entry entry;
        if (lost_entry(recorder, recorder->lost_settled, &entry))
            for (uint32_t bit = 0; bit < STRIA_LOST_SEQUENCES; bit++)
                if (bit_set(&entry, bit))
                    stria_window_settle(&recorder->window, entry.lost.base_sequence + bit);
        recorder->lost_settled++;
    }
}

/* A recovery goes from the furthest checkpoint up to the first loss that nothing names. So once there is such
 * a loss, only what the live drives' checkpoints say is safe, wherever the losses lie. */
uint64_t stria_recorder_watermark_bytes(const struct stria_recorder *recorder)
{
    if (!recorder->unnamed_ever)
        return recorder->window.watermark_bytes;
    if (!stria_recorder_any_live(recorder))
        return recorder->watermark_told;
    uint64_t least = UINT64_MAX;
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        const struct drive *drive = &recorder->drives[index];
        if (drive->state != STRIA_DRIVE_LOST && drive->cycle.checkpoint_durable_bytes < least)
            least = drive->cycle.checkpoint_durable_bytes;
    }
    return least > recorder->watermark_told ? least : recorder->watermark_told;
}
