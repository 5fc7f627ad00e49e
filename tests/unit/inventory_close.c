#include "core/inventory.h"
#include "tests/unit/array_help.h"

static struct help_array array;

static void begin(void)
{
    help_array_begin(&array, 16 << 20);
}

static void end(void)
{
    help_array_end(&array);
}

TestSuite(inventory_close, .init = begin, .fini = end);

/* Under raid0, cut off before its end. */
static void crash(uint64_t id, uint64_t chunks)
{
    struct stria_catalogue_entry begun = {
        .kind = STRIA_CATALOGUE_BEGUN,
        .recording = id,
        .begun = {.name = "crashed", .policy = STRIA_POLICY_RAID0, .chunk_bytes = STRIA_CHUNK_BYTES_MIN},
    };
    cr_assert_gt(stria_catalogue_append(&array.catalogue, &begun), 0);
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        struct stria_ledger_entry entry = help_entry(id, chunk, chunk);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
}

static const struct stria_recording *closed(uint64_t id)
{
    cr_assert_eq(stria_inventory_close(&array.inventory, &array.input, &array.catalogue, 77), STRIA_OK);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, id);
    cr_assert_not_null(found);
    return found;
}

Test(inventory_close, what_was_found_of_a_crashed_recording_becomes_its_end)
{
    crash(1, 10);
    help_checkpoint(&array, 1, 1, 12, 12 * HELP_CHUNK);
    help_inventory(&array);
    cr_assert_eq(stria_inventory_open_ended(&array.inventory, &array.input), 1);
    const struct stria_recording before = *stria_inventory_find_id(&array.inventory, 1);
    const struct stria_recording *found = closed(1);
    cr_expect(found->complete);
    cr_expect_eq(found->ended_flags & STRIA_ENDED_CLEAN, 0, "it was not ended by its recorder");
    cr_expect_eq(found->length_bytes, before.length_bytes);
    cr_expect_eq(found->stored_bytes, before.stored_bytes);
    cr_expect_eq(found->dropped_bytes, before.dropped_bytes);
    cr_expect_eq(found->sequence_count, before.sequence_count);
    cr_expect_eq(stria_inventory_open_ended(&array.inventory, &array.input), 0);
}

Test(inventory_close, an_end_outlives_the_checkpoint_that_the_next_recording_replaces)
{
    crash(1, 10);
    help_checkpoint(&array, 1, 1, 12, 12 * HELP_CHUNK);
    help_inventory(&array);
    closed(1);
    help_checkpoint(&array, 1, 2, 1, HELP_CHUNK);
    help_inventory(&array);
    cr_expect_eq(stria_inventory_find_id(&array.inventory, 1)->length_bytes, 12 * HELP_CHUNK);
}

/* Ledgers are large, and raid0's are walked over to tell whether the recording is plain: once, for its end.
 */
Test(inventory_close, what_is_open_is_counted_without_the_ledgers)
{
    crash(1, 10);
    crash(2, 0);
    help_inventory(&array);
    for (uint32_t drive = 0; drive < HELP_DRIVES; drive++)
        array.drives[drive].ledger = NULL;
    cr_expect_eq(stria_inventory_open_ended(&array.inventory, &array.input), 2);
    array.drives[0].present = false;
    cr_expect_eq(stria_inventory_open_ended(&array.inventory, &array.input), 0);
}

Test(inventory_close, only_recordings_without_an_end_get_one)
{
    help_begun(&array.catalogue, 1, "whole");
    help_ended(&array.catalogue, 1, HELP_CHUNK, HELP_CHUNK, 1);
    crash(2, 3);
    help_begun(&array.catalogue, 3, "removed");
    help_removed(&array.catalogue, 3);
    help_inventory(&array);
    const uint32_t count = array.catalogue.count;
    cr_assert_eq(stria_inventory_close(&array.inventory, &array.input, &array.catalogue, 77), STRIA_OK);
    cr_assert_eq(array.catalogue.count, count + 1);
    struct stria_catalogue_entry entry;
    cr_assert(stria_catalogue_read(&array.catalogue, count, &entry));
    cr_expect(entry.kind == STRIA_CATALOGUE_ENDED && entry.recording == 2 && entry.wall_ns == 77);
}

Test(inventory_close, what_checkpoints_say_is_kept_while_a_drive_is_absent)
{
    /* The catalogue was full when chunk 9 was lost: nothing but a checkpoint passes it. */
    crash(1, 9);
    for (uint64_t chunk = 10; chunk < 14; chunk++) {
        struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
    help_checkpoint(&array, 1, 1, 12, 12 * HELP_CHUNK);
    array.drives[2].present = false;
    help_inventory(&array);
    cr_assert_eq(stria_inventory_open_ended(&array.inventory, &array.input), 1);
    const uint32_t count = array.catalogue.count;
    cr_assert_not(closed(1)->complete, "the drive may know of more");
    struct stria_catalogue_entry entry;
    cr_assert(stria_catalogue_read(&array.catalogue, count, &entry));
    cr_expect(entry.kind == STRIA_CATALOGUE_REACHED && entry.recording == 1 && entry.wall_ns == 77);
    cr_expect_eq(entry.reached.watermark_bytes, 12 * HELP_CHUNK);
    cr_expect_eq(entry.reached.watermark_sequence, 12);
    cr_expect_eq(stria_inventory_open_ended(&array.inventory, &array.input), 0, "once is enough");
    help_checkpoint(&array, 1, 2, 1, HELP_CHUNK);
    array.drives[2].present = true;
    help_inventory(&array);
    const struct stria_recording *found = closed(1);
    cr_expect(found->complete);
    cr_expect_eq(found->sequence_count, 14);
    cr_expect_eq(found->length_bytes, 14 * HELP_CHUNK);
}

Test(inventory_close, nothing_is_closed_while_a_drive_is_absent)
{
    crash(1, 10);
    array.drives[2].present = false;
    help_inventory(&array);
    const uint32_t count = array.catalogue.count;
    cr_expect_eq(stria_inventory_open_ended(&array.inventory, &array.input), 0);
    cr_expect_eq(stria_inventory_close(&array.inventory, &array.input, &array.catalogue, 77), STRIA_OK);
    cr_expect_eq(array.catalogue.count, count, "the drive may know of more");
}

Test(inventory_close, a_chunk_that_is_not_at_its_place_is_not_raid0)
{
    crash(1, 9);
    struct stria_ledger_entry entry = help_entry(1, 9, 9);
    help_store(&array, 2, &entry);
    crash(2, 0);
    help_inventory(&array);
    cr_assert_eq(stria_inventory_find_id(&array.inventory, 1)->policy, STRIA_POLICY_RAID0);
    cr_expect_eq(closed(1)->ended_flags, STRIA_ENDED_NOT_RAID0);
    cr_expect_eq(stria_inventory_find_id(&array.inventory, 2)->ended_flags, 0);
}

Test(inventory_close, a_chunk_on_its_drive_in_another_row_is_told_apart)
{
    crash(1, 9);
    struct stria_ledger_entry entry = help_entry(1, 9, 9);
    array.position_next[9 % HELP_DRIVES]++;
    help_store(&array, 9 % HELP_DRIVES, &entry);
    help_inventory(&array);
    cr_expect_eq(closed(1)->ended_flags, STRIA_ENDED_NOT_RAID0 | STRIA_ENDED_OFF_ROWS);
}

Test(inventory_close, chunks_at_their_places_are_raid0)
{
    crash(1, 9);
    help_inventory(&array);
    cr_expect_eq(closed(1)->ended_flags, 0);
}

Test(inventory_close, without_room_for_all_nothing_is_appended)
{
    crash(1, 2);
    crash(2, 2);
    help_inventory(&array);
    const uint32_t count = array.catalogue.count;
    array.catalogue.entries_max = count + 1;
    cr_expect_eq(stria_inventory_close(&array.inventory, &array.input, &array.catalogue, 77), STRIA_ERR_FULL);
    cr_expect_eq(array.catalogue.count, count);
}
