#include "core/bits.h"
#include "core/catalogue.h"
#include "core/catalogue_cell.h"
#include "core/code.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

static struct help_region region;
static struct stria_catalogue catalogue, target;
static const struct stria_catalogue_compaction usual = {.wall_ns = 5, .spare = STRIA_CATALOGUE_SPARE};

static void format(void)
{
    help_format(&catalogue, &region);
}

TestSuite(catalogue_compact, .init = format);

Test(catalogue_compact, keeps_the_living_and_forgets_the_removed)
{
    for (uint64_t id = 1; id <= 60; id++) {
        help_begun(&catalogue, id, "x");
        help_ended(&catalogue, id, 100, 100, 1);
    }
    for (uint64_t id = 60; id > 0; id -= 3)
        help_removed(&catalogue, id);
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_OK);
    cr_assert_eq(target.epoch, 2);
    cr_assert_eq(target.count, 1 + 2 * 40);
    cr_assert_eq(target.next_recording, 61);
    for (uint64_t id = 1; id <= 60; id++) {
        cr_assert_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, id), id % 3 != 0);
        cr_assert_eq(help_count(&target, STRIA_CATALOGUE_ENDED, id), id % 3 != 0);
    }
    cr_assert_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 0), 0);
}

Test(catalogue_compact, leaves_zeros_behind_the_last_entry)
{
    for (uint64_t id = 1; id <= 200; id++)
        help_removed(&catalogue, id * 977 % 211 + 1);
    memset(region.half[0], 0xee, sizeof(region.half[0]));
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_OK);
    cr_assert_eq(target.count, 1);
    cr_assert(stria_all_zero(region.half[0] + 128, sizeof(region.half[0]) - 128));
}

Test(catalogue_compact, never_hands_out_an_id_again)
{
    for (uint64_t id = 1; id <= 9; id++)
        help_begun(&catalogue, id, "x");
    for (uint64_t id = 1; id <= 9; id++)
        help_removed(&catalogue, id);
    struct stria_catalogue again, loaded;
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_OK);
    cr_assert_eq(target.next_recording, 10);
    cr_assert_eq(help_compact(&target, &again, region.half[1],
                              (struct stria_catalogue_compaction){.next_recording = 25, .wall_ns = 6}),
                 STRIA_OK);
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.epoch, 3);
    cr_assert_eq(loaded.next_recording, 25);
}

Test(catalogue_compact, works_on_a_log_full_to_the_last_cell)
{
    uint64_t id = 1;
    while (catalogue.count + 2 <= catalogue.entries_max) {
        help_begun(&catalogue, id, "x");
        help_removed(&catalogue, id++);
    }
    while (help_removed(&catalogue, 1) > 0)
        continue;
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_OK);
    cr_assert_eq(target.count, 1);
    cr_assert_eq(target.next_recording, id);
}

Test(catalogue_compact, says_when_nothing_can_be_forgotten)
{
    for (uint64_t id = 1; help_begun(&catalogue, id, "x") > 0; id++)
        continue;
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_ERR_FULL);
    cr_assert_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 0), target.entries_max - 1);
}

Test(catalogue_compact, carries_entries_of_future_kinds_along_unless_their_recording_is_removed)
{
    uint8_t strange[STRIA_CATALOGUE_ENTRY_BYTES];
    for (uint64_t id = 1; id <= 2; id++) {
        const int begun = help_begun(&catalogue, id, "x");
        memcpy(strange, stria_catalogue_cell_at(&catalogue, (uint32_t)begun), sizeof(strange));
        stria_store_u32(strange + 4, 1000);
        cr_assert_gt(stria_catalogue_append_cell(&catalogue, strange), 0);
    }
    help_removed(&catalogue, 1);
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], usual), STRIA_OK);
    cr_assert_eq(target.count, 3);
    struct stria_catalogue_entry entry;
    cr_assert_not(stria_catalogue_read(&target, 2, &entry), "an unknown kind is not shown");
    cr_assert_eq(stria_catalogue_cell_decode(stria_catalogue_cell_at(&target, 2), &entry, target.seed, 2),
                 STRIA_CATALOGUE_CELL_STRANGE);
    cr_assert_eq(entry.recording, 2);
}

Test(catalogue_compact, torn_or_cut_short_before_its_head_it_leaves_the_old_log_in_force)
{
    static uint8_t written[sizeof(region.half[0])];
    for (uint64_t id = 1; id <= 100; id++)
        help_begun(&catalogue, id, "x");
    cr_assert_eq(help_compact(&catalogue, &target, written, usual), STRIA_OK);
    struct stria_random random = random_of(81);
    for (int round = 0; round < 64; round++) {
        random_fill(&random, region.half[0], sizeof(region.half[0]));
        /* All pages but the first, of which any may be missing, in blocks of 512 bytes. */
        for (size_t block = 4096; block < sizeof(written); block += 512)
            if (stria_random_below(&random, 2))
                memcpy(region.half[0] + block, written + block, 512);
        struct stria_catalogue loaded;
        cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
        cr_assert_eq(loaded.epoch, 1);
        cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, 0), 100);
    }
}

Test(catalogue_compact, remembers_removals_while_a_drive_is_absent)
{
    help_begun(&catalogue, 1, "x");
    help_begun(&catalogue, 2, "x");
    help_removed(&catalogue, 1);
    const struct stria_catalogue_compaction how = {.next_recording = 50, .wall_ns = 5, .drive_absent = true};
    cr_assert_eq(help_compact(&catalogue, &target, region.half[0], how), STRIA_OK);
    cr_assert_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_assert_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 1), 1);
    cr_assert_eq(target.next_recording, 3, "50 would say that all below were known to every drive");
}

Test(catalogue_compact, removes_from_a_log_that_is_full_to_the_last_cell)
{
    uint64_t last = 0;
    for (uint64_t id = 1; help_begun(&catalogue, id, "x") > 0; id++)
        last = id;
    for (unsigned absent = 0; absent < 2; absent++) {
        const struct stria_catalogue_compaction how = {
            .wall_ns = 5, .remove = 3, .drive_absent = absent == 1};
        cr_assert_eq(help_compact(&catalogue, &target, region.half[0], how), STRIA_OK);
        cr_assert_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 0), last - 1);
        cr_assert_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 3), 0);
        cr_assert_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 3), 1, "other replicas hold it still");
    }
}
