#include "firmware/verify.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/ratio.h"
#include "core/verifier.h"
#include "firmware/arena.h"
#include "firmware/console.h"
#include "firmware/processor.h"
#include "firmware/text.h"

#define DONE_BATCH        64u
#define FINDINGS_SAID_MAX 32u

/* More in flight on a drive only wants more memory. */
#define IN_FLIGHT_BYTES ((uint64_t)8 << 20)
#define DEPTH_MIN       2u

/* Besides one for each buffer: each drive may be gone once, and a tick. */
#define ANSWERS_MORE (STRIA_DRIVES_MAX + 1u)

struct verification {
    struct stria_bare_array *array;
    uint32_t recording_count;
    const struct stria_recording **listed;
    struct stria_verifier_recording *recordings;
    struct stria_verifier_counts *counts;
    struct stria_verifier_drive drives[STRIA_DRIVES_MAX];
    struct stria_drive *open[STRIA_DRIVES_MAX]; /* null: not there, or given up */
    uint32_t in_flight[STRIA_DRIVES_MAX];
    struct stria_verifier *verifier;
    uint8_t *buffers;
    uint32_t buffer_count;
    struct stria_verifier_action *reads; /* by buffer: the read in flight */
    struct stria_verifier_event *answers;
    uint32_t answer_count;
    uint64_t findings_left; /* to be said one by one */
    bool finished;
};

static int choose(struct verification *run, const struct stria_firmware_options *options)
{
    const struct stria_inventory *inventory = &run->array->inventory;
    const uint32_t most = inventory->recording_count + 1;
    struct stria_map *maps = stria_arena_take(most * sizeof(*maps), 16, "maps");
    run->listed = stria_arena_take(most * sizeof(*run->listed), 16, "maps");
    run->recordings = stria_arena_take(most * sizeof(*run->recordings), 16, "maps");
    run->counts = stria_arena_take(most * sizeof(*run->counts), 16, "maps");
    if (!maps || !run->listed || !run->recordings || !run->counts)
        return STRIA_ERR_NO_MEMORY;
    for (uint32_t index = 0; index < inventory->recording_count; index++) {
        const struct stria_recording *recording = &inventory->recordings[index];
        if (options->name[0] && !stria_text_equal(options->name, recording->name))
            continue;
        struct stria_map *map = &maps[run->recording_count];
        const struct stria_map_memory memory = {
            .extents = stria_arena_take((recording->extent_count + 1) * sizeof(struct stria_map_extent), 16,
                                        "a map"),
            .extent_capacity = recording->extent_count,
            .lost = stria_arena_take((recording->lost_entry_count + 1) * sizeof(struct stria_catalogue_lost),
                                     16, "a map"),
            .lost_capacity = recording->lost_entry_count,
        };
        if (!memory.extents || !memory.lost ||
            stria_map_build(map, &run->array->input, recording, &memory) != STRIA_OK)
            return STRIA_ERR_NO_MEMORY;
        run->listed[run->recording_count] = recording;
        run->recordings[run->recording_count++] =
            (struct stria_verifier_recording){.id = recording->id, .map = map};
    }
    if (run->recording_count > 0)
        return STRIA_OK;
    stria_console_say("stria: array %s has no recording%s%s", run->array->name,
                      options->name[0] ? " named " : "", options->name);
    return STRIA_ERR_NOT_FOUND;
}

static uint32_t choose_depth(const struct verification *run, const struct stria_firmware_options *options)
{
    uint64_t depth = IN_FLIGHT_BYTES / run->array->chunk_bytes;
    depth = depth > DEPTH_MIN ? depth : DEPTH_MIN;
    return (uint32_t)(depth < options->depth ? depth : options->depth);
}

static int list_items(struct verification *run, uint32_t depth)
{
    for (uint32_t index = 0; index < run->array->member_count; index++) {
        const struct stria_bare_member *member = &run->array->members[index];
        struct stria_verifier_drive *drive = &run->drives[index];
        *drive = (struct stria_verifier_drive){
            .geometry = &member->super.geometry, .depth = 1, .present = member->drive != NULL};
        if (!member->drive)
            continue;
        run->open[index] = &member->drive->base;
        drive->depth = depth;
        drive->transfer_bytes_max = run->open[index]->traits.transfer_bytes_max;
        drive->block_bytes = run->open[index]->traits.block_bytes;
        drive->item_count = stria_verifier_items(run->recordings, run->recording_count, index, NULL);
        struct stria_verifier_item *items =
            stria_arena_take((drive->item_count + 1) * sizeof(*items), 16, "what is to be read");
        if (!items)
            return STRIA_ERR_NO_MEMORY;
        stria_verifier_items(run->recordings, run->recording_count, index, items);
        drive->items = items;
    }
    return STRIA_OK;
}

static int create(struct verification *run)
{
    const struct stria_verifier_config config = {.drive_count = run->array->member_count,
                                                 .drives = run->drives,
                                                 .recording_count = run->recording_count,
                                                 .recordings = run->recordings,
                                                 .counts = run->counts,
                                                 .deadline_ns = run->array->deadline_ns};
    run->buffer_count = stria_verifier_buffers(&config);
    void *memory = stria_arena_take(stria_verifier_memory_bytes(&config), 16, "the verifier");
    run->buffers = stria_arena_take((size_t)run->buffer_count * run->array->chunk_bytes, STRIA_PAGE_BYTES,
                                    "what is read");
    run->reads = stria_arena_take(run->buffer_count * sizeof(*run->reads), 16, "what is read");
    run->answers =
        stria_arena_take((run->buffer_count + ANSWERS_MORE) * sizeof(*run->answers), 16, "what is read");
    if (!memory || !run->buffers || !run->reads || !run->answers)
        return STRIA_ERR_NO_MEMORY;
    run->verifier = stria_verifier_init(memory, &config);
    return STRIA_OK;
}

static uint8_t *buffer(const struct verification *run, uint32_t index)
{
    return run->buffers + (size_t)index * run->array->chunk_bytes;
}

static void answer(struct verification *run, struct stria_verifier_event event)
{
    STRIA_ASSERT(run->answer_count < run->buffer_count + ANSWERS_MORE);
    run->answers[run->answer_count++] = event;
}

static void read_extent(struct verification *run, const struct stria_verifier_action *action)
{
    struct stria_drive *drive = run->open[action->drive];
    const struct stria_io io = {.op = STRIA_IO_READ,
                                .offset = action->offset,
                                .length = action->length_bytes,
                                .data = buffer(run, action->buffer) + action->buffer_offset,
                                .tag = action->tag};
    run->reads[action->buffer] = *action;
    int code = drive ? drive->backend->submit(drive, &io) : STRIA_ERR_GONE;
    run->in_flight[action->drive] += code == STRIA_OK;
    if (code != STRIA_OK)
        answer(run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_DONE,
                                                  .tag = action->tag,
                                                  .code = code == STRIA_ERR_FULL ? STRIA_ERR_AGAIN : code});
}

static void check(struct verification *run, const struct stria_verifier_action *action)
{
    const uint8_t *data = buffer(run, action->buffer);
    answer(run, (struct stria_verifier_event){
                    .kind = STRIA_VERIFIER_EVENT_CHECKED,
                    .tag = action->tag,
                    .digest = stria_digest_seeded(action->digest_seed, data, action->digest_bytes),
                    .zero = stria_all_zero(data, action->digest_bytes)});
}

static void say_finding(struct verification *run, const struct stria_finding *finding)
{
    if (run->findings_left == 0)
        return;
    stria_console_say("%s: %lu bytes at %lu are %s (drive %u at %lu)", run->listed[finding->recording]->name,
                      (unsigned long)finding->length_bytes, (unsigned long)finding->stream_offset,
                      stria_verdict_text(finding->verdict), finding->drive,
                      (unsigned long)finding->drive_offset);
    if (--run->findings_left == 0)
        stria_console_say("further findings are counted only");
}

static void carry_out(struct verification *run, const struct stria_verifier_action *action)
{
    switch (action->kind) {
    case STRIA_VERIFIER_ACTION_READ:
        read_extent(run, action);
        break;
    case STRIA_VERIFIER_ACTION_CHECK:
        check(run, action);
        break;
    case STRIA_VERIFIER_ACTION_FINDING:
        say_finding(run, &action->finding);
        break;
    case STRIA_VERIFIER_ACTION_GIVE_UP:
        stria_console_say("drive %u is given up: %s", action->drive, stria_code_text(action->code));
        run->open[action->drive] = NULL;
        break;
    case STRIA_VERIFIER_ACTION_FINISHED:
        run->finished = true;
        break;
    }
}

static void step(struct verification *run, const struct stria_verifier_event *event)
{
    static struct stria_verifier_actions actions;
    stria_verifier_step(run->verifier, event, &actions);
    for (uint32_t index = 0; index < actions.count; index++)
        carry_out(run, &actions.list[index]);
    if (actions.more)
        answer(run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_TICK});
}

static void feed(struct verification *run, struct stria_verifier_event event)
{
    event.now_ns = stria_clock_ns();
    step(run, &event);
    while (run->answer_count > 0) {
        struct stria_verifier_event next = run->answers[--run->answer_count];
        next.now_ns = event.now_ns;
        step(run, &next);
    }
}

static void take(struct verification *run, const struct stria_done *done)
{
    const uint32_t index = (uint32_t)done->tag;
    struct stria_verifier_event event = {
        .kind = STRIA_VERIFIER_EVENT_DONE, .tag = done->tag, .code = done->code, .bytes = done->bytes};
    const struct stria_verifier_action *read = &run->reads[index < run->buffer_count ? index : 0];
    if (read->tag == done->tag && read->digest_wanted && done->code == STRIA_OK &&
        done->bytes == read->length_bytes)
        event.digest = stria_digest_seeded(read->digest_seed, buffer(run, read->buffer), read->digest_bytes);
    feed(run, event);
}

static void poll_drive(struct verification *run, uint32_t index)
{
    struct stria_done done[DONE_BATCH];
    struct stria_drive *drive = run->open[index];
    if (!drive || run->in_flight[index] == 0)
        return;
    const int count = drive->backend->poll(drive, done, DONE_BATCH, 0);
    if (count < 0) {
        run->in_flight[index] = 0;
        feed(run,
             (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_GONE, .drive = index, .code = count});
    }
    for (int number = 0; number < count; number++) {
        run->in_flight[index]--;
        take(run, &done[number]);
    }
}

static bool report(const struct verification *run, uint64_t duration_ns)
{
    bool whole = true;
    uint64_t bytes = 0;
    for (uint32_t index = 0; index < run->recording_count; index++) {
        const struct stria_verifier_counts *counts = &run->counts[index];
        const bool good = counts->corrupt + counts->missing + counts->misplaced == 0;
        stria_console_say(
            "%s: %lu bytes, %lu extents, %lu ok, %lu corrupt, %lu missing, %lu misplaced, %lu in gaps: %s",
            run->listed[index]->name, (unsigned long)counts->bytes, (unsigned long)counts->extents,
            (unsigned long)counts->ok, (unsigned long)counts->corrupt, (unsigned long)counts->missing,
            (unsigned long)counts->misplaced, (unsigned long)counts->gap_bytes, good ? "good" : "damaged");
        whole &= good;
        bytes += counts->bytes;
    }
    if (duration_ns > 0)
        stria_console_say("verified: %lu bytes, %lu MiB/s", (unsigned long)bytes,
                          (unsigned long)(stria_ratio_bytes_per_s(bytes, duration_ns) >> 20));
    return whole;
}

int stria_bare_verify(struct stria_bare_array *array, const struct stria_firmware_options *options,
                      bool *whole)
{
    static struct verification run;
    run = (struct verification){.array = array, .findings_left = FINDINGS_SAID_MAX};
    int code = choose(&run, options);
    if (code == STRIA_OK)
        code = list_items(&run, choose_depth(&run, options));
    if (code == STRIA_OK)
        code = create(&run);
    if (code != STRIA_OK)
        return code;
    const uint64_t start_ns = stria_clock_ns();
    feed(&run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_BEGIN});
    while (!run.finished) {
        for (uint32_t index = 0; index < array->member_count; index++)
            poll_drive(&run, index);
        if (!run.finished && stria_clock_ns() >= stria_verifier_due_ns(run.verifier))
            feed(&run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_TICK});
    }
    *whole = report(&run, stria_clock_ns() - start_ns);
    return STRIA_OK;
}
