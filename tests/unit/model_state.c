#include "core/model.h"

#include <criterion/criterion.h>

#define MB        1000000ull
#define GB        1000000000ull
#define SECOND_NS 1000000000ull

static struct stria_model model;
static struct stria_model other;
static struct stria_model_state state;

static const struct stria_model_parameters parameters = {
    .capacity_bytes = 100 * GB,
    .link_bytes_per_s = 3 * GB,
    .law = {.kind = STRIA_WRITE_LAW_CACHE,
            .slc_bytes_per_s = 2 * GB,
            .fold_bytes_per_s = 500 * MB,
            .static_bytes = 2 * GB,
            .dynamic_per_mille = 300,
            .bits_per_cell = 3},
    .read_bytes_per_s = 2 * GB,
    .idle_ns = 10 * SECOND_NS,
    .refill_bytes_per_s = 500 * MB,
    .stall_count = 1,
    .stalls = {{100000000, 1000000, 5000000}},
    .heat = {.ambient_mc = 25000,
             .resistance_mk_per_w = 5000,
             .idle_mw = 1000,
             .active_mw = 5000,
             .time_constant_ns = 30 * SECOND_NS},
};

static uint64_t write_more(struct stria_model *drive, uint64_t now_ns, uint64_t offset, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += MB)
        now_ns = stria_model_submit(drive, now_ns, STRIA_MODEL_WRITE, offset + at, MB);
    stria_model_advance(drive, now_ns);
    return now_ns;
}

Test(model_state, a_stored_drive_goes_on_exactly_as_if_it_had_not_been_stored)
{
    stria_model_init(&model, &parameters, 11);
    const uint64_t now_ns = write_more(&model, 1000, 0, 14 * GB);
    stria_model_save(&model, &state);

    stria_model_init(&other, &parameters, 99);
    const uint64_t later_ns = 777 * SECOND_NS;
    cr_assert(stria_model_load(&other, &state, later_ns));
    cr_assert_eq(stria_model_used_bytes(&other), 14 * GB);
    cr_assert_eq(stria_model_temperature_mc(&other), stria_model_temperature_mc(&model));
    cr_assert_eq(write_more(&model, now_ns, 14 * GB, 3 * GB) - now_ns,
                 write_more(&other, later_ns, 14 * GB, 3 * GB) - later_ns);
}

Test(model_state, time_on_the_shelf_does_not_count_but_rest_does)
{
    stria_model_init(&model, &parameters, 11);
    write_more(&model, 1000, 0, 20 * GB);
    cr_assert_eq(stria_model_write_bytes_per_s(&model, 20 * GB), 500 * MB);
    stria_model_save(&model, &state);
    stria_model_init(&other, &parameters, 11);
    cr_assert(stria_model_load(&other, &state, 86400 * SECOND_NS));
    cr_assert_eq(stria_model_write_bytes_per_s(&other, 20 * GB), 500 * MB);
    stria_model_rest(&other, 180 * SECOND_NS);
    cr_assert_eq(stria_model_write_bytes_per_s(&other, 20 * GB), 2 * GB);
}

Test(model_state, no_rest_is_too_long_for_the_drive_to_be_stored)
{
    static const uint64_t rests_ns[] = {UINT64_MAX, 1ull << 63, (1ull << 63) + 1, (1ull << 62) - 5, 7};
    stria_model_init(&model, &parameters, 11);
    stria_model_init(&other, &parameters, 11);
    uint64_t now_ns = write_more(&model, 1000, 0, 14 * GB);
    for (unsigned i = 0; i < sizeof(rests_ns) / sizeof(rests_ns[0]); i++) {
        stria_model_rest(&model, rests_ns[i]);
        cr_expect_eq(stria_model_write_bytes_per_s(&model, 14 * GB), 2 * GB, "rest %u", i);
        stria_model_save(&model, &state);
        cr_assert(stria_model_load(&other, &state, 5), "rest %u", i);
    }
    const uint64_t before_ns = now_ns;
    now_ns = write_more(&model, now_ns, 14 * GB, 2 * GB);
    /* 2 GB at 2 GB/s, less what of the last request was left before the rests. */
    cr_expect(now_ns - before_ns > SECOND_NS * 9 / 10 && now_ns - before_ns < 2 * SECOND_NS);
    stria_model_save(&model, &state);
    cr_assert(stria_model_load(&other, &state, 5));
}

Test(model_state, the_state_of_another_capacity_is_refused_and_the_model_stays)
{
    stria_model_init(&model, &parameters, 11);
    stria_model_save(&model, &state);
    state.capacity_bytes += 1;
    const struct stria_model_state before = model.state;
    cr_assert_not(stria_model_load(&model, &state, 5));
    cr_assert_eq(memcmp(&before, &model.state, sizeof(before)), 0);
}

Test(model_state, a_state_that_contradicts_itself_is_refused)
{
    stria_model_init(&model, &parameters, 11);
    write_more(&model, 1000, 0, 1 * GB);
    stria_model_save(&model, &state);
    const struct stria_model_state good = state;
    cr_assert(stria_model_load(&model, &state, 5));

    state.fill.used_bytes += 1;
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    state.fill.segment_used_bytes[0] = UINT64_MAX;
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    state.law.held_bytes = state.law.cache_bytes + 1;
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    memset(&state.random, 0, sizeof(state.random));
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    state.heat.level = 1;
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    state.write_end_ns = UINT64_MAX;
    cr_assert_not(stria_model_load(&model, &state, 5));
    state = good;
    state.clock_ns = UINT64_MAX;
    cr_assert_not(stria_model_load(&model, &state, 5));
}

Test(model_state, any_bytes_at_all_are_refused_or_give_a_model_that_works)
{
    struct stria_random random;
    stria_random_seed(&random, 4);
    stria_model_init(&model, &parameters, 11);
    write_more(&model, 1000, 0, 1 * GB);
    stria_model_save(&model, &state);
    const struct stria_model_state good = state;
    uint64_t *words = (uint64_t *)&state;
    for (unsigned i = 0; i < 20000; i++) {
        state = good;
        const uint64_t word = stria_random_below(&random, sizeof(state) / sizeof(*words));
        words[word < 40 ? word : word % 64] = stria_random_next(&random) >> stria_random_below(&random, 64);
        stria_model_init(&other, &parameters, 1);
        if (!stria_model_load(&other, &state, 1000))
            continue;
        const uint64_t done_ns = stria_model_submit(&other, 2000, STRIA_MODEL_WRITE, 50 * GB, MB);
        cr_assert_geq(done_ns, 2000);
        cr_assert_leq(stria_model_used_bytes(&other), parameters.capacity_bytes);
    }
}
