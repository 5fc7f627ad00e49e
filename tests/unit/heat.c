#include "core/heat.h"

#include <criterion/criterion.h>
#include <math.h>

#define SECOND_NS 1000000000ull

/* 25 °C, idle 35 °C, at work 85 °C. */
static const struct stria_heat_parameters plain = {
    .ambient_mc = 25000,
    .resistance_mk_per_w = 10000,
    .idle_mw = 1000,
    .active_mw = 6000,
    .time_constant_ns = 60 * SECOND_NS,
};

static const struct stria_heat_parameters throttled = {
    .ambient_mc = 25000,
    .resistance_mk_per_w = 10000,
    .idle_mw = 1000,
    .active_mw = 8000,
    .time_constant_ns = 60 * SECOND_NS,
    .levels = {{70000, 600}, {80000, 200}},
    .hysteresis_mk = 5000,
};

static double celsius(const struct stria_heat *heat)
{
    return (double)heat->temperature_uc / 1e6;
}

Test(heat, an_idle_drive_stays_where_it_starts)
{
    struct stria_heat heat;
    stria_heat_start(&heat, &plain);
    cr_assert_float_eq(celsius(&heat), 35.0, 1e-6);
    stria_heat_advance(&heat, &plain, 1000 * SECOND_NS, 0);
    cr_assert_float_eq(celsius(&heat), 35.0, 1e-6);
}

Test(heat, work_follows_the_exponential_law)
{
    for (uint64_t step_ns = SECOND_NS / 100; step_ns <= 30 * SECOND_NS; step_ns *= 10) {
        struct stria_heat heat;
        stria_heat_start(&heat, &plain);
        uint64_t passed_ns = 0;
        while (passed_ns < 120 * SECOND_NS) {
            stria_heat_advance(&heat, &plain, step_ns, step_ns);
            passed_ns += step_ns;
            const double expected = 85.0 - 50.0 * exp(-(double)passed_ns / (60.0 * SECOND_NS));
            cr_assert_float_eq(celsius(&heat), expected, 0.05, "%f against %f", celsius(&heat), expected);
        }
    }
}

Test(heat, half_the_work_gives_half_the_rise)
{
    struct stria_heat heat;
    stria_heat_start(&heat, &plain);
    stria_heat_advance(&heat, &plain, 4000 * SECOND_NS, 2000 * SECOND_NS);
    cr_assert_float_eq(celsius(&heat), 60.0, 0.01);
}

Test(heat, a_drive_without_a_time_constant_stays_at_ambient)
{
    struct stria_heat_parameters cold = plain;
    cold.time_constant_ns = 0;
    struct stria_heat heat;
    stria_heat_start(&heat, &cold);
    stria_heat_advance(&heat, &cold, 4000 * SECOND_NS, 4000 * SECOND_NS);
    cr_assert_float_eq(celsius(&heat), 25.0, 1e-9);
}

Test(heat, two_thresholds_throttle_and_hysteresis_keeps_a_level_until_it_is_cool)
{
    struct stria_heat heat;
    stria_heat_start(&heat, &throttled);
    cr_assert_eq(stria_heat_rate_per_mille(&heat, &throttled), 1000);
    while (heat.level == 0)
        stria_heat_advance(&heat, &throttled, SECOND_NS / 10, SECOND_NS / 10);
    cr_assert_float_eq(celsius(&heat), 70.0, 0.1);
    cr_assert_eq(stria_heat_rate_per_mille(&heat, &throttled), 600);
    stria_heat_advance(&heat, &throttled, SECOND_NS * 3, 0);
    cr_assert_lt(celsius(&heat), 70.0);
    cr_assert_eq(heat.level, 1);
    while (heat.level == 1)
        stria_heat_advance(&heat, &throttled, SECOND_NS / 10, 0);
    cr_assert_float_eq(celsius(&heat), 65.0, 0.1);
    heat.temperature_uc = 90000000;
    stria_heat_advance(&heat, &throttled, SECOND_NS / 10, 0);
    cr_assert_eq(stria_heat_rate_per_mille(&heat, &throttled), 200);
}

Test(heat, a_throttled_drive_heats_less_and_so_finds_its_balance)
{
    struct stria_heat heat;
    stria_heat_start(&heat, &throttled);
    double hottest = 0;
    for (unsigned i = 0; i < 20000; i++) {
        stria_heat_advance(&heat, &throttled, SECOND_NS / 10, SECOND_NS / 10);
        if (celsius(&heat) > hottest)
            hottest = celsius(&heat);
    }
    /* Unthrottled it would reach 105 °C; at 60 % of the swing 25 + 10·(1 + 0.6·7) = 77 °C. */
    cr_assert_float_eq(hottest, 77.0, 0.2);
}
