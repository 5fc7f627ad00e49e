/* The recorder's outside: set-up, the step, status. */
#include "core/recorder.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/recorder_internal.h"

#include <string.h>

static bool config_in_range(const struct stria_recorder_config *config)
{
    if (config->drive_count == 0 || config->drive_count > STRIA_DRIVES_MAX || config->recording == 0)
        return false;
    if (!stria_chunk_bytes_valid(config->chunk_bytes))
        return false;
    if (!stria_is_power_of_two(config->block_bytes) || config->block_bytes > STRIA_BLOCK_BYTES_MAX)
        return false;
    if (config->slot_count < STRIA_SLOTS_MIN || config->slot_count > STRIA_SLOTS_MAX)
        return false;
    if (!stria_is_power_of_two(config->window_chunks) || config->window_chunks > STRIA_WINDOW_CHUNKS_MAX)
        return false;
    for (uint32_t drive = 0; drive < config->drive_count; drive++)
        if (config->drives[drive].depth == 0 || config->drives[drive].depth > STRIA_DEPTH_MAX)
            return false;
    return config->deadline_ns > 0;
}

static size_t aligned(size_t bytes)
{
    return (size_t)stria_align_up(bytes, 16);
}

size_t stria_recorder_memory_bytes(const struct stria_recorder_config *config)
{
    if (!config_in_range(config))
        return 0;
    return aligned(sizeof(struct stria_recorder)) + aligned(config->drive_count * sizeof(struct drive)) +
           aligned(config->slot_count * sizeof(struct stria_slot)) +
           aligned(config->window_chunks * sizeof(uint64_t)) +
           aligned(config->window_chunks * sizeof(struct unnamed));
}

static void init_drive(struct stria_recorder *recorder, uint32_t index)
{
    struct drive *drive = &recorder->drives[index];
    drive->config = recorder->config.drives[index];
    stria_slot_list_init(&drive->ready);
    stria_slot_list_init(&drive->writing);
    drive->cycle.catalogue_durable = recorder->config.catalogue->count;
    if (!drive->config.present) {
        drive->space.count = drive->config.geometry.extent_count;
        drive->state = STRIA_DRIVE_LOST;
        drive->code = STRIA_ERR_GONE;
        drive->give_up_told = true;
        recorder->degraded = true;
        return;
    }
    stria_space_init(&drive->space, drive->config.extent_state, drive->config.geometry.extent_count);
    stria_rows_add(&recorder->rows, index, drive->config.extent_state, drive->space.count);
    drive->left_at_start = drive->space.free;
    drive->state = drive->space.free > 0 ? STRIA_DRIVE_LIVE : STRIA_DRIVE_FULL;
}

struct stria_recorder *stria_recorder_init(void *memory, const struct stria_recorder_config *config)
{
    size_t bytes = stria_recorder_memory_bytes(config);
    STRIA_ASSERT(bytes > 0);
    memset(memory, 0, bytes);
    uint8_t *next = memory;
    struct stria_recorder *recorder = (struct stria_recorder *)next;
    next += aligned(sizeof(*recorder));
    recorder->drives = (struct drive *)next;
    next += aligned(config->drive_count * sizeof(struct drive));
    recorder->slots = (struct stria_slot *)next;
    next += aligned(config->slot_count * sizeof(struct stria_slot));
    recorder->config = *config;
    if (recorder->config.errors_max == 0)
        recorder->config.errors_max = STRIA_ERRORS_IN_ROW_MAX;
    recorder->drive_count = config->drive_count;
    stria_rows_init(&recorder->rows, config->drive_count);
    stria_watch_init(&recorder->watch, config->deadline_ns);
    stria_window_init(&recorder->window, (uint64_t *)next, config->window_chunks);
    next += aligned(config->window_chunks * sizeof(uint64_t));
    recorder->unnamed = (struct unnamed *)next;
    stria_slot_list_init(&recorder->ready);
    for (uint32_t index = 0; index < config->drive_count; index++)
        init_drive(recorder, index);
    recorder->lost_told = recorder->lost_settled = config->catalogue->count;
    recorder->config.drives = NULL;
    return recorder;
}

bool stria_recorder_room(struct stria_recorder *recorder, uint32_t actions)
{
    if (recorder->actions->count + actions <= STRIA_ACTIONS_MAX)
        return true;
    recorder->actions->more = true;
    return false;
}

struct stria_action *stria_recorder_emit(struct stria_recorder *recorder, enum stria_action_kind kind)
{
    STRIA_ASSERT(recorder->actions->count < STRIA_ACTIONS_MAX);
    struct stria_action *action = &recorder->actions->list[recorder->actions->count++];
    memset(action, 0, sizeof(*action));
    action->kind = kind;
    return action;
}

bool stria_recorder_any_live(const struct stria_recorder *recorder)
{
    for (uint32_t drive = 0; drive < recorder->drive_count; drive++)
        if (recorder->drives[drive].state != STRIA_DRIVE_LOST)
            return true;
    return false;
}

static void begin(struct stria_recorder *recorder)
{
    STRIA_ASSERT(recorder->state == STRIA_RECORDER_IDLE);
    recorder->begun_ns = recorder->now_ns;
    if (stria_placement_fixed(recorder->config.policy))
        stria_recorder_rows_begin(recorder);
    struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_BEGUN,
                                          .recording = recorder->config.recording,
                                          .wall_ns = recorder->config.wall_ns};
    size_t length = 0;
    while (length < STRIA_NAME_BYTES - 1 && recorder->config.name[length])
        length++;
    memcpy(entry.begun.name, recorder->config.name, length);
    entry.begun.policy = recorder->config.policy;
    entry.begun.chunk_bytes = recorder->config.chunk_bytes;
    entry.begun.base_row = recorder->base_row;
    int appended = stria_catalogue_append(recorder->config.catalogue, &entry);
    STRIA_ASSERT(appended >= 0);
    recorder->lost_told = recorder->lost_settled = recorder->config.catalogue->count;
    recorder->begun_target = recorder->config.catalogue->count;
    recorder->state = STRIA_RECORDER_BEGINNING;
}

static void append_ended(struct stria_recorder *recorder)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = recorder->config.recording,
        .wall_ns = recorder->config.wall_ns + (recorder->now_ns - recorder->begun_ns),
    };
    entry.ended.length_bytes = recorder->length_bytes;
    entry.ended.stored_bytes = recorder->stored_bytes;
    entry.ended.dropped_bytes = recorder->dropped_bytes;
    entry.ended.sequence_count = recorder->window.next;
    entry.ended.duration_ns = recorder->now_ns - recorder->begun_ns;
    entry.ended.flags =
        STRIA_ENDED_CLEAN | stria_catalogue_raid0_flags(!recorder->displaced, !recorder->off_rows);
    entry.ended.gap_cause = recorder->seal_gap_cause;
    entry.ended.gap_drive = recorder->seal_gap_cause ? recorder->seal_gap_drive : STRIA_GAP_DRIVE_NONE;
    int appended = stria_catalogue_append(recorder->config.catalogue, &entry);
    STRIA_ASSERT(appended >= 0);
    recorder->begun_target = recorder->config.catalogue->count;
}

static bool all_written(const struct stria_recorder *recorder)
{
    uint32_t waiting = recorder->ready.count;
    for (uint32_t drive = 0; drive < recorder->drive_count; drive++)
        waiting += recorder->drives[drive].ready.count + recorder->drives[drive].writing.count;
    return waiting == 0;
}

static void finish(struct stria_recorder *recorder, int code)
{
    recorder->state = STRIA_RECORDER_FINISHED;
    stria_recorder_emit(recorder, STRIA_ACTION_FINISHED)->code = code;
}

static void advance_state(struct stria_recorder *recorder)
{
    bool live = stria_recorder_any_live(recorder);
    bool durable = live && stria_recorder_catalogue_durable(recorder) >= recorder->begun_target;
    if (recorder->state == STRIA_RECORDER_BEGINNING && durable && stria_recorder_room(recorder, 1)) {
        recorder->state = STRIA_RECORDER_RECORDING;
        stria_recorder_emit(recorder, STRIA_ACTION_STARTED);
    }
    if (recorder->state == STRIA_RECORDER_RECORDING && recorder->end_wanted)
        recorder->state = STRIA_RECORDER_DRAINING;
    if (!live && recorder->state != STRIA_RECORDER_FINISHED && all_written(recorder) &&
        stria_recorder_losses_told(recorder) && stria_recorder_room(recorder, 2)) {
        stria_recorder_close_gap(recorder);
        finish(recorder, STRIA_ERR_GONE);
    }
    if (recorder->state == STRIA_RECORDER_DRAINING && live && all_written(recorder) &&
        stria_recorder_cycles_idle(recorder) && stria_recorder_losses_told(recorder) &&
        stria_recorder_catalogue_durable(recorder) == recorder->config.catalogue->count &&
        stria_recorder_room(recorder, 1)) {
        stria_recorder_close_gap(recorder);
        append_ended(recorder);
        recorder->state = STRIA_RECORDER_ENDING;
    } else if (recorder->state == STRIA_RECORDER_ENDING && durable && stria_recorder_cycles_idle(recorder) &&
               stria_recorder_losses_told(recorder) && stria_recorder_room(recorder, 1)) {
        finish(recorder, STRIA_OK);
    }
}

static void tell(struct stria_recorder *recorder)
{
    for (uint32_t index = 0; index < recorder->drive_count; index++) {
        struct drive *drive = &recorder->drives[index];
        if (drive->state != STRIA_DRIVE_LOST || drive->give_up_told || !stria_recorder_room(recorder, 1))
            continue;
        struct stria_action *action = stria_recorder_emit(recorder, STRIA_ACTION_GIVE_UP);
        action->drive = index;
        action->code = drive->code;
        drive->give_up_told = true;
    }
    if (recorder->full && !recorder->full_told && stria_recorder_room(recorder, 1)) {
        stria_recorder_emit(recorder, STRIA_ACTION_FULL);
        recorder->full_told = true;
    }
    const uint64_t watermark_bytes = stria_recorder_watermark_bytes(recorder);
    if (recorder->watermark_told != watermark_bytes && stria_recorder_room(recorder, 1)) {
        stria_recorder_emit(recorder, STRIA_ACTION_WATERMARK)->offset = watermark_bytes;
        recorder->watermark_told = watermark_bytes;
    }
}

/* Everything that can be done now, in an order in which each part makes work only for later ones; what is
 * made for earlier ones sets more. */
static void work(struct stria_recorder *recorder)
{
    enum stria_recorder_state before = recorder->state;
    stria_recorder_expire(recorder);
    tell(recorder);
    stria_recorder_place_all(recorder);
    stria_recorder_lose_ready(recorder);
    stria_recorder_cycles(recorder);
    stria_recorder_tell_losses(recorder);
    stria_recorder_settle_losses(recorder);
    tell(recorder);
    advance_state(recorder);
    if (recorder->state != before)
        recorder->actions->more = true;
}

void stria_recorder_step(struct stria_recorder *recorder, const struct stria_event *event,
                         struct stria_actions *actions)
{
    actions->count = 0;
    actions->more = false;
    recorder->actions = actions;
    if (recorder->state == STRIA_RECORDER_FINISHED)
        return;
    recorder->now_ns = event->now_ns;
    stria_watch_look(&recorder->watch, event->now_ns);
    switch (event->kind) {
    case STRIA_EVENT_BEGIN:
        begin(recorder);
        break;
    case STRIA_EVENT_COMMIT:
        stria_recorder_commit(recorder, event);
        break;
    case STRIA_EVENT_SKIP:
        stria_recorder_skip(recorder, event->length_bytes, event->cause,
                            event->cause == STRIA_GAP_BUFFER ? stria_recorder_culprit(recorder)
                                                             : STRIA_GAP_DRIVE_NONE);
        break;
    case STRIA_EVENT_DONE:
        if (stria_tag_kind(event->tag) == TAG_DATA)
            stria_recorder_data_done(recorder, event);
        else
            stria_recorder_meta_done(recorder, event);
        break;
    case STRIA_EVENT_GONE:
        stria_recorder_give_up(recorder, event->drive, event->code);
        break;
    case STRIA_EVENT_TICK:
        break;
    case STRIA_EVENT_END:
        recorder->end_wanted = true;
        break;
    }
    work(recorder);
}
