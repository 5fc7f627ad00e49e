#include "core/checkpoint.h"
#include "tests/unit/recorder_help.h"

static void store_one(struct help *help)
{
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    cr_assert_eq(help->pending_count, 0, "nothing is due before the commit interval is over");
    help_tick(help, HELP_INTERVAL);
}

Test(recorder_cycle, payload_is_flushed_before_its_entry_is_written)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    cr_assert_eq(help->pending_count, 1);
    cr_assert_eq(help->pending[0].kind, STRIA_ACTION_FLUSH);
    help_succeed(help, &help->pending[0]);
    struct stria_action *entry = help_request(help, STRIA_ACTION_WRITE_META, 0);
    cr_assert_eq(entry->offset, help->drives[0].geometry.ledger_offset);
    struct stria_ledger_entry found;
    cr_assert_eq(stria_ledger_decode(entry->data, &found, &help->drives[0].binding, 0), STRIA_LEDGER_VALID);
    cr_assert_eq(found.length_bytes, HELP_CHUNK);
}

Test(recorder_cycle, the_watermark_moves_when_the_second_flush_has_ended)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    while (help_request(help, STRIA_ACTION_WRITE_META, 0))
        help_succeed(help, help_request(help, STRIA_ACTION_WRITE_META, 0));
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 1);
}

Test(recorder_cycle, a_page_is_written_with_only_those_entries_whose_payload_is_durable)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    const uint8_t *page = help_request(help, STRIA_ACTION_WRITE_META, 0)->data;
    struct stria_ledger_entry found;
    cr_assert_eq(stria_ledger_decode(page, &found, &help->drives[0].binding, 0), STRIA_LEDGER_VALID);
    cr_assert_eq(stria_ledger_decode(page + STRIA_LEDGER_ENTRY_BYTES, &found, &help->drives[0].binding, 1),
                 STRIA_LEDGER_EMPTY, "it was written after the flush began");
}

Test(recorder_cycle, a_checkpoint_never_says_more_than_was_durable_before_it)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE_META, 0));
    struct stria_action *request = help_request(help, STRIA_ACTION_WRITE_META, 0);
    struct stria_checkpoint checkpoint;
    uint32_t page = request->offset != help->drives[0].geometry.checkpoint_offset;
    cr_assert_eq(stria_checkpoint_decode(request->data, &checkpoint, &help->drives[0].binding, page),
                 STRIA_CHECKPOINT_VALID);
    cr_assert_eq(checkpoint.watermark_bytes, 0);
    cr_assert_eq(checkpoint.length_bytes, HELP_CHUNK);
}

Test(recorder_cycle, half_a_window_of_chunks_is_committed_before_the_interval_is_over)
{
    struct help *help = help_new_large(STRIA_POLICY_ADAPTIVE, 64, 16);
    help_begin(help);
    for (unsigned chunk = 0; chunk < 100; chunk++) {
        cr_assert(stria_recorder_accepts(help->recorder), "no time has passed at chunk %u", chunk);
        help_commit(help, HELP_CHUNK);
        for (uint32_t drive = 0; drive < HELP_DRIVES; drive++)
            while (help_request(help, STRIA_ACTION_WRITE, drive))
                help_succeed(help, help_request(help, STRIA_ACTION_WRITE, drive));
        const bool flushes =
            help_request(help, STRIA_ACTION_FLUSH, 0) || help_request(help, STRIA_ACTION_FLUSH, 1);
        cr_assert(!flushes || chunk >= 7, "chunk %u", chunk);
        help_succeed_all(help);
    }
    const uint32_t steps = help_told(help, STRIA_ACTION_WATERMARK, NULL);
    cr_expect(steps > 4 && steps < 40, "%u", steps);
}

Test(recorder_cycle, a_full_window_is_committed_however_late_its_chunks_were_written)
{
    struct help *help = help_new_large(STRIA_POLICY_ADAPTIVE, 64, 16);
    help_begin(help);
    for (unsigned round = 0; round < 5; round++) {
        while (stria_recorder_accepts(help->recorder))
            help_commit(help, HELP_CHUNK);
        cr_assert(help->pending_count > 0);
        help_succeed_all(help);
        cr_assert(stria_recorder_accepts(help->recorder), "no time has passed in round %u", round);
    }
}

Test(recorder_cycle, a_failed_flush_is_not_repeated_and_costs_the_drive)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    help_answer(help, help_request(help, STRIA_ACTION_FLUSH, 0), STRIA_ERR_IO, 0);
    cr_assert_eq(help_told(help, STRIA_ACTION_GIVE_UP, NULL), 1);
    cr_assert_eq(help_drive(help, 0).state, STRIA_DRIVE_LOST);
    cr_assert_eq(help_status(help).stored_bytes, 0);
}

Test(recorder_cycle, metadata_that_fail_are_written_again_and_again_but_not_for_ever)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    store_one(help);
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    uint32_t attempts = 0;
    while (help_told(help, STRIA_ACTION_GIVE_UP, NULL) == 0 && attempts < 100) {
        struct stria_action *request = help_request(help, STRIA_ACTION_WRITE_META, 0);
        help_answer(help, request, STRIA_ERR_IO, 0);
        help_tick(help, 2000000);
        attempts++;
    }
    cr_assert(attempts > 1 && attempts < 10);
}

Test(recorder_cycle, a_cycle_that_became_due_during_another_begins_when_that_one_ends)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    help_tick(help, HELP_INTERVAL);
    /* Drive 1 is past its catalogue when drive 0 dies, and has to write down the loss. */
    help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 1));
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE_META, 1));
    help_answer(help, help_request(help, STRIA_ACTION_FLUSH, 0), STRIA_ERR_IO, 0);
    help_succeed_all(help);
    cr_assert_eq(help_status(help).watermark_bytes, 2 * HELP_CHUNK,
                 "no event but the completions was needed");
}

Test(recorder_cycle, what_is_being_written_of_the_catalogue_stays_as_it_is_while_entries_are_appended)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_BEGIN});
    struct stria_action *write;
    while (!(write = help_request(help, STRIA_ACTION_WRITE_META, 0)))
        help_succeed(help, help_request(help, STRIA_ACTION_FLUSH, 0));
    static uint8_t before[STRIA_PAGE_BYTES];
    cr_assert_eq(write->length_bytes, sizeof(before));
    cr_assert_eq(write->offset, help_geometry(HELP_EXTENTS).catalogue_offset +
                                    help_geometry(HELP_EXTENTS).catalogue_bytes / 2);
    memcpy(before, write->data, sizeof(before));
    const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED, .recording = 9};
    cr_assert_gt(stria_catalogue_append(&help->catalogue, &entry), 0);
    cr_assert_arr_eq((const uint8_t *)write->data, before, sizeof(before));
}

/* Cells of the log are written in pieces, each as long as the staging area. */
Test(recorder_cycle, more_of_the_catalogue_than_fits_at_once_is_written_in_pieces)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    static uint8_t media[STRIA_CATALOGUE_HALF_MIN];
    const uint64_t half =
        help_geometry(HELP_EXTENTS).catalogue_offset + help_geometry(HELP_EXTENTS).catalogue_bytes / 2;
    const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED, .recording = 9};
    memcpy(media, help->catalogue.image, sizeof(media));
    help->catalogue.entries_max = help->catalogue.count + 500;
    while (stria_catalogue_append(&help->catalogue, &entry) > 0)
        continue;
    help_tick(help, HELP_INTERVAL);
    while (help->pending_count > 0) {
        struct stria_action *request = &help->pending[0];
        const bool ours = request->kind == STRIA_ACTION_WRITE_META && request->drive == 0;
        if (ours && request->offset >= half && request->offset < half + sizeof(media))
            memcpy(media + (request->offset - half), request->data, request->length_bytes);
        help_succeed(help, request);
    }
    cr_assert_arr_eq(media, help->catalogue.image, sizeof(media));
}
