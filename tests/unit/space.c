#include "core/space.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

#define COUNT 100

static uint8_t state[COUNT];
static struct stria_space space;

static void fresh(void)
{
    memset(state, STRIA_EXTENT_FREE, sizeof(state));
    stria_space_init(&space, state, COUNT);
}

TestSuite(space, .init = fresh);

Test(space, extents_are_taken_upwards_from_the_low_end)
{
    for (uint64_t position = 0; position < COUNT; position++)
        cr_assert_eq(stria_space_take_low(&space), position);
    cr_assert_eq(stria_space_take_low(&space), STRIA_SPACE_NONE);
    cr_assert_eq(space.free, 0);
}

Test(space, extents_are_taken_downwards_from_the_high_end)
{
    for (uint64_t position = COUNT; position-- > 0;)
        cr_assert_eq(stria_space_take_high(&space), position);
    cr_assert_eq(stria_space_take_high(&space), STRIA_SPACE_NONE);
}

Test(space, both_ends_meet_without_giving_an_extent_twice)
{
    bool given[COUNT] = {false};
    for (uint64_t turn = 0; turn < COUNT; turn++) {
        uint64_t position = turn % 3 ? stria_space_take_low(&space) : stria_space_take_high(&space);
        cr_assert(position < COUNT && !given[position]);
        given[position] = true;
    }
    cr_assert_eq(stria_space_take_low(&space), STRIA_SPACE_NONE);
    cr_assert_eq(stria_space_take_high(&space), STRIA_SPACE_NONE);
}

Test(space, what_is_used_or_bad_is_passed_over)
{
    state[0] = STRIA_EXTENT_USED;
    state[1] = STRIA_EXTENT_BAD;
    state[99] = STRIA_EXTENT_USED;
    stria_space_init(&space, state, COUNT);
    cr_assert_eq(space.free, COUNT - 3);
    cr_assert_eq(stria_space_take_low(&space), 2);
    cr_assert_eq(stria_space_take_high(&space), 98);
}

Test(space, what_an_earlier_recording_committed_is_used_and_what_it_did_not_is_free)
{
    state[0] = STRIA_EXTENT_COMMITTED;
    state[1] = STRIA_EXTENT_STORED;
    state[2] = STRIA_EXTENT_FLUSHING;
    state[3] = STRIA_EXTENT_TAKEN;
    stria_space_init(&space, state, COUNT);
    cr_assert_eq(space.free, COUNT - 1);
    cr_assert_eq(state[0], STRIA_EXTENT_USED);
    cr_assert_eq(stria_space_take_low(&space), 1);
}

Test(space, a_position_of_its_own_is_taken_once)
{
    cr_assert(stria_space_take_at(&space, 7));
    cr_assert_not(stria_space_take_at(&space, 7));
    cr_assert_not(stria_space_take_at(&space, COUNT));
    cr_assert_eq(space.free, COUNT - 1);
}

Test(space, a_position_taken_from_the_high_end_is_nobodys_own_any_more)
{
    cr_assert_eq(stria_space_take_high(&space), COUNT - 1);
    cr_assert_not(stria_space_take_at(&space, COUNT - 1));
}

Test(space, rows_before_the_first_one_taken_can_be_taken_later_and_are_found)
{
    cr_assert(stria_space_take_at(&space, 50));
    stria_space_advance(&space, 50, STRIA_EXTENT_TAKEN, STRIA_EXTENT_COMMITTED);
    stria_space_settle(&space);
    cr_assert(stria_space_take_at(&space, 3));
    stria_space_advance(&space, 3, STRIA_EXTENT_TAKEN, STRIA_EXTENT_STORED);
    cr_assert_eq(stria_space_find(&space, 0, STRIA_EXTENT_STORED), 3);
}

Test(space, what_is_free_below_both_ends_is_taken_when_they_have_met)
{
    memset(state + 40, STRIA_EXTENT_USED, 30);
    stria_space_init(&space, state, COUNT);
    for (uint64_t row = 70; row < COUNT; row++)
        cr_assert(stria_space_take_at(&space, row));
    cr_assert(stria_space_take_at(&space, 0));
    for (uint64_t position = 39; position > 0; position--)
        cr_assert_eq(stria_space_take_high(&space), position);
    cr_assert_eq(stria_space_take_high(&space), STRIA_SPACE_NONE);
    cr_assert_eq(space.free, 0);
    stria_space_advance(&space, 7, STRIA_EXTENT_TAKEN, STRIA_EXTENT_STORED);
    cr_assert_eq(stria_space_find(&space, 0, STRIA_EXTENT_STORED), 7);
}

Test(space, moving_all_of_one_state_tells_how_many)
{
    for (int turn = 0; turn < 10; turn++) {
        uint64_t position = turn % 2 ? stria_space_take_low(&space) : stria_space_take_high(&space);
        stria_space_advance(&space, position, STRIA_EXTENT_TAKEN, STRIA_EXTENT_STORED);
    }
    cr_assert_eq(stria_space_advance_all(&space, STRIA_EXTENT_STORED, STRIA_EXTENT_FLUSHING), 10);
    cr_assert_eq(stria_space_advance_all(&space, STRIA_EXTENT_STORED, STRIA_EXTENT_FLUSHING), 0);
}

Test(space, settled_extents_leave_the_windows_and_open_ones_stay)
{
    for (int turn = 0; turn < 4; turn++)
        stria_space_take_low(&space);
    stria_space_advance(&space, 0, STRIA_EXTENT_TAKEN, STRIA_EXTENT_COMMITTED);
    stria_space_advance(&space, 1, STRIA_EXTENT_TAKEN, STRIA_EXTENT_BAD);
    stria_space_advance(&space, 3, STRIA_EXTENT_TAKEN, STRIA_EXTENT_STORED);
    stria_space_settle(&space);
    cr_assert_eq(space.low_open, 2);
    cr_assert_eq(stria_space_find(&space, 0, STRIA_EXTENT_STORED), 3);
}

/* Takes by chance in all three ways, and lets extents go through their lives, against a plain model. */
Test(space, nothing_open_is_ever_out_of_sight)
{
    struct stria_random random = random_of(5);
    for (int round = 0; round < 300; round++) {
        fresh();
        uint64_t row = stria_random_below(&random, COUNT);
        for (int turn = 0; turn < 150; turn++) {
            uint64_t way = stria_random_below(&random, 5);
            if (way == 0)
                stria_space_take_high(&space);
            else if (way == 1 && row < 2 * COUNT)
                stria_space_take_at(&space, row++ % COUNT);
            uint64_t position = stria_random_below(&random, COUNT);
            if (state[position] >= STRIA_EXTENT_TAKEN && state[position] < STRIA_EXTENT_COMMITTED)
                stria_space_advance(&space, position, state[position], state[position] + 1);
            stria_space_settle(&space);
            uint64_t free = 0;
            for (uint64_t at = 0; at < COUNT; at++) {
                free += state[at] == STRIA_EXTENT_FREE;
                if (state[at] == STRIA_EXTENT_STORED)
                    cr_assert_leq(stria_space_find(&space, 0, STRIA_EXTENT_STORED), at);
            }
            cr_assert_eq(free, space.free);
        }
    }
}
