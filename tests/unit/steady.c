#include "core/steady.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <math.h>

static enum stria_steady_verdict verdict(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    const uint64_t rounds[] = {a, b, c, d, e};
    return stria_steady_find(rounds, 5).verdict;
}

Test(steady, fewer_than_five_rounds_tell_nothing)
{
    const uint64_t rounds[] = {100, 100, 100, 100};
    for (uint32_t count = 0; count <= 4; count++)
        cr_assert_eq(stria_steady_find(rounds, count).verdict, STRIA_STEADY_TOO_FEW_ROUNDS);
}

Test(steady, equal_rounds_are_steady)
{
    const uint64_t rounds[] = {100, 100, 100, 100, 100};
    const struct stria_steady steady = stria_steady_find(rounds, 5);
    cr_assert_eq(steady.verdict, STRIA_STEADY_REACHED);
    cr_assert_eq(steady.first_round, 0u);
    cr_assert_eq(steady.average, 100u);
    cr_assert_eq(steady.range, 0u);
    cr_assert_eq(steady.range_max, 20u);
    cr_assert_eq(steady.excursion, 0);
    cr_assert_eq(steady.excursion_max, 10u);
}

/* Average 100; 90 and 110 differ by exactly 20 %, placed so that the line is level. */
Test(steady, a_range_of_exactly_a_fifth_passes_and_any_more_does_not)
{
    cr_assert_eq(verdict(100, 90, 110, 100, 100) == STRIA_STEADY_REACHED, true);
    cr_assert_eq(verdict(10000, 8999, 11001, 10000, 10000), STRIA_STEADY_RANGE_TOO_WIDE);
}

/* An even rise from 95 to 105: the line is the rounds, its excursion 10 % of the average. */
Test(steady, an_excursion_of_exactly_a_tenth_passes_and_any_more_does_not)
{
    const uint64_t rising[] = {9500, 9750, 10000, 10250, 10500},
                   falling[] = {10500, 10250, 10000, 9750, 9500};
    cr_assert_eq(stria_steady_find(rising, 5).verdict, STRIA_STEADY_REACHED);
    cr_assert_eq(stria_steady_find(rising, 5).excursion, 1000);
    cr_assert_eq(stria_steady_find(falling, 5).verdict, STRIA_STEADY_REACHED);
    cr_assert_eq(stria_steady_find(falling, 5).excursion, -1000);
    cr_assert_eq(verdict(9499, 9750, 10000, 10250, 10502), STRIA_STEADY_SLOPE_TOO_STEEP);
    cr_assert_eq(verdict(10502, 10250, 10000, 9750, 9499), STRIA_STEADY_SLOPE_TOO_STEEP);
}

Test(steady, a_cliff_fails_both)
{
    cr_assert_eq(verdict(5700, 5700, 1750, 1750, 1750), STRIA_STEADY_BOTH_TOO_LARGE);
}

Test(steady, finds_the_first_steady_window)
{
    const uint64_t rounds[] = {900, 800, 500, 400, 300, 301, 299, 300, 300, 300};
    const struct stria_steady steady = stria_steady_find(rounds, 10);
    cr_assert_eq(steady.verdict, STRIA_STEADY_REACHED);
    cr_assert_eq(steady.first_round, 4u);
    cr_assert_eq(steady.average, 300u);
    cr_assert_eq(steady.range, 2u);
}

Test(steady, without_a_steady_window_the_last_one_tells_why)
{
    const uint64_t rounds[] = {100, 100, 100, 100, 200, 100};
    const struct stria_steady steady = stria_steady_find(rounds, 6);
    cr_assert_eq(steady.verdict, STRIA_STEADY_BOTH_TOO_LARGE);
    cr_assert_eq(steady.first_round, 1u);
    cr_assert_eq(steady.average, 120u);
    cr_assert_eq(steady.range, 100u);
    cr_assert_eq(steady.range_max, 24u);
    cr_assert_eq(steady.excursion, 40);
    cr_assert_eq(steady.excursion_max, 12u);
}

Test(steady, the_largest_rounds_do_not_overflow)
{
    cr_assert_eq(verdict(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX), STRIA_STEADY_REACHED);
    cr_assert_eq(verdict(0, 0, 0, 0, UINT64_MAX), STRIA_STEADY_BOTH_TOO_LARGE);
}

Test(steady, every_verdict_has_a_phrase_of_its_own)
{
    for (int a = STRIA_STEADY_REACHED; a <= STRIA_STEADY_BOTH_TOO_LARGE; a++)
        for (int b = STRIA_STEADY_REACHED; b < a; b++)
            cr_assert_str_neq(stria_steady_text((enum stria_steady_verdict)a),
                              stria_steady_text((enum stria_steady_verdict)b));
}

/* Least squares as in a textbook: slope = (n sum(xy) - sum(x) sum(y)) / (n sum(xx) - sum(x)^2). */
static enum stria_steady_verdict verdict_by_the_book(const uint64_t *rounds)
{
    double n = 5, x1 = 0, y1 = 0, xy = 0, xx = 0, least = INFINITY, most = 0;
    for (int i = 0; i < 5; i++) {
        const double x = i + 1, y = (double)rounds[i];
        x1 += x;
        y1 += y;
        xy += x * y;
        xx += x * x;
        least = fmin(least, y);
        most = fmax(most, y);
    }
    const double slope = (n * xy - x1 * y1) / (n * xx - x1 * x1);
    const int ranges = most - least > 0.2 * y1 / n + 1e-9, slopes = fabs(slope) * 4 > 0.1 * y1 / n + 1e-9;
    return ranges && slopes ? STRIA_STEADY_BOTH_TOO_LARGE
           : ranges         ? STRIA_STEADY_RANGE_TOO_WIDE
           : slopes         ? STRIA_STEADY_SLOPE_TOO_STEEP
                            : STRIA_STEADY_REACHED;
}

Test(steady, agrees_with_the_textbook_on_random_rounds)
{
    struct stria_random random;
    stria_random_seed(&random, 51);
    int seen[STRIA_STEADY_BOTH_TOO_LARGE + 1] = {0};
    for (int round = 0; round < 20000; round++) {
        enum { ROUNDS = 8 };
        uint64_t rounds[ROUNDS];
        for (int i = 0; i < ROUNDS; i++)
            rounds[i] = 1000 - 30 * (uint64_t)i + stria_random_below(&random, 300);
        uint32_t first = 0;
        while (first < ROUNDS - 5 && verdict_by_the_book(&rounds[first]) != STRIA_STEADY_REACHED)
            first++;
        const struct stria_steady steady = stria_steady_find(rounds, ROUNDS);
        cr_assert_eq(steady.first_round, first);
        cr_assert_eq(steady.verdict, verdict_by_the_book(&rounds[first]));
        seen[steady.verdict]++;
    }
    cr_assert(seen[STRIA_STEADY_REACHED] && seen[STRIA_STEADY_RANGE_TOO_WIDE] &&
              seen[STRIA_STEADY_SLOPE_TOO_STEEP] && seen[STRIA_STEADY_BOTH_TOO_LARGE]);
}
