#include "measure/points.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS_MAX 8u

static struct stria_round rounds[ROUNDS_MAX];
static struct stria_bench_result result;

static struct stria_round *add(const char *point, uint64_t mean, uint64_t least)
{
    struct stria_round *round = &rounds[result.round_count++];
    *round = (struct stria_round){.plan = {.write = true}};
    snprintf(round->plan.point, sizeof(round->plan.point), "%s", point);
    round->latencies = calloc(1, sizeof(*round->latencies));
    round->figures.mean = (struct stria_told){true, mean};
    round->figures.min = (struct stria_told){least > 0, least};
    return round;
}

static void conclude(void)
{
    result.rounds = rounds;
    cr_assert_eq(stria_bench_make_points(&result, NULL), STRIA_OK);
}

Test(points, the_rating_is_the_minimum_of_the_minima)
{
    add("a", 100, 90);
    add("b", 50, 40);
    add("a", 110, 60);
    add("a", 120, 95);
    conclude();
    cr_assert_eq(result.point_count, 2);
    cr_assert_str_eq(result.points[0].point, "a");
    cr_assert_eq(result.points[0].repeats, 3);
    cr_assert_eq(result.points[0].means.mean, 110);
    cr_assert_eq(result.points[0].means.deviation, 10);
    cr_assert_eq(result.points[0].rating.value, 60);
    cr_assert_not(result.points[1].means.has_spread);
    cr_assert_eq(result.rating.value, 40);
}

Test(points, what_is_partial_or_refused_or_preparation_makes_no_point_better_or_worse)
{
    add("a", 100, 90);
    add("a", 1, 1)->partial = true;
    add("a", 9999, 9999)->above_link = true;
    add("a", 2, 2)->plan.unrated = true;
    conclude();
    cr_assert_eq(result.point_count, 1);
    cr_assert_eq(result.points[0].repeats, 1);
    cr_assert_eq(result.points[0].means.mean, 100);
    cr_assert_eq(result.rating.value, 90);
}

Test(points, one_repeat_without_a_minimum_leaves_the_point_without)
{
    add("a", 100, 90);
    add("a", 100, 0);
    add("b", 100, 70);
    conclude();
    cr_assert_not(result.points[0].rating.known);
    cr_assert_eq(result.points[0].repeats, 2);
    cr_assert_eq(result.rating.value, 70);
}

Test(points, without_a_whole_round_there_is_no_rating)
{
    add("a", 100, 90)->partial = true;
    conclude();
    cr_assert_eq(result.point_count, 1);
    cr_assert_not(result.points[0].known);
    cr_assert_not(result.rating.known);
}

Test(points, reading_and_writing_are_points_of_their_own)
{
    add("a", 100, 90);
    add("a", 200, 180)->plan.write = false;
    conclude();
    cr_assert_eq(result.point_count, 2);
    cr_assert(result.points[0].write);
    cr_assert_not(result.points[1].write);
}
