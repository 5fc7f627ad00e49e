#include "core/checkpoint.h"
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

/* So many chunks on each of two drives in turn, written and not committed; then drive 0 dies, and the
 * catalogue has room for the end alone. */
#define MANY 100u

static struct help *lose_every_other(void)
{
    struct help *help = help_new_large(STRIA_POLICY_ADAPTIVE, MANY + 28, 256);
    help_begin(help);
    for (uint32_t chunk = 0; chunk < 2 * MANY; chunk += 2) {
        help_commit(help, HELP_CHUNK);
        help_commit(help, HELP_CHUNK);
        help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
        help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    }
    help->told_count = 0;
    help->catalogue.entries_max = help->catalogue.count + 1;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 0, .code = STRIA_ERR_GONE});
    return help;
}

/* Told so far; each must lie behind the ones before. */
static uint64_t gaps_bytes(const struct help *help)
{
    uint64_t bytes = 0;
    uint64_t end_bytes = 0;
    for (uint32_t index = 0; index < help->told_count; index++) {
        const struct stria_gap *gap = &help->told[index].gap;
        if (help->told[index].kind != STRIA_ACTION_GAP)
            continue;
        cr_assert(gap->cause == STRIA_GAP_DRIVE && gap->drive == 0);
        cr_assert(gap->offset_bytes >= end_bytes && gap->offset_bytes % HELP_CHUNK == 0);
        end_bytes = gap->offset_bytes + gap->length_bytes;
        bytes += gap->length_bytes;
    }
    return bytes;
}

static uint64_t told_watermark(const struct help *help)
{
    struct stria_action last = {.offset = 0};
    help_told(help, STRIA_ACTION_WATERMARK, &last);
    return last.offset;
}

/* The watermark in the checkpoint that drive 1 is asked to write; otherwise what was there before. */
static uint64_t asked_checkpoint(struct help *help, uint64_t before)
{
    const struct stria_recorder_drive *drive = &help->drives[1];
    const struct stria_action *request = help_request(help, STRIA_ACTION_WRITE_META, 1);
    struct stria_checkpoint checkpoint;
    if (!request || request->offset < drive->geometry.checkpoint_offset ||
        request->offset >= drive->geometry.checkpoint_offset + STRIA_CHECKPOINT_BYTES)
        return before;
    cr_assert_eq(stria_checkpoint_decode(request->data, &checkpoint, &drive->binding,
                                         request->offset != drive->geometry.checkpoint_offset),
                 STRIA_CHECKPOINT_VALID);
    return checkpoint.watermark_bytes;
}

/* Answers all that drive 1 is asked. The watermark that is told must not run ahead of the checkpoints. */
static void follow_checkpoints(struct help *help, uint64_t *flushed_bytes)
{
    uint64_t asked_bytes = *flushed_bytes;
    while (help->pending_count > 0) {
        const bool flush = help->pending[0].kind == STRIA_ACTION_FLUSH;
        asked_bytes = asked_checkpoint(help, asked_bytes);
        if (flush)
            *flushed_bytes = asked_bytes;
        help_succeed(help, &help->pending[0]);
        cr_assert_leq(told_watermark(help), *flushed_bytes);
        cr_assert_eq(help_status(help).watermark_bytes, told_watermark(help));
    }
}

Test(recorder_loss, more_gaps_than_actions_are_told_when_no_entry_can_name_them)
{
    struct help *help = lose_every_other();
    cr_assert_gt(MANY, STRIA_ACTIONS_MAX);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, NULL), MANY);
    cr_assert_eq(gaps_bytes(help), (uint64_t)MANY * HELP_CHUNK);
    cr_assert_eq(help_status(help).dropped_bytes, (uint64_t)MANY * HELP_CHUNK);
}

Test(recorder_loss, what_nothing_names_the_watermark_passes_only_with_a_checkpoint)
{
    struct help *help = lose_every_other();
    const uint64_t all_bytes = 2ull * MANY * HELP_CHUNK;
    uint64_t flushed_bytes = 0;
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    help_tick(help, HELP_INTERVAL);
    follow_checkpoints(help, &flushed_bytes);
    cr_assert_lt(told_watermark(help), all_bytes, "the checkpoint was made before the chunks were durable");
    cr_assert_leq(stria_recorder_due_ns(help->recorder), help->now_ns + HELP_INTERVAL,
                  "nothing is committed any more, and yet the watermark does not stay behind");
    help_tick(help, HELP_INTERVAL);
    cr_assert_gt(help->pending_count, 0);
    follow_checkpoints(help, &flushed_bytes);
    cr_assert_eq(told_watermark(help), all_bytes);
    cr_assert_eq(stria_recorder_due_ns(help->recorder), UINT64_MAX);
}

Test(recorder_loss, the_end_tells_the_whole_watermark_before_it_is_finished)
{
    struct help *help = lose_every_other();
    uint64_t flushed_bytes = 0;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_END});
    follow_checkpoints(help, &flushed_bytes);
    cr_assert_eq(told_watermark(help), 2ull * MANY * HELP_CHUNK);
    cr_assert_eq(help->told[help->told_count - 1].kind, STRIA_ACTION_FINISHED);
    cr_assert_eq(gaps_bytes(help), (uint64_t)MANY * HELP_CHUNK);
}

Test(recorder_loss, a_drive_that_stores_nothing_writes_checkpoints_all_the_same)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    help_begin(help);
    help_commit(help, HELP_CHUNK);
    help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
    help->catalogue.entries_max = help->catalogue.count + 1;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 0, .code = STRIA_ERR_GONE});
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, NULL), 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    help_tick(help, HELP_INTERVAL);
    help_succeed_all(help);
    cr_assert_eq(told_watermark(help), HELP_CHUNK);
}

/* Both drives stay, full; the last chunk found a bad extent and has no other place. */
Test(recorder_loss, what_nothing_names_the_watermark_passes_only_with_a_checkpoint_on_every_drive)
{
    struct help *help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_action gap;
    help_begin(help);
    for (uint32_t chunk = 0; chunk < HELP_DRIVES * HELP_EXTENTS; chunk += 2) {
        help_commit(help, HELP_CHUNK);
        help_commit(help, HELP_CHUNK);
        help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 0));
        if (chunk + 2 < HELP_DRIVES * HELP_EXTENTS)
            help_succeed(help, help_request(help, STRIA_ACTION_WRITE, 1));
    }
    help->catalogue.entries_max = help->catalogue.count + 1;
    help_answer(help, help_request(help, STRIA_ACTION_WRITE, 1), STRIA_ERR_IO, 0);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, &gap), 1);
    cr_assert_eq(gap.gap.cause, STRIA_GAP_FULL);
    cr_assert_eq(gap.gap.drive, STRIA_GAP_DRIVE_NONE);
    struct stria_action *request;
    for (int interval = 0; interval < 3; interval++) {
        help_tick(help, HELP_INTERVAL);
        while ((request = help_request(help, STRIA_ACTION_FLUSH, 0)) ||
               (request = help_request(help, STRIA_ACTION_WRITE_META, 0)))
            help_succeed(help, request);
        cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    }
    for (int interval = 0; interval < 3; interval++) {
        help_succeed_all(help);
        help_tick(help, HELP_INTERVAL);
    }
    cr_assert_eq(told_watermark(help), (uint64_t)HELP_DRIVES * HELP_EXTENTS * HELP_CHUNK);
}

Test(recorder_loss, without_any_drive_unnamed_losses_are_told_and_the_watermark_stays)
{
    struct help *help = lose_every_other();
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_GONE, .drive = 1, .code = STRIA_ERR_GONE});
    cr_assert_eq(help_told(help, STRIA_ACTION_FINISHED, NULL), 1);
    cr_assert_eq(help_told(help, STRIA_ACTION_GAP, NULL), 2 * MANY);
    cr_assert_eq(help_told(help, STRIA_ACTION_WATERMARK, NULL), 0);
    cr_assert_eq(help_status(help).dropped_bytes, 2ull * MANY * HELP_CHUNK);
    cr_assert_eq(help_status(help).watermark_bytes, 0);
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
