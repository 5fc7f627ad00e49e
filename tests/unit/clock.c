#include "support/clock.h"

#include <criterion/criterion.h>

Test(clock, monotonic_time_never_goes_back)
{
    uint64_t before = stria_clock_ns();
    cr_assert_gt(before, 0);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = stria_clock_ns();
        cr_assert_geq(now, before);
        before = now;
    }
}

Test(clock, sleeping_lasts_until_the_deadline)
{
    const uint64_t deadline = stria_clock_ns() + 5000000;
    stria_clock_sleep_until(deadline);
    cr_assert_geq(stria_clock_ns(), deadline);
}

Test(clock, a_deadline_in_the_past_returns_at_once)
{
    const uint64_t before = stria_clock_ns();
    stria_clock_sleep_until(0);
    stria_clock_sleep_until(before - 1);
    cr_assert_lt(stria_clock_ns() - before, STRIA_NS_PER_S);
}

Test(clock, wall_time_counts_from_1970)
{
    const uint64_t year_2020 = 1577836800ull * STRIA_NS_PER_S;
    cr_assert_gt(stria_clock_wall_ns(), year_2020);
}

Test(clock, a_moment_that_cannot_be_told_never_comes)
{
    cr_expect_eq(stria_clock_after(5, 7), 12);
    cr_expect_eq(stria_clock_after(5, UINT64_MAX - 6), UINT64_MAX - 1);
    cr_expect_eq(stria_clock_after(5, UINT64_MAX - 5), UINT64_MAX);
    cr_expect_eq(stria_clock_after(5, UINT64_MAX), UINT64_MAX);
}
