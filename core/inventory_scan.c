#include "core/inventory_scan.h"

struct stria_inventory_scan stria_inventory_scan_begin(const struct stria_inventory_input *input,
                                                       uint64_t recording)
{
    struct stria_inventory_scan scan = {.input = input, .recording = recording};
    for (uint32_t drive = 0; drive < input->drive_count; drive++)
        if (input->drives[drive].present && input->drives[drive].geometry->extent_count > scan.position_end)
            scan.position_end = input->drives[drive].geometry->extent_count;
    return scan;
}

static bool look(const struct stria_inventory_scan *scan, struct stria_inventory_found *found)
{
    const struct stria_inventory_drive *drive = &scan->input->drives[scan->drive];
    if (!drive->present || scan->position >= drive->geometry->extent_count)
        return false;
    const uint8_t *bytes = drive->ledger + scan->position * STRIA_LEDGER_ENTRY_BYTES;
    if (scan->recording != 0 && !stria_ledger_may_be_of(bytes, scan->recording))
        return false;
    found->drive = scan->drive;
    found->position = scan->position;
    return stria_ledger_decode(bytes, &found->entry, &drive->binding, scan->position) == STRIA_LEDGER_VALID;
}

bool stria_inventory_scan_next(struct stria_inventory_scan *scan, struct stria_inventory_found *found)
{
    while (scan->position < scan->position_end) {
        const bool here = look(scan, found);
        if (++scan->drive == scan->input->drive_count) {
            scan->drive = 0;
            scan->position++;
        }
        if (here)
            return true;
    }
    return false;
}

bool stria_inventory_found_plausible(const struct stria_inventory_found *found,
                                     const struct stria_recording *recording,
                                     const struct stria_inventory_input *input)
{
    const struct stria_ledger_entry *entry = &found->entry;
    return input->drives[found->drive].geometry->chunk_bytes == recording->chunk_bytes &&
           entry->stream == 0 && entry->length_bytes > 0 && entry->length_bytes <= recording->chunk_bytes &&
           entry->stream_offset % recording->chunk_bytes == 0 &&
           entry->stream_offset <= (uint64_t)INT64_MAX - recording->chunk_bytes &&
           entry->sequence <= entry->stream_offset / recording->chunk_bytes;
}

uint64_t stria_inventory_chunks(uint64_t length_bytes, uint32_t chunk_bytes)
{
    return length_bytes / chunk_bytes + (length_bytes % chunk_bytes != 0);
}

bool stria_inventory_drive_absent(const struct stria_inventory_input *input)
{
    for (uint32_t i = 0; i < input->drive_count; i++)
        if (!input->drives[i].present)
            return true;
    return false;
}
