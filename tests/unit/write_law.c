#include "core/write_law.h"

#include <criterion/criterion.h>

#define GB 1000000000ull

static const struct stria_write_law table = {
    .kind = STRIA_WRITE_LAW_TABLE,
    .step_count = 3,
    .steps = {{20 * GB, 2400}, {50 * GB, 1670}, {100 * GB, 1180}},
    .held_per_mille = 500,
};

/* 12 GB static and half of the free cells at a third each: 12 + 300 / 6 = 62 GB on an empty 300 GB drive. */
static const struct stria_write_law cache = {
    .kind = STRIA_WRITE_LAW_CACHE,
    .slc_bytes_per_s = 3000,
    .direct_bytes_per_s = 1500,
    .fold_bytes_per_s = 500,
    .static_bytes = 12 * GB,
    .dynamic_per_mille = 500,
    .bits_per_cell = 3,
};

static const uint64_t capacity_bytes = 300 * GB;

static struct stria_write_room room(uint64_t used_bytes)
{
    return (struct stria_write_room){used_bytes, capacity_bytes - used_bytes};
}

/* Writes up to a total of until_bytes into an emptier drive and returns the rate of the byte after it. */
static uint64_t fill_to(const struct stria_write_law *law, struct stria_write_law_state *state,
                        uint64_t *used_bytes, uint64_t until_bytes)
{
    while (*used_bytes < until_bytes) {
        const struct stria_rate_step next = stria_write_law_next(law, state, room(*used_bytes));
        uint64_t piece = until_bytes - *used_bytes;
        if (piece > next.until_bytes)
            piece = next.until_bytes;
        *used_bytes += piece;
        stria_write_law_written(law, state, room(*used_bytes), piece);
    }
    return stria_write_law_next(law, state, room(*used_bytes)).bytes_per_s;
}

Test(write_law, a_table_gives_the_rate_of_each_step_and_the_last_for_ever)
{
    struct stria_write_law_state state;
    stria_write_law_start(&table, &state, room(0));
    uint64_t used = 0;
    cr_assert_eq(stria_write_law_next(&table, &state, room(0)).bytes_per_s, 2400);
    cr_assert_eq(stria_write_law_next(&table, &state, room(0)).until_bytes, 20 * GB);
    cr_assert_eq(fill_to(&table, &state, &used, 20 * GB - 1), 2400);
    cr_assert_eq(fill_to(&table, &state, &used, 20 * GB), 1670);
    cr_assert_eq(fill_to(&table, &state, &used, 50 * GB), 1180);
    cr_assert_eq(fill_to(&table, &state, &used, 290 * GB), 1180);
}

Test(write_law, rest_takes_a_table_back_but_not_below_what_the_data_hold)
{
    struct stria_write_law_state state;
    stria_write_law_start(&table, &state, room(0));
    uint64_t used = 0;
    fill_to(&table, &state, &used, 80 * GB);
    stria_write_law_refill(&table, &state, room(used), 35 * GB);
    cr_assert_eq(state.since_bytes, 45 * GB);
    stria_write_law_refill(&table, &state, room(used), 1000 * GB);
    cr_assert_eq(state.since_bytes, 40 * GB);
}

Test(write_law, trim_gives_a_table_back_what_it_freed_and_everything_when_all_is_free)
{
    struct stria_write_law_state state;
    stria_write_law_start(&table, &state, room(0));
    uint64_t used = 0;
    fill_to(&table, &state, &used, 80 * GB);
    stria_write_law_written(&table, &state, room(used), 30 * GB);
    stria_write_law_trimmed(&table, &state, room(70 * GB), 10 * GB);
    cr_assert_eq(state.since_bytes, 100 * GB);
    stria_write_law_trimmed(&table, &state, room(0), 70 * GB);
    cr_assert_eq(state.since_bytes, 0);
}

Test(write_law, the_cache_law_runs_through_its_three_phases_at_the_published_places)
{
    struct stria_write_law_state state;
    stria_write_law_start(&cache, &state, room(0));
    cr_assert_eq(state.cache_bytes, 62 * GB);
    uint64_t used = 0;
    cr_assert_eq(fill_to(&cache, &state, &used, 62 * GB - 1), 3000);
    cr_assert_eq(fill_to(&cache, &state, &used, 62 * GB), 1500);
    /* U = free − (bits − 1) · c = 300 − 2 · 62 = 176 GB. */
    cr_assert_eq(fill_to(&cache, &state, &used, 176 * GB - 1), 1500);
    cr_assert_eq(fill_to(&cache, &state, &used, 176 * GB), 500);
    cr_assert_eq(fill_to(&cache, &state, &used, 300 * GB), 500);
}

Test(write_law, without_a_direct_phase_the_drive_folds_as_soon_as_the_cache_is_full)
{
    struct stria_write_law law = cache;
    law.direct_bytes_per_s = 0;
    struct stria_write_law_state state;
    stria_write_law_start(&law, &state, room(0));
    uint64_t used = 0;
    cr_assert_eq(fill_to(&law, &state, &used, 62 * GB - 1), 3000);
    cr_assert_eq(fill_to(&law, &state, &used, 62 * GB), 500);
}

Test(write_law, a_fuller_drive_has_a_smaller_cache_and_a_full_one_its_static_part)
{
    struct stria_write_law_state state;
    stria_write_law_start(&cache, &state, room(150 * GB));
    cr_assert_eq(state.cache_bytes, 12 * GB + 25 * GB);
    stria_write_law_start(&cache, &state, room(300 * GB));
    cr_assert_eq(state.cache_bytes, 12 * GB);
    /* Written over in place, it folds when that is used up, and gets it back by rest. */
    cr_assert_eq(stria_write_law_next(&cache, &state, room(300 * GB)).until_bytes, 12 * GB);
    stria_write_law_written(&cache, &state, room(300 * GB), 12 * GB);
    cr_assert_eq(stria_write_law_next(&cache, &state, room(300 * GB)).bytes_per_s, 500);
    stria_write_law_written(&cache, &state, room(300 * GB), 50 * GB);
    cr_assert_eq(stria_write_law_next(&cache, &state, room(300 * GB)).bytes_per_s, 500);
    stria_write_law_refill(&cache, &state, room(300 * GB), 5 * GB);
    cr_assert_eq(stria_write_law_next(&cache, &state, room(300 * GB)).until_bytes, 5 * GB);
}

Test(write_law, rest_refills_the_cache_as_far_as_the_free_space_allows)
{
    struct stria_write_law_state state;
    stria_write_law_start(&cache, &state, room(0));
    uint64_t used = 0;
    fill_to(&cache, &state, &used, 120 * GB);
    stria_write_law_refill(&cache, &state, room(used), 1000 * GB);
    cr_assert_eq(state.held_bytes, 0);
    cr_assert_eq(state.cache_bytes, 12 * GB + 30 * GB);
}

Test(write_law, a_trimmed_cache_drive_is_as_new_and_a_partly_trimmed_one_in_proportion)
{
    struct stria_write_law_state state;
    stria_write_law_start(&cache, &state, room(0));
    uint64_t used = 0;
    fill_to(&cache, &state, &used, 60 * GB);
    stria_write_law_trimmed(&cache, &state, room(30 * GB), 30 * GB);
    cr_assert_eq(state.held_bytes, 30 * GB);
    cr_assert_eq(state.cache_bytes, 57 * GB);
    stria_write_law_trimmed(&cache, &state, room(0), 30 * GB);
    cr_assert_eq(state.held_bytes, 0);
    cr_assert_eq(state.cache_bytes, 62 * GB);
}

Test(write_law, a_drive_that_stops_and_goes_takes_turns_between_two_rates)
{
    struct stria_write_law law = cache;
    law.direct_bytes_per_s = 0;
    law.go_bytes = 2 * GB;
    law.go_bytes_per_s = 1000;
    law.stop_bytes = 1 * GB;
    struct stria_write_law_state state;
    stria_write_law_start(&law, &state, room(0));
    uint64_t used = 0;
    for (unsigned turn = 0; turn < 5; turn++) {
        cr_assert_eq(fill_to(&law, &state, &used, (62 + 3 * turn) * GB), 1000);
        cr_assert_eq(fill_to(&law, &state, &used, (64 + 3 * turn) * GB - 1), 1000);
        cr_assert_eq(fill_to(&law, &state, &used, (64 + 3 * turn) * GB), 500);
        cr_assert_eq(fill_to(&law, &state, &used, (65 + 3 * turn) * GB - 1), 500);
    }
}
