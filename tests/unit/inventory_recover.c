#include "core/inventory_scan.h"
#include "tests/unit/array_help.h"

static struct help_array array;

static void begin(void)
{
    help_array_begin(&array, 16 << 20);
    help_begun(&array.catalogue, 1, "crashed");
}

static void end(void)
{
    help_array_end(&array);
}

TestSuite(inventory_recover, .init = begin, .fini = end);

/* The chunks from first to last where raid0 puts them. */
static void store(uint64_t first, uint64_t last)
{
    for (uint64_t chunk = first; chunk <= last; chunk++) {
        const struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
}

static void reached(uint64_t recording, uint64_t sequence, uint64_t bytes)
{
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_REACHED,
        .recording = recording,
        .reached = {.watermark_bytes = bytes, .watermark_sequence = sequence},
    };
    cr_assert_gt(stria_catalogue_append(&array.catalogue, &entry), 0);
}

static const struct stria_recording *recovered(void)
{
    help_inventory(&array);
    const struct stria_recording *recording = stria_inventory_find_id(&array.inventory, 1);
    cr_assert(recording && !recording->complete);
    return recording;
}

Test(inventory_recover, nothing_known_is_nothing_recorded)
{
    const struct stria_recording *found = recovered();
    cr_expect_eq(found->length_bytes, 0);
    cr_expect_eq(found->sequence_count, 0);
    cr_expect_eq(found->stored_bytes, 0);
    cr_expect_eq(found->dropped_bytes, 0);
}

Test(inventory_recover, the_furthest_of_what_catalogue_and_checkpoints_say_counts)
{
    reached(1, 5, 5 * HELP_CHUNK);
    reached(1, 3, 3 * HELP_CHUNK);
    cr_expect_eq(recovered()->length_bytes, 5 * HELP_CHUNK);
    help_checkpoint(&array, 2, 1, 4, 4 * HELP_CHUNK);
    cr_expect_eq(recovered()->length_bytes, 5 * HELP_CHUNK);
    help_checkpoint(&array, 2, 1, 6, 6 * HELP_CHUNK);
    cr_expect_eq(recovered()->length_bytes, 6 * HELP_CHUNK);
    cr_expect_eq(stria_inventory_noted(recovered(), &array.catalogue).watermark_bytes, 5 * HELP_CHUNK,
                 "by the catalogue alone");
}

Test(inventory_recover, what_is_said_of_another_recording_or_stream_does_not_count)
{
    help_begun(&array.catalogue, 2, "other");
    reached(2, 9, 9 * HELP_CHUNK);
    help_checkpoint(&array, 0, 2, 8, 8 * HELP_CHUNK);
    help_checkpoint(&array, 1, 1, 7, 7 * HELP_CHUNK);
    array.drives[1].checkpoint.stream = 1;
    cr_expect_eq(recovered()->length_bytes, 0);
}

Test(inventory_recover, a_checkpoint_of_a_drive_that_is_away_or_is_damaged_does_not_count)
{
    help_checkpoint(&array, 0, 1, 9, 9 * HELP_CHUNK);
    help_checkpoint(&array, 1, 1, 8, 8 * HELP_CHUNK);
    help_checkpoint(&array, 2, 1, 2, 2 * HELP_CHUNK);
    array.drives[0].present = false;
    array.drives[1].checkpoint_valid = false;
    cr_expect_eq(recovered()->length_bytes, 2 * HELP_CHUNK);
}

Test(inventory_recover, a_watermark_that_contradicts_itself_does_not_count)
{
    help_checkpoint(&array, 0, 1, 4, 3 * HELP_CHUNK);
    cr_expect_eq(recovered()->length_bytes, 0, "more chunks than bytes have room for");
    help_checkpoint(&array, 0, 1, 4, 3 * HELP_CHUNK + 1);
    cr_expect_eq(recovered()->length_bytes, 3 * HELP_CHUNK + 1, "the last is short");
    help_checkpoint(&array, 1, 1, 0, (uint64_t)INT64_MAX + 1);
    cr_expect_eq(recovered()->length_bytes, 3 * HELP_CHUNK + 1);
}

Test(inventory_recover, lost_chunks_at_the_very_end_are_left_out_and_those_before_are_dropped)
{
    store(0, 2);
    store(4, 5);
    help_lost(&array, 1, 3, STRIA_GAP_DRIVE, 1);
    help_lost(&array, 1, 6, STRIA_GAP_DRIVE, 1);
    help_lost(&array, 1, 7, STRIA_GAP_DRIVE, 1);
    const struct stria_recording *found = recovered();
    cr_expect_eq(found->sequence_count, 6);
    cr_expect_eq(found->length_bytes, 6 * HELP_CHUNK);
    cr_expect_eq(found->stored_bytes, 5 * HELP_CHUNK);
    cr_expect_eq(found->dropped_bytes, HELP_CHUNK);
}

Test(inventory_recover, what_lies_behind_a_hole_counts_only_while_a_drive_is_away)
{
    store(0, 2);
    store(4, 7);
    cr_expect_eq(recovered()->length_bytes, 3 * HELP_CHUNK);
    array.drives[3].present = false;
    const struct stria_recording *found = recovered();
    cr_expect_eq(found->length_bytes, 7 * HELP_CHUNK, "chunk 7 is away");
    cr_expect_eq(found->stored_bytes, 6 * HELP_CHUNK);
}

Test(inventory_recover, an_entry_that_cannot_be_what_it_says_does_not_lengthen_the_stream)
{
    store(0, 1);
    struct stria_ledger_entry entry = help_entry(1, 2, 1);
    help_store(&array, 2, &entry);
    cr_expect_eq(recovered()->length_bytes, 2 * HELP_CHUNK, "sequence 2 cannot lie at chunk 1");
}

Test(inventory_recover, what_was_stored_twice_is_no_more_than_the_stream_is_long)
{
    store(0, 2);
    store(0, 2);
    const struct stria_recording *found = recovered();
    cr_expect_eq(found->extent_count, 6);
    cr_expect_eq(found->length_bytes, 3 * HELP_CHUNK);
    cr_expect_eq(found->stored_bytes, 3 * HELP_CHUNK);
    cr_expect_eq(found->dropped_bytes, 0);
}
