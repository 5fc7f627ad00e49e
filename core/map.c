#include "core/map.h"

#include "core/assert.h"
#include "core/code.h"
#include "core/inventory_scan.h"
#include "core/map_lost.h"
#include "core/policy.h"
#include "core/sort.h"

static uint64_t chunk_of(const struct stria_map *map, const struct stria_map_extent *extent)
{
    return extent->stream_offset / map->chunk_bytes;
}

/* What stands against a plausible entry, given where the recording ends: it must lie within, be whole unless
 * it is the last, and leave room for the chunks sealed after it. */
static bool fits(const struct stria_map *map, const struct stria_ledger_entry *entry)
{
    const uint64_t chunk = entry->stream_offset / map->chunk_bytes;
    if (entry->sequence >= map->sequence_count || chunk >= map->chunk_count)
        return false;
    if (map->sequence_count - entry->sequence > map->chunk_count - chunk)
        return false;
    return entry->length_bytes == stria_map_bytes(map, chunk, 1);
}

static int collect(struct stria_map *map, const struct stria_inventory_input *input,
                   const struct stria_recording *recording, size_t capacity)
{
    struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
    for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);) {
        const struct stria_ledger_entry *entry = &found.entry;
        if (!stria_inventory_found_plausible(&found, recording, input) || !fits(map, entry)) {
            map->extents_rejected++;
            continue;
        }
        if (map->extent_count == capacity)
            return STRIA_ERR_NO_MEMORY;
        map->extents[map->extent_count++] = (struct stria_map_extent){
            .sequence = entry->sequence,
            .stream_offset = entry->stream_offset,
            .captured_ns = entry->captured_ns,
            .digest = entry->digest,
            .position = (uint32_t)found.position,
            .length_bytes = entry->length_bytes,
            .drive = (uint16_t)found.drive,
            .gap_cause = entry->gap_cause,
            .gap_drive = entry->gap_drive,
        };
    }
    return STRIA_OK;
}

static bool before(const void *a, const void *b)
{
    const struct stria_map_extent *left = a, *right = b;
    if (left->sequence != right->sequence)
        return left->sequence < right->sequence;
    if (left->stream_offset != right->stream_offset)
        return left->stream_offset < right->stream_offset;
    if (left->drive != right->drive)
        return left->drive < right->drive;
    return left->position < right->position;
}

static bool agrees(const struct stria_map *map, const struct stria_map_extent *kept,
                   const struct stria_map_extent *next)
{
    if (next->sequence == kept->sequence)
        return next->stream_offset == kept->stream_offset && next->digest == kept->digest;
    const uint64_t chunks = chunk_of(map, next) - chunk_of(map, kept);
    return next->stream_offset > kept->stream_offset && chunks >= next->sequence - kept->sequence;
}

static void reject_contradictions(struct stria_map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->extent_count; i++) {
        if (kept == 0 || agrees(map, &map->extents[kept - 1], &map->extents[i]))
            map->extents[kept++] = map->extents[i];
        else
            map->extents_rejected++;
    }
    map->extent_count = kept;
}

/* The chunks between two neighbours in the list of extents, or before the first or after the last. */
struct hole {
    uint64_t chunk, chunk_end;
    uint64_t sequence, sequence_end; /* sealed chunks that must lie in it */
    uint32_t cause, drive;           /* of a gap in it */
};

/* index is that of the extent behind the hole; it may be extent_count. */
static struct hole hole_before(const struct stria_map *map, size_t index)
{
    struct hole hole = {
        .chunk_end = map->chunk_count,
        .sequence_end = map->sequence_count,
        .cause = map->gap_cause,
        .drive = map->gap_drive,
    };
    if (index > 0) {
        hole.chunk = chunk_of(map, &map->extents[index - 1]) + 1;
        hole.sequence = map->extents[index - 1].sequence + 1;
    }
    if (index < map->extent_count) {
        hole.chunk_end = chunk_of(map, &map->extents[index]);
        hole.sequence_end = map->extents[index].sequence;
        hole.cause = map->extents[index].gap_cause;
        hole.drive = map->extents[index].gap_drive;
    }
    return hole;
}

static void count_hole(struct stria_map *map, const struct hole *hole)
{
    const uint64_t chunks = hole->chunk_end - hole->chunk;
    const uint64_t sealed = hole->sequence_end - hole->sequence;
    const uint64_t lost = stria_map_lost_count(map, hole->sequence, hole->sequence_end);
    STRIA_ASSERT(sealed <= chunks && lost <= sealed);
    map->chunks_gap += chunks - sealed;
    map->chunks_lost += lost;
    map->chunks_missing += sealed - lost;
}

static void count_chunks(struct stria_map *map)
{
    for (size_t i = 0; i <= map->extent_count; i++) {
        if (i > 0 && i < map->extent_count && map->extents[i].sequence == map->extents[i - 1].sequence)
            continue;
        const struct hole hole = hole_before(map, i);
        count_hole(map, &hole);
        if (i < map->extent_count) {
            map->chunks_stored++;
            map->stored_bytes += map->extents[i].length_bytes;
        }
    }
    STRIA_ASSERT(map->chunks_stored + map->chunks_gap + map->chunks_lost + map->chunks_missing ==
                 map->chunk_count);
}

static bool is_on_raid0_drives(const struct stria_map *map, const struct stria_recording *recording,
                               uint32_t drive_count)
{
    const uint32_t flags = recording->ended_flags;
    if (recording->policy != STRIA_POLICY_RAID0 ||
        (flags & STRIA_ENDED_NOT_RAID0 && !(flags & STRIA_ENDED_OFF_ROWS)))
        return false;
    for (size_t i = 0; i < map->extent_count; i++)
        if (map->extents[i].drive != stria_raid0_place(chunk_of(map, &map->extents[i]), drive_count).drive)
            return false;
    return true;
}

int stria_map_build(struct stria_map *map, const struct stria_inventory_input *input,
                    const struct stria_recording *recording, const struct stria_map_memory *memory)
{
    *map = (struct stria_map){
        .length_bytes = recording->length_bytes,
        .chunk_bytes = recording->chunk_bytes,
        .chunk_count = stria_inventory_chunks(recording->length_bytes, recording->chunk_bytes),
        .sequence_count = recording->sequence_count,
        .gap_cause = recording->gap_cause,
        .gap_drive = recording->gap_drive,
        .extents = memory->extents,
        .lost = memory->lost,
    };
    STRIA_ASSERT(map->sequence_count <= map->chunk_count);
    int code = collect(map, input, recording, memory->extent_capacity);
    if (!code)
        code = stria_map_lost_build(map, input->catalogue, recording->id, memory->lost_capacity);
    if (code)
        return code;
    stria_sort(map->extents, map->extent_count, sizeof(map->extents[0]), before);
    reject_contradictions(map);
    count_chunks(map);
    if (is_on_raid0_drives(map, recording, input->drive_count))
        map->raid0_drives = input->drive_count;
    return STRIA_OK;
}

uint64_t stria_map_bytes(const struct stria_map *map, uint64_t chunk, uint64_t chunk_count)
{
    STRIA_ASSERT(chunk <= map->chunk_count && chunk_count <= map->chunk_count - chunk);
    if (chunk_count == 0)
        return 0;
    const uint64_t end = chunk + chunk_count;
    const uint64_t end_bytes = end == map->chunk_count ? map->length_bytes : end * map->chunk_bytes;
    return end_bytes - chunk * map->chunk_bytes;
}

/* The first extent that does not lie before a chunk. */
static size_t place_of(const struct stria_map *map, uint64_t chunk)
{
    size_t low = 0, high = map->extent_count;
    if (chunk < high && chunk_of(map, &map->extents[chunk]) == chunk &&
        (chunk == 0 || chunk_of(map, &map->extents[chunk - 1]) < chunk))
        return (size_t)chunk;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (chunk_of(map, &map->extents[middle]) < chunk)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct stria_map_place stored_at(const struct stria_map *map, size_t index)
{
    struct stria_map_place place = {
        .state = STRIA_MAP_STORED,
        .chunk_count = 1,
        .extents = &map->extents[index],
        .extent_count = 1,
        .drive = STRIA_GAP_DRIVE_NONE,
    };
    while (index + place.extent_count < map->extent_count &&
           map->extents[index + place.extent_count].sequence == place.extents->sequence)
        place.extent_count++;
    return place;
}

/* Under raid0 it is known which drive should have a chunk. Only short holes are told apart by it, as long
 * ones must not cost a step for each of their chunks. */
static struct stria_map_place missing_at(const struct stria_map *map, uint64_t chunk, uint64_t chunk_count)
{
    const bool known = chunk_count <= map->raid0_drives;
    return (struct stria_map_place){
        .state = STRIA_MAP_MISSING,
        .chunk_count = known ? 1 : chunk_count,
        .drive = known ? stria_raid0_place(chunk, map->raid0_drives).drive : STRIA_GAP_DRIVE_NONE,
    };
}

/* In a hole of sealed chunks alone each has its sequence, and with it its own state. */
static struct stria_map_place sealed_at(const struct stria_map *map, const struct hole *hole, uint64_t chunk)
{
    const uint64_t sequence = hole->sequence + (chunk - hole->chunk);
    const struct stria_catalogue_lost *lost = stria_map_lost_find(map, sequence);
    if (!lost)
        return missing_at(map, chunk, stria_map_lost_next(map, sequence, hole->sequence_end) - sequence);
    uint64_t end = sequence + 1;
    for (; end < hole->sequence_end; end++) {
        const struct stria_catalogue_lost *next = stria_map_lost_find(map, end);
        if (!next || next->cause != lost->cause || next->drive != lost->drive)
            break;
    }
    return (struct stria_map_place){
        .state = STRIA_MAP_LOST,
        .chunk_count = end - sequence,
        .cause = lost->cause,
        .drive = lost->drive,
    };
}

/* In a hole of sealed chunks and a gap nobody knows which is where. */
static struct stria_map_place mixed_at(const struct stria_map *map, const struct hole *hole, uint64_t chunk)
{
    struct stria_map_place place = {
        .state = STRIA_MAP_MISSING,
        .chunk_count = hole->chunk_end - chunk,
        .drive = STRIA_GAP_DRIVE_NONE,
    };
    const struct stria_catalogue_lost *lost = stria_map_lost_find(map, hole->sequence);
    if (lost && stria_map_lost_count(map, hole->sequence, hole->sequence_end) ==
                    hole->sequence_end - hole->sequence) {
        place.state = STRIA_MAP_LOST;
        place.cause = lost->cause;
        place.drive = lost->drive;
    }
    return place;
}

struct stria_map_place stria_map_find(const struct stria_map *map, uint64_t chunk)
{
    if (chunk >= map->chunk_count)
        return (struct stria_map_place){
            .state = STRIA_MAP_BEYOND, .chunk_count = UINT64_MAX - chunk, .drive = STRIA_GAP_DRIVE_NONE};
    const size_t index = place_of(map, chunk);
    if (index < map->extent_count && chunk_of(map, &map->extents[index]) == chunk)
        return stored_at(map, index);
    const struct hole hole = hole_before(map, index);
    const uint64_t sealed = hole.sequence_end - hole.sequence;
    if (sealed == 0)
        return (struct stria_map_place){
            .state = STRIA_MAP_GAP,
            .chunk_count = hole.chunk_end - chunk,
            .cause = hole.cause,
            .drive = hole.drive,
        };
    if (sealed == hole.chunk_end - hole.chunk)
        return sealed_at(map, &hole, chunk);
    return mixed_at(map, &hole, chunk);
}
