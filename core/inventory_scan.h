/* Walking over the ledgers of an array for one recording: shared by inventory and map. */
#ifndef STRIA_CORE_INVENTORY_SCAN_H
#define STRIA_CORE_INVENTORY_SCAN_H

#include "core/inventory.h"

struct stria_inventory_scan {
    const struct stria_inventory_input *input;
    uint64_t recording; /* 0 for all */
    uint64_t position;  /* of the next entry … */
    uint32_t drive;     /* … and its drive */
    uint64_t position_end;
};

/* An entry and where it was found. */
struct stria_inventory_found {
    struct stria_ledger_entry entry;
    uint64_t position;
    uint32_t drive;
};

/* Begins a walk. */
struct stria_inventory_scan stria_inventory_scan_begin(const struct stria_inventory_input *input,
                                                       uint64_t recording);

/* The next valid entry of the recording, position by position and drive by drive within, which is close to
 * the order of sequences; false at the end. */
bool stria_inventory_scan_next(struct stria_inventory_scan *scan, struct stria_inventory_found *found);

/* True when an entry of the recording can be what it says, by itself: in extents as large as the recording's
 * chunks, of its only stream, aligned, of a possible length, and not further back in the stream than its
 * sequence allows. */
bool stria_inventory_found_plausible(const struct stria_inventory_found *found,
                                     const struct stria_recording *recording,
                                     const struct stria_inventory_input *input);

/* Chunks in so many bytes, the last perhaps short. */
uint64_t stria_inventory_chunks(uint64_t length_bytes, uint32_t chunk_bytes);

/* True when a drive of the array could not be read: it may know more than the others. */
bool stria_inventory_drive_absent(const struct stria_inventory_input *input);

/* How far a recording is known to be durable, by its REACHED alone, or by these and the checkpoints on the
 * drives, of which those count that do not contradict themselves; all zero when nothing tells. */
struct stria_catalogue_reached stria_inventory_noted(const struct stria_recording *recording,
                                                     const struct stria_catalogue *catalogue);
struct stria_catalogue_reached stria_inventory_reached(const struct stria_recording *recording,
                                                       const struct stria_inventory_input *input);

/* Gives a recording without an end its figures. extent_count and the like are already known. */
void stria_inventory_recover(struct stria_recording *recording, const struct stria_inventory_input *input,
                             uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES]);

#endif
