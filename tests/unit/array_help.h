/* An array's metadata in memory, for tests: what recordings leave behind, and what damage does to it. */
#ifndef STRIA_TESTS_UNIT_ARRAY_HELP_H
#define STRIA_TESTS_UNIT_ARRAY_HELP_H

#include "core/code.h"
#include "core/inventory.h"
#include "core/map.h"
#include "tests/unit/catalogue_help.h"

#include <stdlib.h>

#define HELP_DRIVES 4u
#define HELP_CHUNK  ((uint64_t)STRIA_CHUNK_BYTES_MIN)

struct help_array {
    struct stria_geometry geometry; /* the same for every drive */
    struct help_region region;
    struct stria_catalogue catalogue;
    uint8_t *ledger[HELP_DRIVES];
    uint64_t position_next[HELP_DRIVES];
    struct stria_inventory_drive drives[HELP_DRIVES];
    struct stria_inventory_input input;
    struct stria_recording table[64];
    uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES];
    struct stria_inventory inventory;
    struct stria_map map;
    struct stria_map_memory memory;
};

static inline void help_array_begin(struct help_array *array, uint64_t drive_bytes)
{
    memset(array, 0, sizeof(*array));
    help_format(&array->catalogue, &array->region);
    cr_assert_eq(stria_geometry_plan(&array->geometry, drive_bytes, HELP_CHUNK, 4096), STRIA_OK);
    for (uint32_t i = 0; i < HELP_DRIVES; i++) {
        array->ledger[i] = calloc(1, array->geometry.ledger_bytes);
        array->drives[i] = (struct stria_inventory_drive){
            .present = true,
            .ledger = array->ledger[i],
            .geometry = &array->geometry,
            .binding = {.drive_index = i, .generation = 1},
        };
        memcpy(array->drives[i].binding.array_uuid, help_array_uuid, STRIA_UUID_BYTES);
    }
    array->input = (struct stria_inventory_input){
        .catalogue = &array->catalogue, .drives = array->drives, .drive_count = HELP_DRIVES};
}

static inline void help_array_end(struct help_array *array)
{
    for (uint32_t i = 0; i < HELP_DRIVES; i++)
        free(array->ledger[i]);
    free(array->memory.extents);
    free(array->memory.lost);
}

/* Puts an entry into the next free position of a drive, which it returns. */
static inline uint64_t help_store(struct help_array *array, uint32_t drive,
                                  const struct stria_ledger_entry *entry)
{
    const uint64_t position = array->position_next[drive]++;
    cr_assert_lt(position, array->geometry.extent_count);
    stria_ledger_encode(array->ledger[drive] + position * STRIA_LEDGER_ENTRY_BYTES, entry,
                        &array->drives[drive].binding, position);
    return position;
}

/* A whole chunk. */
static inline struct stria_ledger_entry help_entry(uint64_t recording, uint64_t sequence, uint64_t chunk)
{
    return (struct stria_ledger_entry){
        .gap_drive = STRIA_GAP_DRIVE_NONE,
        .recording = recording,
        .sequence = sequence,
        .stream_offset = chunk * HELP_CHUNK,
        .length_bytes = HELP_CHUNK,
        .digest = recording * 1000 + sequence,
    };
}

static inline void help_checkpoint(struct help_array *array, uint32_t drive, uint64_t recording,
                                   uint64_t watermark_sequence, uint64_t watermark_bytes)
{
    array->drives[drive].checkpoint_valid = true;
    array->drives[drive].checkpoint = (struct stria_checkpoint){
        .serial = 10 + drive,
        .recording = recording,
        .watermark_bytes = watermark_bytes,
        .watermark_sequence = watermark_sequence,
        .length_bytes = watermark_bytes,
    };
}

/* Loads everything anew, as after opening the array. */
static inline void help_inventory(struct help_array *array)
{
    cr_assert_eq(help_load(&array->catalogue, &array->region), STRIA_OK);
    cr_assert_leq(stria_inventory_recordings_max(&array->catalogue), 64);
    cr_assert_eq(stria_inventory_build(&array->inventory, &array->input, array->table, 64, array->scratch),
                 STRIA_OK);
}

/* The map of a recording in the inventory, in memory of exactly the size it asks for. */
static inline const struct stria_map *help_map(struct help_array *array, uint64_t recording)
{
    const struct stria_recording *found = stria_inventory_find_id(&array->inventory, recording);
    cr_assert_not_null(found);
    free(array->memory.extents);
    free(array->memory.lost);
    array->memory.extent_capacity = found->extent_count;
    array->memory.lost_capacity = found->lost_entry_count;
    array->memory.extents = malloc(found->extent_count * sizeof(struct stria_map_extent) + 1);
    array->memory.lost = malloc(found->lost_entry_count * sizeof(struct stria_catalogue_lost) + 1);
    cr_assert_eq(stria_map_build(&array->map, &array->input, found, &array->memory), STRIA_OK);
    return &array->map;
}

static inline void help_lost(struct help_array *array, uint64_t recording, uint64_t sequence, uint32_t cause,
                             uint32_t drive)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_LOST,
        .recording = recording,
        .lost = {.cause = cause,
                 .drive = drive,
                 .base_sequence = sequence / STRIA_LOST_SEQUENCES * STRIA_LOST_SEQUENCES},
    };
    const uint64_t bit = sequence % STRIA_LOST_SEQUENCES;
    entry.lost.bitmap[bit / 8] = (uint8_t)(1u << bit % 8);
    cr_assert_gt(stria_catalogue_append(&array->catalogue, &entry), 0);
}

#endif
