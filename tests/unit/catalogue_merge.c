#include "core/catalogue.h"
#include "core/code.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

#define REPLICAS 4

static struct help_region regions[REPLICAS];
static struct stria_catalogue replicas[REPLICAS], merged;

static void format(void)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        help_format(&replicas[i], &regions[i]);
}

TestSuite(catalogue_merge, .init = format);

Test(catalogue_merge, nothing_comes_of_nothing)
{
    memset(replicas, 0, sizeof(replicas));
    cr_assert_eq(help_merge(replicas, REPLICAS, false, &merged), STRIA_ERR_NOT_FOUND);
}

Test(catalogue_merge, equal_replicas_stay_as_they_are)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        for (uint64_t id = 1; id <= 20; id++)
            help_begun(&replicas[i], id, "x");
    static struct help_region before;
    before = regions[0];
    cr_assert_eq(help_merge(replicas, REPLICAS, false, &merged), STRIA_OK);
    cr_assert_arr_eq(merged.image, before.half[1], sizeof(before.half[1]));
    cr_assert_eq(merged.count, 21);
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
        cr_assert_eq(help_merge(replicas, REPLICAS, false, &merged), STRIA_OK);
        cr_assert_eq(merged.count, 41);
        cr_assert_eq(merged.damaged_count, 0);
        cr_assert_eq(merged.next_recording, 41);
        for (uint64_t id = 1; id <= 40; id++)
            cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, id), 1);
    }
}

Test(catalogue_merge, one_replica_that_knows_of_a_removal_is_enough)
{
    for (unsigned i = 0; i < REPLICAS; i++)
        help_begun(&replicas[i], 1, "x");
    help_removed(&replicas[2], 1);
    cr_assert_eq(help_merge(replicas, REPLICAS, false, &merged), STRIA_OK);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_REMOVED, 1), 1);
}

/* As a part of the array does that is alone, or all of it. */
static void compact(unsigned replica, bool drive_absent)
{
    const struct stria_catalogue source = replicas[replica];
    uint8_t *half = regions[replica].half[(source.epoch + 1) & 1];
    cr_assert_eq(help_compact(&source, &replicas[replica], half,
                              (struct stria_catalogue_compaction){.wall_ns = 9 + replica,
                                                                  .drive_absent = drive_absent}),
                 STRIA_OK);
}

static void renew(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        memcpy(regions[i].half[merged.epoch & 1], merged.image, HALF_BYTES);
        cr_assert_eq(help_load(&replicas[i], &regions[i]), STRIA_OK);
    }
}

Test(catalogue_merge, an_older_epoch_does_not_bring_the_removed_back)
{
    for (unsigned i = 0; i < 2; i++) {
        help_begun(&replicas[i], 1, "removed later");
        help_begun(&replicas[i], 2, "kept");
    }
    help_removed(&replicas[0], 1);
    compact(0, true);
    help_begun(&replicas[1], 3, "unknown to the newer log");
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_REMOVED, 1), 1, "the other drive has it still");
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 2), 1);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 3), 1);
    cr_assert_eq(merged.next_recording, 4);

    renew(2);
    compact(0, false);
    cr_assert_eq(help_count(&replicas[0], STRIA_CATALOGUE_REMOVED, 0), 0, "now all drives know");
}

Test(catalogue_merge, what_a_part_recorded_outlives_the_compaction_of_another_whose_ids_are_higher)
{
    for (uint64_t id = 1000; id < 1040; id++) {
        help_begun(&replicas[0], id, "left");
        help_removed(&replicas[0], id);
    }
    help_begun(&replicas[0], 1040, "left");
    compact(0, true);
    for (uint64_t id = 5; id < 8; id++)
        help_begun(&replicas[1], id, "precious");
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    for (uint64_t id = 5; id < 8; id++)
        cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, id), 1);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 1040), 1);

    struct stria_catalogue_entry head;
    cr_assert(stria_catalogue_read(&replicas[0], 0, &head));
    cr_assert_leq(head.head.next_recording, 5, "nor may an older program take them for removed");
}

Test(catalogue_merge, a_compaction_that_was_cut_short_between_drives_gives_nothing_back)
{
    for (unsigned i = 0; i < 2; i++) {
        help_begun(&replicas[i], 1, "removed");
        help_begun(&replicas[i], 2, "kept");
        help_removed(&replicas[i], 1);
    }
    compact(0, false);
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 2), 1);
}

Test(catalogue_merge, replicas_that_went_separate_ways_both_count)
{
    help_begun(&replicas[0], 1, "left");
    help_begun(&replicas[1], 1, "right");
    help_begun(&replicas[1], 2, "right again");
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(merged.epoch, 2, "not over what either of them holds");
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 1), 2);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 2), 1);

    /* And again: nothing new. */
    const uint32_t count = merged.count;
    renew(2);
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(merged.count, count);
    cr_assert_eq(merged.epoch, 2);
}

Test(catalogue_merge, separate_ways_fit_together_without_what_was_removed)
{
    for (uint64_t id = 1; id <= 250; id++) {
        help_begun(&replicas[0], id, "left");
        help_removed(&replicas[0], id);
        help_begun(&replicas[1], 1000 + id, "right");
    }
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 0), 250);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_REMOVED, 0), 0);
    cr_assert_eq(merged.entries_max, replicas[0].entries_max);
}

Test(catalogue_merge, an_id_is_not_forgotten_before_a_higher_one_is_known)
{
    help_begun(&replicas[0], 7, "removed");
    help_removed(&replicas[0], 7);
    help_begun(&replicas[1], 1, "kept");
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_OK);
    cr_assert_eq(merged.next_recording, 8);
    renew(2);
    cr_assert_eq(replicas[0].next_recording, 8);
}

Test(catalogue_merge, separate_ways_that_do_not_fit_are_told_and_all_read)
{
    for (uint64_t id = 1; help_begun(&replicas[0], id, "left") > 0; id++)
        help_begun(&replicas[1], 10000 + id, "right");
    static struct help_region before[2];
    memcpy(before, regions, sizeof(before));
    cr_assert_eq(help_merge(replicas, 2, false, &merged), STRIA_ERR_FULL);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 0), 2 * (replicas[0].entries_max - 1));
    cr_assert_arr_eq((uint8_t *)before, (uint8_t *)regions, sizeof(before));
}

Test(catalogue_merge, replicas_are_renewed_in_place_only_where_that_changes_nothing_they_know)
{
    help_begun(&replicas[0], 1, "x");
    help_begun(&replicas[0], 2, "x");
    help_begun(&replicas[1], 1, "x");
    cr_assert_eq(help_merge(replicas, 3, false, &merged), STRIA_OK);
    cr_assert_eq(stria_catalogue_renewal(&merged, &replicas[0]), STRIA_RENEWAL_NONE);
    cr_assert_eq(stria_catalogue_renewal(&merged, &replicas[1]), STRIA_RENEWAL_IN_PLACE);

    compact(0, true);
    help_begun(&replicas[1], 100, "right");
    cr_assert_eq(help_merge(replicas, 3, false, &merged), STRIA_OK);
    cr_assert_eq(merged.epoch, 3);
    cr_assert_eq(stria_catalogue_renewal(&merged, &replicas[0]), STRIA_RENEWAL_WHOLE);
    cr_assert_eq(stria_catalogue_renewal(&merged, &replicas[1]), STRIA_RENEWAL_BY_OTHER_HALF);

    struct stria_catalogue copy;
    cr_assert_eq(stria_catalogue_load(&copy, (uint8_t *[]){regions[1].half[0], regions[1].half[1]},
                                      HALF_BYTES, help_array_uuid),
                 STRIA_OK);
    stria_catalogue_copy(&merged, 2, 5, regions[1].half[0], &copy);
    cr_assert_eq(help_load(&replicas[1], &regions[1]), STRIA_OK);
    cr_assert_eq(replicas[1].epoch, 2);
    cr_assert_eq(help_count(&replicas[1], STRIA_CATALOGUE_BEGUN, 0), 3);
    cr_assert_eq(stria_catalogue_renewal(&merged, &replicas[1]), STRIA_RENEWAL_WHOLE);
}

Test(catalogue_merge, replicas_that_could_not_be_loaded_do_not_count)
{
    help_begun(&replicas[3], 5, "x");
    for (unsigned i = 0; i < 3; i++)
        replicas[i].image = NULL;
    cr_assert_eq(help_merge(replicas, REPLICAS, false, &merged), STRIA_OK);
    cr_assert_eq(help_count(&merged, STRIA_CATALOGUE_BEGUN, 5), 1);
    cr_assert_eq(merged.next_recording, 6);
}
