#include "core/space.h"

#include "core/assert.h"

void stria_space_init(struct stria_space *space, uint8_t *state, uint64_t count)
{
    uint64_t free = 0;
    for (uint64_t position = 0; position < count; position++) {
        if (state[position] == STRIA_EXTENT_COMMITTED)
            state[position] = STRIA_EXTENT_USED;
        else if (state[position] != STRIA_EXTENT_USED && state[position] != STRIA_EXTENT_BAD)
            state[position] = STRIA_EXTENT_FREE;
        free += state[position] == STRIA_EXTENT_FREE;
    }
    *space =
        (struct stria_space){.state = state, .count = count, .free = free, .high = count, .high_open = count};
}

static uint64_t take(struct stria_space *space, uint64_t position)
{
    STRIA_ASSERT(space->state[position] == STRIA_EXTENT_FREE && space->free > 0);
    space->state[position] = STRIA_EXTENT_TAKEN;
    space->free--;
    return position;
}

uint64_t stria_space_take_low(struct stria_space *space)
{
    while (space->low < space->high) {
        uint64_t position = space->low++;
        if (space->state[position] == STRIA_EXTENT_FREE)
            return take(space, position);
    }
    return STRIA_SPACE_NONE;
}

static uint64_t take_behind(struct stria_space *space)
{
    if (!space->met)
        space->behind = space->low;
    space->met = true;
    while (space->behind > 0) {
        uint64_t position = --space->behind;
        if (space->state[position] != STRIA_EXTENT_FREE)
            continue;
        if (position < space->low_open)
            space->low_open = position;
        return take(space, position);
    }
    return STRIA_SPACE_NONE;
}

uint64_t stria_space_take_high(struct stria_space *space)
{
    while (space->high > space->low) {
        uint64_t position = --space->high;
        if (space->state[position] == STRIA_EXTENT_FREE)
            return take(space, position);
    }
    return take_behind(space);
}

bool stria_space_take_at(struct stria_space *space, uint64_t position)
{
    if (position >= space->high || space->state[position] != STRIA_EXTENT_FREE)
        return false;
    if (position >= space->low)
        space->low = position + 1;
    else if (position < space->low_open)
        space->low_open = position;
    take(space, position);
    return true;
}

void stria_space_advance(struct stria_space *space, uint64_t position, enum stria_extent_state from,
                         enum stria_extent_state to)
{
    STRIA_ASSERT(position < space->count && space->state[position] == from);
    space->state[position] = (uint8_t)to;
}

static uint64_t advance_range(struct stria_space *space, uint64_t start, uint64_t end,
                              enum stria_extent_state from, enum stria_extent_state to)
{
    uint64_t moved = 0;
    for (uint64_t position = start; position < end; position++) {
        if (space->state[position] != from)
            continue;
        space->state[position] = (uint8_t)to;
        moved++;
    }
    return moved;
}

uint64_t stria_space_advance_all(struct stria_space *space, enum stria_extent_state from,
                                 enum stria_extent_state to)
{
    return advance_range(space, space->low_open, space->low, from, to) +
           advance_range(space, space->high, space->high_open, from, to);
}

static uint64_t find_in_range(const struct stria_space *space, uint64_t start, uint64_t end,
                              enum stria_extent_state state)
{
    for (uint64_t position = start; position < end; position++)
        if (space->state[position] == state)
            return position;
    return STRIA_SPACE_NONE;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t stria_space_find(const struct stria_space *space, uint64_t start, enum stria_extent_state state)
{
    uint64_t found = find_in_range(space, larger(start, space->low_open), space->low, state);
    if (found != STRIA_SPACE_NONE)
        return found;
    return find_in_range(space, larger(start, space->high), space->high_open, state);
}

static bool in_flight(const struct stria_space *space, uint64_t position)
{
    uint8_t state = space->state[position];
    return state == STRIA_EXTENT_TAKEN || state == STRIA_EXTENT_STORED || state == STRIA_EXTENT_FLUSHING;
}

void stria_space_settle(struct stria_space *space)
{
    while (space->low_open < space->low && !in_flight(space, space->low_open))
        space->low_open++;
    while (space->high_open > space->high && !in_flight(space, space->high_open - 1))
        space->high_open--;
}
