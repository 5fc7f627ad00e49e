/* What is on an array: its recordings, from images of the metadata in memory. */
#ifndef STRIA_CORE_INVENTORY_H
#define STRIA_CORE_INVENTORY_H

#include "core/catalogue.h"
#include "core/checkpoint.h"
#include "core/geometry.h"
#include "core/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One drive of the array as far as it could be read. */
struct stria_inventory_drive {
    bool present;                          /* false: nothing below counts */
    const uint8_t *ledger;                 /* geometry->ledger_bytes, as read; the caller's */
    const struct stria_geometry *geometry; /* passed stria_geometry_check(); the caller's */
    struct stria_ledger_binding binding;   /* from stria_superblock_binding() */
    bool checkpoint_valid;                 /* false: checkpoint does not count */
    struct stria_checkpoint checkpoint;    /* from stria_checkpoint_choose() */
};

/* Everything an inventory is made from. The caller's, unchanged as long as maps are made from it. */
struct stria_inventory_input {
    const struct stria_catalogue *catalogue;    /* the merged one */
    const struct stria_inventory_drive *drives; /* by drive index */
    uint32_t drive_count;                       /* 1 to STRIA_DRIVES_MAX */
};

/* One recording that is not removed. */
struct stria_recording {
    uint64_t id;
    char name[STRIA_NAME_BYTES]; /* zero-terminated */
    uint32_t policy;             /* enum stria_policy, as recorded; other values are possible on media */
    uint32_t chunk_bytes;        /* a valid chunk size */
    uint64_t base_row;           /* as in the catalogue */
    uint64_t started_unix_ns;
    uint64_t length_bytes;   /* of the stream, with its gaps; recovered: the durable watermark or, if that is
                                further, the end of the unbroken run of sequences from there on or, while a
                                drive is absent, of the last one found */
    uint64_t stored_bytes;   /* payload; recovered: of the extents found up to length_bytes (an upper bound:
                                a chunk written twice counts twice; its map is exact) */
    uint64_t dropped_bytes;  /* in gaps, or sealed but lost */
    uint64_t sequence_count; /* chunks sealed */
    uint64_t duration_ns;    /* 0 when unknown */
    uint64_t extent_count;   /* valid entries found on the drives present: the room its map needs */
    uint64_t sequence_first; /* lowest and highest found; both 0 when extent_count is 0 */
    uint64_t sequence_last;
    uint32_t lost_entry_count; /* LOST entries in the catalogue: the room its map needs */
    uint32_t ended_flags;      /* STRIA_ENDED_…; 0 when not complete */
    bool complete;     /* ENDED was found, and the figures are its own; else they are recovered. Whether its
                          recorder ended it, or a recovery after a crash, is STRIA_ENDED_CLEAN */
    uint8_t gap_cause; /* of a gap at the very end */
    uint8_t gap_drive;
};

struct stria_inventory {
    struct stria_recording *recordings; /* by rising id; the caller's table */
    uint32_t recording_count;
    uint64_t next_recording;    /* the id for the next recording: above all that were ever seen */
    uint64_t checkpoint_serial; /* the highest found on any drive; 0 when none */
    uint64_t entries_damaged;   /* ledger entries of any drive that are neither empty nor valid nor of an
                                   earlier generation */
};

/* Bytes of scratch memory for stria_inventory_build(). */
#define STRIA_INVENTORY_SCRATCH_BYTES (STRIA_WINDOW_CHUNKS_MAX / 8u)

/* The most recordings that stria_inventory_build() can find: the room its table needs. */
uint32_t stria_inventory_recordings_max(const struct stria_catalogue *catalogue);

/* Fills the table. STRIA_ERR_NO_MEMORY when capacity is too small. The work is a pass over all ledgers, and
 * two quick ones more for a recording that has no end (another for each STRIA_WINDOW_CHUNKS_MAX chunks behind
 * its watermark). Hostile images cannot make it fail in any other way. */
int stria_inventory_build(struct stria_inventory *inventory, const struct stria_inventory_input *input,
                          struct stria_recording *table, uint32_t capacity,
                          uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES]);

/* The recording of that name, the youngest if several have it; null when there is none. */
const struct stria_recording *stria_inventory_find(const struct stria_inventory *inventory, const char *name);

/* The recording of that id; null when there is none or it is removed. */
const struct stria_recording *stria_inventory_find_id(const struct stria_inventory *inventory, uint64_t id);

/* How many entries stria_inventory_close() would append: an end for each recording that has none or, while a
 * drive is absent, which may know of more of the stream than the others, a REACHED where checkpoints tell
 * more than the catalogue does. Reads no ledger. */
uint32_t stria_inventory_open_ended(const struct stria_inventory *inventory,
                                    const struct stria_inventory_input *input);

/* Gives each of them its end where it was found to be, without STRIA_ENDED_CLEAN, or keeps what its
 * checkpoints say: appends to the catalogue, which the inventory was made from. The caller then writes the
 * new cells to every drive, flushes, and makes the inventory anew. Must come before the next recording
 * begins, whose checkpoints replace theirs. STRIA_ERR_FULL, with nothing appended, when there is no room for
 * all of them. */
int stria_inventory_close(const struct stria_inventory *inventory, const struct stria_inventory_input *input,
                          struct stria_catalogue *catalogue, uint64_t wall_ns);

/* Which extents of a drive are taken: bit p (of byte p / 8, lowest first) is set when position p has a valid
 * entry of a recording in the inventory, clear otherwise. bitmap has room for extent_count bits, rounded up
 * to bytes, and is overwritten; a drive that is not present leaves it untouched. Returns the number of bits
 * set. */
uint64_t stria_inventory_used(const struct stria_inventory *inventory,
                              const struct stria_inventory_input *input, uint32_t drive, uint8_t *bitmap);

#endif
