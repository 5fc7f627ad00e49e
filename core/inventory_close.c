#include "core/code.h"
#include "core/inventory_scan.h"
#include "core/policy.h"

/* What cannot be told from the catalogue of a recording that was cut off: whether it left its policy. */
static uint32_t raid0_flags(const struct stria_recording *recording,
                            const struct stria_inventory_input *input)
{
    bool on_drives = true, in_rows = true;
    struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
    for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);) {
        if (!stria_inventory_found_plausible(&found, recording, input) ||
            found.entry.sequence >= recording->sequence_count)
            continue;
        const struct stria_raid0_place place =
            stria_raid0_place(found.entry.stream_offset / recording->chunk_bytes, input->drive_count);
        on_drives &= found.drive == place.drive;
        in_rows &= found.position == recording->base_row + place.row;
    }
    return stria_catalogue_raid0_flags(on_drives, in_rows);
}

static struct stria_catalogue_entry end_of(const struct stria_recording *recording,
                                           const struct stria_inventory_input *input, uint64_t wall_ns)
{
    return (struct stria_catalogue_entry){
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = recording->id,
        .wall_ns = wall_ns,
        .ended = {.length_bytes = recording->length_bytes,
                  .stored_bytes = recording->stored_bytes,
                  .dropped_bytes = recording->dropped_bytes,
                  .sequence_count = recording->sequence_count,
                  .flags = recording->policy == STRIA_POLICY_RAID0 ? raid0_flags(recording, input) : 0,
                  .gap_drive = STRIA_GAP_DRIVE_NONE},
    };
}

/* A drive that is absent may know of more of the stream than the others. */
static bool ends_are_known(const struct stria_inventory_input *input)
{
    return !stria_inventory_drive_absent(input);
}

static struct stria_catalogue_entry reach_of(const struct stria_recording *recording,
                                             const struct stria_inventory_input *input, uint64_t wall_ns)
{
    return (struct stria_catalogue_entry){
        .kind = STRIA_CATALOGUE_REACHED,
        .recording = recording->id,
        .wall_ns = wall_ns,
        .reached = stria_inventory_reached(recording, input),
    };
}

/* Whether something is to be said of a recording without an end before another one replaces its checkpoints:
 * its end or, where that is not known, how far it came, unless the catalogue says so already. The end is not
 * worked out for that: it may take a walk over all ledgers. */
static bool is_to_say(const struct stria_recording *recording, const struct stria_inventory_input *input)
{
    if (recording->complete)
        return false;
    if (ends_are_known(input))
        return true;
    return stria_inventory_reached(recording, input).watermark_bytes >
           stria_inventory_noted(recording, input->catalogue).watermark_bytes;
}

uint32_t stria_inventory_open_ended(const struct stria_inventory *inventory,
                                    const struct stria_inventory_input *input)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < inventory->recording_count; i++)
        count += is_to_say(&inventory->recordings[i], input);
    return count;
}

int stria_inventory_close(const struct stria_inventory *inventory, const struct stria_inventory_input *input,
                          struct stria_catalogue *catalogue, uint64_t wall_ns)
{
    const uint32_t count = stria_inventory_open_ended(inventory, input);
    if (catalogue->entries_max - catalogue->count < count)
        return STRIA_ERR_FULL;
    for (uint32_t i = 0; count > 0 && i < inventory->recording_count; i++) {
        const struct stria_recording *recording = &inventory->recordings[i];
        if (!is_to_say(recording, input))
            continue;
        const struct stria_catalogue_entry entry =
            ends_are_known(input) ? end_of(recording, input, wall_ns) : reach_of(recording, input, wall_ns);
        const int code = stria_catalogue_append(catalogue, &entry);
        if (code < 0)
            return code;
    }
    return STRIA_OK;
}
