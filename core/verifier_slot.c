/* The verifier's slots: one extent each, from its first read to its verdict. */
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

struct slot *stria_verifier_spare(const struct stria_verifier *verifier)
{
    return &verifier->slots[verifier->slot_count - 1];
}

static const struct stria_map_extent *extent_of(const struct stria_verifier *verifier,
                                                const struct slot *slot)
{
    return &verifier->config.recordings[slot->recording].map->extents[slot->extent];
}

static const struct stria_map_extent *reading(const struct stria_verifier *verifier, const struct slot *slot)
{
    return extent_of(verifier, slot) + slot->alternative;
}

static uint64_t seed_of(const struct stria_verifier *verifier, uint32_t recording,
                        const struct stria_map_extent *extent)
{
    return stria_digest_seed(verifier->config.recordings[recording].id, extent->sequence);
}

static uint64_t tag_of(const struct stria_verifier *verifier, const struct slot *slot)
{
    return (uint64_t)slot->turn << 32 | (uint32_t)(slot - verifier->slots);
}

/* The slot that a tag means, if it still waits for it. */
static struct slot *slot_of(const struct stria_verifier *verifier, uint64_t tag)
{
    uint32_t index = (uint32_t)tag;
    if (index >= verifier->slot_count || verifier->slots[index].turn != tag >> 32)
        return NULL;
    return &verifier->slots[index];
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

static void read_begin(struct stria_verifier *verifier, struct slot *slot, uint32_t alternative)
{
    slot->alternative = alternative;
    const struct stria_map_extent *extent = reading(verifier, slot);
    const struct lane *lane = &verifier->lanes[extent->drive];
    slot->drive = extent->drive;
    const struct stria_geometry *geometry = lane->config.geometry;
    const uint32_t block_bytes = stria_block_bytes_larger(lane->config.block_bytes, geometry->block_bytes);
    stria_fetch_begin(&slot->fetch, stria_geometry_extent_offset(geometry, extent->position),
                      extent->length_bytes, block_bytes, lane->config.transfer_bytes_max);
    slot->state = SLOT_SUBMIT;
}

/* Hands a chunk that is bad in its first place to the spare slot, which reads the alternatives. */
enum handing stria_verifier_hand_over(struct stria_verifier *verifier, const struct slot *bad)
{
    struct slot *spare = stria_verifier_spare(verifier);
    uint32_t alternative = alternative_after(verifier, bad->recording, bad->extent, 0);
    if (alternative == 0 || verifier->stopping || spare->state == SLOT_DEAD || spare->state == SLOT_ABANDONED)
        return NOBODY;
    if (spare->state != SLOT_FREE)
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
void stria_verifier_settle(struct stria_verifier *verifier, const struct slot *slot)
{
    const struct stria_map_extent *extent = extent_of(verifier, slot);
    const struct lane *lane = &verifier->lanes[extent->drive];
    count_verdict(&verifier->config.counts[slot->recording], slot->verdict, extent->length_bytes);
    verifier->status.bytes += extent->length_bytes;
    if (slot->verdict == STRIA_VERDICT_OK)
        return;
    verifier->status.findings++;
    struct stria_finding *finding = &stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_FINDING)->finding;
    *finding = (struct stria_finding){
        .verdict = slot->verdict,
        .recording = slot->recording,
        .stream_offset = extent->stream_offset,
        .length_bytes = extent->length_bytes,
        .drive = extent->drive,
        .drive_offset = stria_geometry_extent_offset(lane->config.geometry, extent->position),
        .code = slot->verdict == STRIA_VERDICT_UNREADABLE ? slot->code : STRIA_OK,
    };
    if (slot->verdict == STRIA_VERDICT_MISPLACED) {
        const struct stria_map *map = verifier->config.recordings[slot->other_recording].map;
        finding->other_recording = slot->other_recording;
        finding->other_stream_offset = map->extents[slot->other_extent].stream_offset;
    }
}

/* A slot's extent is judged. The spare slot judges alternatives, whose verdict counts only if it is good. */
static void judge(struct stria_verifier *verifier, struct slot *slot, enum stria_verdict verdict)
{
    struct lane *lane = &verifier->lanes[slot->drive];
    bool unreadable = verdict == STRIA_VERDICT_UNREADABLE;
    lane->unreadable_in_row = unreadable ? lane->unreadable_in_row + 1 : 0;
    slot->state = SLOT_SETTLE;
    if (slot != stria_verifier_spare(verifier)) {
        slot->verdict = verdict;
        slot->code = unreadable ? slot->fetch.code : STRIA_OK;
        if (verdict != STRIA_VERDICT_OK)
            slot->state = SLOT_WAITING;
        return;
    }
    uint32_t next = alternative_after(verifier, slot->recording, slot->extent, slot->alternative);
    if (verdict == STRIA_VERDICT_OK)
        slot->verdict = verdict;
    else if (next > 0)
        read_begin(verifier, slot, next);
}

void stria_verifier_give_up(struct stria_verifier *verifier, uint32_t drive, int code)
{
    struct lane *lane = &verifier->lanes[drive];
    if (lane->gone)
        return;
    lane->gone = true;
    lane->code = code;
    for (uint32_t index = 0; index < verifier->slot_count; index++) {
        struct slot *slot = &verifier->slots[index];
        bool in_flight = slot->state == SLOT_READING;
        bool due = slot->state == SLOT_SUBMIT || slot->state == SLOT_PAUSED;
        if (slot->drive != drive || (!in_flight && !due))
            continue;
        slot->fetch.code = code;
        judge(verifier, slot, STRIA_VERDICT_UNREADABLE);
        if (in_flight) {
            slot->state = SLOT_ABANDONED;
            slot->turn++;
        }
    }
}

static void read_submit(struct stria_verifier *verifier, struct slot *slot)
{
    struct stria_fetch_piece piece = stria_fetch_piece(&slot->fetch);
    const struct stria_map_extent *extent = reading(verifier, slot);
    struct stria_verifier_action *action = stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_READ);
    slot->turn++;
    slot->state = SLOT_READING;
    slot->since_ns = verifier->watch.watched_ns;
    action->drive = slot->drive;
    action->buffer = (uint32_t)(slot - verifier->slots);
    action->buffer_offset = piece.at;
    action->tag = tag_of(verifier, slot);
    action->offset = piece.offset;
    action->length_bytes = piece.bytes;
    action->digest_wanted = piece.whole;
    action->digest_bytes = extent->length_bytes;
    action->digest_seed = seed_of(verifier, slot->recording, extent);
}

static void check_submit(struct stria_verifier *verifier, struct slot *slot, uint64_t bytes, uint64_t seed)
{
    struct stria_verifier_action *action = stria_verifier_emit(verifier, STRIA_VERIFIER_ACTION_CHECK);
    slot->turn++;
    action->buffer = (uint32_t)(slot - verifier->slots);
    action->tag = tag_of(verifier, slot);
    action->digest_bytes = bytes;
    action->digest_seed = seed;
}

/* Holds the payload against the next candidate; without one left it is simply corrupt. */
static void search(struct stria_verifier *verifier, struct slot *slot)
{
    struct lane *lane = &verifier->lanes[slot->drive];
    struct stria_verifier_candidate candidate;
    bool tired = lane->searches_in_vain >= STRIA_SEARCHES_MAX;
    while (!tired && stria_verifier_candidate(verifier, slot, slot->candidate, &candidate)) {
        slot->candidate++;
        if (!candidate.extent || candidate.extent->length_bytes > slot->fetch.bytes)
            continue;
        slot->other_recording = candidate.recording;
        slot->other_extent = candidate.index;
        slot->state = SLOT_SEARCHING;
        check_submit(verifier, slot, candidate.extent->length_bytes,
                     seed_of(verifier, candidate.recording, candidate.extent));
        return;
    }
    lane->searches_in_vain += !tired;
    judge(verifier, slot, STRIA_VERDICT_CORRUPT);
}

static bool next_item(struct stria_verifier *verifier, struct slot *slot, uint32_t drive)
{
    struct lane *lane = &verifier->lanes[drive];
    if (lane->gone || verifier->stopping || lane->next == lane->config.item_count)
        return false;
    const struct stria_verifier_item *item = &lane->config.items[lane->next];
    slot->item = lane->next++;
    slot->recording = item->recording;
    slot->extent = item->extent;
    slot->candidate = 0;
    read_begin(verifier, slot, 0);
    return true;
}

static void tell_bad(struct stria_verifier *verifier, struct slot *slot, enum slot_state then)
{
    enum handing handing = stria_verifier_hand_over(verifier, slot);
    if (handing == BUSY)
        return;
    if (handing == NOBODY)
        stria_verifier_settle(verifier, slot);
    slot->state = then;
}

/* Takes a slot as far as it gets now. home is its drive, or drive_count for the spare slot. */
void stria_verifier_advance(struct stria_verifier *verifier, struct slot *slot, uint32_t home)
{
    const struct stria_map_extent *extent;
    for (enum slot_state before = SLOT_DEAD; before != slot->state;) {
        if (slot->state == SLOT_READING || slot->state == SLOT_CHECKING || slot->state == SLOT_SEARCHING ||
            slot->state == SLOT_DEAD || !stria_verifier_room(verifier))
            return;
        before = slot->state;
        switch (slot->state) {
        case SLOT_FREE:
            if (home < verifier->config.drive_count && next_item(verifier, slot, home))
                read_submit(verifier, slot);
            break;
        case SLOT_PAUSED:
            if (verifier->now_ns >= slot->resume_ns)
                read_submit(verifier, slot);
            break;
        case SLOT_SUBMIT:
            read_submit(verifier, slot);
            break;
        case SLOT_CHECK:
            extent = reading(verifier, slot);
            slot->state = SLOT_CHECKING;
            check_submit(verifier, slot, extent->length_bytes, seed_of(verifier, slot->recording, extent));
            break;
        case SLOT_SEARCH:
            search(verifier, slot);
            break;
        case SLOT_WAITING:
            tell_bad(verifier, slot, SLOT_FREE);
            break;
        case SLOT_ABANDONED:
            tell_bad(verifier, slot, SLOT_DEAD);
            break;
        case SLOT_SETTLE:
            stria_verifier_settle(verifier, slot);
            slot->state = SLOT_FREE;
            verifier->actions->more |= slot == stria_verifier_spare(verifier);
            break;
        case SLOT_READING:
        case SLOT_CHECKING:
        case SLOT_SEARCHING:
        case SLOT_DEAD:
            break;
        }
    }
}

void stria_verifier_read_done(struct stria_verifier *verifier, const struct stria_verifier_event *event)
{
    struct slot *slot = slot_of(verifier, event->tag);
    if (!slot || slot->state != SLOT_READING)
        return;
    uint32_t drive = slot->drive;
    bool whole = stria_fetch_piece(&slot->fetch).whole;
    switch (stria_fetch_done(&slot->fetch, event->code, event->bytes)) {
    case STRIA_FETCH_SUBMIT:
        slot->state = SLOT_SUBMIT;
        break;
    case STRIA_FETCH_PAUSE:
        slot->state = SLOT_PAUSED;
        slot->resume_ns = verifier->now_ns + STRIA_FETCH_PAUSE_NS;
        break;
    case STRIA_FETCH_FAILED:
        judge(verifier, slot, STRIA_VERDICT_UNREADABLE);
        break;
    case STRIA_FETCH_WHOLE:
        if (whole && event->digest == reading(verifier, slot)->digest)
            judge(verifier, slot, STRIA_VERDICT_OK);
        else
            slot->state = SLOT_CHECK;
        break;
    }
    if (event->code == STRIA_ERR_GONE)
        stria_verifier_give_up(verifier, drive, event->code);
}

/* The answer about the chunk itself: after a read in pieces, or once more and more closely. */
static void checked(struct stria_verifier *verifier, struct slot *slot,
                    const struct stria_verifier_event *event)
{
    if (event->digest == reading(verifier, slot)->digest)
        judge(verifier, slot, STRIA_VERDICT_OK);
    else if (event->zero)
        judge(verifier, slot, STRIA_VERDICT_STALE);
    else if (slot == stria_verifier_spare(verifier))
        judge(verifier, slot, STRIA_VERDICT_CORRUPT);
    else
        slot->state = SLOT_SEARCH;
}

/* The answer about a candidate. */
static void searched(struct stria_verifier *verifier, struct slot *slot,
                     const struct stria_verifier_event *event)
{
    const struct stria_map *map = verifier->config.recordings[slot->other_recording].map;
    slot->state = SLOT_SEARCH;
    if (event->digest != map->extents[slot->other_extent].digest)
        return;
    verifier->lanes[slot->drive].searches_in_vain = 0;
    judge(verifier, slot, STRIA_VERDICT_MISPLACED);
}

void stria_verifier_check_done(struct stria_verifier *verifier, const struct stria_verifier_event *event)
{
    struct slot *slot = slot_of(verifier, event->tag);
    if (slot && slot->state == SLOT_CHECKING)
        checked(verifier, slot, event);
    else if (slot && slot->state == SLOT_SEARCHING)
        searched(verifier, slot, event);
}
