/* Where everything lies on one drive, and where a raid0 chunk goes. Pure arithmetic. */
#ifndef STRIA_CORE_GEOMETRY_H
#define STRIA_CORE_GEOMETRY_H

#include "core/limits.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_EXTENTS_MIN         8u                   /* extents that a drive must have room for */
#define STRIA_EXTENTS_MAX         UINT32_MAX           /* a larger drive is used up to here */
#define STRIA_DRIVE_BYTES_MAX     ((uint64_t)1 << 60)  /* keeps every sum of offsets within 64 bits */
#define STRIA_RESERVED_BYTES      ((uint64_t)64 << 10) /* never touched, at either end of a drive */
#define STRIA_CHECKPOINT_BYTES    ((uint64_t)2 * STRIA_PAGE_BYTES) /* two pages, written in turn */
#define STRIA_CATALOGUE_HALF_MIN  ((uint64_t)64 << 10)             /* the log of the catalogue … */
#define STRIA_CATALOGUE_HALF_MAX  ((uint64_t)4 << 20)              /* … has two halves of this size each */
#define STRIA_LEDGER_ENTRY_BYTES  64u
#define STRIA_LEDGER_PAGE_ENTRIES (STRIA_PAGE_BYTES / STRIA_LEDGER_ENTRY_BYTES)

/* Offsets and sizes are in bytes from the start of the drive. Every offset is a multiple of
 * STRIA_PAGE_BYTES; regions follow each other in the order in which they stand here, except that
 * super_offset[1] lies behind the data. */
struct stria_geometry {
    uint64_t drive_bytes;       /* the drive's true size; need not be a multiple of anything */
    uint32_t block_bytes;       /* what transfers are aligned to: the largest logical block in the array */
    uint32_t chunk_bytes;       /* room of one extent */
    uint64_t super_offset[2];   /* the two copies of the superblock, STRIA_PAGE_BYTES each */
    uint64_t checkpoint_offset; /* STRIA_CHECKPOINT_BYTES */
    uint64_t catalogue_offset;
    uint64_t catalogue_bytes; /* both halves together */
    uint64_t ledger_offset;
    uint64_t ledger_bytes; /* whole pages; at least extent_count entries */
    uint64_t data_offset;  /* a multiple of chunk_bytes */
    uint64_t extent_count; /* STRIA_EXTENTS_MIN to STRIA_EXTENTS_MAX */
};

/* Whether chunks may be of this size: a power of two in the range of core/limits.h. */
bool stria_chunk_bytes_valid(uint64_t chunk_bytes);

/* What transfers are aligned to: drives may have been copied to ones with larger blocks than the array was
 * made for. */
static inline uint32_t stria_block_bytes_larger(uint32_t block_bytes, uint32_t other_block_bytes)
{
    return block_bytes > other_block_bytes ? block_bytes : other_block_bytes;
}

/* Lays out a drive. STRIA_ERR_INVALID for a chunk or block size out of the range or not a power of two (see
 * core/limits.h) or a drive above STRIA_DRIVE_BYTES_MAX; STRIA_ERR_NO_SPACE when fewer than
 * STRIA_EXTENTS_MIN extents fit. geometry is written on success only. */
int stria_geometry_plan(struct stria_geometry *geometry, uint64_t drive_bytes, uint32_t chunk_bytes,
                        uint32_t block_bytes);

/* The smallest drive_bytes for which stria_geometry_plan() succeeds; 0 when chunk_bytes is invalid. For
 * sentences that name the remedy. */
uint64_t stria_geometry_drive_bytes_min(uint32_t chunk_bytes);

/* The rules that hold for any geometry found on media: sizes in range, regions aligned, in order, apart from
 * each other and inside the drive. STRIA_OK or STRIA_ERR_FORMAT. Weaker than equality with a plan, so that
 * a later version may lay out otherwise. Takes hostile values. */
int stria_geometry_check(const struct stria_geometry *geometry);

/* Where the two superblock copies of a drive of this size are, before anything else is known about it:
 * STRIA_ERR_NO_SPACE when it is too small for two copies. */
int stria_geometry_super_offsets(uint64_t drive_bytes, uint64_t super_offset[2]);

/* Of the extent at a position below extent_count. */
uint64_t stria_geometry_extent_offset(const struct stria_geometry *geometry, uint64_t position);

/* Of the ledger entry that describes the extent at a position below extent_count. */
uint64_t stria_geometry_ledger_entry_offset(const struct stria_geometry *geometry, uint64_t position);

/* Of the catalogue half that holds the log of an epoch (epoch mod 2). */
uint64_t stria_geometry_catalogue_half_offset(const struct stria_geometry *geometry, uint64_t epoch);

/* A chunk's place under raid0: row is the extent position, counted from the recording's base_row. */
struct stria_raid0_place {
    uint32_t drive;
    uint64_t row;
};

/* chunk k goes to drive k mod drive_count at row k div drive_count, exactly as Linux md RAID0 and dm-stripe
 * with equal members place it. drive_count is at least 1. */
struct stria_raid0_place stria_raid0_place(uint64_t chunk, uint32_t drive_count);

/* The inverse. place.drive is below drive_count; the result must fit 64 bits. */
uint64_t stria_raid0_chunk(struct stria_raid0_place place, uint32_t drive_count);

#endif
