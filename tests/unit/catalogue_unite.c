#include "core/catalogue_unite.h"

#include "core/catalogue_cell.h"
#include "core/code.h"
#include "tests/unit/catalogue_help.h"

#define SOURCES 3u

static struct help_region regions[SOURCES];
static struct stria_catalogue sources[SOURCES], target;
static uint8_t image[STRIA_CATALOGUE_HALF_MIN];
static struct stria_catalogue_union how;

static void begin(void)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        help_format(&sources[i], &regions[i]);
    how = (struct stria_catalogue_union){
        .sources = sources,
        .source_count = SOURCES,
        .head = {.epoch = 2,
                 .next_recording = 100,
                 .format = STRIA_CATALOGUE_FORMAT,
                 .entries_max = sources[0].entries_max},
        .wall_ns = 7,
    };
}

TestSuite(catalogue_unite, .init = begin);

static void unite(void)
{
    static uint64_t scratch[STRIA_CATALOGUE_HALF_MIN / 8];
    cr_assert_leq(stria_catalogue_unite_scratch_bytes(sources, SOURCES), sizeof(scratch));
    target = (struct stria_catalogue){.image = image};
    memcpy(target.array_uuid, help_array_uuid, STRIA_UUID_BYTES);
    stria_catalogue_unite(&how, scratch, &target);
}

static void removed_at(uint32_t source, uint64_t recording, uint64_t wall_ns)
{
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_REMOVED, .recording = recording, .wall_ns = wall_ns};
    cr_assert_gt(stria_catalogue_append(&sources[source], &entry), 0);
}

Test(catalogue_unite, what_several_say_is_said_once_and_what_one_says_is_kept)
{
    for (uint32_t i = 0; i < SOURCES; i++)
        help_begun(&sources[i], 1, "common");
    help_ended(&sources[1], 1, 100, 100, 1);
    help_begun(&sources[2], 2, "own");
    unite();
    cr_expect_eq(target.count, 1 + 3);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 1), 1);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_ENDED, 1), 1);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 2), 1);
    cr_expect_eq(target.epoch, 2);
    cr_expect_eq(target.next_recording, 100);
}

Test(catalogue_unite, different_ends_are_all_kept_and_the_youngest_is_the_last)
{
    for (uint32_t i = 0; i < 2; i++) {
        const struct stria_catalogue_entry entry = {
            .kind = STRIA_CATALOGUE_ENDED,
            .recording = 1,
            .wall_ns = i ? 10 : 20,
            .ended = {.length_bytes = i ? 100 : 200, .gap_drive = STRIA_GAP_DRIVE_NONE}};
        help_begun(&sources[i], 1, "twice");
        cr_assert_gt(stria_catalogue_append(&sources[i], &entry), 0);
    }
    unite();
    struct stria_catalogue_entry last = {.recording = 0};
    for (uint32_t index = 0; stria_catalogue_next(&target, &index, &last);) {
    }
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_ENDED, 1), 2);
    cr_assert(stria_catalogue_read(&target, target.count - 1, &last));
    cr_expect_eq(last.ended.length_bytes, 200);
}

Test(catalogue_unite, a_removal_is_kept_as_long_as_somebody_has_the_recording_and_does_not_know)
{
    help_begun(&sources[0], 1, "x");
    help_begun(&sources[1], 1, "x");
    help_removed(&sources[1], 1);
    unite();
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 1), 1);
    help_removed(&sources[0], 1);
    unite();
    cr_expect_eq(target.count, 1, "all who have it know");
}

Test(catalogue_unite, while_a_drive_is_away_no_removal_is_forgotten)
{
    help_begun(&sources[0], 1, "x");
    help_removed(&sources[0], 1);
    how.drive_absent = true;
    unite();
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 1), 0);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 1), 1);
}

Test(catalogue_unite, of_several_removals_the_earliest_is_kept)
{
    removed_at(0, 1, 30);
    removed_at(1, 1, 20);
    removed_at(2, 1, 40);
    how.drive_absent = true;
    unite();
    struct stria_catalogue_entry entry;
    cr_assert_eq(target.count, 2);
    cr_assert(stria_catalogue_read(&target, 1, &entry));
    cr_expect_eq(entry.wall_ns, 20);
}

Test(catalogue_unite, the_highest_id_is_not_forgotten_where_the_head_does_not_tell_it)
{
    help_begun(&sources[0], 99, "x");
    help_removed(&sources[0], 99);
    unite();
    cr_expect_eq(target.count, 1, "the head tells of it");
    help_begun(&sources[0], 100, "y");
    help_removed(&sources[0], 100);
    unite();
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 0), 1);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_REMOVED, 100), 1);
    cr_expect_eq(target.next_recording, 101);
}

Test(catalogue_unite, what_is_removed_by_it_leaves_a_removal_of_now_and_nothing_else)
{
    for (uint64_t id = 1; id <= 3; id++) {
        help_begun(&sources[0], id, "x");
        help_ended(&sources[0], id, 100, 100, 1);
    }
    how.remove = 2;
    unite();
    struct stria_catalogue_entry entry;
    cr_assert_eq(target.count, 1 + 2 + 1 + 2);
    cr_assert(stria_catalogue_read(&target, 3, &entry));
    cr_expect_eq(entry.kind, STRIA_CATALOGUE_REMOVED);
    cr_expect_eq(entry.recording, 2);
    cr_expect_eq(entry.wall_ns, 7);
}

Test(catalogue_unite, a_source_that_could_not_be_loaded_and_damaged_cells_do_not_count)
{
    help_begun(&sources[0], 1, "x");
    help_begun(&sources[0], 2, "y");
    help_begun(&sources[1], 3, "z");
    cr_expect_eq(stria_catalogue_cells_used(sources, SOURCES), 3);
    sources[1].image = NULL;
    cr_expect_eq(stria_catalogue_cells_used(sources, SOURCES), 2);
    stria_catalogue_cell_at(&sources[0], 1)[40] ^= 1;
    unite();
    cr_expect_eq(target.count, 2);
    cr_expect_eq(help_count(&target, STRIA_CATALOGUE_BEGUN, 2), 1);
}
