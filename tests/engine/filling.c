#include "engine/filling.h"

#include "support/clock.h"

#include <criterion/criterion.h>

#define MB       1000000ull
#define STEP_NS  50000000ull
#define STEPS    20u /* a second of them */
#define BUFFER   (512 * MB)
#define WRITING  (32 * MB)
#define START_NS (77 * STRIA_NS_PER_S)

static struct stria_filling filling;
static struct stria_filling_state state;
static uint64_t left_ns;

static void set_up(void)
{
    state = (struct stria_filling_state){.now_ns = START_NS,
                                         .buffer_bytes = BUFFER,
                                         .used_bytes = WRITING,
                                         .writing_bytes = WRITING,
                                         .input_bytes_per_s = 1000 * MB};
}

TestSuite(filling, .init = set_up);

/* Goes on for so many steps while so much is stored; how many of them warned. */
static unsigned pass(unsigned steps, uint64_t stored_per_s)
{
    unsigned warned = 0;
    state.stored_per_s = stored_per_s;
    for (unsigned i = 0; i < steps; i++) {
        const int64_t more = ((int64_t)state.input_bytes_per_s - (int64_t)stored_per_s) / (int64_t)STEPS;
        const int64_t used = (int64_t)state.used_bytes + more;
        state.now_ns += STEP_NS;
        state.used_bytes = used < (int64_t)WRITING  ? WRITING
                           : used > (int64_t)BUFFER ? BUFFER
                                                    : (uint64_t)used;
        warned += stria_filling_note(&filling, &state, &left_ns);
    }
    return warned;
}

Test(filling, drives_that_store_what_comes_in_are_never_warned_of)
{
    cr_expect_eq(pass(100 * STEPS, 1000 * MB), 0);
}

Test(filling, what_the_drives_are_writing_is_no_sign)
{
    state.used_bytes = state.writing_bytes = 200 * MB;
    state.stored_per_s = 999 * MB;
    cr_expect_not(stria_filling_note(&filling, &state, &left_ns));
}

Test(filling, is_told_within_a_tenth_of_a_second_when_half_as_much_is_stored)
{
    pass(10 * STEPS, 1000 * MB);
    cr_expect_eq(pass(1, 500 * MB), 0);
    cr_expect_eq(pass(1, 500 * MB), 1);
    cr_expect(state.used_bytes < BUFFER / 4, "it is a quarter full by then");
    cr_expect_eq(left_ns, (BUFFER - state.used_bytes) * 1000 / (500 * MB) * (STRIA_NS_PER_S / 1000));
}

/* 20 MB/s too much: half of the buffer is 11 s away, and all of it 23 s. */
Test(filling, that_is_slow_is_told_of_once_it_is_half_full)
{
    cr_expect_eq(pass(10 * STEPS, 980 * MB), 0);
    cr_expect_geq(pass(3 * STEPS, 980 * MB), STEPS);
    cr_expect_geq(state.used_bytes, BUFFER / 2);
}

Test(filling, that_is_over_is_not_told_of)
{
    cr_expect_gt(pass(4, 500 * MB), 0);
    cr_expect_eq(pass(10 * STEPS, 1500 * MB), 0);
}

Test(filling, a_buffer_that_stays_at_a_level_is_not_told_of_below_half)
{
    pass(4, 500 * MB);
    pass(3 * STEPS, 1000 * MB);
    state.stored_per_s = 900 * MB;
    cr_expect_not(stria_filling_note(&filling, &state, &left_ns));
}
