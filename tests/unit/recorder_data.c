#include "core/random.h"
#include "core/rows.h"
#include "tests/unit/recorder_help.h"

Test(recorder_data, raid0_puts_chunk_k_on_drive_k_mod_n_at_row_k_div_n)
{
    struct help *help = help_new(STRIA_POLICY_RAID0);
    help_begin(help);
    for (uint64_t chunk = 0; chunk < 6; chunk++) {
        help_commit(help, HELP_CHUNK);
        struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, chunk % 2);
        cr_assert_eq(request->offset, help->drives[0].geometry.data_offset + chunk / 2 * HELP_CHUNK);
        help_succeed(help, request);
    }
    cr_assert_not(help_status(help).displaced);
}

/* Records chunks, each written at once; returns how many had a place before the array was full. */
static uint64_t record_until_full(struct help *help, uint64_t chunks_max)
{
    help_begin(help);
    uint64_t chunks = 0;
    while (chunks < chunks_max && !help_status(help).full) {
        help_commit(help, HELP_CHUNK);
        help_succeed_all(help);
        chunks += !help_status(help).full;
    }
    return chunks;
}

Test(recorder_data, raid0_begins_where_no_extent_is_bad)
{
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    const struct help_mark marks[] = {{0, 6, 7, STRIA_EXTENT_USED},
                                      {1, 7, rows, STRIA_EXTENT_BAD}}; /* as past a limit of the process */
    struct help *help = help_new_marked(STRIA_POLICY_RAID0, HELP_EXTENTS, HELP_WINDOW, marks, 2);
    cr_assert_gt(rows - 7, 6, "the longest run of rows that are not used is that with bad extents");
    cr_assert_eq(record_until_full(help, 12), 12);
    cr_expect_eq(help_status(help).base_row, 0);
    cr_expect_not(help_status(help).off_rows);
    cr_expect_not(help_status(help).displaced);
}

/* The flags of the recording's ENDED. */
static uint32_t ended_flags(const struct help *help)
{
    struct stria_catalogue_entry entry = {0};
    cr_assert(stria_catalogue_read(&help->catalogue, help->catalogue.count - 1, &entry));
    cr_assert_eq(entry.kind, STRIA_CATALOGUE_ENDED);
    return entry.ended.flags;
}

/* Records chunks under raid0 where rows are taken already, and holds every place against the formula. */
static bool lies_as_raid0_has_it(const struct help_mark *marks, size_t mark_count, uint64_t chunks)
{
    struct help *help = help_new_marked(STRIA_POLICY_RAID0, HELP_EXTENTS, HELP_WINDOW, marks, mark_count);
    bool at_places = true;
    help_begin(help);
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        help_commit(help, HELP_CHUNK);
        struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, chunk % HELP_DRIVES);
        cr_assert_not_null(request, "each is on its own drive");
        const uint64_t row = help_status(help).base_row + chunk / HELP_DRIVES;
        at_places &= request->offset == help->drives[request->drive].geometry.data_offset + row * HELP_CHUNK;
        help_succeed_all(help);
    }
    const struct stria_recorder_status status = help_status(help);
    cr_expect_eq(status.off_rows, !at_places);
    cr_expect(!status.displaced && !status.degraded && !status.full);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    cr_expect_eq(ended_flags(help),
                 STRIA_ENDED_CLEAN | (at_places ? 0 : STRIA_ENDED_NOT_RAID0 | STRIA_ENDED_OFF_ROWS));
    return at_places;
}

Test(recorder_data, raid0_that_goes_on_before_its_base_row_is_not_called_plain)
{
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    const struct help_mark marks[] = {{0, 5, 6, STRIA_EXTENT_USED}, {1, 5, 6, STRIA_EXTENT_USED}};
    for (uint64_t chunks = 0; chunks <= HELP_DRIVES * (rows - 1); chunks++)
        cr_expect_eq(lies_as_raid0_has_it(marks, 2, chunks), chunks <= HELP_DRIVES * (rows - 6));
}

Test(recorder_data, raid0_that_passes_over_rows_of_others_is_not_called_plain)
{
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    const struct help_mark mark = {1, rows - 3, rows - 2, STRIA_EXTENT_USED};
    for (uint64_t chunks = 0; chunks <= HELP_DRIVES * (rows - 1); chunks++)
        cr_expect_eq(lies_as_raid0_has_it(&mark, 1, chunks), chunks <= HELP_DRIVES * (rows - 3));
}

Test(recorder_data, raid0_goes_on_through_rows_with_bad_extents)
{
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    const struct help_mark mark = {1, 3, 4, STRIA_EXTENT_BAD};
    struct help *help = help_new_marked(STRIA_POLICY_RAID0, HELP_EXTENTS, HELP_WINDOW, &mark, 1);
    cr_expect_eq(record_until_full(help, 2 * rows), 2 * rows - 1, "every extent but the bad one is used");
    cr_expect_eq(help_status(help).base_row, 4);
}

Test(recorder_data, raid0_uses_rows_with_bad_extents_where_there_are_no_others)
{
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    const struct help_mark mark = {1, 0, rows, STRIA_EXTENT_BAD};
    struct help *help = help_new_marked(STRIA_POLICY_RAID0, HELP_EXTENTS, HELP_WINDOW, &mark, 1);
    cr_expect_eq(record_until_full(help, 2 * rows), rows);
    cr_expect(help_status(help).displaced);
}

Test(recorder_data, raid0_stores_as_much_as_its_rows_have_room_for)
{
    static const enum stria_extent_state states[] = {STRIA_EXTENT_FREE, STRIA_EXTENT_FREE, STRIA_EXTENT_FREE,
                                                     STRIA_EXTENT_FREE, STRIA_EXTENT_USED, STRIA_EXTENT_BAD};
    const uint64_t rows = help_geometry(HELP_EXTENTS).extent_count;
    struct stria_random random;
    stria_random_seed(&random, 1);
    for (unsigned round = 0; round < 200; round++) {
        struct help_mark marks[HELP_DRIVES * HELP_EXTENTS];
        struct stria_rows found;
        uint64_t free_extents = 0;
        for (uint32_t mark = 0; mark < HELP_DRIVES * rows; mark++) {
            marks[mark] = (struct help_mark){mark % HELP_DRIVES, mark / HELP_DRIVES, mark / HELP_DRIVES + 1,
                                             states[stria_random_below(&random, 6)]};
            free_extents += marks[mark].state == STRIA_EXTENT_FREE;
        }
        struct help *help =
            help_new_marked(STRIA_POLICY_RAID0, HELP_EXTENTS, HELP_WINDOW, marks, HELP_DRIVES * rows);
        stria_rows_init(&found, HELP_DRIVES);
        for (uint32_t drive = 0; drive < HELP_DRIVES; drive++)
            stria_rows_add(&found, drive, help->drives[drive].extent_state, rows);
        const uint64_t room = stria_rows_room(&found, free_extents);
        cr_expect_eq(record_until_full(help, 2 * HELP_DRIVES * rows), room);
        cr_expect_eq(help_status(help).stored_bytes, room * HELP_CHUNK);
    }
}

Test(recorder_data, no_drive_gets_more_than_its_depth)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    for (int chunk = 0; chunk < 12; chunk++)
        help_commit(help, HELP_CHUNK);
    cr_assert_eq(help_drive(help, 0).in_flight, HELP_DEPTH);
    cr_assert_eq(help_drive(help, 1).in_flight, HELP_DEPTH);
    cr_assert_eq(help_status(help).slots_used, 12);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    cr_assert_eq(help_drive(help, 1).in_flight, HELP_DEPTH, "a chunk that waited goes there at once");
}

Test(recorder_data, a_short_write_goes_on_from_the_last_whole_block)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, 0);
    uint64_t offset = request->offset;
    help_answer(help, request, STRIA_OK, 3 * 4096 + 17);
    request = help_request(help, STRIA_ACTION_WRITE, 0);
    cr_assert_eq(request->offset, offset + 3 * 4096);
    cr_assert_eq(request->slot_offset, 3 * 4096);
    cr_assert_eq(request->length_bytes, HELP_CHUNK - 3 * 4096);
    cr_assert_eq(help_told(help, STRIA_ACTION_RELEASE, NULL), 0);
    help_succeed(help, request);
    cr_assert_eq(help_told(help, STRIA_ACTION_RELEASE, NULL), 1);
}

Test(recorder_data, a_write_without_progress_goes_to_another_drive)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_answer(help, help_request(help, STRIA_ACTION_WRITE, 0), STRIA_OK, 100);
    struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, 1);
    cr_assert_eq(request->slot_offset, 0);
    cr_assert_eq(request->length_bytes, HELP_CHUNK);
}

Test(recorder_data, a_failed_write_goes_to_another_drive_and_not_back_to_the_same_extent)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_answer(help, help_request(help, STRIA_ACTION_WRITE, 0), STRIA_ERR_IO, 0);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    cr_assert_eq(help_drive(help, 0).errors, 1);
    cr_assert_eq(help_drive(help, 0).state, STRIA_DRIVE_LIVE);
    cr_assert_eq(help->drives[0].extent_state[0], STRIA_EXTENT_BAD);
}

Test(recorder_data, a_drive_that_wants_patience_is_asked_again_later)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_answer(help, help_request(help, STRIA_ACTION_WRITE, 0), STRIA_ERR_AGAIN, 0);
    cr_assert_null(help_request(help, STRIA_ACTION_WRITE, 0));
    cr_assert_lt(stria_recorder_due_ns(help->recorder), help->now_ns + HELP_DEADLINE);
    help->now_ns = stria_recorder_due_ns(help->recorder);
    help_tick(help, 0);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    cr_assert_eq(help_drive(help, 0).errors, 0);
    cr_assert_eq(help_drive(help, 0).retries, 1);
}

Test(recorder_data, a_late_answer_is_not_taken_for_another)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    struct stria_action first = *help_request(help, STRIA_ACTION_WRITE, 0);
    help_answer(help, help_request(help, STRIA_ACTION_WRITE, 0), STRIA_OK, 4096);
    cr_assert_not(stria_recorder_awaits(help->recorder, first.tag));
    help_step(help,
              (struct stria_event){.kind = STRIA_EVENT_DONE, .tag = first.tag, .bytes = first.length_bytes});
    cr_assert_eq(help_told(help, STRIA_ACTION_RELEASE, NULL), 0);
}

Test(recorder_data, the_tail_is_padded_to_a_block_and_keeps_its_length)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, 5000);
    struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, 0);
    cr_assert_eq(request->length_bytes, 8192);
    cr_assert_eq(request->digest_bytes, 5000);
    help_succeed(help, request);
    struct stria_ledger_entry entry;
    cr_assert_eq(stria_ledger_decode(help->drives[0].ledger, &entry, &help->drives[0].binding, 0),
                 STRIA_LEDGER_VALID);
    cr_assert_eq(entry.length_bytes, 5000);
}
