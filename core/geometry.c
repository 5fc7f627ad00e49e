#include "core/geometry.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"

#include <stdbool.h>

/* Superblock copy A with the checkpoint pages behind it has 64 KiB to itself, so that the catalogue starts
 * at a round place. */
#define CHECKPOINT_OFFSET (STRIA_RESERVED_BYTES + STRIA_PAGE_BYTES)
#define CATALOGUE_OFFSET  (2 * STRIA_RESERVED_BYTES)

/* A larger drive holds more recordings; a power of two of about a thousandth of it. */
#define CATALOGUE_SHARE 1024u

_Static_assert(CHECKPOINT_OFFSET + STRIA_CHECKPOINT_BYTES <= CATALOGUE_OFFSET, "regions must not overlap");

bool stria_chunk_bytes_valid(uint64_t chunk_bytes)
{
    return stria_is_power_of_two(chunk_bytes) && chunk_bytes >= STRIA_CHUNK_BYTES_MIN &&
           chunk_bytes <= STRIA_CHUNK_BYTES_MAX;
}

static bool sizes_valid(uint32_t chunk_bytes, uint32_t block_bytes)
{
    return stria_chunk_bytes_valid(chunk_bytes) && stria_is_power_of_two(block_bytes) &&
           block_bytes >= STRIA_BLOCK_BYTES_MIN && block_bytes <= STRIA_BLOCK_BYTES_MAX;
}

static uint64_t catalogue_half_bytes(uint64_t drive_bytes)
{
    uint64_t half = STRIA_CATALOGUE_HALF_MIN;
    while (half < STRIA_CATALOGUE_HALF_MAX && half < drive_bytes / CATALOGUE_SHARE)
        half *= 2;
    return half;
}

static uint64_t ledger_bytes(uint64_t extent_count)
{
    return stria_align_up(extent_count * STRIA_LEDGER_ENTRY_BYTES, STRIA_PAGE_BYTES);
}

static uint64_t data_offset(uint64_t ledger_offset, uint64_t extent_count, uint32_t chunk_bytes)
{
    return stria_align_up(ledger_offset + ledger_bytes(extent_count), chunk_bytes);
}

/* As many extents, each with its ledger entry, as fit between two offsets. */
static uint64_t extents_fitting(uint64_t from, uint64_t to, uint32_t chunk_bytes)
{
    if (from >= to)
        return 0;
    uint64_t count = (to - from) / (chunk_bytes + STRIA_LEDGER_ENTRY_BYTES);
    if (count > STRIA_EXTENTS_MAX)
        count = STRIA_EXTENTS_MAX;
    /* Rounding to pages and chunks costs less than two chunks. */
    while (count > 0 && data_offset(from, count, chunk_bytes) + count * chunk_bytes > to)
        count--;
    return count;
}

int stria_geometry_super_offsets(uint64_t drive_bytes, uint64_t super_offset[2])
{
    if (drive_bytes < 3 * STRIA_RESERVED_BYTES + STRIA_PAGE_BYTES)
        return STRIA_ERR_NO_SPACE;
    super_offset[0] = STRIA_RESERVED_BYTES;
    super_offset[1] =
        stria_align_down(drive_bytes - STRIA_RESERVED_BYTES - STRIA_PAGE_BYTES, STRIA_RESERVED_BYTES);
    return STRIA_OK;
}

int stria_geometry_plan(struct stria_geometry *geometry, uint64_t drive_bytes, uint32_t chunk_bytes,
                        uint32_t block_bytes)
{
    if (!sizes_valid(chunk_bytes, block_bytes) || drive_bytes > STRIA_DRIVE_BYTES_MAX)
        return STRIA_ERR_INVALID;
    struct stria_geometry plan = {
        .drive_bytes = drive_bytes,
        .block_bytes = block_bytes,
        .chunk_bytes = chunk_bytes,
        .checkpoint_offset = CHECKPOINT_OFFSET,
        .catalogue_offset = CATALOGUE_OFFSET,
        .catalogue_bytes = 2 * catalogue_half_bytes(drive_bytes),
    };
    int code = stria_geometry_super_offsets(drive_bytes, plan.super_offset);
    if (code)
        return code;
    plan.ledger_offset = plan.catalogue_offset + plan.catalogue_bytes;
    plan.extent_count = extents_fitting(plan.ledger_offset, plan.super_offset[1], chunk_bytes);
    if (plan.extent_count < STRIA_EXTENTS_MIN)
        return STRIA_ERR_NO_SPACE;
    plan.ledger_bytes = ledger_bytes(plan.extent_count);
    plan.data_offset = data_offset(plan.ledger_offset, plan.extent_count, chunk_bytes);
    *geometry = plan;
    STRIA_ASSERT(stria_geometry_check(geometry) == STRIA_OK);
    return STRIA_OK;
}

uint64_t stria_geometry_drive_bytes_min(uint32_t chunk_bytes)
{
    if (!sizes_valid(chunk_bytes, STRIA_BLOCK_BYTES_MIN))
        return 0;
    uint64_t drive_bytes = 0;
    uint64_t half = STRIA_CATALOGUE_HALF_MIN;
    /* The catalogue grows with the drive that it lies on: once, at most, before both agree. */
    for (;;) {
        uint64_t ledger_offset = CATALOGUE_OFFSET + 2 * half;
        uint64_t data_end = data_offset(ledger_offset, STRIA_EXTENTS_MIN, chunk_bytes) +
                            (uint64_t)STRIA_EXTENTS_MIN * chunk_bytes;
        drive_bytes =
            stria_align_up(data_end, STRIA_RESERVED_BYTES) + STRIA_PAGE_BYTES + STRIA_RESERVED_BYTES;
        if (catalogue_half_bytes(drive_bytes) <= half)
            return drive_bytes;
        half = catalogue_half_bytes(drive_bytes);
    }
}

/* A region of whole pages that starts no lower than *end; moves *end behind it. */
static bool region_valid(uint64_t *end, uint64_t offset, uint64_t bytes, uint64_t drive_bytes)
{
    if (offset % STRIA_PAGE_BYTES != 0 || bytes % STRIA_PAGE_BYTES != 0 || bytes == 0)
        return false;
    if (offset < *end || offset > drive_bytes || bytes > drive_bytes - offset)
        return false;
    *end = offset + bytes;
    return true;
}

static bool catalogue_valid(const struct stria_geometry *geometry)
{
    const uint64_t half = geometry->catalogue_bytes / 2;
    return geometry->catalogue_bytes % ((uint64_t)2 * STRIA_PAGE_BYTES) == 0 &&
           half >= STRIA_CATALOGUE_HALF_MIN && half <= STRIA_CATALOGUE_HALF_MAX;
}

int stria_geometry_check(const struct stria_geometry *geometry)
{
    const uint64_t drive_bytes = geometry->drive_bytes;
    if (!sizes_valid(geometry->chunk_bytes, geometry->block_bytes) || drive_bytes > STRIA_DRIVE_BYTES_MAX)
        return STRIA_ERR_FORMAT;
    if (geometry->extent_count < STRIA_EXTENTS_MIN || geometry->extent_count > STRIA_EXTENTS_MAX)
        return STRIA_ERR_FORMAT;
    if (geometry->data_offset % geometry->chunk_bytes != 0 || !catalogue_valid(geometry))
        return STRIA_ERR_FORMAT;
    if (geometry->ledger_bytes / STRIA_LEDGER_ENTRY_BYTES < geometry->extent_count)
        return STRIA_ERR_FORMAT;

    uint64_t end = STRIA_RESERVED_BYTES;
    const bool in_order =
        region_valid(&end, geometry->super_offset[0], STRIA_PAGE_BYTES, drive_bytes) &&
        region_valid(&end, geometry->checkpoint_offset, STRIA_CHECKPOINT_BYTES, drive_bytes) &&
        region_valid(&end, geometry->catalogue_offset, geometry->catalogue_bytes, drive_bytes) &&
        region_valid(&end, geometry->ledger_offset, geometry->ledger_bytes, drive_bytes) &&
        region_valid(&end, geometry->data_offset, geometry->extent_count * geometry->chunk_bytes,
                     drive_bytes) &&
        region_valid(&end, geometry->super_offset[1], STRIA_PAGE_BYTES, drive_bytes);
    return in_order && drive_bytes - end >= STRIA_RESERVED_BYTES ? STRIA_OK : STRIA_ERR_FORMAT;
}

uint64_t stria_geometry_extent_offset(const struct stria_geometry *geometry, uint64_t position)
{
    STRIA_ASSERT(position < geometry->extent_count);
    return geometry->data_offset + position * geometry->chunk_bytes;
}

uint64_t stria_geometry_ledger_entry_offset(const struct stria_geometry *geometry, uint64_t position)
{
    STRIA_ASSERT(position < geometry->extent_count);
    return geometry->ledger_offset + position * STRIA_LEDGER_ENTRY_BYTES;
}

uint64_t stria_geometry_catalogue_half_offset(const struct stria_geometry *geometry, uint64_t epoch)
{
    return geometry->catalogue_offset + (epoch & 1) * (geometry->catalogue_bytes / 2);
}

struct stria_raid0_place stria_raid0_place(uint64_t chunk, uint32_t drive_count)
{
    STRIA_ASSERT(drive_count > 0);
    return (struct stria_raid0_place){.drive = (uint32_t)(chunk % drive_count), .row = chunk / drive_count};
}

uint64_t stria_raid0_chunk(struct stria_raid0_place place, uint32_t drive_count)
{
    STRIA_ASSERT(place.drive < drive_count);
    return place.row * drive_count + place.drive;
}
