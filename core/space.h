/* Which extents of one drive are free. One state byte per extent position, in the caller's memory.
 *
 * Extents are taken upwards from the low end (the ordinary way) or downwards from the high end (for
 * chunks that RAID0 could not put in their own place). Both cursors only move inwards while a
 * recording runs, so what they have passed and what is not yet committed lies in two short windows. Rows
 * of RAID0 that go on at the start of a drive widen the lower one, and so does what is taken downwards
 * when the cursors have met: what is free then lies below both. */
#ifndef STRIA_CORE_SPACE_H
#define STRIA_CORE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

enum stria_extent_state {
    STRIA_EXTENT_FREE = 0,
    STRIA_EXTENT_USED,      /* holds a chunk of an earlier recording */
    STRIA_EXTENT_TAKEN,     /* a chunk is being written to it */
    STRIA_EXTENT_STORED,    /* written, perhaps still in the drive's volatile cache */
    STRIA_EXTENT_FLUSHING,  /* part of the commit that is under way */
    STRIA_EXTENT_COMMITTED, /* survives a power cut, and so does its ledger entry */
    STRIA_EXTENT_BAD /* it cannot be written, or a write to it failed; not tried while the array is open */
};

#define STRIA_SPACE_NONE UINT64_MAX

struct stria_space {
    uint8_t *state;     /* enum stria_extent_state by position; owned by the caller */
    uint64_t count;     /* positions on the drive */
    uint64_t free;      /* of them FREE */
    uint64_t low;       /* next position to look at upwards */
    uint64_t high;      /* one past the next position to look at downwards */
    uint64_t low_open;  /* [low_open, low) may hold extents that are not committed */
    uint64_t high_open; /* so may [high, high_open) */
    uint64_t behind;    /* where the cursors have met: one past the next position to look at below them */
    bool met;
};

/* Takes over a state array in which each position is FREE, USED or BAD; everything else in it counts as USED
 * (COMMITTED by an earlier recording) or FREE (TAKEN, STORED, FLUSHING: never acknowledged). */
void stria_space_init(struct stria_space *space, uint8_t *state, uint64_t count);

/* Take a free extent and return its position, or STRIA_SPACE_NONE when there is none. */
uint64_t stria_space_take_low(struct stria_space *space);
uint64_t stria_space_take_high(struct stria_space *space);

/* Takes this very position; false if it is not free or does not exist. Positions are asked for in rising
 * order. */
bool stria_space_take_at(struct stria_space *space, uint64_t position);

/* Moves a position from one state of a chunk's life to the next. Asserts that it is in state from. */
void stria_space_advance(struct stria_space *space, uint64_t position, enum stria_extent_state from,
                         enum stria_extent_state to);

/* Moves every extent in the open windows that is in state from to state to; returns how many. */
uint64_t stria_space_advance_all(struct stria_space *space, enum stria_extent_state from,
                                 enum stria_extent_state to);

/* The lowest open position, at or above start, that is in the given state, or STRIA_SPACE_NONE. */
uint64_t stria_space_find(const struct stria_space *space, uint64_t start, enum stria_extent_state state);

/* Shrinks the open windows past extents that are settled. Call when a commit is complete. */
void stria_space_settle(struct stria_space *space);

#endif
