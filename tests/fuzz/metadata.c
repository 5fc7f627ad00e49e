/* An array whose every entry is whole and well bound, but says whatever the input says: catalogues of two
 * drives, their ledgers and checkpoints. Loading, merging, listing, mapping and compacting keep their
 * promises.
 *
 * The input is a row of 72-byte records: what it is (1 byte), where (1 byte), then fields. */
#include "core/bits.h"
#include "core/catalogue_cell.h"
#include "core/map.h"
#include "core/name.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define DRIVES       2u
#define RECORD_BYTES 72u
#define CHUNK        STRIA_CHUNK_BYTES_MIN

enum {
    RECORD_EXTENT,
    RECORD_BEGUN,
    RECORD_ENDED,
    RECORD_REMOVED,
    RECORD_LOST,
    RECORD_CHECKPOINT,
    RECORD_KINDS
};

struct world {
    struct stria_geometry geometry;
    uint8_t halves[DRIVES][2][STRIA_CATALOGUE_HALF_MIN];
    struct stria_catalogue replicas[DRIVES];
    uint8_t *ledgers[DRIVES];
    struct stria_inventory_drive drives[DRIVES];
    struct stria_recording table[1024];
    uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES];
    struct stria_inventory inventory;
};

static struct world world;
static const uint8_t array_uuid[STRIA_UUID_BYTES] = {9};

static void world_begin(void)
{
    FUZZ_CHECK(stria_geometry_plan(&world.geometry, 8 << 20, CHUNK, 512) == 0);
    for (uint32_t i = 0; i < DRIVES; i++) {
        memset(world.halves[i], 0, sizeof(world.halves[i]));
        stria_catalogue_format(&world.replicas[i], world.halves[i][1], sizeof(world.halves[i][1]), array_uuid,
                               1);
        world.ledgers[i] = calloc(1, world.geometry.ledger_bytes);
        FUZZ_CHECK(world.ledgers[i] != NULL);
        world.drives[i] = (struct stria_inventory_drive){.present = true,
                                                         .ledger = world.ledgers[i],
                                                         .geometry = &world.geometry,
                                                         .binding = {.drive_index = i, .generation = 1}};
        memcpy(world.drives[i].binding.array_uuid, array_uuid, STRIA_UUID_BYTES);
    }
}

static void world_end(void)
{
    for (uint32_t i = 0; i < DRIVES; i++)
        free(world.ledgers[i]);
}

static void put_extent(uint32_t drive, uint64_t position, const uint8_t *fields)
{
    const struct stria_ledger_entry entry = {
        .recording = 1 + fields[0] % 8u,
        .sequence = stria_load_u64(fields + 8),
        .stream_offset = stria_load_u64(fields + 16) * (fields[1] & 1 ? CHUNK : 1),
        .captured_ns = stria_load_u64(fields + 24),
        .digest = stria_load_u64(fields + 32),
        .length_bytes = fields[1] & 2 ? CHUNK : 1 + stria_load_u32(fields + 40) / 2,
        .stream = fields[2],
        .gap_cause = fields[3],
        .gap_drive = fields[4],
    };
    position %= world.geometry.extent_count;
    stria_ledger_encode(world.ledgers[drive] + position * STRIA_LEDGER_ENTRY_BYTES, &entry,
                        &world.drives[drive].binding, position);
}

static void put_checkpoint(uint32_t drive, const uint8_t *fields)
{
    world.drives[drive].checkpoint_valid = true;
    world.drives[drive].checkpoint = (struct stria_checkpoint){
        .serial = 1,
        .recording = 1 + fields[0] % 8u,
        .watermark_bytes = stria_load_u64(fields + 8),
        .watermark_sequence = stria_load_u64(fields + 16),
        .length_bytes = stria_load_u64(fields + 24),
    };
}

/* Straight into the next cell: also what append would not take. */
static void put_cell(uint32_t drive, unsigned kind, const uint8_t *fields)
{
    struct stria_catalogue *log = &world.replicas[drive];
    if (log->count == log->entries_max)
        return;
    struct stria_catalogue_entry entry = {.recording = 1 + fields[0] % 8u, .ordinal = log->count};
    switch (kind) {
    case RECORD_BEGUN:
        entry.kind = STRIA_CATALOGUE_BEGUN;
        stria_name_set(entry.begun.name, fields[1] & 1 ? "x" : "y");
        entry.begun.policy = fields[2];
        entry.begun.chunk_bytes = fields[3] & 7 ? CHUNK : stria_load_u32(fields + 8);
        entry.begun.base_row = stria_load_u64(fields + 16);
        break;
    case RECORD_ENDED:
        entry.kind = STRIA_CATALOGUE_ENDED;
        entry.ended.length_bytes = stria_load_u64(fields + 8);
        entry.ended.stored_bytes = stria_load_u64(fields + 16);
        entry.ended.dropped_bytes = stria_load_u64(fields + 24);
        entry.ended.sequence_count = stria_load_u64(fields + 32);
        break;
    case RECORD_LOST:
        entry.kind = STRIA_CATALOGUE_LOST;
        entry.lost.cause = fields[1];
        entry.lost.drive = fields[2];
        entry.lost.base_sequence = stria_load_u64(fields + 8) & ~(uint64_t)(fields[3] & 1 ? 511 : 0);
        memcpy(entry.lost.bitmap + fields[4] % 16, fields + 16, 48);
        break;
    default:
        entry.kind = fields[1] & 1 ? STRIA_CATALOGUE_REMOVED : (enum stria_catalogue_kind)fields[2];
        break;
    }
    stria_catalogue_cell_encode(stria_catalogue_cell_at(log, log->count++), &entry, log->seed);
}

static void put_record(const uint8_t *record)
{
    const uint32_t drive = record[0] / RECORD_KINDS % DRIVES;
    switch (record[0] % RECORD_KINDS) {
    case RECORD_EXTENT:
        put_extent(drive, record[1], record + 2);
        break;
    case RECORD_CHECKPOINT:
        put_checkpoint(drive, record + 2);
        break;
    default:
        put_cell(drive, record[0] % RECORD_KINDS, record + 2);
    }
}

static void check_map(const struct stria_inventory_input *input, const struct stria_recording *recording)
{
    FUZZ_CHECK(recording->stored_bytes <= recording->length_bytes);
    FUZZ_CHECK(recording->dropped_bytes <= recording->length_bytes - recording->stored_bytes);
    const struct stria_map_memory memory = {
        .extents = malloc(recording->extent_count * sizeof(struct stria_map_extent) + 1),
        .extent_capacity = recording->extent_count,
        .lost = malloc(recording->lost_entry_count * sizeof(struct stria_catalogue_lost) + 1),
        .lost_capacity = recording->lost_entry_count,
    };
    struct stria_map map;
    FUZZ_CHECK(memory.extents && memory.lost);
    FUZZ_CHECK(stria_map_build(&map, input, recording, &memory) == 0);
    FUZZ_CHECK(map.chunks_stored + map.chunks_gap + map.chunks_lost + map.chunks_missing == map.chunk_count);
    uint64_t stored = 0, gap = 0, chunk = 0;
    for (unsigned step = 0; chunk < map.chunk_count && step < 20000; step++) {
        const struct stria_map_place place = stria_map_find(&map, chunk);
        FUZZ_CHECK(place.chunk_count > 0 && place.chunk_count <= map.chunk_count - chunk);
        FUZZ_CHECK((place.state == STRIA_MAP_STORED) == (place.extent_count > 0));
        stored += place.state == STRIA_MAP_STORED;
        gap += place.state == STRIA_MAP_GAP ? place.chunk_count : 0;
        chunk += place.chunk_count;
    }
    if (chunk == map.chunk_count)
        FUZZ_CHECK(stored == map.chunks_stored && gap <= map.chunks_gap);
    free(memory.extents);
    free(memory.lost);
}

static void check_array(void)
{
    for (uint32_t i = 0; i < DRIVES; i++) {
        uint8_t *halves[2] = {world.halves[i][0], world.halves[i][1]};
        FUZZ_CHECK(stria_catalogue_load(&world.replicas[i], halves, sizeof(world.halves[i][0]), array_uuid) ==
                   0);
    }
    static uint64_t memory[(STRIA_CATALOGUE_HALF_MIN * 2 * DRIVES) / 8];
    FUZZ_CHECK(stria_catalogue_merge_bytes(world.replicas, DRIVES) <= sizeof(memory));
    const struct stria_catalogue_meeting meeting = {.wall_ns = 2, .memory = memory};
    struct stria_catalogue united;
    const bool fits = stria_catalogue_merge(world.replicas, DRIVES, &meeting, &united) == 0;
    const struct stria_catalogue *merged = &united;
    const struct stria_inventory_input input = {
        .catalogue = merged, .drives = world.drives, .drive_count = DRIVES};
    FUZZ_CHECK(stria_inventory_build(&world.inventory, &input, world.table, 1024, world.scratch) == 0);
    for (uint32_t i = 0; i < world.inventory.recording_count; i++)
        check_map(&input, &world.inventory.recordings[i]);
    uint8_t bitmap[1024];
    FUZZ_CHECK(stria_inventory_used(&world.inventory, &input, 0, bitmap) <= world.geometry.extent_count);

    if (!fits)
        return;
    static uint8_t other_half[STRIA_CATALOGUE_HALF_MIN];
    static uint64_t scratch[STRIA_CATALOGUE_HALF_MIN / 8];
    struct stria_catalogue compacted;
    FUZZ_CHECK(stria_catalogue_compact_scratch_bytes(merged) <= sizeof(scratch));
    const struct stria_catalogue_compaction how = {.wall_ns = 2, .scratch = scratch};
    stria_catalogue_compact(merged, &how, other_half, &compacted);
    const uint32_t before = world.inventory.recording_count;
    struct stria_inventory_input again = input;
    again.catalogue = &compacted;
    FUZZ_CHECK(stria_inventory_build(&world.inventory, &again, world.table, 1024, world.scratch) == 0);
    FUZZ_CHECK(world.inventory.recording_count == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    world_begin();
    for (; bytes >= RECORD_BYTES; bytes -= RECORD_BYTES, data += RECORD_BYTES)
        put_record(data);
    check_array();
    world_end();
    return 0;
}

/* Recordings much as they would be. */
size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    const size_t records = stria_random_between(random, 1, FUZZ_INPUT_BYTES_MAX / RECORD_BYTES);
    memset(out, 0, records * RECORD_BYTES);
    uint64_t sequence = 0, chunk = 0;
    for (size_t i = 0; i < records; i++) {
        uint8_t *record = out + i * RECORD_BYTES, *fields = record + 2;
        const uint64_t kind = stria_random_below(random, 40);
        record[0] = (uint8_t)(kind < RECORD_KINDS ? kind : RECORD_EXTENT);
        record[0] = (uint8_t)(record[0] + RECORD_KINDS * stria_random_below(random, DRIVES));
        record[1] = (uint8_t)i;
        fields[0] = (uint8_t)stria_random_below(random, 3);
        fields[1] = 3;
        fields[3] = 1;
        stria_store_u64(fields + 8, record[0] % RECORD_KINDS == RECORD_EXTENT ? sequence++ : chunk * CHUNK);
        stria_store_u64(fields + 16, record[0] % RECORD_KINDS == RECORD_EXTENT ? chunk++ : 0);
        chunk += stria_random_below(random, 10) == 0;
        stria_store_u64(fields + 32, record[0] % RECORD_KINDS == RECORD_EXTENT ? 7 : sequence);
    }
    return records * RECORD_BYTES;
}
