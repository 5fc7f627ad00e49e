/* A Stria array on the machine's drives: made, read, and kept. */
#ifndef STRIA_FIRMWARE_ARRAY_H
#define STRIA_FIRMWARE_ARRAY_H

#include "core/inventory.h"
#include "core/superblock.h"
#include "firmware/drive.h"
#include "firmware/machine.h"
#include "firmware/options.h"

#include <stdbool.h>
#include <stdint.h>

/* One drive of the array. Images are in the arena. */
struct stria_bare_member {
    struct stria_bare_drive *drive; /* null: not there */
    struct stria_superblock super;
    uint8_t *checkpoints; /* STRIA_CHECKPOINT_BYTES */
    uint8_t *halves[2];   /* of the catalogue */
    uint8_t *ledger;
    uint8_t *staging;
    uint8_t *extent_state;
    bool checkpoint_valid;
    struct stria_checkpoint checkpoint;
    struct stria_catalogue catalogue; /* its replica, as read */
    uint64_t free_extents;
};

struct stria_bare_array {
    const struct stria_machine *machine;
    bool read_only; /* writing would destroy what some drive knows */
    uint64_t deadline_ns;
    uint32_t member_count; /* drives of the array, there or not */
    uint32_t present;
    struct stria_bare_member members[STRIA_DRIVES_MAX]; /* by drive index */
    uint8_t uuid[STRIA_UUID_BYTES];
    char name[STRIA_NAME_BYTES];
    enum stria_policy policy;
    uint32_t chunk_bytes, block_bytes;
    struct stria_catalogue catalogue; /* the merged one */
    struct stria_inventory inventory;
    struct stria_inventory_input input;
    struct stria_inventory_drive input_drives[STRIA_DRIVES_MAX];
};

/* All of these return STRIA_OK or a negative code, and have said then what was wrong. */

/* Makes a new array of all the drives, whatever was on them. */
int stria_bare_array_create(const struct stria_bare_drives *drives, const struct stria_machine *machine,
                            const struct stria_firmware_options *options);

/* Reads the array that is on the drives, into memory of the arena. */
int stria_bare_array_open(struct stria_bare_array *array, const struct stria_bare_drives *drives,
                          const struct stria_machine *machine, const struct stria_firmware_options *options);

/* Brings in order what a recording wants: replicas of the catalogue that are behind, recordings without an
 * end, room in the catalogue. */
int stria_bare_array_prepare(struct stria_bare_array *array);

#endif
