/* The array as the product opens it: superblocks, catalogue, ledgers and checkpoints from the media, by the
 * core's own functions; and what is written outside of a recording. */
#ifndef STRIA_TESTS_SIM_ARRAY_H
#define STRIA_TESTS_SIM_ARRAY_H

#include "core/inventory.h"
#include "core/map.h"
#include "core/space.h"
#include "tests/sim/world.h"

struct sim_array_drive {
    bool present;
    uint8_t *halves[2]; /* of the catalogue */
    uint8_t *ledger;
    uint8_t *extent_state;
    uint8_t *staging;
    bool checkpoint_valid;
    struct stria_checkpoint checkpoint;
};

struct sim_array {
    uint32_t drive_count;
    struct sim_array_drive drives[STRIA_DRIVES_MAX];
    size_t half_bytes;
    struct stria_catalogue replicas[STRIA_DRIVES_MAX]; /* as read; image null: not there */
    struct stria_catalogue catalogue;                  /* the merged one */
    bool unknown;                                      /* no drive that is there has a catalogue */
    bool only_read;                                    /* it is more than the drives have room for */
    uint8_t *spare_half;                               /* where a compaction makes the next one */
    struct stria_inventory inventory;
    struct stria_recording *table;
    struct stria_inventory_drive inventory_drives[STRIA_DRIVES_MAX];
    struct stria_inventory_input input;
};

/* Makes an empty array on the media. */
void sim_array_format(struct sim_world *world);

/* Reads an array from those drives that are present (a bit for each); null after a failure, and when
 * none of them has a catalogue any more. */
struct sim_array *sim_array_load(struct sim_world *world, uint32_t present);
void sim_array_free(struct sim_array *array);

bool sim_everybody_there(const struct sim_array *array);

/* What opening for writing brings in order: stale replicas of the catalogue, one that has little room left,
 * recordings without an end. False when there was no room for that, or power was cut. */
bool sim_array_repair(struct sim_world *world, struct sim_array *array);

/* Room for a recording in the catalogue, which is compacted when it has little, or for tidiness; false when
 * it has none, or power was cut. */
bool sim_array_reserve(struct sim_world *world, struct sim_array *array);

/* Removes a recording, durably, and frees its extents. */
void sim_array_remove(struct sim_world *world, struct sim_array *array, struct sim_recording *recording);

/* Marks which extents are free for the next recording. */
void sim_array_mark(struct sim_array *array);

/* The map of a recording; free its memory with sim_map_free. */
void sim_map_make(struct sim_world *world, const struct sim_array *array,
                  const struct stria_recording *recording, struct stria_map *map);
void sim_map_free(struct stria_map *map);

/* Compares everything that can be read with the model. */
void sim_verify(struct sim_world *world, const struct sim_array *array);

/* Before a repair: recordings that an earlier one, cut off itself, has already given an end. */
void sim_note_ends(struct sim_world *world, const struct sim_array *array);

/* Takes what was found as the truth from now on: chunks that were not acknowledged before a cut. */
void sim_adopt(struct sim_world *world, const struct sim_array *array);

/* Which acknowledged chunk lies at an extent, or null. */
const struct sim_chunk *sim_owner(struct sim_world *world, uint32_t drive, uint64_t position);
void sim_own(struct sim_world *world, uint32_t drive, uint64_t position,
             const struct sim_recording *recording, uint32_t chunk);

#endif
