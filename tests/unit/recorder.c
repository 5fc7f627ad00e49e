#include "tests/unit/recorder_help.h"

Test(recorder, a_configuration_out_of_range_needs_no_memory)
{
    struct stria_recorder_drive drive = {.depth = 1};
    const struct stria_recorder_config good = {.drive_count = 1,
                                               .drives = &drive,
                                               .recording = 1,
                                               .chunk_bytes = HELP_CHUNK,
                                               .block_bytes = 512,
                                               .slot_count = 4,
                                               .window_chunks = 16,
                                               .deadline_ns = 1};
    cr_assert_gt(stria_recorder_memory_bytes(&good), 0);
    struct stria_recorder_config bad = good;
    bad.drive_count = STRIA_DRIVES_MAX + 1;
    cr_assert_eq(stria_recorder_memory_bytes(&bad), 0);
    bad = good;
    bad.chunk_bytes += 1;
    cr_assert_eq(stria_recorder_memory_bytes(&bad), 0);
    bad = good;
    bad.window_chunks = 15;
    cr_assert_eq(stria_recorder_memory_bytes(&bad), 0);
    bad = good;
    bad.slot_count = STRIA_SLOTS_MIN - 1;
    cr_assert_eq(stria_recorder_memory_bytes(&bad), 0);
    bad = good;
    bad.deadline_ns = 0;
    cr_assert_eq(stria_recorder_memory_bytes(&bad), 0);
    drive.depth = STRIA_DEPTH_MAX + 1;
    cr_assert_eq(stria_recorder_memory_bytes(&good), 0);
}

Test(recorder, it_starts_when_its_beginning_is_durable_on_every_drive)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_BEGIN});
    cr_assert_eq(help_status(help).state, STRIA_RECORDER_BEGINNING);
    while (help_request(help, STRIA_ACTION_WRITE_META, 0) || help_request(help, STRIA_ACTION_FLUSH, 0)) {
        struct stria_action *request = help_request(help, STRIA_ACTION_WRITE_META, 0);
        help_succeed(help, request ? request : help_request(help, STRIA_ACTION_FLUSH, 0));
    }
    cr_assert_not(stria_recorder_accepts(help->recorder), "the other drive does not know of it");
    cr_assert_eq(help_told(help, STRIA_ACTION_STARTED, NULL), 0);
    help_succeed_all(help);
    cr_assert_eq(help_told(help, STRIA_ACTION_STARTED, NULL), 1);
    cr_assert(stria_recorder_accepts(help->recorder));
}

Test(recorder, an_empty_recording_ends_well)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_action finished;
    help_begin(help);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    cr_assert_eq(help_told(help, STRIA_ACTION_FINISHED, &finished), 1);
    cr_assert_eq(finished.code, STRIA_OK);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, NULL), 0);
}

Test(recorder, an_end_before_the_start_is_kept_until_then)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_BEGIN});
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    cr_assert_eq(help_told(help, STRIA_ACTION_STARTED, NULL), 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_FINISHED, NULL), 1);
}

Test(recorder, everything_is_durable_when_it_has_finished)
{
    for (enum stria_policy policy = STRIA_POLICY_RAID0; policy <= STRIA_POLICY_ADAPTIVE; policy++) {
        struct help *help = help_new(policy);
        struct stria_action watermark;
        help_begin(help);
        for (int chunk = 0; chunk < 9; chunk++)
            help_commit(help, HELP_CHUNK);
        help_commit(help, 1000);
        help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
        help_succeed_all(help);
        cr_assert_eq(help_status(help).state, STRIA_RECORDER_FINISHED);
        cr_assert_eq(help_status(help).stored_bytes, 9 * HELP_CHUNK + 1000);
        cr_assert_gt(help_told(help, STRIA_ACTION_WATERMARK, &watermark), 0);
        cr_assert_eq(watermark.offset, 9 * HELP_CHUNK + 1000);
        cr_assert_eq(help_told(help, STRIA_ACTION_RELEASE, NULL), 10);
    }
}

Test(recorder, what_comes_after_the_end_does_nothing)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    help_tick(help, HELP_DEADLINE);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 0, .code = STRIA_ERR_GONE});
    cr_assert_eq(help->actions.count, 0);
}

Test(recorder, a_skipped_range_is_told_when_it_is_complete)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_action gap;
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    for (int part = 0; part < 2; part++)
        help_step(help, (struct stria_event){.kind = STRIA_EVENT_SKIP,
                                             .length_bytes = 3 * HELP_CHUNK,
                                             .cause = STRIA_GAP_SOURCE});
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, NULL), 0);
    help_commit(help, HELP_CHUNK);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, &gap), 1);
    cr_assert_eq(gap.gap.offset_bytes, HELP_CHUNK);
    cr_assert_eq(gap.gap.length_bytes, 6 * HELP_CHUNK);
    cr_assert_eq(gap.gap.cause, STRIA_GAP_SOURCE);
}

Test(recorder, a_full_array_turns_the_rest_into_a_gap_and_says_so_once)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    uint64_t extents = help->drives[0].geometry.extent_count + help->drives[1].geometry.extent_count;
    struct stria_action gap;
    help_begin(help);
    for (uint64_t chunk = 0; chunk < extents + 3; chunk++) {
        help_commit(help, HELP_CHUNK);
        help_succeed_all(help);
    }
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    cr_assert_eq(help_told(help, STRIA_ACTION_FULL, NULL), 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, &gap), 1);
    cr_assert_eq(gap.gap.cause, STRIA_GAP_FULL);
    cr_assert_eq(gap.gap.length_bytes, 3 * HELP_CHUNK);
    cr_assert_eq(help_status(help).stored_bytes, extents * HELP_CHUNK);
    cr_assert_eq(help_drive(help, 0).state, STRIA_DRIVE_FULL);
}
