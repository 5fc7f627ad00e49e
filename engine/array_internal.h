/* The inside of an open array, for the engine's own files. */
#ifndef STRIA_ENGINE_ARRAY_INTERNAL_H
#define STRIA_ENGINE_ARRAY_INTERNAL_H

#include "core/inventory.h"
#include "engine/member.h"
#include "stria.h"
#include "support/bell.h"

/* Requests in flight on a drive besides its data: one for metadata, and room for one more. */
#define STRIA_DEPTH_EXTRA 2u

/* The queue that a drive is opened with for so many requests for data; where it has no room for the extra
 * ones, fewer are for data. */
static inline uint32_t stria_depth_with_extra(uint32_t depth)
{
    return depth < STRIA_DEPTH_MAX - STRIA_DEPTH_EXTRA ? depth + STRIA_DEPTH_EXTRA : STRIA_DEPTH_MAX;
}

struct stria_array {
    struct stria_array_config *config;
    bool writable;
    bool busy;                        /* a recording is being made */
    struct stria_reads_user *readers; /* those who read payload now; null: nobody */
    int given_up[STRIA_DRIVES_MAX];   /* by those: why; STRIA_OK: not. The drive is closed when the last has
                                         left */
    uint32_t member_count;            /* drives of the array, present or not */
    struct stria_member members[STRIA_DRIVES_MAX]; /* by drive index */
    uint8_t uuid[STRIA_UUID_BYTES];
    char name[STRIA_NAME_BYTES];
    enum stria_policy policy;
    uint32_t chunk_bytes;
    uint32_t
        block_bytes; /* what transfers are aligned to: the largest of the superblock's and of any drive's */
    struct stria_bell bell;
    struct stria_catalogue catalogue; /* the merged one, with log as its image */
    uint8_t *log;
    size_t log_bytes;
    uint64_t checkpoint_serial; /* highest written by recordings made since the array was opened */
    struct stria_inventory inventory;
    struct stria_inventory_input inventory_input;
    struct stria_inventory_drive inventory_drives[STRIA_DRIVES_MAX];
    uint64_t used_extents[STRIA_DRIVES_MAX]; /* that hold a chunk of a recording … */
    uint64_t free_extents[STRIA_DRIVES_MAX]; /* … and that one may be written to; the others cannot be */
    uint64_t
        room_extents[STRIA_DRIVES_MAX]; /* free ones that a recording made now can use: under raid0 not all */
    uint64_t rows_room_extents;         /* raid0: those of all rows; else no bound */
    char complaint[768];
};

/* How many extents a recording that is made now can fill. */
uint64_t stria_array_room(const struct stria_array *array);

/* Drives of the array that are there. */
uint32_t stria_array_present(const struct stria_array *array);

/* STRIA_ERR_GONE, and a sentence with the reason that each drive gave. */
int stria_array_no_drive_left(const struct stria_array *array, struct stria_trouble *trouble);

/* The drive that should have a chunk that is missing: the one that is known (not STRIA_GAP_DRIVE_NONE), or
 * the only one that is absent while the ledgers of all others are whole. −1: not known. */
int stria_array_keeper(const struct stria_array *array, uint32_t known);

/* Opens the drives of array.ini and gives those that are the array's their places. With a sentence, and
 * nothing left open, when it cannot be told which array is meant, or none is there. */
int stria_array_open_members(struct stria_array *array, struct stria_trouble *trouble);

/* Adds a sentence to the array's complaint. */
void stria_array_complain(struct stria_array *array, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Merges the drives' catalogues into one; where the array is writable, drives whose copy is behind get it. An
 * array whose drives know more together than fits is only read from then on. */
int stria_array_merge_catalogues(struct stria_array *array, struct stria_trouble *trouble);

/* Makes inventory and extent states anew from the images in memory. */
int stria_array_take_stock(struct stria_array *array, struct stria_trouble *trouble);

/* Gives recordings that were cut off by a crash their end on the media, where it was found to be; to be
 * called with the inventory up to date, before the next recording begins. Nothing happens while a drive is
 * absent, or on an array that is open for reading. */
int stria_array_close_interrupted(struct stria_array *array, struct stria_trouble *trouble);

/* Makes room for at least entries in the catalogue, compacting it if need be, on all drives. */
int stria_array_reserve(struct stria_array *array, uint32_t entries, struct stria_trouble *trouble);

/* Unmaps an image as large as the array's log, unless a request that never ended may still use it. */
void stria_array_discard_log(const struct stria_array *array, uint8_t *log);

/* Marks a recording as removed in the catalogue, which has room for that even when it is full, and makes it
 * durable on every drive that is present; a drive that fails is closed and complained about. STRIA_ERR_GONE
 * when none is left. */
int stria_array_forget(struct stria_array *array, uint64_t recording, struct stria_trouble *trouble);

/* Keeps an array that was opened for writing from being written, and complains why. */
void stria_array_only_read(struct stria_array *array, const char *reason);

/* Closes a drive that cannot be used any more, and takes it out of what the inventory is made from; the
 * reason becomes its complaint. */
void stria_array_drop(struct stria_array *array, uint32_t index, const char *reason);

void stria_recording_describe(const struct stria_recording *recording, struct stria_recording_info *info);

#endif
