#include "core/inventory.h"

#include "core/assert.h"
#include "core/code.h"
#include "core/inventory_scan.h"
#include "core/name.h"
#include "core/sort.h"

#include <string.h>

uint32_t stria_inventory_recordings_max(const struct stria_catalogue *catalogue)
{
    uint32_t count = 0;
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);)
        count += entry.kind == STRIA_CATALOGUE_BEGUN;
    return count;
}

/* The lowest place in the table whose id is not below the given one. */
static uint32_t place_of(const struct stria_inventory *inventory, uint64_t id)
{
    uint32_t low = 0, high = inventory->recording_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (inventory->recordings[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stria_recording *entry_of(const struct stria_inventory *inventory, uint64_t id)
{
    const uint32_t place = place_of(inventory, id);
    if (place == inventory->recording_count || inventory->recordings[place].id != id)
        return NULL;
    return &inventory->recordings[place];
}

/* Of two beginnings of one id, which only replicas that went separate ways can have, the earlier counts. */
static bool before(const void *a, const void *b)
{
    const struct stria_recording *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id;
    if (left->started_unix_ns != right->started_unix_ns)
        return left->started_unix_ns < right->started_unix_ns;
    return memcmp(left->name, right->name, STRIA_NAME_BYTES) < 0;
}

static int table_begin(struct stria_inventory *inventory, const struct stria_catalogue *catalogue,
                       uint32_t capacity)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);) {
        if (entry.kind != STRIA_CATALOGUE_BEGUN)
            continue;
        if (inventory->recording_count == capacity)
            return STRIA_ERR_NO_MEMORY;
        struct stria_recording *recording = &inventory->recordings[inventory->recording_count++];
        *recording = (struct stria_recording){
            .id = entry.recording,
            .policy = entry.begun.policy,
            .chunk_bytes = entry.begun.chunk_bytes,
            .base_row = entry.begun.base_row,
            .started_unix_ns = entry.wall_ns,
            .gap_drive = STRIA_GAP_DRIVE_NONE,
        };
        memcpy(recording->name, entry.begun.name, STRIA_NAME_BYTES);
    }
    stria_sort(inventory->recordings, inventory->recording_count, sizeof(struct stria_recording), before);
    return STRIA_OK;
}

static void drop_doubled(struct stria_inventory *inventory)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < inventory->recording_count; i++)
        if (kept == 0 || inventory->recordings[i].id != inventory->recordings[kept - 1].id)
            inventory->recordings[kept++] = inventory->recordings[i];
    inventory->recording_count = kept;
}

/* A recording's own chunk size is never 0, so that this can stand for removed while the table is made. */
#define REMOVED 0u

static void drop_removed(struct stria_inventory *inventory)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < inventory->recording_count; i++)
        if (inventory->recordings[i].chunk_bytes != REMOVED)
            inventory->recordings[kept++] = inventory->recordings[i];
    inventory->recording_count = kept;
}

static void end_of(struct stria_recording *recording, const struct stria_catalogue_ended *ended)
{
    if (ended->sequence_count > stria_inventory_chunks(ended->length_bytes, recording->chunk_bytes))
        return;
    recording->complete = true;
    recording->length_bytes = ended->length_bytes;
    recording->stored_bytes = ended->stored_bytes;
    recording->dropped_bytes = ended->dropped_bytes;
    recording->sequence_count = ended->sequence_count;
    recording->duration_ns = ended->duration_ns;
    recording->ended_flags = ended->flags;
    recording->gap_cause = ended->gap_cause;
    recording->gap_drive = ended->gap_drive;
}

static void apply_catalogue(struct stria_inventory *inventory, const struct stria_catalogue *catalogue)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);) {
        struct stria_recording *recording = entry_of(inventory, entry.recording);
        if (!recording || recording->chunk_bytes == REMOVED)
            continue;
        if (entry.kind == STRIA_CATALOGUE_REMOVED)
            recording->chunk_bytes = REMOVED;
        else if (entry.kind == STRIA_CATALOGUE_ENDED)
            end_of(recording, &entry.ended);
        else if (entry.kind == STRIA_CATALOGUE_LOST)
            recording->lost_entry_count++;
    }
    drop_removed(inventory);
}

static void id_seen(struct stria_inventory *inventory, uint64_t id)
{
    if (id != UINT64_MAX && id >= inventory->next_recording)
        inventory->next_recording = id + 1;
}

static void extent_seen(struct stria_inventory *inventory, const struct stria_ledger_entry *entry)
{
    id_seen(inventory, entry->recording);
    struct stria_recording *recording = entry_of(inventory, entry->recording);
    if (!recording)
        return;
    if (recording->extent_count == 0 || entry->sequence < recording->sequence_first)
        recording->sequence_first = entry->sequence;
    if (recording->extent_count == 0 || entry->sequence > recording->sequence_last)
        recording->sequence_last = entry->sequence;
    recording->extent_count++;
}

static void read_drive(struct stria_inventory *inventory, const struct stria_inventory_drive *drive)
{
    if (drive->checkpoint_valid) {
        id_seen(inventory, drive->checkpoint.recording);
        if (drive->checkpoint.serial > inventory->checkpoint_serial)
            inventory->checkpoint_serial = drive->checkpoint.serial;
    }
    for (uint64_t position = 0; position < drive->geometry->extent_count; position++) {
        struct stria_ledger_entry entry;
        const enum stria_ledger_verdict verdict = stria_ledger_decode(
            drive->ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry, &drive->binding, position);
        if (verdict == STRIA_LEDGER_VALID)
            extent_seen(inventory, &entry);
        else
            inventory->entries_damaged += verdict == STRIA_LEDGER_DAMAGED;
    }
}

int stria_inventory_build(struct stria_inventory *inventory, const struct stria_inventory_input *input,
                          struct stria_recording *table, uint32_t capacity,
                          uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES])
{
    STRIA_ASSERT(input->drive_count > 0 && input->drive_count <= STRIA_DRIVES_MAX);
    *inventory = (struct stria_inventory){
        .recordings = table,
        .next_recording = input->catalogue->next_recording,
    };
    const int code = table_begin(inventory, input->catalogue, capacity);
    if (code)
        return code;
    drop_doubled(inventory);
    apply_catalogue(inventory, input->catalogue);
    for (uint32_t drive = 0; drive < input->drive_count; drive++)
        if (input->drives[drive].present)
            read_drive(inventory, &input->drives[drive]);
    for (uint32_t i = 0; i < inventory->recording_count; i++)
        if (!inventory->recordings[i].complete)
            stria_inventory_recover(&inventory->recordings[i], input, scratch);
    return STRIA_OK;
}

const struct stria_recording *stria_inventory_find(const struct stria_inventory *inventory, const char *name)
{
    char wanted[STRIA_NAME_BYTES];
    if (stria_name_set(wanted, name))
        return NULL;
    for (uint32_t i = inventory->recording_count; i > 0; i--)
        if (stria_name_equal(inventory->recordings[i - 1].name, wanted))
            return &inventory->recordings[i - 1];
    return NULL;
}

const struct stria_recording *stria_inventory_find_id(const struct stria_inventory *inventory, uint64_t id)
{
    return entry_of(inventory, id);
}

uint64_t stria_inventory_used(const struct stria_inventory *inventory,
                              const struct stria_inventory_input *input, uint32_t drive, uint8_t *bitmap)
{
    STRIA_ASSERT(drive < input->drive_count);
    const struct stria_inventory_drive *from = &input->drives[drive];
    if (!from->present)
        return 0;
    const uint64_t extent_count = from->geometry->extent_count;
    memset(bitmap, 0, (size_t)((extent_count + 7) / 8));
    uint64_t used = 0;
    for (uint64_t position = 0; position < extent_count; position++) {
        struct stria_ledger_entry entry;
        if (stria_ledger_decode(from->ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry, &from->binding,
                                position) != STRIA_LEDGER_VALID ||
            !entry_of(inventory, entry.recording))
            continue;
        bitmap[position / 8] |= (uint8_t)(1u << position % 8);
        used++;
    }
    return used;
}
