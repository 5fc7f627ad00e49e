/* The verifier's pulls: one extent each, from its first read to its verdict. */
#include "core/assert.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/verifier_internal.h"

#include <string.h>

bool stria_verifier_room(struct stria_verifier *verifier)
{
    if (verifier->actions->count < STRIA_VERIFIER_ACTIONS_MAX)
        return true;
    verifier->actions->more = true;
    return false;
}

struct stria_verifier_action *stria_verifier_emit(struct stria_verifier *verifier,
                                                  enum stria_verifier_action_kind kind)
{
    STRIA_ASSERT(verifier->actions->count < STRIA_VERIFIER_ACTIONS_MAX);
    struct stria_verifier_action *action = &verifier->actions->list[verifier->actions->count++];
    memset(action, 0, sizeof(*action));
    action->kind = kind;
    return action;
}

struct pull *stria_verifier_spare(const struct stria_verifier *verifier)
{
    return &verifier->pulls[verifier->pull_count - 1];
}

static const struct stria_map_extent *extent_of(const struct stria_verifier *verifier,
                                                const struct pull *pull)
{
    return &verifier->config.recordings[pull->recording].map->extents[pull->extent];
}

static const struct stria_map_extent *reading(const struct stria_verifier *verifier, const struct pull *pull)
{
    return extent_of(verifier, pull) + pull->alternative;
}

static uint64_t seed_of(const struct stria_verifier *verifier, uint32_t recording,
                        const struct stria_map_extent *extent)
{
    return stria_digest_seed(verifier->config.recordings[recording].id, extent->sequence);
}

static uint64_t tag_of(const struct stria_verifier *verifier, const struct pull *pull)
{
    return (uint64_t)pull->turn << 32 | (uint32_t)(pull - verifier->pulls);
}

/* The pull that a tag means, if it still waits for it. */
static struct pull *pull_of(const struct stria_verifier *verifier, uint64_t tag)
{
    uint32_t index = (uint32_t)tag;
    if (index >= verifier->pull_count || verifier->pulls[index].turn != tag >> 32)
        return NULL;
    return &verifier->pulls[index];
}

/* The next alternative behind one that lies on a live drive; 0 when there is none. */
static uint32_t alternative_after(const struct stria_verifier *verifier, uint32_t recording, uint32_t extent,
                                  uint32_t alternative)
{
    const struct stria_map *map = verifier->config.recordings[recording].map;
    uint64_t sequence = map->extents[extent].sequence;
    for (uint64_t next = (uint64_t)extent + alternative + 1;
         next < map->extent_count && map->extents[next].sequence == sequence; next++)
        if (!verifier->lanes[map->extents[next].drive].gone)
            return (uint32_t)(next - extent);
    return 0;
}

static void read_begin(struct stria_verifier *verifier, struct pull *pull, uint32_t alternative)
{
    pull->alternative = alternative;
    const struct stria_map_extent *extent = reading(verifier, pull);
    const struct lane *lane = &verifier->lanes[extent->drive];
    pull->drive = extent->drive;
    const struct stria_geometry *geometry = lane->config.geometry;
    const uint32_t block_bytes = stria_block_bytes_larger(lane->config.block_bytes, geometry->block_bytes);
    stria_fetch_begin(&pull->fetch, stria_geometry_extent_offset(geometry, extent->position),
                      extent->length_bytes, block_bytes, lane->config.transfer_bytes_max);
    pull->state = PULL_SUBMIT;
}

/* Hands a chunk that is bad in its first place to the spare pull, which reads the alternatives. */
enum handing stria_verifier_hand_over(struct stria_verifier *verifier, const struct pull *bad)
{
    struct pull *spare = stria_verifier_spare(verifier);
    uint32_t alternative = alternative_after(verifier, bad->recording, bad->extent, 0);
    if (alternative == 0 || verifier->stopping || spare->state == PULL_DEAD || spare->state == PULL_ABANDONED)
        return NOBODY;
    if (spare->state != PULL_FREE)
        return BUSY;
    uint32_t turn = spare->turn;
    *spare = *bad;
    spare->turn = turn;
    read_begin(verifier, spare, alternative);
    return HANDED;
}

static void count_verdict(struct stria_verifier_counts *counts, enum stria_verdict verdict, uint64_t bytes)
{
    switch (verdict) {
    case STRIA_VERDICT_OK:
        counts->ok++;
        counts->bytes += bytes;
        break;
    case STRIA_VERDICT_MISPLACED:
        counts->misplaced++;
        break;
    case STRIA_VERDICT_STALE:
        counts->stale++;
        counts->corrupt++;
        break;
    case STRIA_VERDICT_UNREADABLE:
        counts->unreadable++;
        counts->corrupt++;
        break;
    case STRIA_VERDICT_CORRUPT:
    case STRIA_VERDICT_MISSING:
        counts->corrupt++;
        break;
    }
}

/* Counts a chunk, and tells of it when it is bad: in its first place, whatever was tried after. */
void stria_verifier_settle(struct stria_verifier *verifier, const struct pull *pull)
{
    const struct stria_map_extent *extent = extent_of(verifier, pull);
    const struct lane *lane = &verifier->lanes[extent->drive];
    count_verdict(&verifier->config.counts[pull->recording], pull->verdict, extent->length_bytes);
    verifier->status.bytes += extent->length_bytes;
    if (pull->verdict == STRIA_VERDICT_OK)
        return;
    verifier->status.findings++;
    struct stria_finding *finding = &stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_FINDING)->finding;
    *finding = (struct stria_finding){
        .verdict = pull->verdict,
        .recording = pull->recording,
        .stream_offset = extent->stream_offset,
        .length_bytes = extent->length_bytes,
        .drive = extent->drive,
        .drive_offset = stria_geometry_extent_offset(lane->config.geometry, extent->position),
        .code = pull->verdict == STRIA_VERDICT_UNREADABLE ? pull->code : STRIA_OK,
    };
    if (pull->verdict == STRIA_VERDICT_MISPLACED) {
        const struct stria_map *map = verifier->config.recordings[pull->other_recording].map;
        finding->other_recording = pull->other_recording;
        finding->other_stream_offset = map->extents[pull->other_extent].stream_offset;
    }
}

/* A pull's extent is judged. The spare pull judges alternatives, whose verdict counts only if it is good. */
static void judge(struct stria_verifier *verifier, struct pull *pull, enum stria_verdict verdict)
{
    struct lane *lane = &verifier->lanes[pull->drive];
    bool unreadable = verdict == STRIA_VERDICT_UNREADABLE;
    lane->unreadable_in_row = unreadable ? lane->unreadable_in_row + 1 : 0;
    pull->state = PULL_SETTLE;
    if (pull != stria_verifier_spare(verifier)) {
        pull->verdict = verdict;
        pull->code = unreadable ? pull->fetch.code : STRIA_OK;
        if (verdict != STRIA_VERDICT_OK)
            pull->state = PULL_WAITING;
        return;
    }
    uint32_t next = alternative_after(verifier, pull->recording, pull->extent, pull->alternative);
    if (verdict == STRIA_VERDICT_OK)
        pull->verdict = verdict;
    else if (next > 0)
        read_begin(verifier, pull, next);
}

void stria_verifier_give_up(struct stria_verifier *verifier, uint32_t drive, int code)
{
    struct lane *lane = &verifier->lanes[drive];
    if (lane->gone)
        return;
    lane->gone = true;
    lane->code = code;
    for (uint32_t index = 0; index < verifier->pull_count; index++) {
        struct pull *pull = &verifier->pulls[index];
        bool in_flight = pull->state == PULL_READING;
        bool due = pull->state == PULL_SUBMIT || pull->state == PULL_PAUSED;
        if (pull->drive != drive || (!in_flight && !due))
            continue;
        pull->fetch.code = code;
        judge(verifier, pull, STRIA_VERDICT_UNREADABLE);
        if (in_flight) {
            pull->state = PULL_ABANDONED;
            pull->turn++;
        }
    }
}

static void read_submit(struct stria_verifier *verifier, struct pull *pull)
{
    struct stria_fetch_piece piece = stria_fetch_piece(&pull->fetch);
    const struct stria_map_extent *extent = reading(verifier, pull);
    struct stria_verifier_action *action = stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_READ);
    pull->turn++;
    pull->state = PULL_READING;
    pull->since_ns = verifier->watch.watched_ns;
    action->drive = pull->drive;
    action->buffer = (uint32_t)(pull - verifier->pulls);
    action->buffer_offset = piece.at;
    action->tag = tag_of(verifier, pull);
    action->offset = piece.offset;
    action->length_bytes = piece.bytes;
    action->digest_wanted = piece.whole;
    action->digest_bytes = extent->length_bytes;
    action->digest_seed = seed_of(verifier, pull->recording, extent);
}

static void check_submit(struct stria_verifier *verifier, struct pull *pull, uint64_t bytes, uint64_t seed)
{
    struct stria_verifier_action *action = stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_CHECK);
    pull->turn++;
    action->buffer = (uint32_t)(pull - verifier->pulls);
    action->tag = tag_of(verifier, pull);
    action->digest_bytes = bytes;
    action->digest_seed = seed;
}

/* Holds the payload against the next candidate; without one left it is simply corrupt. */
static void search(struct stria_verifier *verifier, struct pull *pull)
{
    struct lane *lane = &verifier->lanes[pull->drive];
    struct stria_verifier_candidate candidate;
    bool tired = lane->searches_in_vain >= STRIA_SEARCHES_MAX;
    while (!tired && stria_verifier_candidate(verifier, pull, pull->candidate, &candidate)) {
        pull->candidate++;
        if (!candidate.extent || candidate.extent->length_bytes > pull->fetch.bytes)
            continue;
        pull->other_recording = candidate.recording;
        pull->other_extent = candidate.index;
        pull->state = PULL_SEARCHING;
        check_submit(verifier, pull, candidate.extent->length_bytes,
                     seed_of(verifier, candidate.recording, candidate.extent));
        return;
    }
    lane->searches_in_vain += !tired;
    judge(verifier, pull, STRIA_VERDICT_CORRUPT);
}

static bool next_item(struct stria_verifier *verifier, struct pull *pull, uint32_t drive)
{
    struct lane *lane = &verifier->lanes[drive];
    if (lane->gone || verifier->stopping || lane->next == lane->config.item_count)
        return false;
    const struct stria_verifier_item *item = &lane->config.items[lane->next];
    pull->item = lane->next++;
    pull->recording = item->recording;
    pull->extent = item->extent;
    pull->candidate = 0;
    read_begin(verifier, pull, 0);
    return true;
}

static void tell_bad(struct stria_verifier *verifier, struct pull *pull, enum pull_state then)
{
    enum handing handing = stria_verifier_hand_over(verifier, pull);
    if (handing == BUSY)
        return;
    if (handing == NOBODY)
        stria_verifier_settle(verifier, pull);
    pull->state = then;
}

/* Takes a pull as far as it gets now. home is its drive, or drive_count for the spare pull. */
void stria_verifier_advance(struct stria_verifier *verifier, struct pull *pull, uint32_t home)
{
    const struct stria_map_extent *extent;
    for (enum pull_state before = PULL_DEAD; before != pull->state;) {
        if (pull->state == PULL_READING || pull->state == PULL_CHECKING || pull->state == PULL_SEARCHING ||
            pull->state == PULL_DEAD || !stria_verifier_room(verifier))
            return;
        before = pull->state;
        switch (pull->state) {
        case PULL_FREE:
            if (home < verifier->config.drive_count && next_item(verifier, pull, home))
                read_submit(verifier, pull);
            break;
        case PULL_PAUSED:
            if (verifier->now_ns >= pull->resume_ns)
                read_submit(verifier, pull);
            break;
        case PULL_SUBMIT:
            read_submit(verifier, pull);
            break;
        case PULL_CHECK:
            extent = reading(verifier, pull);
            pull->state = PULL_CHECKING;
            check_submit(verifier, pull, extent->length_bytes, seed_of(verifier, pull->recording, extent));
            break;
        case PULL_SEARCH:
            search(verifier, pull);
            break;
        case PULL_WAITING:
            tell_bad(verifier, pull, PULL_FREE);
            break;
        case PULL_ABANDONED:
            tell_bad(verifier, pull, PULL_DEAD);
            break;
        case PULL_SETTLE:
            stria_verifier_settle(verifier, pull);
            pull->state = PULL_FREE;
            verifier->actions->more |= pull == stria_verifier_spare(verifier);
            break;
        case PULL_READING:
        case PULL_CHECKING:
        case PULL_SEARCHING:
        case PULL_DEAD:
            break;
        }
    }
}

void stria_verifier_read_done(struct stria_verifier *verifier, const struct stria_verifier_event *event)
{
    struct pull *pull = pull_of(verifier, event->tag);
    if (!pull || pull->state != PULL_READING)
        return;
    uint32_t drive = pull->drive;
    bool whole = stria_fetch_piece(&pull->fetch).whole;
    switch (stria_fetch_done(&pull->fetch, event->code, event->bytes)) {
    case STRIA_FETCH_SUBMIT:
        pull->state = PULL_SUBMIT;
        break;
    case STRIA_FETCH_PAUSE:
        pull->state = PULL_PAUSED;
        pull->resume_ns = verifier->now_ns + STRIA_FETCH_PAUSE_NS;
        break;
    case STRIA_FETCH_FAILED:
        judge(verifier, pull, STRIA_VERDICT_UNREADABLE);
        break;
    case STRIA_FETCH_WHOLE:
        if (whole && event->digest == reading(verifier, pull)->digest)
            judge(verifier, pull, STRIA_VERDICT_OK);
        else
            pull->state = PULL_CHECK;
        break;
    }
    if (event->code == STRIA_ERR_GONE)
        stria_verifier_give_up(verifier, drive, event->code);
}

/* The answer about the chunk itself: after a read in pieces, or once more and more closely. */
static void checked(struct stria_verifier *verifier, struct pull *pull,
                    const struct stria_verifier_event *event)
{
    if (event->digest == reading(verifier, pull)->digest)
        judge(verifier, pull, STRIA_VERDICT_OK);
    else if (event->zero)
        judge(verifier, pull, STRIA_VERDICT_STALE);
    else if (pull == stria_verifier_spare(verifier))
        judge(verifier, pull, STRIA_VERDICT_CORRUPT);
    else
        pull->state = PULL_SEARCH;
}

/* The answer about a candidate. */
static void searched(struct stria_verifier *verifier, struct pull *pull,
                     const struct stria_verifier_event *event)
{
    const struct stria_map *map = verifier->config.recordings[pull->other_recording].map;
    pull->state = PULL_SEARCH;
    if (event->digest != map->extents[pull->other_extent].digest)
        return;
    verifier->lanes[pull->drive].searches_in_vain = 0;
    judge(verifier, pull, STRIA_VERDICT_MISPLACED);
}

void stria_verifier_check_done(struct stria_verifier *verifier, const struct stria_verifier_event *event)
{
    struct pull *pull = pull_of(verifier, event->tag);
    if (pull && pull->state == PULL_CHECKING)
        checked(verifier, pull, event);
    else if (pull && pull->state == PULL_SEARCHING)
        searched(verifier, pull, event);
}
