#include "core/code.h"
#include "core/inventory_scan.h"
#include "core/policy.h"

/* What cannot be told from the catalogue of a recording that was cut off: whether it left its policy. */
static bool is_plain_raid0(const struct stria_recording *recording, const struct stria_inventory_input *input)
{
    struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
    for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);) {
        if (!stria_inventory_found_plausible(&found, recording, input) ||
            found.entry.sequence >= recording->sequence_count)
            continue;
        const struct stria_raid0_place place =
            stria_raid0_place(found.entry.stream_offset / recording->chunk_bytes, input->drive_count);
        if (found.drive != place.drive || found.position != recording->base_row + place.row)
            return false;
    }
    return true;
}

static struct stria_catalogue_entry end_of(const struct stria_recording *recording,
                                           const struct stria_inventory_input *input, uint64_t wall_ns)
{
    const bool displaced = recording->policy == STRIA_POLICY_RAID0 && !is_plain_raid0(recording, input);
    return (struct stria_catalogue_entry){
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = recording->id,
        .wall_ns = wall_ns,
        .ended = {.length_bytes = recording->length_bytes,
                  .stored_bytes = recording->stored_bytes,
                  .dropped_bytes = recording->dropped_bytes,
                  .sequence_count = recording->sequence_count,
                  .flags = displaced ? STRIA_ENDED_NOT_RAID0 : 0,
                  .gap_drive = STRIA_GAP_DRIVE_NONE},
    };
}

/* What the catalogue has to say of a recording without an end before another one replaces its checkpoints:
 * its end or, while a drive is absent, how far it is known to have come. False when it says so already. */
static bool what_to_say(const struct stria_recording *recording, const struct stria_inventory_input *input,
                        uint64_t wall_ns, struct stria_catalogue_entry *entry)
{
    if (recording->complete)
        return false;
    if (!stria_inventory_drive_absent(input)) {
        *entry = end_of(recording, input, wall_ns);
        return true;
    }
    *entry = (struct stria_catalogue_entry){
        .kind = STRIA_CATALOGUE_REACHED,
        .recording = recording->id,
        .wall_ns = wall_ns,
        .reached = stria_inventory_reached(recording, input),
    };
    return entry->reached.watermark_bytes >
           stria_inventory_noted(recording, input->catalogue).watermark_bytes;
}

uint32_t stria_inventory_open_ended(const struct stria_inventory *inventory,
                                    const struct stria_inventory_input *input)
{
    uint32_t count = 0;
    struct stria_catalogue_entry entry;
    for (uint32_t i = 0; i < inventory->recording_count; i++)
        count += what_to_say(&inventory->recordings[i], input, 0, &entry);
    return count;
}

int stria_inventory_close(const struct stria_inventory *inventory, const struct stria_inventory_input *input,
                          struct stria_catalogue *catalogue, uint64_t wall_ns)
{
    const uint32_t count = stria_inventory_open_ended(inventory, input);
    if (catalogue->entries_max - catalogue->count < count)
        return STRIA_ERR_FULL;
    for (uint32_t i = 0; count > 0 && i < inventory->recording_count; i++) {
        struct stria_catalogue_entry entry;
        if (!what_to_say(&inventory->recordings[i], input, wall_ns, &entry))
            continue;
        const int code = stria_catalogue_append(catalogue, &entry);
        if (code < 0)
            return code;
    }
    return STRIA_OK;
}
