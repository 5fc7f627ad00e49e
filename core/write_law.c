#include "core/write_law.h"

#include "core/assert.h"
#include "core/ratio.h"

#include <stdbool.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t cache_law_bytes(const struct stria_write_law *law, struct stria_write_room room)
{
    return law->static_bytes +
           stria_ratio_scale(room.free_bytes, law->dynamic_per_mille, 1000 * law->bits_per_cell);
}

void stria_write_law_start(const struct stria_write_law *law, struct stria_write_law_state *state,
                           struct stria_write_room room)
{
    *state = (struct stria_write_law_state){0};
    if (law->kind == STRIA_WRITE_LAW_TABLE)
        state->since_bytes = stria_ratio_scale(room.used_bytes, law->held_per_mille, 1000);
    else
        state->cache_bytes = cache_law_bytes(law, room);
}

static struct stria_rate_step table_next(const struct stria_write_law *law, uint64_t since_bytes)
{
    STRIA_ASSERT(law->step_count > 0);
    unsigned i = 0;
    while (i + 1 < law->step_count && since_bytes >= law->steps[i].until_bytes)
        i++;
    const bool last = i + 1 == law->step_count;
    return (struct stria_rate_step){
        .until_bytes = last ? UINT64_MAX : law->steps[i].until_bytes - since_bytes,
        .bytes_per_s = law->steps[i].bytes_per_s,
    };
}

/* Bytes that can be written directly before the held data must move. */
static uint64_t direct_room_bytes(const struct stria_write_law *law,
                                  const struct stria_write_law_state *state, struct stria_write_room room)
{
    if (law->direct_bytes_per_s == 0)
        return 0;
    return minus(room.free_bytes, (law->bits_per_cell - 1) * state->held_bytes);
}

static struct stria_rate_step cache_next(const struct stria_write_law *law,
                                         const struct stria_write_law_state *state,
                                         struct stria_write_room room)
{
    if (state->held_bytes < state->cache_bytes)
        return (struct stria_rate_step){state->cache_bytes - state->held_bytes, law->slc_bytes_per_s};
    const uint64_t direct_bytes = direct_room_bytes(law, state, room);
    if (direct_bytes > 0)
        return (struct stria_rate_step){direct_bytes, law->direct_bytes_per_s};
    if (law->go_bytes == 0)
        return (struct stria_rate_step){UINT64_MAX, law->fold_bytes_per_s};
    if (state->turn_bytes < law->go_bytes)
        return (struct stria_rate_step){law->go_bytes - state->turn_bytes, law->go_bytes_per_s};
    return (struct stria_rate_step){law->go_bytes + law->stop_bytes - state->turn_bytes,
                                    law->fold_bytes_per_s};
}

struct stria_rate_step stria_write_law_next(const struct stria_write_law *law,
                                            const struct stria_write_law_state *state,
                                            struct stria_write_room room)
{
    return law->kind == STRIA_WRITE_LAW_TABLE ? table_next(law, state->since_bytes)
                                              : cache_next(law, state, room);
}

void stria_write_law_written(const struct stria_write_law *law, struct stria_write_law_state *state,
                             struct stria_write_room room, uint64_t bytes)
{
    state->since_bytes = smaller(UINT64_MAX - state->since_bytes, bytes) + state->since_bytes;
    if (law->kind == STRIA_WRITE_LAW_TABLE)
        return;
    if (state->held_bytes < state->cache_bytes) {
        state->held_bytes += smaller(bytes, state->cache_bytes - state->held_bytes);
        return;
    }
    if (direct_room_bytes(law, state, room) > 0)
        return;
    if (law->go_bytes > 0)
        state->turn_bytes = (state->turn_bytes + bytes) % (law->go_bytes + law->stop_bytes);
    /* Folding ends when the full cells have taken all: what is still held fits beside the rest. */
    if (law->bits_per_cell > 1) {
        const uint64_t fits = room.free_bytes / (law->bits_per_cell - 1);
        state->cache_bytes = smaller(state->cache_bytes, larger(law->static_bytes, fits));
        state->held_bytes = state->cache_bytes;
    }
}

void stria_write_law_refill(const struct stria_write_law *law, struct stria_write_law_state *state,
                            struct stria_write_room room, uint64_t bytes)
{
    if (bytes == 0)
        return;
    if (law->kind == STRIA_WRITE_LAW_TABLE) {
        const uint64_t floor_bytes = stria_ratio_scale(room.used_bytes, law->held_per_mille, 1000);
        if (state->since_bytes > floor_bytes)
            state->since_bytes = larger(minus(state->since_bytes, bytes), floor_bytes);
        return;
    }
    state->since_bytes = minus(state->since_bytes, bytes);
    state->held_bytes = minus(state->held_bytes, bytes);
    state->cache_bytes = larger(cache_law_bytes(law, room), state->held_bytes);
    state->turn_bytes = 0;
}

void stria_write_law_trimmed(const struct stria_write_law *law, struct stria_write_law_state *state,
                             struct stria_write_room room, uint64_t freed_bytes)
{
    if (room.used_bytes == 0) {
        stria_write_law_start(law, state, room);
        return;
    }
    if (freed_bytes == 0)
        return;
    state->since_bytes = minus(state->since_bytes, freed_bytes);
    if (law->kind == STRIA_WRITE_LAW_TABLE)
        return;
    /* The cache held its share of what was freed. */
    const uint64_t used_before = room.used_bytes + freed_bytes;
    state->held_bytes -= stria_ratio_scale(state->held_bytes, freed_bytes, used_before);
    state->cache_bytes = larger(cache_law_bytes(law, room), state->held_bytes);
}
