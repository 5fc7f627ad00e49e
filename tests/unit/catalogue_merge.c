#include "core/catalogue.h"
#include "core/code.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

#define REPLICAS 4

static struct help_region regions[REPLICAS];
static struct stria_catalogue replicas[REPLICAS];

static void format(void)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        help_format(&replicas[i], &regions[i]);
}

TestSuite(catalogue_merge, .init = format);

Test(catalogue_merge, nothing_comes_of_nothing)
{
    memset(replicas, 0, sizeof(replicas));
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, REPLICAS, &chosen), STRIA_ERR_NOT_FOUND);
}

Test(catalogue_merge, equal_replicas_stay_as_they_are)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        for (uint64_t id = 1; id <= 20; id++)
            help_begun(&replicas[i], id, "x");
    static struct help_region before;
    before = regions[0];
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, REPLICAS, &chosen), STRIA_OK);
    cr_assert_arr_eq(regions[chosen].half[1], before.half[1], sizeof(before.half[1]));
    cr_assert_eq(replicas[chosen].count, 21);
}

Test(catalogue_merge, what_one_replica_misses_another_supplies)
{
    struct stria_random random = random_of(91);
    for (int round = 0; round < 100; round++) {
        format();
        for (unsigned i = 0; i < REPLICAS; i++)
            for (uint64_t id = 1; id <= 40; id++)
                help_begun(&replicas[i], id, "x");
        /* Damage up to three of the four copies of every entry. */
        for (size_t cell = 1; cell <= 40; cell++) {
            const unsigned intact = (unsigned)stria_random_below(&random, REPLICAS);
            for (unsigned i = 0; i < REPLICAS; i++) {
                const uint64_t fate = i == intact ? 0 : stria_random_below(&random, 3);
                if (fate == 1)
                    memset(regions[i].half[1] + cell * 128, 0, 128);
                if (fate == 2)
                    regions[i].half[1][cell * 128 + stria_random_below(&random, 128)] ^= 0x40;
            }
        }
        for (unsigned i = 0; i < REPLICAS; i++)
            cr_assert_eq(help_load(&replicas[i], &regions[i]), STRIA_OK);
        uint32_t chosen;
        cr_assert_eq(stria_catalogue_merge(replicas, REPLICAS, &chosen), STRIA_OK);
        cr_assert_eq(replicas[chosen].count, 41);
        cr_assert_eq(replicas[chosen].damaged_count, 0);
        cr_assert_eq(replicas[chosen].next_recording, 41);
        for (uint64_t id = 1; id <= 40; id++)
            cr_assert_eq(help_count(&replicas[chosen], STRIA_CATALOGUE_BEGUN, id), 1);
    }
}

Test(catalogue_merge, one_replica_that_knows_of_a_removal_is_enough)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        help_begun(&replicas[i], 1, "x");
    help_removed(&replicas[2], 1);
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, REPLICAS, &chosen), STRIA_OK);
    cr_assert_eq(help_count(&replicas[chosen], STRIA_CATALOGUE_REMOVED, 1), 1);
}

Test(catalogue_merge, an_older_epoch_does_not_bring_the_removed_back)
{
    for (unsigned i = 0; i < 2; i++) {
        help_begun(&replicas[i], 1, "removed later");
        help_begun(&replicas[i], 2, "kept");
    }
    help_removed(&replicas[0], 1);
    struct stria_catalogue compacted;
    cr_assert_eq(stria_catalogue_compact(&replicas[0], &compacted, regions[0].half[0], 0, 9), STRIA_OK);
    replicas[0] = compacted;
    help_begun(&replicas[1], 3, "unknown to the newer log");
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, 2, &chosen), STRIA_OK);
    cr_assert_eq(chosen, 0);
    cr_assert_eq(help_count(&replicas[0], STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_assert_eq(help_count(&replicas[0], STRIA_CATALOGUE_BEGUN, 2), 1);
    cr_assert_eq(help_count(&replicas[0], STRIA_CATALOGUE_BEGUN, 3), 1);
    cr_assert_eq(replicas[0].next_recording, 4);
}

Test(catalogue_merge, replicas_that_went_separate_ways_both_count)
{
    help_begun(&replicas[0], 1, "left");
    help_begun(&replicas[1], 1, "right");
    help_begun(&replicas[1], 2, "right again");
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, 2, &chosen), STRIA_OK);
    cr_assert_eq(help_count(&replicas[chosen], STRIA_CATALOGUE_BEGUN, 1), 2);
    cr_assert_eq(help_count(&replicas[chosen], STRIA_CATALOGUE_BEGUN, 2), 1);

    /* And again: nothing new. */
    const uint32_t count = replicas[chosen].count;
    cr_assert_eq(stria_catalogue_merge(replicas, 2, &chosen), STRIA_OK);
    cr_assert_eq(replicas[chosen].count, count);
}

Test(catalogue_merge, separate_ways_that_do_not_fit_are_told)
{
    for (uint64_t id = 1; help_begun(&replicas[0], id, "left") > 0; id++)
        help_begun(&replicas[1], id, "right");
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, 2, &chosen), STRIA_ERR_FULL);
    cr_assert_eq(replicas[chosen].count, replicas[chosen].entries_max);
}

Test(catalogue_merge, replicas_that_could_not_be_loaded_do_not_count)
{
    help_begun(&replicas[3], 5, "x");
    for (unsigned i = 0; i < 3; i++)
        replicas[i].image = NULL;
    uint32_t chosen;
    cr_assert_eq(stria_catalogue_merge(replicas, REPLICAS, &chosen), STRIA_OK);
    cr_assert_eq(chosen, 3);
    cr_assert_eq(replicas[3].next_recording, 6);
}
