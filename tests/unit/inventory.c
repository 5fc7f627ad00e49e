#include "core/inventory.h"

#include "tests/unit/array_help.h"
#include "tests/unit/random.h"

static struct help_array array;

static void begin(void)
{
    help_array_begin(&array, 16 << 20);
}

static void end(void)
{
    help_array_end(&array);
}

TestSuite(inventory, .init = begin, .fini = end);

/* A raid0 recording without incident, with its catalogue entries; without an end when length_bytes is 0. */
static void record(uint64_t id, const char *name, uint64_t chunks, uint64_t length_bytes)
{
    help_begun(&array.catalogue, id, name);
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        struct stria_ledger_entry entry = help_entry(id, chunk, chunk);
        if (length_bytes > 0 && (chunk + 1) * HELP_CHUNK > length_bytes)
            entry.length_bytes = (uint32_t)(length_bytes - chunk * HELP_CHUNK);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
    if (length_bytes > 0)
        help_ended(&array.catalogue, id, length_bytes, length_bytes, chunks);
}

Test(inventory, an_empty_array_has_nothing)
{
    help_inventory(&array);
    cr_assert_eq(array.inventory.recording_count, 0);
    cr_assert_eq(array.inventory.next_recording, 1);
    cr_assert_eq(array.inventory.entries_damaged, 0);
    cr_assert_null(stria_inventory_find(&array.inventory, "x"));
    cr_assert_null(stria_inventory_find_id(&array.inventory, 1));
}

Test(inventory, finds_recordings_with_what_the_catalogue_says)
{
    record(1, "first", 10, 10 * HELP_CHUNK);
    record(2, "second", 7, 6 * HELP_CHUNK + 100);
    help_inventory(&array);
    cr_assert_eq(array.inventory.recording_count, 2);
    cr_assert_eq(array.inventory.next_recording, 3);
    const struct stria_recording *second = stria_inventory_find(&array.inventory, "second");
    cr_assert_not_null(second);
    cr_assert_eq(second->id, 2);
    cr_assert(second->complete);
    cr_assert_eq(second->length_bytes, 6 * HELP_CHUNK + 100);
    cr_assert_eq(second->sequence_count, 7);
    cr_assert_eq(second->extent_count, 7);
    cr_assert_eq(second->sequence_first, 0);
    cr_assert_eq(second->sequence_last, 6);
    cr_assert_eq(second->started_unix_ns, 2000);
    cr_assert_eq(second->ended_flags, STRIA_ENDED_CLEAN);
}

Test(inventory, removed_recordings_are_gone_and_their_extents_free)
{
    record(1, "kept", 8, 8 * HELP_CHUNK);
    record(2, "removed", 8, 8 * HELP_CHUNK);
    help_removed(&array.catalogue, 2);
    help_inventory(&array);
    cr_assert_eq(array.inventory.recording_count, 1);
    cr_assert_null(stria_inventory_find(&array.inventory, "removed"));
    cr_assert_eq(array.inventory.next_recording, 3, "ids are not used again");
    for (uint32_t drive = 0; drive < HELP_DRIVES; drive++) {
        uint8_t bitmap[64];
        memset(bitmap, 0xff, sizeof(bitmap));
        cr_assert_eq(stria_inventory_used(&array.inventory, &array.input, drive, bitmap), 2);
        cr_assert_eq(bitmap[0], 3);
        for (uint64_t byte = 1; byte < (array.geometry.extent_count + 7) / 8; byte++)
            cr_assert_eq(bitmap[byte], 0);
    }
}

Test(inventory, the_ids_in_ledgers_and_checkpoints_are_not_used_again_either)
{
    const struct stria_ledger_entry orphan = help_entry(41, 0, 0);
    help_store(&array, 2, &orphan);
    help_inventory(&array);
    cr_assert_eq(array.inventory.next_recording, 42);
    cr_assert_eq(array.inventory.recording_count, 0);
    help_checkpoint(&array, 1, 50, 0, 0);
    help_inventory(&array);
    cr_assert_eq(array.inventory.next_recording, 51);
    cr_assert_eq(array.inventory.checkpoint_serial, 11);
}

Test(inventory, the_youngest_of_a_name_is_found)
{
    record(1, "same", 1, 100);
    record(2, "same", 1, 100);
    help_inventory(&array);
    cr_assert_eq(stria_inventory_find(&array.inventory, "same")->id, 2);
}

Test(inventory, a_table_too_small_is_told)
{
    record(1, "a", 1, 100);
    record(2, "b", 1, 100);
    cr_assert_eq(stria_inventory_recordings_max(&array.catalogue), 2);
    cr_assert_eq(stria_inventory_build(&array.inventory, &array.input, array.table, 1, array.scratch),
                 STRIA_ERR_NO_MEMORY);
}

Test(inventory, without_an_end_the_watermark_counts)
{
    record(1, "crashed", 10, 0);
    help_checkpoint(&array, 0, 1, 4, 4 * HELP_CHUNK);
    help_checkpoint(&array, 1, 1, 12, 12 * HELP_CHUNK);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_not(found->complete);
    cr_assert_eq(found->length_bytes, 12 * HELP_CHUNK, "what was reported durable counts, even if not found");
    cr_assert_eq(found->sequence_count, 12);
    cr_assert_eq(found->stored_bytes, 10 * HELP_CHUNK);
    cr_assert_eq(found->dropped_bytes, 0);
}

Test(inventory, without_an_end_the_unbroken_run_behind_the_watermark_counts)
{
    record(1, "crashed", 10, 0);
    struct stria_ledger_entry after_hole = help_entry(1, 11, 11);
    help_store(&array, 0, &after_hole);
    help_checkpoint(&array, 2, 1, 4, 4 * HELP_CHUNK);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_eq(found->length_bytes, 10 * HELP_CHUNK);
    cr_assert_eq(found->sequence_count, 10);
    cr_assert_eq(found->stored_bytes, 10 * HELP_CHUNK);
    cr_assert_eq(found->extent_count, 11);
}

Test(inventory, without_an_end_or_a_checkpoint_the_run_from_the_start_counts)
{
    record(1, "crashed", 3, 0);
    help_inventory(&array);
    cr_assert_eq(stria_inventory_find_id(&array.inventory, 1)->length_bytes, 3 * HELP_CHUNK);
}

Test(inventory, while_a_drive_is_absent_what_the_others_have_counts_up_to_its_last_chunk)
{
    record(1, "crashed", 3, 0);
    help_inventory(&array);
    array.drives[1].present = false;
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_eq(found->length_bytes, 3 * HELP_CHUNK);
    cr_assert_eq(found->sequence_count, 3);
    cr_assert_eq(found->stored_bytes, 2 * HELP_CHUNK, "the hole stays where it is");
}

Test(inventory, gaps_and_lost_chunks_do_not_break_the_run)
{
    help_begun(&array.catalogue, 1, "crashed");
    for (uint64_t sequence = 0; sequence < 8; sequence++) {
        /* Two chunks of the stream are dropped before sequence 3; sequence 5 is lost. */
        struct stria_ledger_entry entry = help_entry(1, sequence, sequence + (sequence >= 3 ? 2 : 0));
        entry.gap_cause = sequence == 3 ? STRIA_GAP_BUFFER : STRIA_GAP_NONE;
        if (sequence != 5)
            help_store(&array, (uint32_t)(sequence % HELP_DRIVES), &entry);
    }
    help_lost(&array, 1, 5, STRIA_GAP_DRIVE, 1);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_eq(found->sequence_count, 8);
    cr_assert_eq(found->length_bytes, 10 * HELP_CHUNK);
    cr_assert_eq(found->stored_bytes, 7 * HELP_CHUNK);
    cr_assert_eq(found->dropped_bytes, 3 * HELP_CHUNK);
}

Test(inventory, a_run_longer_than_one_window_is_followed)
{
    help_array_end(&array);
    const uint64_t chunks = STRIA_WINDOW_CHUNKS_MAX * 2 + 1000;
    help_array_begin(&array, (chunks / HELP_DRIVES + 2000) * HELP_CHUNK);
    record(1, "long", chunks, 0);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_eq(found->sequence_count, chunks);
    cr_assert_eq(found->length_bytes, chunks * HELP_CHUNK);
}

Test(inventory, damaged_entries_are_counted_and_their_extents_free)
{
    record(1, "x", 8, 8 * HELP_CHUNK);
    array.ledger[2][64 + 20] ^= 4;
    help_inventory(&array);
    cr_assert_eq(array.inventory.entries_damaged, 1);
    cr_assert_eq(stria_inventory_find_id(&array.inventory, 1)->extent_count, 7);
    uint8_t bitmap[64];
    cr_assert_eq(stria_inventory_used(&array.inventory, &array.input, 2, bitmap), 1);
}

Test(inventory, an_end_that_contradicts_itself_does_not_count)
{
    record(1, "x", 4, 0);
    help_ended(&array.catalogue, 1, 4 * HELP_CHUNK, 0, 5);
    help_inventory(&array);
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_not(found->complete);
    cr_assert_eq(found->length_bytes, 4 * HELP_CHUNK);
}

Test(inventory, the_bitmap_of_an_absent_drive_is_left_alone)
{
    record(1, "x", 8, 8 * HELP_CHUNK);
    array.drives[1].present = false;
    help_inventory(&array);
    uint8_t bitmap[64] = {7};
    cr_assert_eq(stria_inventory_used(&array.inventory, &array.input, 1, bitmap), 0);
    cr_assert_eq(bitmap[0], 7);
}

/* Whole and well bound entries with absurd contents, as only somebody who means harm makes them. */
Test(inventory, hostile_metadata_give_sound_figures)
{
    struct stria_random random = random_of(111);
    for (int round = 0; round < 60; round++) {
        help_array_end(&array);
        help_array_begin(&array, 16 << 20);
        for (uint64_t id = 1; id <= 6; id++) {
            help_begun(&array.catalogue, 1 + stria_random_below(&random, 5), "x");
            help_lost(&array, 1 + stria_random_below(&random, 5),
                      stria_random_next(&random) >> stria_random_below(&random, 64),
                      (uint32_t)stria_random_next(&random), (uint32_t)stria_random_next(&random));
            if (stria_random_below(&random, 2)) {
                const uint64_t length = stria_random_next(&random) >> (1 + stria_random_below(&random, 63));
                help_ended(&array.catalogue, 1 + stria_random_below(&random, 5), length, length,
                           stria_random_next(&random) >> stria_random_below(&random, 64));
            }
        }
        for (uint32_t drive = 0; drive < HELP_DRIVES; drive++) {
            help_checkpoint(&array, drive, 1 + stria_random_below(&random, 5),
                            stria_random_next(&random) >> stria_random_below(&random, 64),
                            stria_random_next(&random) >> stria_random_below(&random, 64));
            for (int i = 0; i < 100; i++) {
                struct stria_ledger_entry entry =
                    help_entry(1 + stria_random_below(&random, 6),
                               stria_random_next(&random) >> stria_random_below(&random, 64),
                               stria_random_next(&random) >> stria_random_below(&random, 64));
                if (stria_random_below(&random, 2))
                    entry.sequence = entry.stream_offset / HELP_CHUNK;
                if (stria_random_below(&random, 4) == 0)
                    entry.length_bytes = 1 + (uint32_t)stria_random_below(&random, UINT32_MAX);
                help_store(&array, drive, &entry);
            }
        }
        help_inventory(&array);
        for (uint32_t i = 0; i < array.inventory.recording_count; i++) {
            const struct stria_recording *found = &array.inventory.recordings[i];
            cr_assert(i == 0 || found->id > found[-1].id);
            cr_assert_leq(found->length_bytes, INT64_MAX);
            cr_assert_leq(found->stored_bytes, found->length_bytes);
            cr_assert_leq(found->dropped_bytes, found->length_bytes - found->stored_bytes);
            cr_assert_leq(found->sequence_count, found->length_bytes / HELP_CHUNK + 1);
            const struct stria_map *map = help_map(&array, found->id);
            for (uint64_t chunk = 0, steps = 0; chunk < map->chunk_count && steps < 10000; steps++) {
                const struct stria_map_place place = stria_map_find(map, chunk);
                cr_assert_gt(place.chunk_count, 0);
                cr_assert_leq(place.chunk_count, map->chunk_count - chunk);
                chunk += place.chunk_count;
            }
        }
    }
}
