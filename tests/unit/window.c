#include "core/window.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>

#define CAPACITY 16

static uint64_t ends[CAPACITY];
static struct stria_window window;

static void fresh(void)
{
    stria_window_init(&window, ends, CAPACITY);
}

TestSuite(window, .init = fresh);

Test(window, sequences_count_from_zero_without_a_hole)
{
    for (uint64_t sequence = 0; sequence < CAPACITY; sequence++)
        cr_assert_eq(stria_window_seal(&window, (sequence + 1) * 10), sequence);
}

Test(window, it_is_full_until_the_oldest_is_settled)
{
    for (uint64_t sequence = 0; sequence < CAPACITY; sequence++) {
        cr_assert_not(stria_window_full(&window));
        stria_window_seal(&window, sequence + 1);
    }
    cr_assert(stria_window_full(&window));
    stria_window_settle(&window, 5);
    cr_assert(stria_window_full(&window), "a younger one frees nothing");
    stria_window_settle(&window, 0);
    cr_assert_not(stria_window_full(&window));
}

Test(window, the_watermark_waits_for_the_oldest)
{
    for (uint64_t sequence = 0; sequence < 4; sequence++)
        stria_window_seal(&window, (sequence + 1) * 10);
    cr_assert_not(stria_window_settle(&window, 2));
    cr_assert_not(stria_window_settle(&window, 1));
    cr_assert_eq(window.watermark_bytes, 0);
    cr_assert(stria_window_settle(&window, 0));
    cr_assert_eq(window.watermark_bytes, 30);
    cr_assert_eq(window.first, 3);
}

Test(window, settling_twice_does_no_harm)
{
    stria_window_seal(&window, 10);
    stria_window_seal(&window, 20);
    cr_assert(stria_window_settle(&window, 0));
    cr_assert_not(stria_window_settle(&window, 0));
    cr_assert_eq(window.watermark_bytes, 10);
}

Test(window, an_old_cell_says_nothing_about_its_next_chunk)
{
    for (uint64_t sequence = 0; sequence < CAPACITY; sequence++) {
        stria_window_seal(&window, sequence + 1);
        stria_window_settle(&window, sequence);
    }
    stria_window_seal(&window, 100);
    cr_assert_eq(window.first, CAPACITY);
    cr_assert_eq(window.watermark_bytes, CAPACITY);
}

Test(window, in_whatever_order_the_watermark_is_the_end_of_the_settled_prefix)
{
    struct stria_random random = random_of(9);
    bool settled[1000] = {false};
    for (uint64_t sealed = 0; window.first < 1000;) {
        if (sealed < 1000 && !stria_window_full(&window) && stria_random_below(&random, 2)) {
            stria_window_seal(&window, ++sealed * 7);
        } else if (window.next > window.first) {
            uint64_t sequence = window.first + stria_random_below(&random, window.next - window.first);
            settled[sequence] = true;
            stria_window_settle(&window, sequence);
        }
        uint64_t prefix = 0;
        while (prefix < 1000 && settled[prefix])
            prefix++;
        cr_assert_eq(window.first, prefix);
        cr_assert_eq(window.watermark_bytes, prefix * 7);
    }
}
