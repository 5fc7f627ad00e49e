#include "core/random.h"

#include <criterion/criterion.h>

Test(random, the_numbers_are_those_of_the_published_generator)
{
    /* State 1, 2, 3, 4: the first outputs of the authors' reference code of xoshiro256**. */
    struct stria_random random = {{1, 2, 3, 4}};
    const uint64_t expected[] = {11520u, 0u, 1509978240u, 1215971899390074240u};
    for (unsigned i = 0; i < 4; i++)
        cr_assert_eq(stria_random_next(&random), expected[i]);
    /* Seed 0: the first outputs of the authors' splitmix64. */
    stria_random_seed(&random, 0);
    cr_assert_eq(random.state[0], 0xe220a8397b1dcdafu);
    cr_assert_eq(random.state[1], 0x6e789e6aa1b965f4u);
}

Test(random, the_same_seed_gives_the_same_numbers_and_another_seed_others)
{
    struct stria_random a, b, c;
    stria_random_seed(&a, 42);
    stria_random_seed(&b, 42);
    stria_random_seed(&c, 43);
    unsigned equal = 0;
    for (unsigned i = 0; i < 1000; i++) {
        const uint64_t value = stria_random_next(&a);
        cr_assert_eq(value, stria_random_next(&b));
        equal += value == stria_random_next(&c);
    }
    cr_assert_eq(equal, 0);
}

Test(random, a_bound_is_kept_and_every_value_below_it_comes)
{
    struct stria_random random;
    stria_random_seed(&random, 7);
    unsigned counts[10] = {0};
    for (unsigned i = 0; i < 100000; i++) {
        const uint64_t value = stria_random_below(&random, 10);
        cr_assert_lt(value, 10);
        counts[value]++;
    }
    for (unsigned i = 0; i < 10; i++) {
        cr_assert_gt(counts[i], 9500);
        cr_assert_lt(counts[i], 10500);
    }
}

Test(random, a_range_has_both_its_ends)
{
    struct stria_random random;
    stria_random_seed(&random, 9);
    cr_assert_eq(stria_random_between(&random, 5, 5), 5);
    bool low = false, high = false;
    for (unsigned i = 0; i < 200; i++) {
        const uint64_t value = stria_random_between(&random, UINT64_MAX - 2, UINT64_MAX);
        cr_assert_geq(value, UINT64_MAX - 2);
        low |= value == UINT64_MAX - 2;
        high |= value == UINT64_MAX;
    }
    cr_assert(low && high);
    stria_random_between(&random, 0, UINT64_MAX);
}
