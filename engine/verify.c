#include "engine/verify.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/digest.h"
#include "engine/array_internal.h"
#include "engine/held.h"
#include "engine/reads.h"
#include "support/clock.h"
#include "support/pages.h"

#include <stdlib.h>
#include <string.h>

#define PROGRESS_NS 100000000u

/* Besides one for each buffer: a drive that is gone, and a tick. */
#define ANSWERS_MORE (STRIA_DRIVES_MAX + 1u)

/* Enough to keep a drive and its hashing busy; more only pushes the bytes out of the caches before they are
 * hashed. */
#define IN_FLIGHT_BYTES ((uint64_t)6 << 20)
#define DEPTH_MIN       3u
#define DEPTH_MAX       16u

struct verification {
    struct stria_array *array;
    const struct stria_verify_options *options;
    struct stria_verify_result *result;
    struct stria_reads_user user;
    uint64_t *ids; /* of the recordings wanted, by rising id … */
    bool *removed; /* … and which of them were removed since the array was opened */
    uint32_t id_count;
    struct stria_verifier_recording *recordings;
    struct stria_map *maps;
    struct stria_verifier_counts *counts;
    struct stria_verifier_drive drives[STRIA_DRIVES_MAX];
    struct stria_verifier_item *items[STRIA_DRIVES_MAX];
    struct stria_verifier *verifier;
    uint8_t *buffers;
    size_t buffers_bytes;
    uint32_t buffer_count;
    struct stria_verifier_action *reads;  /* by buffer: the one in flight */
    struct stria_verifier_event *answers; /* to be fed, after the actions under way */
    uint32_t answer_count;
    uint64_t started_ns, progress_ns;
    uint64_t bytes_read;
    bool finished;
};

static uint8_t *buffer(const struct verification *run, uint32_t index)
{
    return run->buffers + (size_t)index * run->array->chunk_bytes;
}

static int no_memory(const struct verification *run, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for verifying array %s",
                             run->array->name);
}

static bool wanted(const struct stria_verify_options *options, const struct stria_recording *recording)
{
    bool named = options->name_count == 0;
    for (uint32_t index = 0; index < options->name_count; index++)
        named |= strcmp(options->names[index], recording->name) == 0;
    return named;
}

static int check_names(const struct verification *run, struct stria_trouble *trouble)
{
    for (uint32_t index = 0; index < run->options->name_count; index++)
        if (!stria_inventory_find(&run->array->inventory, run->options->names[index]))
            return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                     "array %s has no recording named %.64s: 'stria ls' lists them",
                                     run->array->name, run->options->names[index]);
    return STRIA_OK;
}

/* Keeps others from removing what is wanted. What they removed already, or remove now, is left out, unless it
 * was asked for by name. */
static int hold_recordings(struct verification *run, struct stria_trouble *trouble)
{
    const struct stria_inventory *inventory = &run->array->inventory;
    const size_t most = inventory->recording_count ? inventory->recording_count : 1;
    run->ids = calloc(most, sizeof(*run->ids));
    run->removed = calloc(most, sizeof(*run->removed));
    if (!run->ids || !run->removed)
        return no_memory(run, trouble);
    for (uint32_t index = 0; index < inventory->recording_count; index++)
        if (wanted(run->options, &inventory->recordings[index]))
            run->ids[run->id_count++] = inventory->recordings[index].id;
    if (run->options->name_count == 0) {
        run->id_count = stria_held_begin_rest(run->array, &run->user, run->ids, run->id_count, run->removed);
        return STRIA_OK;
    }
    int code = stria_held_begin(run->array, &run->user, run->ids, run->id_count, run->removed, trouble);
    for (uint32_t index = 0; code == STRIA_OK && index < run->id_count; index++)
        if (run->removed[index])
            code = stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND, "recording %s has just been removed",
                                     stria_inventory_find_id(inventory, run->ids[index])->name);
    return code;
}

static int choose_recordings(struct verification *run, struct stria_trouble *trouble)
{
    const struct stria_inventory *inventory = &run->array->inventory;
    const size_t most = run->id_count ? run->id_count : 1;
    run->recordings = calloc(most, sizeof(*run->recordings));
    run->maps = calloc(most, sizeof(*run->maps));
    run->counts = calloc(most, sizeof(*run->counts));
    run->result->recordings = calloc(most, sizeof(*run->result->recordings));
    if (!run->recordings || !run->maps || !run->counts || !run->result->recordings)
        return no_memory(run, trouble);
    for (uint32_t index = 0; index < run->id_count; index++) {
        const struct stria_recording *recording = stria_inventory_find_id(inventory, run->ids[index]);
        if (run->removed[index])
            continue;
        uint32_t chosen = run->result->recording_count;
        int code = stria_reads_map(run->array, recording, &run->maps[chosen], trouble);
        if (code != STRIA_OK)
            return code;
        run->recordings[chosen] =
            (struct stria_verifier_recording){.id = recording->id, .map = &run->maps[chosen]};
        stria_recording_describe(recording, &run->result->recordings[chosen].info);
        run->result->recording_count++;
    }
    return STRIA_OK;
}

static uint32_t choose_depth(const struct verification *run, const struct stria_drive *drive)
{
    uint64_t depth = run->options->depth;
    if (depth == 0) {
        depth = IN_FLIGHT_BYTES / run->array->chunk_bytes;
        depth = depth < DEPTH_MIN ? DEPTH_MIN : depth > DEPTH_MAX ? DEPTH_MAX : depth;
    }
    return (uint32_t)(depth < drive->traits.depth_max ? depth : drive->traits.depth_max);
}

static int list_items(struct verification *run, struct stria_trouble *trouble)
{
    uint32_t recordings = run->result->recording_count;
    for (uint32_t index = 0; index < run->array->member_count; index++) {
        const struct stria_member *member = &run->array->members[index];
        struct stria_verifier_drive *drive = &run->drives[index];
        drive->present = stria_reads_usable(run->array, index);
        drive->geometry = &member->super.geometry;
        drive->depth = 1;
        if (!drive->present)
            continue;
        drive->depth = choose_depth(run, member->drive);
        drive->transfer_bytes_max = member->drive->traits.transfer_bytes_max;
        drive->block_bytes = member->drive->traits.block_bytes;
        drive->item_count = stria_verifier_items(run->recordings, recordings, index, NULL);
        run->items[index] = calloc(drive->item_count ? drive->item_count : 1, sizeof(*run->items[index]));
        if (!run->items[index])
            return no_memory(run, trouble);
        stria_verifier_items(run->recordings, recordings, index, run->items[index]);
        drive->items = run->items[index];
    }
    return STRIA_OK;
}

static int create_verifier(struct verification *run, struct stria_trouble *trouble)
{
    const struct stria_verifier_config config = {
        .drive_count = run->array->member_count,
        .drives = run->drives,
        .recording_count = run->result->recording_count,
        .recordings = run->recordings,
        .counts = run->counts,
        .deadline_ns = run->array->config->read_deadline_ns,
    };
    size_t bytes = stria_align_up(stria_verifier_memory_bytes(&config), 16);
    void *memory = aligned_alloc(16, bytes);
    run->buffer_count = stria_verifier_buffers(&config);
    run->buffers_bytes = (size_t)run->buffer_count * run->array->chunk_bytes;
    run->buffers = stria_pages_map(run->buffers_bytes);
    run->reads = calloc(run->buffer_count, sizeof(*run->reads));
    run->answers = calloc((size_t)run->buffer_count + ANSWERS_MORE, sizeof(*run->answers));
    if (!memory || !run->buffers || !run->reads || !run->answers) {
        free(memory);
        return no_memory(run, trouble);
    }
    run->verifier = stria_verifier_init(memory, &config);
    return STRIA_OK;
}

/* Each drive gets its own buffers, and the last one, which any of them may fill. */
static void attach_buffers(struct verification *run)
{
    uint32_t first = 0;
    for (uint32_t index = 0; index < run->array->member_count; index++) {
        const struct stria_region regions[] = {
            {buffer(run, first), (uint64_t)run->drives[index].depth * run->array->chunk_bytes},
            {buffer(run, run->buffer_count - 1), run->array->chunk_bytes},
        };
        stria_reads_attach(run->array, &run->user, index, regions, 2);
        first += run->drives[index].depth;
    }
}

static void answer(struct verification *run, struct stria_verifier_event event)
{
    STRIA_ASSERT(run->answer_count < run->buffer_count + ANSWERS_MORE);
    run->answers[run->answer_count++] = event;
}

static void read_extent(struct verification *run, const struct stria_verifier_action *action)
{
    const struct stria_io io = {
        .op = STRIA_IO_READ,
        .offset = action->offset,
        .length = action->length_bytes,
        .data = buffer(run, action->buffer) + action->buffer_offset,
        .tag = action->tag,
        .digest_wanted = action->digest_wanted,
        .may_coalesce = true,
        .digest_bytes = action->digest_bytes,
        .digest_seed = action->digest_seed,
    };
    run->reads[action->buffer] = *action;
    int code = stria_reads_submit(run->array, &run->user, action->drive, &io);
    if (code == STRIA_OK)
        return;
    if (code == STRIA_ERR_FULL)
        code = STRIA_ERR_AGAIN;
    answer(run, (struct stria_verifier_event){
                    .kind = STRIA_VERIFIER_EVENT_DONE, .tag = action->tag, .code = code});
}

static void check_payload(struct verification *run, const struct stria_verifier_action *action)
{
    const uint8_t *data = buffer(run, action->buffer);
    answer(run, (struct stria_verifier_event){
                    .kind = STRIA_VERIFIER_EVENT_CHECKED,
                    .tag = action->tag,
                    .digest = stria_digest_seeded(action->digest_seed, data, action->digest_bytes),
                    .zero = stria_all_zero(data, action->digest_bytes)});
}

static void tell(struct verification *run, const struct stria_finding *finding)
{
    if (!run->options->finding)
        return;
    const struct stria_verify_recording *recordings = run->result->recordings;
    struct stria_verify_finding told = {
        .verdict = finding->verdict,
        .recording = recordings[finding->recording].info.name,
        .stream_offset = finding->stream_offset,
        .length_bytes = finding->length_bytes,
        .drive = finding->verdict == STRIA_VERDICT_MISSING ? stria_array_keeper(run->array, finding->drive)
                                                           : (int)finding->drive,
        .drive_offset = finding->drive_offset,
        .reason = finding->verdict == STRIA_VERDICT_UNREADABLE ? stria_code_text(finding->code) : NULL,
    };
    if (finding->verdict == STRIA_VERDICT_MISPLACED) {
        told.other = recordings[finding->other_recording].info.name;
        told.other_offset = finding->other_stream_offset;
    }
    run->options->finding(run->options->context, &told);
}

static void carry_out(struct verification *run, const struct stria_verifier_action *action)
{
    switch (action->kind) {
    case STRIA_VERIFIER_ACTION_READ:
        read_extent(run, action);
        break;
    case STRIA_VERIFIER_ACTION_CHECK:
        check_payload(run, action);
        break;
    case STRIA_VERIFIER_ACTION_FINDING:
        tell(run, &action->finding);
        break;
    case STRIA_VERIFIER_ACTION_GIVE_UP:
        run->result->drives_given_up++;
        stria_reads_give_up(run->array, action->drive, action->code);
        break;
    case STRIA_VERIFIER_ACTION_FINISHED:
        run->finished = true;
        break;
    }
}

static void step(struct verification *run, const struct stria_verifier_event *event)
{
    struct stria_verifier_actions actions;
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

static void on_done(void *context, uint32_t drive, const struct stria_done *done)
{
    struct verification *run = context;
    uint32_t index = (uint32_t)done->tag;
    struct stria_verifier_event event = {
        .kind = STRIA_VERIFIER_EVENT_DONE, .tag = done->tag, .code = done->code, .bytes = done->bytes};
    run->bytes_read += done->bytes;
    const struct stria_verifier_action *read = &run->reads[index < run->buffer_count ? index : 0];
    if (read->tag == done->tag && read->digest_wanted && done->code == STRIA_OK &&
        done->bytes == read->length_bytes)
        event.digest = stria_reads_digest(run->array, drive, done, buffer(run, read->buffer),
                                          read->digest_bytes, read->digest_seed);
    feed(run, event);
}

/* Also the echo of the verifier's own giving up, which it knows of then. */
static void on_gone(void *context, uint32_t drive, int code)
{
    struct verification *run = context;
    if (run->verifier)
        answer(run, (struct stria_verifier_event){
                        .kind = STRIA_VERIFIER_EVENT_GONE, .drive = drive, .code = code});
}

static void report_progress(struct verification *run, uint64_t now_ns)
{
    struct stria_verifier_status status;
    stria_verifier_status(run->verifier, &status);
    const struct stria_verify_progress progress = {
        .elapsed_ns = now_ns - run->started_ns,
        .bytes = status.bytes,
        .bytes_total = status.bytes_total,
        .bytes_read = run->bytes_read,
        .findings = status.findings,
    };
    run->progress_ns = now_ns;
    if (!run->options->progress(run->options->context, &progress) && !run->finished &&
        !run->result->stopped) {
        run->result->stopped = true;
        feed(run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_STOP});
    }
}

static void turn(struct verification *run)
{
    uint32_t ticket = stria_reads_listen(run->array);
    uint32_t worked = stria_reads_poll(run->array);
    uint64_t now_ns = stria_clock_ns();
    uint64_t due_ns = stria_verifier_due_ns(run->verifier);
    if (now_ns >= due_ns || run->answer_count > 0) {
        feed(run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_TICK});
        worked++;
    }
    if (run->options->progress && now_ns - run->progress_ns >= PROGRESS_NS)
        report_progress(run, now_ns);
    if (worked == 0 && !run->finished)
        stria_reads_wait(run->array, ticket, due_ns - now_ns);
}

static void tell_gaps(struct verification *run, uint32_t index)
{
    const struct stria_map *map = &run->maps[index];
    struct stria_map_place place;
    for (uint64_t chunk = 0; chunk < map->chunk_count; chunk += place.chunk_count) {
        place = stria_map_find(map, chunk);
        if (place.state != STRIA_MAP_GAP && place.state != STRIA_MAP_LOST)
            continue;
        const struct stria_verify_finding gap = {
            .cause = (enum stria_gap_cause)place.cause,
            .recording = run->result->recordings[index].info.name,
            .stream_offset = chunk * map->chunk_bytes,
            .length_bytes = stria_map_bytes(map, chunk, place.chunk_count),
            .drive = place.drive < run->array->member_count ? (int)place.drive : -1,
        };
        run->options->gap(run->options->context, &gap);
    }
}

static bool is_damaged(const struct stria_verifier_counts *counts)
{
    return counts->corrupt + counts->missing + counts->misplaced > 0;
}

/* What another host has removed while it was read is not damaged. */
static void find_removed(struct verification *run)
{
    if (!run->array->writable)
        stria_held_look(run->array, run->ids, run->id_count, run->removed);
    for (uint32_t index = 0, id = 0; index < run->result->recording_count; index++) {
        struct stria_verify_recording *recording = &run->result->recordings[index];
        while (run->ids[id] != recording->info.id)
            id++;
        recording->removed = run->removed[id];
    }
}

static void conclude(struct verification *run)
{
    bool damaged = false;
    struct stria_verify_result *result = run->result;
    struct stria_verifier_status status;
    stria_verifier_status(run->verifier, &status);
    result->bytes = status.bytes;
    result->bytes_read = run->bytes_read;
    result->duration_ns = stria_clock_ns() - run->started_ns;
    result->ledger_entries_damaged = run->array->inventory.entries_damaged;
    for (uint32_t index = 0; index < result->recording_count; index++) {
        struct stria_verify_recording *recording = &result->recordings[index];
        recording->counts = run->counts[index];
        damaged |= is_damaged(&recording->counts);
    }
    if (damaged)
        find_removed(run);
    for (uint32_t index = 0; index < result->recording_count; index++)
        result->damaged |=
            is_damaged(&result->recordings[index].counts) && !result->recordings[index].removed;
    for (uint32_t index = 0; run->options->gap && index < result->recording_count; index++)
        tell_gaps(run, index);
}

static void clean_up(struct verification *run, bool abandoned)
{
    for (uint32_t index = 0; run->maps && index < run->result->recording_count; index++)
        stria_reads_unmap(&run->maps[index]);
    for (uint32_t index = 0; index < STRIA_DRIVES_MAX; index++)
        free(run->items[index]);
    if (!abandoned)
        stria_pages_unmap(run->buffers, run->buffers_bytes);
    free(run->ids);
    free(run->removed);
    free(run->recordings);
    free(run->maps);
    free(run->counts);
    free(run->reads);
    free(run->answers);
    free(run->verifier);
    free(run);
}

static int prepare(struct verification *run, struct stria_trouble *trouble)
{
    int code = check_names(run, trouble);
    if (code == STRIA_OK)
        code = hold_recordings(run, trouble);
    if (code == STRIA_OK)
        code = choose_recordings(run, trouble);
    if (code == STRIA_OK)
        code = list_items(run, trouble);
    return code == STRIA_OK ? create_verifier(run, trouble) : code;
}

int stria_array_verify(struct stria_array *array, const struct stria_verify_options *options,
                       struct stria_verify_result *result, struct stria_trouble *trouble)
{
    static const struct stria_verify_options defaults;
    memset(result, 0, sizeof(*result));
    struct verification *run = calloc(1, sizeof(*run));
    if (!run)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    run->array = array;
    run->options = options ? options : &defaults;
    run->result = result;
    run->user = (struct stria_reads_user){.context = run, .done = on_done, .gone = on_gone};
    int code = stria_reads_join(array, &run->user, trouble);
    bool joined = code == STRIA_OK;
    if (code == STRIA_OK)
        code = prepare(run, trouble);
    if (code == STRIA_OK) {
        attach_buffers(run);
        run->started_ns = run->progress_ns = stria_clock_ns();
        feed(run, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_BEGIN});
        while (!run->finished)
            turn(run);
        if (run->options->progress)
            report_progress(run, stria_clock_ns());
        conclude(run);
    }
    bool abandoned = joined && stria_reads_leave(array, &run->user);
    clean_up(run, abandoned);
    if (code != STRIA_OK)
        stria_verify_result_free(result);
    return code;
}

void stria_verify_result_free(struct stria_verify_result *result)
{
    free(result->recordings);
    memset(result, 0, sizeof(*result));
}
