#include "core/model.h"
#include "core/ratio.h"

void stria_model_save(const struct stria_model *model, struct stria_model_state *state)
{
    *state = model->state;
}

static bool fill_is_sound(const struct stria_fill *fill, uint64_t capacity_bytes)
{
    const uint64_t segment_bytes = stria_fill_segment_bytes(capacity_bytes);
    uint64_t start = 0;
    uint64_t sum_bytes = 0;
    for (unsigned i = 0; i < STRIA_FILL_SEGMENTS; i++) {
        const uint64_t room_bytes = start < capacity_bytes ? capacity_bytes - start : 0;
        const uint64_t most_bytes = room_bytes < segment_bytes ? room_bytes : segment_bytes;
        if (fill->segment_used_bytes[i] > most_bytes)
            return false;
        sum_bytes += fill->segment_used_bytes[i];
        start += most_bytes;
    }
    return sum_bytes == fill->used_bytes;
}

static bool clock_is_sound(const struct stria_model_state *state)
{
    const uint64_t latest_ns = state->clock_ns + STRIA_MODEL_TIME_NS_MAX;
    return state->clock_ns <= INT64_MAX && state->write_end_ns <= latest_ns &&
           state->read_end_ns <= latest_ns && state->rested_ns <= state->clock_ns &&
           state->heat_elapsed_ns <= STRIA_SECOND_NS && state->heat_busy_ns <= state->heat_elapsed_ns;
}

static bool heat_is_sound(const struct stria_heat *heat, const struct stria_heat_parameters *parameters)
{
    const int64_t bound_uc = (int64_t)1 << 50;
    if (heat->level > STRIA_HEAT_LEVELS)
        return false;
    if (heat->level > 0 && parameters->levels[heat->level - 1].rate_per_mille == 0)
        return false;
    return heat->temperature_uc > -bound_uc && heat->temperature_uc < bound_uc;
}

bool stria_model_load(struct stria_model *model, const struct stria_model_state *state, uint64_t now_ns)
{
    const struct stria_model_parameters *p = &model->parameters;
    const uint64_t *random = state->random.state;
    if (state->capacity_bytes != p->capacity_bytes || !clock_is_sound(state) ||
        !fill_is_sound(&state->fill, p->capacity_bytes) || !heat_is_sound(&state->heat, &p->heat) ||
        (random[0] | random[1] | random[2] | random[3]) == 0 ||
        state->law.held_bytes > state->law.cache_bytes ||
        state->law.cache_bytes > p->capacity_bytes + p->law.static_bytes)
        return false;
    /* The profile may have been edited since: what it says of stalls and turns now, holds now. */
    struct stria_model_state taken = *state;
    for (unsigned i = 0; i < p->stall_count; i++) {
        const uint64_t mean_bytes = p->stalls[i].interval_bytes_mean;
        if (taken.stall_due_bytes[i] == 0 || taken.stall_due_bytes[i] > mean_bytes + mean_bytes / 2)
            taken.stall_due_bytes[i] = mean_bytes;
    }
    const struct stria_write_law *laws[] = {&p->law, &p->worn};
    for (unsigned i = 0; i < 2; i++) {
        if (laws[i]->go_bytes > 0)
            taken.law.turn_bytes %= laws[i]->go_bytes + laws[i]->stop_bytes;
    }
    model->state = taken;
    model->skew_ns = taken.clock_ns - now_ns;
    return true;
}
