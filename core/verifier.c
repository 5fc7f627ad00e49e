#include "core/verifier.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"
#include "core/verifier_internal.h"

#include <string.h>

#define SCAN_CHUNKS_MAX 4096u /* looked at in one step */

const char *stria_verdict_text(uint32_t verdict)
{
    static const char *const texts[] = {
        [STRIA_VERDICT_OK] = "ok",           [STRIA_VERDICT_CORRUPT] = "corrupt",
        [STRIA_VERDICT_MISSING] = "missing", [STRIA_VERDICT_MISPLACED] = "misplaced",
        [STRIA_VERDICT_STALE] = "stale",     [STRIA_VERDICT_UNREADABLE] = "unreadable",
    };
    return verdict < sizeof(texts) / sizeof(texts[0]) ? texts[verdict] : "unknown";
}

uint32_t stria_verifier_buffers(const struct stria_verifier_config *config)
{
    uint32_t count = 1;
    for (uint32_t drive = 0; drive < config->drive_count; drive++)
        count += config->drives[drive].depth;
    return count;
}

size_t stria_verifier_memory_bytes(const struct stria_verifier_config *config)
{
    return stria_align_up(sizeof(struct stria_verifier), 16) +
           stria_align_up(config->drive_count * sizeof(struct lane), 16) +
           stria_verifier_buffers(config) * sizeof(struct pull);
}

/* What is known before anything is read. */
static void count_known(const struct stria_map *map, struct stria_verifier_counts *counts)
{
    *counts = (struct stria_verifier_counts){
        .extents = map->chunks_stored + map->chunks_missing,
        .missing = map->chunks_missing,
    };
    uint64_t missing_bytes = map->chunks_missing * map->chunk_bytes;
    bool last_missing =
        map->chunk_count > 0 && stria_map_find(map, map->chunk_count - 1).state == STRIA_MAP_MISSING;
    if (last_missing)
        missing_bytes -= map->chunk_count * map->chunk_bytes - map->length_bytes;
    counts->gap_bytes = map->length_bytes - map->stored_bytes - missing_bytes;
}

struct stria_verifier *stria_verifier_init(void *memory, const struct stria_verifier_config *config)
{
    memset(memory, 0, stria_verifier_memory_bytes(config));
    struct stria_verifier *verifier = memory;
    uint8_t *next = (uint8_t *)memory + stria_align_up(sizeof(*verifier), 16);
    verifier->config = *config;
    stria_watch_init(&verifier->watch, config->deadline_ns);
    verifier->lanes = (struct lane *)next;
    verifier->pulls = (struct pull *)(next + stria_align_up(config->drive_count * sizeof(struct lane), 16));
    verifier->pull_count = stria_verifier_buffers(config);
    uint32_t pull = 0;
    for (uint32_t drive = 0; drive < config->drive_count; drive++) {
        struct lane *lane = &verifier->lanes[drive];
        lane->config = config->drives[drive];
        lane->first_pull = pull;
        lane->gone = lane->gone_told = !lane->config.present;
        lane->code = lane->gone ? STRIA_ERR_GONE : STRIA_OK;
        pull += lane->config.depth;
    }
    for (uint32_t recording = 0; recording < config->recording_count; recording++) {
        const struct stria_map *map = config->recordings[recording].map;
        count_known(map, &config->counts[recording]);
        verifier->status.bytes_total += map->stored_bytes;
    }
    verifier->config.drives = NULL;
    return verifier;
}

/* What a drive that is gone still had to read is unreadable, unless it lies elsewhere too. */
static void pass_over(struct stria_verifier *verifier, struct lane *lane)
{
    if (!lane->gone_told && stria_verifier_room(verifier)) {
        struct stria_verifier_action *action = stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_GIVE_UP);
        action->drive = (uint32_t)(lane - verifier->lanes);
        action->code = lane->code;
        lane->gone_told = true;
    }
    while (lane->next < lane->config.item_count && !verifier->stopping && stria_verifier_room(verifier)) {
        const struct stria_verifier_item *item = &lane->config.items[lane->next];
        const struct pull bad = {.drive = (uint32_t)(lane - verifier->lanes),
                                 .recording = item->recording,
                                 .extent = item->extent,
                                 .item = lane->next,
                                 .verdict = STRIA_VERDICT_UNREADABLE,
                                 .code = lane->code};
        enum handing handing = stria_verifier_hand_over(verifier, &bad);
        if (handing == BUSY)
            return;
        if (handing == NOBODY)
            stria_verifier_settle(verifier, &bad);
        lane->next++;
    }
}

static bool scan_over(const struct stria_verifier *verifier)
{
    return verifier->stopping || verifier->scan_recording == verifier->config.recording_count;
}

/* Chunks that no extent is known of. */
static void scan(struct stria_verifier *verifier)
{
    for (unsigned looked = 0; looked < SCAN_CHUNKS_MAX && !scan_over(verifier); looked++) {
        const struct stria_map *map = verifier->config.recordings[verifier->scan_recording].map;
        struct stria_map_place place = stria_map_find(map, verifier->scan_chunk);
        if (place.state == STRIA_MAP_BEYOND) {
            verifier->scan_recording++;
            verifier->scan_chunk = 0;
            continue;
        }
        if (place.state == STRIA_MAP_MISSING) {
            if (!stria_verifier_room(verifier))
                return;
            verifier->status.findings++;
            stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_FINDING)->finding = (struct stria_finding){
                .verdict = STRIA_VERDICT_MISSING,
                .recording = verifier->scan_recording,
                .stream_offset = verifier->scan_chunk * map->chunk_bytes,
                .length_bytes = stria_map_bytes(map, verifier->scan_chunk, place.chunk_count),
                .drive = place.drive,
            };
        }
        verifier->scan_chunk += place.chunk_count;
    }
}

static void expire(struct stria_verifier *verifier)
{
    for (uint32_t index = 0; index < verifier->pull_count; index++) {
        struct pull *pull = &verifier->pulls[index];
        if (pull->state == PULL_READING && stria_watch_over(&verifier->watch, pull->since_ns))
            stria_verifier_give_up(verifier, pull->drive, STRIA_ERR_TIMEOUT);
    }
    for (uint32_t drive = 0; drive < verifier->config.drive_count; drive++)
        if (verifier->lanes[drive].unreadable_in_row >= STRIA_UNREADABLE_MAX)
            stria_verifier_give_up(verifier, drive, STRIA_ERR_IO);
}

static void finish(struct stria_verifier *verifier)
{
    bool over = scan_over(verifier);
    for (uint32_t drive = 0; drive < verifier->config.drive_count; drive++) {
        const struct lane *lane = &verifier->lanes[drive];
        over &= verifier->stopping || lane->next == lane->config.item_count;
        over &= !lane->gone || lane->gone_told;
    }
    for (uint32_t index = 0; index < verifier->pull_count; index++)
        over &= verifier->pulls[index].state == PULL_FREE || verifier->pulls[index].state == PULL_DEAD;
    if (!over || !stria_verifier_room(verifier))
        return;
    stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_FINISHED);
    verifier->finished = true;
}

static void work(struct stria_verifier *verifier)
{
    expire(verifier);
    for (uint32_t drive = 0; drive < verifier->config.drive_count; drive++) {
        struct lane *lane = &verifier->lanes[drive];
        for (uint32_t index = 0; index < lane->config.depth; index++)
            stria_verifier_advance(verifier, &verifier->pulls[lane->first_pull + index], drive);
        if (lane->gone)
            pass_over(verifier, lane);
    }
    stria_verifier_advance(verifier, stria_verifier_spare(verifier), verifier->config.drive_count);
    scan(verifier);
    finish(verifier);
}

void stria_verifier_step(struct stria_verifier *verifier, const struct stria_verifier_event *event,
                         struct stria_verifier_actions *actions)
{
    actions->count = 0;
    actions->more = false;
    verifier->actions = actions;
    if (verifier->finished)
        return;
    verifier->now_ns = event->now_ns;
    stria_watch_look(&verifier->watch, event->now_ns);
    switch (event->kind) {
    case STRIA_VERIFIER_EVENT_BEGIN:
        STRIA_ASSERT(!verifier->begun);
        verifier->begun = true;
        break;
    case STRIA_VERIFIER_EVENT_DONE:
        stria_verifier_read_done(verifier, event);
        break;
    case STRIA_VERIFIER_EVENT_CHECKED:
        stria_verifier_check_done(verifier, event);
        break;
    case STRIA_VERIFIER_EVENT_GONE:
        stria_verifier_give_up(verifier, event->drive, event->code);
        break;
    case STRIA_VERIFIER_EVENT_TICK:
        break;
    case STRIA_VERIFIER_EVENT_STOP:
        verifier->stopping = true;
        break;
    }
    work(verifier);
}

uint64_t stria_verifier_due_ns(const struct stria_verifier *verifier)
{
    if (verifier->finished)
        return UINT64_MAX;
    uint64_t due_ns = scan_over(verifier) ? UINT64_MAX : verifier->now_ns;
    for (uint32_t index = 0; index < verifier->pull_count; index++) {
        const struct pull *pull = &verifier->pulls[index];
        uint64_t pull_due_ns = UINT64_MAX;
        if (pull->state == PULL_READING)
            pull_due_ns = stria_watch_due_ns(&verifier->watch, pull->since_ns);
        else if (pull->state == PULL_PAUSED)
            pull_due_ns = pull->resume_ns;
        due_ns = pull_due_ns < due_ns ? pull_due_ns : due_ns;
    }
    return due_ns;
}

void stria_verifier_status(const struct stria_verifier *verifier, struct stria_verifier_status *status)
{
    *status = verifier->status;
}
