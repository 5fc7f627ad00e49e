/* A recorder on two drives of sixteen extents or more, driven by hand: each request is answered by the test.
 */
#ifndef STRIA_TESTS_UNIT_RECORDER_HELP_H
#define STRIA_TESTS_UNIT_RECORDER_HELP_H

#include "core/recorder.h"
#include "core/space.h"

#include <criterion/criterion.h>
#include <string.h>

#define HELP_CHUNK    (64u << 10)
#define HELP_DRIVES   2u
#define HELP_SLOTS    16u
#define HELP_DEPTH    4u
#define HELP_INTERVAL 1000000u
#define HELP_DEADLINE 1000000000u
#define HELP_PENDING  1024u
#define HELP_EXTENTS  16u
#define HELP_WINDOW   64u

struct help {
    struct stria_recorder *recorder;
    struct stria_catalogue catalogue;
    struct stria_recorder_drive drives[HELP_DRIVES];
    struct stria_actions actions;              /* of the latest step */
    struct stria_action pending[HELP_PENDING]; /* requests that are not answered */
    uint32_t pending_count;
    struct stria_action told[HELP_PENDING]; /* all else, in order */
    uint32_t told_count;
    uint64_t now_ns;
    bool free[HELP_SLOTS];
};

/* Zeroed memory, aligned to pages, which lasts until the next help_new. */
static inline void *help_memory(size_t bytes, bool afresh)
{
    static _Alignas(4096) uint8_t arena[4u << 20];
    static size_t used;
    if (afresh) {
        memset(arena, 0, sizeof(arena));
        used = 0;
    }
    uint8_t *memory = arena + used;
    used += (bytes + 4095) / 4096 * 4096;
    cr_assert_leq(used, sizeof(arena));
    return memory;
}

static inline struct stria_geometry help_geometry(uint64_t extents)
{
    struct stria_geometry geometry;
    uint64_t bytes = stria_geometry_drive_bytes_min(HELP_CHUNK) + (extents - 8) * HELP_CHUNK;
    cr_assert_eq(stria_geometry_plan(&geometry, bytes, HELP_CHUNK, 4096), STRIA_OK);
    return geometry;
}

static inline void help_take_actions(struct help *help)
{
    for (uint32_t index = 0; index < help->actions.count; index++) {
        const struct stria_action *action = &help->actions.list[index];
        if (action->kind <= STRIA_ACTION_FLUSH) {
            cr_assert_lt(help->pending_count, HELP_PENDING);
            help->pending[help->pending_count++] = *action;
            continue;
        }
        if (action->kind == STRIA_ACTION_RELEASE)
            help->free[action->slot] = true;
        cr_assert_lt(help->told_count, HELP_PENDING);
        help->told[help->told_count++] = *action;
    }
}

static inline void help_step(struct help *help, struct stria_event event)
{
    event.now_ns = help->now_ns;
    do {
        stria_recorder_step(help->recorder, &event, &help->actions);
        help_take_actions(help);
        event = (struct stria_event){.kind = STRIA_EVENT_TICK, .now_ns = help->now_ns};
    } while (help->actions.more);
    cr_assert(stria_recorder_sound(help->recorder));
}

static inline void help_tick(struct help *help, uint64_t later_ns)
{
    help->now_ns += later_ns;
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_TICK});
}

/* Lets time pass and steps whenever the recorder is due, as somebody does who keeps looking. */
static inline void help_watch(struct help *help, uint64_t later_ns)
{
    uint64_t until_ns = help->now_ns + later_ns;
    while (help->now_ns < until_ns) {
        uint64_t due_ns = stria_recorder_due_ns(help->recorder);
        uint64_t next_ns = due_ns > help->now_ns ? due_ns : help->now_ns + 1;
        help_tick(help, (next_ns < until_ns ? next_ns : until_ns) - help->now_ns);
    }
}

/* Extents [first, end) of a drive that are not free when the recorder begins. */
struct help_mark {
    uint32_t drive;
    uint64_t first, end;
    enum stria_extent_state state;
};

static inline struct help *help_new_marked(enum stria_policy policy, uint64_t extents, uint32_t window_chunks,
                                           const struct help_mark *marks, size_t mark_count)
{
    struct help *help = help_memory(sizeof(*help), true);
    struct stria_recorder_config config = {
        .drive_count = HELP_DRIVES,
        .drives = help->drives,
        .catalogue = &help->catalogue,
        .policy = policy,
        .recording = 1,
        .name = "test",
        .chunk_bytes = HELP_CHUNK,
        .block_bytes = 4096,
        .slot_count = HELP_SLOTS,
        .window_chunks = window_chunks,
        .commit_interval_ns = HELP_INTERVAL,
        .deadline_ns = HELP_DEADLINE,
        .digest = true,
    };
    stria_catalogue_format(&help->catalogue, help_memory(STRIA_CATALOGUE_HALF_MIN, false),
                           STRIA_CATALOGUE_HALF_MIN, config.array_uuid, 1);
    for (uint32_t index = 0; index < HELP_DRIVES; index++) {
        struct stria_geometry geometry = help_geometry(extents);
        help->drives[index] = (struct stria_recorder_drive){
            .geometry = geometry,
            .binding = {.drive_index = index, .generation = 1},
            .ledger = help_memory(geometry.ledger_bytes, false),
            .extent_state = help_memory(geometry.extent_count, false),
            .staging = help_memory(STRIA_STAGING_BYTES, false),
            .depth = HELP_DEPTH,
            .present = true,
        };
    }
    for (const struct help_mark *mark = marks; mark < marks + mark_count; mark++)
        memset(help->drives[mark->drive].extent_state + mark->first, mark->state, mark->end - mark->first);
    memset(help->free, true, sizeof(help->free));
    help->now_ns = 1000;
    help->recorder = stria_recorder_init(help_memory(stria_recorder_memory_bytes(&config), false), &config);
    return help;
}

static inline struct help *help_new_large(enum stria_policy policy, uint64_t extents, uint32_t window_chunks)
{
    return help_new_marked(policy, extents, window_chunks, NULL, 0);
}

static inline struct help *help_new(enum stria_policy policy)
{
    return help_new_large(policy, HELP_EXTENTS, HELP_WINDOW);
}

/* The first unanswered request of a kind on a drive; null when there is none. */
static inline struct stria_action *help_request(struct help *help, enum stria_action_kind kind,
                                                uint32_t drive)
{
    for (uint32_t index = 0; index < help->pending_count; index++)
        if (help->pending[index].kind == kind && help->pending[index].drive == drive)
            return &help->pending[index];
    return NULL;
}

static inline void help_answer(struct help *help, struct stria_action *request, int code, uint64_t bytes)
{
    cr_assert_not_null(request);
    struct stria_event event = {.kind = STRIA_EVENT_DONE,
                                .tag = request->tag,
                                .code = code,
                                .bytes = bytes,
                                .digest = request->digest_seed};
    *request = help->pending[--help->pending_count];
    help_step(help, event);
}

static inline void help_succeed(struct help *help, struct stria_action *request)
{
    cr_assert_not_null(request);
    help_answer(help, request, STRIA_OK, request->kind == STRIA_ACTION_FLUSH ? 0 : request->length_bytes);
}

/* Answers everything, and what follows from it, with success. */
static inline void help_succeed_all(struct help *help)
{
    while (help->pending_count > 0)
        help_succeed(help, &help->pending[0]);
}

static inline void help_begin(struct help *help)
{
    help_step(help, (struct stria_event){.kind = STRIA_EVENT_BEGIN});
    help_succeed_all(help);
}

static inline uint32_t help_commit(struct help *help, uint64_t length_bytes)
{
    uint32_t slot = 0;
    while (slot < HELP_SLOTS && !help->free[slot])
        slot++;
    cr_assert_lt(slot, HELP_SLOTS);
    help->free[slot] = false;
    help_step(help,
              (struct stria_event){.kind = STRIA_EVENT_COMMIT, .slot = slot, .length_bytes = length_bytes});
    return slot;
}

/* How often an action of a kind was told; the latest goes to *last, if that is not null. */
static inline uint32_t help_told(const struct help *help, enum stria_action_kind kind,
                                 struct stria_action *last)
{
    uint32_t count = 0;
    for (uint32_t index = 0; index < help->told_count; index++) {
        if (help->told[index].kind != kind)
            continue;
        count++;
        if (last)
            *last = help->told[index];
    }
    return count;
}

static inline struct stria_recorder_status help_status(const struct help *help)
{
    struct stria_recorder_status status;
    stria_recorder_status(help->recorder, &status);
    return status;
}

static inline struct stria_drive_status help_drive(const struct help *help, uint32_t drive)
{
    struct stria_drive_status status;
    stria_recorder_drive_status(help->recorder, drive, &status);
    return status;
}

#endif
