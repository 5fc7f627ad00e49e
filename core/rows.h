/* The rows of an array under RAID0: row r is extent position r of every drive that is there. A recording
 * takes the rows in which no drive holds a chunk of an earlier one; so unequal drives count as the smallest.
 */
#ifndef STRIA_CORE_ROWS_H
#define STRIA_CORE_ROWS_H

#include "core/limits.h"

#include <stdbool.h>
#include <stdint.h>

struct stria_rows {
    uint32_t drive_count;                    /* drives of the array */
    const uint8_t *states[STRIA_DRIVES_MAX]; /* enum stria_extent_state by position; null: it is absent */
    uint64_t count; /* rows: the positions that every drive has that is there; zero: none is there */
};

/* Of drives that are all absent. */
void stria_rows_init(struct stria_rows *rows, uint32_t drive_count);

/* A drive that is there; states stay the caller's and stay in place. */
void stria_rows_add(struct stria_rows *rows, uint32_t drive, const uint8_t *states, uint64_t count);

/* Where a recording should begin: the first row of the longest run of usable rows in which nothing has to go
 * elsewhere, so that the kernel can read it as one range; of the longest run of usable rows if there is none.
 * rows->count when no row is usable. */
uint64_t stria_rows_best(const struct stria_rows *rows);

/* The first usable row in [row, end); end when there is none. Where an extent of one cannot be written, its
 * chunk goes elsewhere. */
uint64_t stria_rows_next(const struct stria_rows *rows, uint64_t row, uint64_t end);

/* How many extents a recording can fill that begins now: those of the usable rows, of which an absent drive's
 * go elsewhere, but no more than are free on all drives together. */
uint64_t stria_rows_room(const struct stria_rows *rows, uint64_t free_extents);

/* Of them, on a drive that is there and has free_extents free: while a drive is absent, perhaps any of them;
 * else the free ones in usable rows. */
uint64_t stria_rows_room_of(const struct stria_rows *rows, uint32_t drive, uint64_t free_extents);

#endif
