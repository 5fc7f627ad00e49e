#include "core/heat.h"

#include "core/assert.h"
#include "core/ratio.h"

/* A step of an eighth of T_c is right to 2·10⁻⁴ of the distance by the trapezoidal rule below, and 32 time
 * constants after a change nothing is left of it in µ°C. */
#define STEPS_PER_TIME_CONSTANT 8u
#define SETTLED_TIME_CONSTANTS  32u

static int64_t target_uc(const struct stria_heat_parameters *parameters, uint64_t power_mw)
{
    /* mK/W times mW are millionths of a kelvin. */
    return parameters->ambient_mc * 1000 + (int64_t)(parameters->resistance_mk_per_w * power_mw);
}

void stria_heat_start(struct stria_heat *heat, const struct stria_heat_parameters *parameters)
{
    heat->level = 0;
    heat->temperature_uc = target_uc(parameters, parameters->time_constant_ns ? parameters->idle_mw : 0);
}

static void change_level(struct stria_heat *heat, const struct stria_heat_parameters *parameters)
{
    while (heat->level > 0) {
        const int64_t leave_uc =
            (parameters->levels[heat->level - 1].limit_mc - (int64_t)parameters->hysteresis_mk) * 1000;
        if (heat->temperature_uc >= leave_uc)
            break;
        heat->level--;
    }
    while (heat->level < STRIA_HEAT_LEVELS && parameters->levels[heat->level].rate_per_mille > 0 &&
           heat->temperature_uc >= parameters->levels[heat->level].limit_mc * 1000)
        heat->level++;
}

static void step(struct stria_heat *heat, const struct stria_heat_parameters *parameters, int64_t target,
                 uint64_t step_ns)
{
    const int64_t distance = target - heat->temperature_uc;
    const uint64_t size = distance < 0 ? (uint64_t)-distance : (uint64_t)distance;
    const uint64_t moved = stria_ratio_scale(size, 2 * step_ns, 2 * parameters->time_constant_ns + step_ns);
    heat->temperature_uc += distance < 0 ? -(int64_t)moved : (int64_t)moved;
    change_level(heat, parameters);
}

void stria_heat_advance(struct stria_heat *heat, const struct stria_heat_parameters *parameters,
                        uint64_t elapsed_ns, uint64_t busy_ns)
{
    STRIA_ASSERT(busy_ns <= elapsed_ns);
    if (parameters->time_constant_ns == 0 || elapsed_ns == 0)
        return;
    const uint64_t constant_ns = parameters->time_constant_ns;
    uint64_t step_ns_max = constant_ns / STEPS_PER_TIME_CONSTANT;
    if (step_ns_max == 0)
        step_ns_max = 1;
    uint64_t left_ns = elapsed_ns;
    if (left_ns / SETTLED_TIME_CONSTANTS > constant_ns)
        left_ns = constant_ns * SETTLED_TIME_CONSTANTS;
    while (left_ns > 0) {
        /* A throttled drive works less, so it heats less: that is what ends the climb. */
        const uint64_t swing_mw =
            stria_ratio_scale(parameters->active_mw - parameters->idle_mw,
                              stria_heat_rate_per_mille(heat, parameters), STRIA_HEAT_FULL_PER_MILLE);
        const uint64_t power_mw = parameters->idle_mw + stria_ratio_scale(swing_mw, busy_ns, elapsed_ns);
        const uint64_t step_ns = left_ns < step_ns_max ? left_ns : step_ns_max;
        step(heat, parameters, target_uc(parameters, power_mw), step_ns);
        left_ns -= step_ns;
    }
}

uint64_t stria_heat_rate_per_mille(const struct stria_heat *heat,
                                   const struct stria_heat_parameters *parameters)
{
    return heat->level == 0 ? STRIA_HEAT_FULL_PER_MILLE : parameters->levels[heat->level - 1].rate_per_mille;
}
