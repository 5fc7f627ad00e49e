#include "engine/filling.h"

#include "core/ratio.h"
#include "support/clock.h"

#define SOON_NS    (10 * STRIA_NS_PER_S)
#define GREW_PARTS 16u /* of the buffer */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* By how much what waits is more than it was at its least, of one to two seconds. */
static uint64_t growth(struct stria_filling *filling, uint64_t now_ns, uint64_t waiting_bytes)
{
    if (filling->since_ns == 0)
        filling->since_ns = now_ns;
    if (now_ns - filling->since_ns >= STRIA_NS_PER_S) {
        filling->least_bytes[0] = filling->least_bytes[1];
        filling->least_bytes[1] = waiting_bytes;
        filling->since_ns = now_ns;
    }
    filling->least_bytes[1] = smaller(filling->least_bytes[1], waiting_bytes);
    return waiting_bytes - smaller(waiting_bytes, smaller(filling->least_bytes[0], filling->least_bytes[1]));
}

bool stria_filling_note(struct stria_filling *filling, const struct stria_filling_state *state,
                        uint64_t *left_ns)
{
    const uint64_t waiting_bytes = state->used_bytes - smaller(state->used_bytes, state->writing_bytes);
    const uint64_t grown_bytes = growth(filling, state->now_ns, waiting_bytes);
    if (state->input_bytes_per_s <= state->stored_per_s)
        return false;
    *left_ns = stria_ratio_scale(state->buffer_bytes - smaller(state->buffer_bytes, state->used_bytes),
                                 STRIA_NS_PER_S, state->input_bytes_per_s - state->stored_per_s);
    return state->used_bytes >= state->buffer_bytes / 2 ||
           (grown_bytes >= state->buffer_bytes / GREW_PARTS && *left_ns <= SOON_NS);
}
