#include "tests/unit/recorder_help.h"

Test(recorder_loss, a_drive_without_an_answer_is_given_up_at_the_deadline_and_its_chunks_go_elsewhere)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_action told;
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    cr_assert_leq(stria_recorder_due_ns(help->recorder), help->now_ns + HELP_DEADLINE);
    help_watch(help, HELP_DEADLINE - 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_GIVE_UP, NULL), 0);
    help_tick(help, 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_GIVE_UP, &told), 1);
    cr_assert_eq(told.drive, 0);
    cr_assert_eq(told.code, STRIA_ERR_TIMEOUT);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    cr_assert_eq(help_status(help).stored_bytes, HELP_CHUNK);
}

Test(recorder_loss, time_in_which_nobody_looked_counts_against_no_drive)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help->now_ns += 10 * HELP_DEADLINE;
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    cr_assert_eq(help_told(help, STRIA_ACTION_GIVE_UP, NULL), 0);
    help_tick(help, 10 * HELP_DEADLINE);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    cr_assert_eq(help_told(help, STRIA_ACTION_GIVE_UP, NULL), 0);
    cr_assert_eq(help_status(help).stored_bytes, 2 * HELP_CHUNK);
}

Test(recorder_loss, errors_in_a_row_cost_a_drive_and_single_ones_do_not)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    for (int failure = 0; failure < 7; failure++) {
        help_commit(help, HELP_CHUNK);
        struct stria_action *request = help_request(help, STRIA_ACTION_WRITE, 0);
        if (request)
            help_answer(help, request, STRIA_ERR_IO, 0);
        while (help_request(help, STRIA_ACTION_WRITE, 1))
            help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    }
    cr_assert_eq(help_drive(help, 0).state, STRIA_DRIVE_LIVE);
}

/* Drive 0 dies with one chunk written and not committed. */
static struct help *lose_one(void)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 0, .code = STRIA_ERR_GONE});
    return help;
}

Test(recorder_loss, what_a_dead_drive_had_not_committed_is_a_gap_that_names_it)
{
    struct help *help = lose_one();
    struct stria_action gap;
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, &gap), 1);
    cr_assert_eq(gap.gap.offset_bytes, 0);
    cr_assert_eq(gap.gap.length_bytes, HELP_CHUNK);
    cr_assert_eq(gap.gap.cause, STRIA_GAP_DRIVE);
    cr_assert_eq(gap.gap.drive, 0);
    cr_assert_eq(help_status(help).dropped_bytes, HELP_CHUNK);
    cr_assert_eq(help_drive(help, 0).lost_bytes, HELP_CHUNK);
}

Test(recorder_loss, a_loss_that_finds_the_catalogue_full_is_told_as_a_gap_all_the_same)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_action gap;
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    const uint32_t count = help->catalogue.count;
    help->catalogue.entries_max = count + 1;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 0, .code = STRIA_ERR_GONE});
    cr_assert_eq(help->catalogue.count, count, "the last cell is the end's");
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, &gap), 1);
    cr_assert(gap.gap.offset_bytes == 0 && gap.gap.length_bytes == HELP_CHUNK);
    cr_assert(gap.gap.cause == STRIA_GAP_DRIVE && gap.gap.drive == 0);
    cr_assert_eq(help_status(help).dropped_bytes, HELP_CHUNK);
}

Test(recorder_loss, the_watermark_passes_a_lost_chunk_only_when_that_is_written_down)
{
    struct help *help = lose_one();
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    help_succeed_all(help);
    help_tick(help, HELP_INTERVAL);
    help_succeed_all(help);
    cr_assert_eq(help_status(help).watermark_bytes, 2 * HELP_CHUNK);
    struct stria_catalogue_entry entry;
    bool named = false;
    for (uint32_t index = 0; stria_catalogue_next(&help->catalogue, &index, &entry);)
        named |= entry.kind == STRIA_CATALOGUE_LOST && entry.lost.bitmap[0] == 1 && entry.lost.drive == 0;
    cr_assert(named);
}

Test(recorder_loss, without_any_drive_it_ends_and_the_watermark_stays)
{
    struct help *help = lose_one();
    struct stria_action finished;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 1, .code = STRIA_ERR_GONE});
    cr_assert_eq(help_told(help, STRIA_ACTION_FINISHED, &finished), 1);
    cr_assert_eq(finished.code, STRIA_ERR_GONE);
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    cr_assert_eq(help_status(help).dropped_bytes, 2 * HELP_CHUNK);
}

Test(recorder_loss, raid0_chunks_of_a_dead_drive_lie_elsewhere_and_the_status_says_so)
{
    struct help *help = help_new(STRIA_POLICY_RAID0);
    help_begin(help);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 1, .code = STRIA_ERR_GONE});
    help_commit(help, HELP_CHUNK);
    help_commit(help, HELP_CHUNK);
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    help_succeed_all(help);
    cr_assert(help_status(help).displaced);
    cr_assert(help_status(help).degraded);
    cr_assert_eq(help_status(help).stored_bytes, 2 * HELP_CHUNK);
}
