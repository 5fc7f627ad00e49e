#include "core/model.h"

#include "core/assert.h"
#include "core/ratio.h"

#include <stddef.h>

/* Heat is integrated in steps no finer than this: finer ones would lose their part to rounding. */
#define HEAT_STEP_NS 10000000u

/* The drive's clock has as long again for what it does behind its last rest. */
#define REST_END_NS_MAX (1ull << 62)

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

uint64_t stria_model_gross_bytes_per_s(const struct stria_model_parameters *parameters, uint64_t bytes_per_s)
{
    uint64_t stalled_ns = 0; /* of each second */
    for (unsigned i = 0; i < parameters->stall_count; i++) {
        const struct stria_model_stall *stall = &parameters->stalls[i];
        const uint64_t length_ns_mean =
            stall->length_ns_min + (stall->length_ns_max - stall->length_ns_min) / 2;
        const uint64_t more_ns = stria_ratio_scale(bytes_per_s, length_ns_mean, stall->interval_bytes_mean);
        if (more_ns >= STRIA_SECOND_NS - stalled_ns)
            return 0;
        stalled_ns += more_ns;
    }
    return stria_ratio_scale(bytes_per_s, STRIA_SECOND_NS, STRIA_SECOND_NS - stalled_ns);
}

static struct stria_write_room room_of(const struct stria_model *model)
{
    const uint64_t used_bytes = model->state.fill.used_bytes;
    return (struct stria_write_room){used_bytes, model->parameters.capacity_bytes - used_bytes};
}

static const struct stria_write_law *law_of(const struct stria_model *model)
{
    const struct stria_model_parameters *p = &model->parameters;
    const bool worn = p->worn_after_bytes > 0 && model->state.worn_bytes >= p->worn_after_bytes;
    return worn ? &p->worn : &p->law;
}

static uint64_t draw_interval_bytes(struct stria_model *model, unsigned stall)
{
    const uint64_t mean_bytes = model->parameters.stalls[stall].interval_bytes_mean;
    return stria_random_between(&model->state.random, mean_bytes - mean_bytes / 2,
                                mean_bytes + mean_bytes / 2);
}

void stria_model_init(struct stria_model *model, const struct stria_model_parameters *parameters,
                      uint64_t seed)
{
    STRIA_ASSERT(stria_model_check(parameters, NULL, 0) == 0);
    *model = (struct stria_model){.parameters = *parameters};
    model->state.capacity_bytes = parameters->capacity_bytes;
    stria_random_seed(&model->state.random, seed);
    for (unsigned i = 0; i < parameters->stall_count; i++)
        model->state.stall_due_bytes[i] = draw_interval_bytes(model, i);
    stria_heat_start(&model->state.heat, &parameters->heat);
    stria_write_law_start(&parameters->law, &model->state.law, room_of(model));
}

static void pass_heat(struct stria_model *model, uint64_t ns, bool busy)
{
    struct stria_model_state *state = &model->state;
    state->heat_elapsed_ns += ns;
    state->heat_busy_ns += busy ? ns : 0;
    if (state->heat.level > 0)
        state->throttled_ns += ns;
    if (state->heat_elapsed_ns < HEAT_STEP_NS)
        return;
    stria_heat_advance(&state->heat, &model->parameters.heat, state->heat_elapsed_ns, state->heat_busy_ns);
    state->heat_elapsed_ns = 0;
    state->heat_busy_ns = 0;
}

static void pass_rest(struct stria_model *model, uint64_t busy_end_ns)
{
    const struct stria_model_parameters *p = &model->parameters;
    struct stria_model_state *state = &model->state;
    const uint64_t from_ns = larger(state->rested_ns, busy_end_ns + p->idle_ns);
    if (state->clock_ns <= from_ns)
        return;
    const uint64_t bytes =
        stria_ratio_scale(state->clock_ns - from_ns, p->refill_bytes_per_s, STRIA_SECOND_NS);
    if (bytes == 0)
        return;
    stria_write_law_refill(law_of(model), &state->law, room_of(model), bytes);
    state->rested_ns = state->clock_ns;
}

/* clock_ns is on the drive's own clock. */
static void advance(struct stria_model *model, uint64_t clock_ns)
{
    struct stria_model_state *state = &model->state;
    if (clock_ns <= state->clock_ns)
        return;
    const uint64_t busy_end_ns = larger(state->write_end_ns, state->read_end_ns);
    const uint64_t elapsed_ns = clock_ns - state->clock_ns;
    const uint64_t busy_ns =
        busy_end_ns > state->clock_ns ? smaller(busy_end_ns, clock_ns) - state->clock_ns : 0;
    pass_heat(model, busy_ns, true);
    pass_heat(model, elapsed_ns - busy_ns, false);
    state->clock_ns = clock_ns;
    pass_rest(model, busy_end_ns);
}

/* The caller's now, on the drive's own clock: never before what it has seen. */
static uint64_t arrive(struct stria_model *model, uint64_t now_ns)
{
    const uint64_t clock_ns = now_ns + model->skew_ns;
    if ((int64_t)(clock_ns - model->state.clock_ns) > 0)
        advance(model, clock_ns);
    return model->state.clock_ns;
}

void stria_model_advance(struct stria_model *model, uint64_t now_ns)
{
    arrive(model, now_ns);
}

static struct stria_rate_step capped_by_zone(struct stria_rate_step step,
                                             const struct stria_model_zones *zones, uint64_t offset)
{
    if (zones->count == 0)
        return step;
    unsigned i = 0;
    while (i + 1 < zones->count && offset >= zones->zones[i].until_bytes)
        i++;
    if (i + 1 < zones->count)
        step.until_bytes = smaller(step.until_bytes, zones->zones[i].until_bytes - offset);
    step.bytes_per_s = smaller(step.bytes_per_s, zones->zones[i].bytes_per_s);
    return step;
}

static struct stria_rate_step write_step(const struct stria_model *model, uint64_t offset)
{
    const struct stria_rate_step step =
        stria_write_law_next(law_of(model), &model->state.law, room_of(model));
    return capped_by_zone(step, &model->parameters.write_zones, offset);
}

/* A rate of the flash as it is now: less when hot. */
static uint64_t rate_now(const struct stria_model *model, uint64_t bytes_per_s)
{
    const uint64_t rate =
        stria_ratio_scale(bytes_per_s, stria_model_heat_rate_per_mille(model), STRIA_HEAT_FULL_PER_MILLE);
    return larger(rate, 1);
}

/* Rounded up, so that no rounding makes a drive faster than it is. */
static uint64_t transfer_ns(uint64_t bytes, uint64_t bytes_per_s)
{
    return stria_ratio_divide((stria_u128)bytes * STRIA_SECOND_NS + bytes_per_s - 1, bytes_per_s);
}

/* A request is taken in no more pieces than this: while data is written over, the room that ends a phase does
 * not shrink, and may be a single byte. */
#define PIECES_MAX 1024u

static uint64_t write_flash_ns(struct stria_model *model, uint64_t offset, uint64_t bytes)
{
    struct stria_model_state *state = &model->state;
    const uint64_t piece_bytes_min = bytes / PIECES_MAX + 1;
    uint64_t total_ns = 0;
    while (bytes > 0) {
        const struct stria_rate_step step = write_step(model, offset);
        const uint64_t piece_bytes = smaller(bytes, larger(step.until_bytes, piece_bytes_min));
        const uint64_t gross_bytes_per_s =
            stria_model_gross_bytes_per_s(&model->parameters, rate_now(model, step.bytes_per_s));
        total_ns += transfer_ns(piece_bytes, gross_bytes_per_s);
        const struct stria_write_law *law = law_of(model);
        stria_fill_write(&state->fill, model->parameters.capacity_bytes, offset, piece_bytes);
        stria_write_law_written(law, &state->law, room_of(model), piece_bytes);
        state->worn_bytes += piece_bytes;
        state->written_bytes += piece_bytes;
        offset += piece_bytes;
        bytes -= piece_bytes;
    }
    return total_ns;
}

static uint64_t read_flash_ns(struct stria_model *model, uint64_t offset, uint64_t bytes)
{
    uint64_t total_ns = 0;
    model->state.read_bytes += bytes;
    while (bytes > 0) {
        const struct stria_rate_step step =
            capped_by_zone((struct stria_rate_step){UINT64_MAX, model->parameters.read_bytes_per_s},
                           &model->parameters.read_zones, offset);
        const uint64_t piece_bytes = smaller(bytes, step.until_bytes);
        total_ns += transfer_ns(piece_bytes, rate_now(model, step.bytes_per_s));
        offset += piece_bytes;
        bytes -= piece_bytes;
    }
    return total_ns;
}

/* Stalls that fall due within so many bytes, as time on top of their transfer. */
static uint64_t stalls_ns(struct stria_model *model, uint64_t bytes)
{
    struct stria_model_state *state = &model->state;
    uint64_t total_ns = 0;
    for (unsigned i = 0; i < model->parameters.stall_count; i++) {
        const struct stria_model_stall *stall = &model->parameters.stalls[i];
        uint64_t left_bytes = bytes;
        while (left_bytes >= state->stall_due_bytes[i]) {
            left_bytes -= state->stall_due_bytes[i];
            state->stall_due_bytes[i] = draw_interval_bytes(model, i);
            total_ns += stria_random_between(&state->random, stall->length_ns_min, stall->length_ns_max);
            state->stall_count++;
        }
        state->stall_due_bytes[i] -= left_bytes;
    }
    state->stall_ns += total_ns;
    return total_ns;
}

/* The end of a transfer that starts when the ones before it in its direction have ended. A request that finds
 * the other direction at work will share the flash with it all along, for who keeps a queue filled fills it
 * again. */
static uint64_t end_ns(const struct stria_model *model, uint64_t clock_ns, uint64_t own_end_ns,
                       uint64_t other_end_ns, uint64_t duration_ns)
{
    const uint64_t per_mille = other_end_ns > clock_ns ? model->parameters.interference_per_mille : 0;
    return larger(clock_ns, own_end_ns) + duration_ns + stria_ratio_scale(duration_ns, per_mille, 1000);
}

static uint64_t submit_write(struct stria_model *model, uint64_t clock_ns, uint64_t offset, uint64_t bytes)
{
    struct stria_model_state *state = &model->state;
    uint64_t duration_ns = larger(write_flash_ns(model, offset, bytes), model->parameters.command_ns);
    duration_ns += stalls_ns(model, bytes);
    state->write_end_ns = end_ns(model, clock_ns, state->write_end_ns, state->read_end_ns, duration_ns);
    return state->write_end_ns + model->parameters.write_latency_ns;
}

static uint64_t submit_read(struct stria_model *model, uint64_t clock_ns, uint64_t offset, uint64_t bytes)
{
    struct stria_model_state *state = &model->state;
    const uint64_t duration_ns = larger(read_flash_ns(model, offset, bytes), model->parameters.command_ns);
    state->read_end_ns = end_ns(model, clock_ns, state->read_end_ns, state->write_end_ns, duration_ns);
    return state->read_end_ns + model->parameters.read_latency_ns;
}

uint64_t stria_model_submit(struct stria_model *model, uint64_t now_ns, enum stria_model_op op,
                            uint64_t offset, uint64_t bytes)
{
    STRIA_ASSERT((op == STRIA_MODEL_FLUSH) == (bytes == 0));
    const uint64_t clock_ns = arrive(model, now_ns);
    uint64_t done_ns = 0;
    if (op == STRIA_MODEL_WRITE)
        done_ns = submit_write(model, clock_ns, offset, bytes);
    else if (op == STRIA_MODEL_READ)
        done_ns = submit_read(model, clock_ns, offset, bytes);
    else
        done_ns = larger(clock_ns, model->state.write_end_ns + model->parameters.write_latency_ns) +
                  model->parameters.flush_ns;
    return done_ns - model->skew_ns;
}

uint64_t stria_model_trim(struct stria_model *model, uint64_t now_ns, uint64_t offset, uint64_t bytes)
{
    struct stria_model_state *state = &model->state;
    const uint64_t clock_ns = arrive(model, now_ns);
    const uint64_t freed_bytes =
        stria_fill_trim(&state->fill, model->parameters.capacity_bytes, offset, bytes);
    if (state->fill.used_bytes == 0)
        state->worn_bytes = 0;
    stria_write_law_trimmed(law_of(model), &state->law, room_of(model), freed_bytes);
    state->write_end_ns = larger(clock_ns, state->write_end_ns) + model->parameters.trim_ns;
    return state->write_end_ns - model->skew_ns;
}

void stria_model_rest(struct stria_model *model, uint64_t ns)
{
    struct stria_model_state *state = &model->state;
    const uint64_t busy_end_ns = larger(state->write_end_ns, state->read_end_ns);
    const uint64_t begin_ns = larger(state->clock_ns, busy_end_ns);
    const uint64_t most_ns = begin_ns < REST_END_NS_MAX ? REST_END_NS_MAX - begin_ns : 0;
    const uint64_t rest_end_ns = begin_ns + smaller(ns, most_ns);
    model->skew_ns += rest_end_ns - state->clock_ns;
    advance(model, rest_end_ns);
}

int64_t stria_model_temperature_mc(const struct stria_model *model)
{
    return model->state.heat.temperature_uc / 1000;
}

uint64_t stria_model_heat_rate_per_mille(const struct stria_model *model)
{
    return stria_heat_rate_per_mille(&model->state.heat, &model->parameters.heat);
}

uint64_t stria_model_used_bytes(const struct stria_model *model)
{
    return model->state.fill.used_bytes;
}

uint64_t stria_model_write_bytes_per_s(const struct stria_model *model, uint64_t offset)
{
    return rate_now(model, write_step(model, offset).bytes_per_s);
}

uint64_t stria_model_busy_until_ns(const struct stria_model *model)
{
    return larger(model->state.write_end_ns, model->state.read_end_ns) - model->skew_ns;
}
