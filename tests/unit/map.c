#include "core/map.h"

#include "tests/unit/array_help.h"
#include "tests/unit/random.h"

static struct help_array array;

static void begin(void)
{
    help_array_begin(&array, 16 << 20);
    help_begun(&array.catalogue, 1, "x");
}

static void end(void)
{
    help_array_end(&array);
}

TestSuite(map, .init = begin, .fini = end);

Test(map, finds_every_chunk_where_it_was_put)
{
    uint64_t positions[101];
    for (uint64_t chunk = 0; chunk < 101; chunk++) {
        struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        entry.captured_ns = chunk * 7;
        if (chunk == 100)
            entry.length_bytes = 999;
        positions[chunk] = help_store(&array, (uint32_t)(chunk % 3), &entry);
    }
    help_ended(&array.catalogue, 1, 100 * HELP_CHUNK + 999, 100 * HELP_CHUNK + 999, 101);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->chunk_count, 101);
    cr_assert_eq(map->chunks_stored, 101);
    cr_assert_eq(map->stored_bytes, 100 * HELP_CHUNK + 999);
    cr_assert_eq(map->extents_rejected, 0);
    for (uint64_t chunk = 0; chunk < 101; chunk++) {
        const struct stria_map_place place = stria_map_find(map, chunk);
        cr_assert_eq(place.state, STRIA_MAP_STORED);
        cr_assert_eq(place.extent_count, 1);
        cr_assert_eq(place.extents->drive, chunk % 3);
        cr_assert_eq(place.extents->position, positions[chunk]);
        cr_assert_eq(place.extents->digest, 1000 + chunk);
        cr_assert_eq(place.extents->captured_ns, chunk * 7);
        cr_assert_eq(place.extents->length_bytes, chunk == 100 ? 999 : HELP_CHUNK);
    }
    cr_assert_eq(stria_map_find(map, 101).state, STRIA_MAP_BEYOND);
    cr_assert_eq(stria_map_find(map, UINT64_MAX).state, STRIA_MAP_BEYOND);
    cr_assert_eq(stria_map_bytes(map, 0, 101), map->length_bytes);
    cr_assert_eq(stria_map_bytes(map, 100, 1), 999);
    cr_assert_eq(stria_map_bytes(map, 5, 2), 2 * HELP_CHUNK);
    cr_assert_eq(stria_map_bytes(map, 101, 0), 0);
}

Test(map, an_empty_recording_has_no_chunks)
{
    help_ended(&array.catalogue, 1, 0, 0, 0);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->chunk_count, 0);
    cr_assert_eq(stria_map_find(map, 0).state, STRIA_MAP_BEYOND);
}

Test(map, a_chunk_written_twice_has_two_alternatives)
{
    for (uint64_t chunk = 0; chunk < 20; chunk++) {
        const struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        help_store(&array, 3, &entry);
        if (chunk == 5 || chunk == 6)
            help_store(&array, 1, &entry);
    }
    help_ended(&array.catalogue, 1, 20 * HELP_CHUNK, 20 * HELP_CHUNK, 20);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->extent_count, 22);
    cr_assert_eq(map->chunks_stored, 20);
    cr_assert_eq(map->stored_bytes, 20 * HELP_CHUNK);
    for (uint64_t chunk = 0; chunk < 20; chunk++) {
        const struct stria_map_place place = stria_map_find(map, chunk);
        cr_assert_eq(place.state, STRIA_MAP_STORED);
        cr_assert_eq(place.extents->sequence, chunk);
        cr_assert_eq(place.extent_count, chunk == 5 || chunk == 6 ? 2 : 1);
        cr_assert_eq(place.extents[place.extent_count - 1].drive, 3);
    }
}

Test(map, a_gap_at_the_very_end_has_the_cause_that_the_end_tells)
{
    const struct stria_ledger_entry entry = help_entry(1, 0, 0);
    help_store(&array, 0, &entry);
    const struct stria_catalogue_entry ended = {
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = 1,
        .ended = {.length_bytes = 3 * HELP_CHUNK + 1,
                  .stored_bytes = HELP_CHUNK,
                  .dropped_bytes = 2 * HELP_CHUNK + 1,
                  .sequence_count = 1,
                  .gap_cause = STRIA_GAP_FULL,
                  .gap_drive = 2},
    };
    stria_catalogue_append(&array.catalogue, &ended);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->chunks_gap, 3);
    const struct stria_map_place place = stria_map_find(map, 2);
    cr_assert_eq(place.state, STRIA_MAP_GAP);
    cr_assert_eq(place.chunk_count, 2);
    cr_assert_eq(place.cause, STRIA_GAP_FULL);
    cr_assert_eq(place.drive, 2);
}

Test(map, memory_too_small_is_told)
{
    for (uint64_t chunk = 0; chunk < 4; chunk++) {
        const struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        help_store(&array, 0, &entry);
    }
    help_lost(&array, 1, 4, STRIA_GAP_DRIVE, 0);
    help_ended(&array.catalogue, 1, 5 * HELP_CHUNK, 4 * HELP_CHUNK, 5);
    help_inventory(&array);
    help_map(&array, 1);
    array.memory.extent_capacity = 3;
    const struct stria_recording *found = stria_inventory_find_id(&array.inventory, 1);
    cr_assert_eq(stria_map_build(&array.map, &array.input, found, &array.memory), STRIA_ERR_NO_MEMORY);
    array.memory.extent_capacity = 4;
    array.memory.lost_capacity = 0;
    cr_assert_eq(stria_map_build(&array.map, &array.input, found, &array.memory), STRIA_ERR_NO_MEMORY);
}

Test(map, entries_that_contradict_the_recording_are_rejected)
{
    struct stria_ledger_entry entries[] = {
        help_entry(1, 0, 0),  help_entry(1, 1, 1),
        help_entry(1, 2, 2),  help_entry(1, 3, 2), /* further back than its sequence allows */
        help_entry(1, 3, 9),                       /* leaves no room for what was sealed after it */
        help_entry(1, 10, 9),                      /* more than were sealed */
        help_entry(1, 4, 4),                       /* short, in the middle */
        help_entry(1, 5, 5),                       /* not aligned */
        help_entry(1, 6, 6),                       /* of another stream */
        help_entry(1, 7, 7),                       /* too long */
    };
    entries[6].length_bytes--;
    entries[7].stream_offset += 512;
    entries[8].stream = 1;
    entries[9].length_bytes++;
    for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        help_store(&array, 0, &entries[i]);
    help_ended(&array.catalogue, 1, 10 * HELP_CHUNK, 10 * HELP_CHUNK, 10);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->extents_rejected, 7);
    cr_assert_eq(map->chunks_stored, 3);
    cr_assert_eq(map->chunks_missing, 7);
}

Test(map, a_recording_of_larger_chunks_than_extents_are_reads_none_of_them)
{
    struct stria_catalogue_entry begun = {
        .kind = STRIA_CATALOGUE_BEGUN,
        .recording = 2,
        .begun = {.name = "huge", .policy = STRIA_POLICY_RAID0, .chunk_bytes = STRIA_CHUNK_BYTES_MAX},
    };
    stria_catalogue_append(&array.catalogue, &begun);
    struct stria_ledger_entry entry = help_entry(2, 0, 0);
    entry.length_bytes = STRIA_CHUNK_BYTES_MAX;
    help_store(&array, 0, &entry);
    help_ended(&array.catalogue, 2, STRIA_CHUNK_BYTES_MAX, STRIA_CHUNK_BYTES_MAX, 1);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 2);
    cr_assert_eq(map->extents_rejected, 1);
    cr_assert_eq(stria_map_find(map, 0).state, STRIA_MAP_MISSING);
}

Test(map, of_two_entries_that_contradict_each_other_one_is_kept)
{
    struct stria_ledger_entry a = help_entry(1, 3, 3), b = help_entry(1, 3, 4), c = help_entry(1, 3, 3);
    c.digest++;
    help_store(&array, 0, &a);
    help_store(&array, 1, &b);
    help_store(&array, 2, &c);
    help_ended(&array.catalogue, 1, 10 * HELP_CHUNK, 0, 5);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->extent_count, 1);
    cr_assert_eq(map->extents_rejected, 2);
    cr_assert_eq(stria_map_find(map, 3).extents->drive, 0);
}

/* A stream made at random, and what became of each of its chunks. */
struct model {
    uint64_t chunk_count, sequence_count;
    struct {
        enum stria_map_state state;
        uint32_t cause, drive;
        uint64_t sequence;
    } chunks[400];
};

static void model_make(struct model *model, struct stria_random *random)
{
    uint32_t cause = STRIA_GAP_NONE;
    model->sequence_count = 0;
    model->chunk_count = 1 + stria_random_below(random, 400);
    const uint64_t smooth = 1 + stria_random_below(random, 20);
    enum stria_map_state state = STRIA_MAP_STORED;
    for (uint64_t chunk = 0; chunk < model->chunk_count; chunk++) {
        if (stria_random_below(random, smooth) == 0)
            state = (enum stria_map_state)stria_random_below(random, 4);
        model->chunks[chunk].state = state;
        model->chunks[chunk].cause = state == STRIA_MAP_LOST ? STRIA_GAP_DRIVE : STRIA_GAP_NONE;
        model->chunks[chunk].drive = STRIA_GAP_DRIVE_NONE;
        if (state == STRIA_MAP_GAP) {
            cause = cause ? cause : 1 + (uint32_t)stria_random_below(random, 4);
            continue;
        }
        const uint64_t sequence = model->chunks[chunk].sequence = model->sequence_count++;
        struct stria_ledger_entry entry = help_entry(1, sequence, chunk);
        entry.gap_cause = (uint8_t)cause;
        for (uint64_t gap = chunk; gap > 0 && model->chunks[gap - 1].state == STRIA_MAP_GAP; gap--)
            model->chunks[gap - 1].cause = cause;
        cause = STRIA_GAP_NONE;
        if (state == STRIA_MAP_STORED)
            help_store(&array, (uint32_t)stria_random_below(random, HELP_DRIVES), &entry);
        if (state == STRIA_MAP_LOST) {
            model->chunks[chunk].drive = (uint32_t)stria_random_below(random, 2);
            help_lost(&array, 1, sequence, STRIA_GAP_DRIVE, model->chunks[chunk].drive);
        }
    }
    for (uint64_t gap = model->chunk_count; gap > 0 && model->chunks[gap - 1].state == STRIA_MAP_GAP; gap--)
        model->chunks[gap - 1].cause = STRIA_GAP_BUFFER;
    const struct stria_catalogue_entry ended = {
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = 1,
        .ended = {.length_bytes = model->chunk_count * HELP_CHUNK,
                  .sequence_count = model->sequence_count,
                  .gap_cause = STRIA_GAP_BUFFER,
                  .gap_drive = STRIA_GAP_DRIVE_NONE},
    };
    cr_assert_gt(stria_catalogue_append(&array.catalogue, &ended), 0);
}

/* The states found between two stored chunks. */
static bool hole_has(const struct model *model, uint64_t chunk, enum stria_map_state state)
{
    uint64_t from = chunk, to = chunk;
    while (from > 0 && model->chunks[from - 1].state != STRIA_MAP_STORED)
        from--;
    while (to < model->chunk_count && model->chunks[to].state != STRIA_MAP_STORED)
        to++;
    for (; from < to; from++)
        if (model->chunks[from].state == state)
            return true;
    return false;
}

static void model_compare(const struct model *model, const struct stria_map *map)
{
    uint64_t counts[5] = {0};
    uint64_t claimed_end = 0;
    for (uint64_t chunk = 0; chunk < model->chunk_count; chunk++) {
        const enum stria_map_state truth = model->chunks[chunk].state;
        counts[truth]++;
        const struct stria_map_place place = stria_map_find(map, chunk);
        if (chunk >= claimed_end)
            claimed_end = chunk + place.chunk_count;
        cr_assert_eq(claimed_end, chunk + place.chunk_count, "runs are the same from any chunk in them");
        if (truth == STRIA_MAP_STORED) {
            cr_assert_eq(place.state, STRIA_MAP_STORED);
            cr_assert_eq(place.extents->sequence, model->chunks[chunk].sequence);
        } else if (hole_has(model, chunk, STRIA_MAP_GAP) &&
                   (hole_has(model, chunk, STRIA_MAP_LOST) || hole_has(model, chunk, STRIA_MAP_MISSING))) {
            cr_assert_eq(place.state,
                         hole_has(model, chunk, STRIA_MAP_MISSING) ? STRIA_MAP_MISSING : STRIA_MAP_LOST);
        } else {
            cr_assert_eq(place.state, truth);
            cr_assert_eq(place.cause, model->chunks[chunk].cause);
            cr_assert_eq(place.drive, model->chunks[chunk].drive);
        }
    }
    cr_assert_eq(map->chunks_stored, counts[STRIA_MAP_STORED]);
    cr_assert_eq(map->chunks_gap, counts[STRIA_MAP_GAP]);
    cr_assert_eq(map->chunks_lost, counts[STRIA_MAP_LOST]);
    cr_assert_eq(map->chunks_missing, counts[STRIA_MAP_MISSING]);
    cr_assert_eq(map->extents_rejected, 0);
}

Test(map, agrees_with_what_became_of_each_chunk_of_random_streams)
{
    struct stria_random random = random_of(121);
    for (int round = 0; round < 400; round++) {
        static struct model model;
        end();
        begin();
        model_make(&model, &random);
        help_inventory(&array);
        model_compare(&model, help_map(&array, 1));
    }
}

Test(map, a_lost_drive_leaves_holes_of_exactly_its_chunks)
{
    for (uint64_t chunk = 0; chunk < 200; chunk++) {
        const struct stria_ledger_entry entry = help_entry(1, chunk, chunk);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
    help_ended(&array.catalogue, 1, 200 * HELP_CHUNK, 200 * HELP_CHUNK, 200);
    array.drives[2].present = false;
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->chunks_missing, 50);
    for (uint64_t chunk = 0; chunk < 200; chunk++)
        cr_assert_eq(stria_map_find(map, chunk).state,
                     chunk % HELP_DRIVES == 2 ? STRIA_MAP_MISSING : STRIA_MAP_STORED);
}

/* Chunks that lie where raid0 puts them, on all drives but some. */
static const struct stria_map *raid0_without(uint32_t absent_first, uint32_t absent_end, uint32_t flags)
{
    struct stria_catalogue_entry begun = {
        .kind = STRIA_CATALOGUE_BEGUN,
        .recording = 2,
        .begun = {.name = "raid0", .policy = STRIA_POLICY_RAID0, .chunk_bytes = STRIA_CHUNK_BYTES_MIN}};
    struct stria_catalogue_entry ended = {
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = 2,
        .ended = {.length_bytes = 200 * HELP_CHUNK, .sequence_count = 200, .flags = flags}};
    stria_catalogue_append(&array.catalogue, &begun);
    for (uint64_t chunk = 0; chunk < 200; chunk++) {
        const struct stria_ledger_entry entry = help_entry(2, chunk, chunk);
        help_store(&array, (uint32_t)(chunk % HELP_DRIVES), &entry);
    }
    stria_catalogue_append(&array.catalogue, &ended);
    for (uint32_t drive = absent_first; drive < absent_end; drive++)
        array.drives[drive].present = false;
    help_inventory(&array);
    return help_map(&array, 2);
}

Test(map, under_raid0_the_drive_that_should_have_a_missing_chunk_is_known)
{
    const struct stria_map *map = raid0_without(1, 3, STRIA_ENDED_CLEAN);
    for (uint64_t chunk = 0; chunk < 200; chunk++) {
        const struct stria_map_place place = stria_map_find(map, chunk);
        const bool missing = chunk % HELP_DRIVES == 1 || chunk % HELP_DRIVES == 2;
        cr_assert_eq(place.state, missing ? STRIA_MAP_MISSING : STRIA_MAP_STORED);
        cr_assert_eq(place.chunk_count, 1);
        cr_assert_eq(place.drive, missing ? chunk % HELP_DRIVES : STRIA_GAP_DRIVE_NONE);
    }
}

Test(map, a_recording_that_left_raid0_does_not_tell_which_drive_should_have_a_chunk)
{
    const struct stria_map *map = raid0_without(1, 3, STRIA_ENDED_CLEAN | STRIA_ENDED_NOT_RAID0);
    const struct stria_map_place place = stria_map_find(map, 1);
    cr_assert_eq(place.chunk_count, 2);
    cr_assert_eq(place.drive, STRIA_GAP_DRIVE_NONE);
}

Test(map, a_recording_of_which_only_rows_are_elsewhere_does_tell_it)
{
    const struct stria_map *map =
        raid0_without(1, 3, STRIA_ENDED_CLEAN | STRIA_ENDED_NOT_RAID0 | STRIA_ENDED_OFF_ROWS);
    const struct stria_map_place place = stria_map_find(map, 1);
    cr_assert_eq(place.state, STRIA_MAP_MISSING);
    cr_assert_eq(place.chunk_count, 1);
    cr_assert_eq(place.drive, 1);
}

Test(map, a_long_hole_is_one_step_under_raid0_too)
{
    const struct stria_map *map = raid0_without(0, HELP_DRIVES, STRIA_ENDED_CLEAN);
    const struct stria_map_place place = stria_map_find(map, 0);
    cr_assert_eq(place.chunk_count, 200);
    cr_assert_eq(place.drive, STRIA_GAP_DRIVE_NONE);
}

Test(map, lost_is_told_once_whoever_tells_it_and_in_whatever_order)
{
    help_lost(&array, 1, 700, STRIA_GAP_DRIVE, 1);
    help_lost(&array, 1, 3, STRIA_GAP_DRIVE, 2);
    help_lost(&array, 1, 700, STRIA_GAP_DRIVE, 3);
    help_lost(&array, 1, 701, STRIA_GAP_FULL, 0);
    help_lost(&array, 2, 5, STRIA_GAP_DRIVE, 0);
    help_ended(&array.catalogue, 1, 1000 * HELP_CHUNK, 0, 1000);
    help_inventory(&array);
    const struct stria_map *map = help_map(&array, 1);
    cr_assert_eq(map->chunks_lost, 3);
    cr_assert_eq(map->chunks_missing, 997);
    const struct {
        uint64_t chunk, count;
        enum stria_map_state state;
    } expected[] = {
        {0, 3, STRIA_MAP_MISSING}, {3, 1, STRIA_MAP_LOST},   {4, 696, STRIA_MAP_MISSING},
        {700, 1, STRIA_MAP_LOST},  {701, 1, STRIA_MAP_LOST}, {702, 298, STRIA_MAP_MISSING},
    };
    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct stria_map_place place = stria_map_find(map, expected[i].chunk);
        cr_assert_eq(place.state, expected[i].state, "chunk %d", (int)expected[i].chunk);
        cr_assert_eq(place.chunk_count, expected[i].count, "chunk %d", (int)expected[i].chunk);
    }
}
