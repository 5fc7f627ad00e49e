#include "engine/reader.h"

#include "core/bits.h"
#include "core/digest.h"
#include "core/fetch.h"
#include "core/watch.h"
#include "engine/array_internal.h"
#include "engine/held.h"
#include "engine/reads.h"
#include "support/clock.h"
#include "support/pages.h"

#include <stdlib.h>
#include <string.h>

/* Chunks read ahead of the one that is being used: enough to keep every drive busy meanwhile. */
#define AHEAD_PER_DRIVE_BYTES ((uint64_t)4 << 20)
#define AHEAD_PER_DRIVE_MIN   2u
#define AHEAD_PER_DRIVE_MAX   16u
#define CHUNK_NONE            UINT64_MAX

/* Where the payload that lies in a wrong place is looked for: as many extents of the stream on either side.
 */
#define NEIGHBOURS   32u
#define SEARCHES_MAX 256u /* in vain: then nobody looks any more */

enum slot_state { SLOT_EMPTY, SLOT_DUE, SLOT_READING, SLOT_READY };

/* One chunk of the stream on its way into a buffer, or there. */
struct slot {
    enum slot_state state;
    uint16_t turn;                          /* counts reads, so that a late completion is recognised */
    uint64_t chunk;                         /* CHUNK_NONE: nobody wants it any more */
    const struct stria_map_extent *extents; /* alternatives, of which … */
    size_t extent_count;
    size_t tried; /* … this one is being read */
    struct stria_fetch fetch;
    uint64_t due_ns;   /* DUE: when to submit */
    uint64_t since_ns; /* READING: when it was asked for, as watched time */
    uint64_t read_ns;  /* when a read of it ended last; zero: none did */
    bool good;         /* READY: proven; else what is wrong in the first place … */
    enum stria_verdict verdict;
    int code;     /* … UNREADABLE: why */
    size_t other; /* … MISPLACED: the extent in the map whose payload lies there */
    uint8_t *data;
};

struct stria_reader {
    struct stria_array *array;
    struct stria_reads_user user;
    struct stria_recording_info info;
    struct stria_map map;
    struct slot *slots;
    uint32_t slot_count;
    uint8_t *buffers;
    size_t buffers_bytes;
    uint64_t current; /* the chunk that was used last */
    uint64_t next;    /* the first chunk that was not read ahead yet */
    uint32_t ahead;   /* how far to read ahead: more the longer the reading goes straight on */
    uint32_t searches_in_vain;
    uint64_t looked_ns; /* when we began to look last whether the recording was removed */
    bool removed;       /* it was */
    struct stria_watch watch;
};

/* Whatever the alternatives are like: what counts is what is wrong in the first place. */
static void note(struct slot *slot, enum stria_verdict verdict, int code)
{
    if (slot->tried > 0)
        return;
    slot->verdict = verdict;
    slot->code = code;
}

/* The next alternative on a drive that is there; the chunk is not to be had when none is left. */
static void begin_alternative(struct stria_reader *reader, struct slot *slot)
{
    slot->good = false;
    for (; slot->tried < slot->extent_count; slot->tried++) {
        const struct stria_map_extent *extent = &slot->extents[slot->tried];
        if (!stria_reads_usable(reader->array, extent->drive)) {
            int code = reader->array->given_up[extent->drive];
            note(slot, STRIA_VERDICT_UNREADABLE, code == STRIA_OK ? STRIA_ERR_GONE : code);
            continue;
        }
        const struct stria_member *member = &reader->array->members[extent->drive];
        stria_fetch_begin(
            &slot->fetch, stria_geometry_extent_offset(&member->super.geometry, extent->position),
            extent->length_bytes, reader->array->block_bytes, member->drive->traits.transfer_bytes_max);
        slot->state = SLOT_DUE;
        slot->due_ns = 0;
        return;
    }
    slot->state = SLOT_READY;
}

static void try_next(struct stria_reader *reader, struct slot *slot)
{
    slot->tried++;
    begin_alternative(reader, slot);
}

static uint64_t seed_of(const struct stria_reader *reader, const struct stria_map_extent *extent)
{
    return stria_digest_seed(reader->info.id, extent->sequence);
}

static void submit(struct stria_reader *reader, struct slot *slot, uint64_t now_ns)
{
    const struct stria_map_extent *extent = &slot->extents[slot->tried];
    struct stria_fetch_piece piece = stria_fetch_piece(&slot->fetch);
    slot->turn++;
    const struct stria_io io = {
        .op = STRIA_IO_READ,
        .offset = piece.offset,
        .length = piece.bytes,
        .data = slot->data + piece.at,
        .tag = (uint64_t)slot->turn << 32 | (uint32_t)(slot - reader->slots),
        .digest_wanted = piece.whole,
        .digest_bytes = extent->length_bytes,
        .digest_seed = seed_of(reader, extent),
    };
    int code = stria_reads_submit(reader->array, &reader->user, extent->drive, &io);
    if (code == STRIA_OK) {
        slot->state = SLOT_READING;
        slot->since_ns = reader->watch.watched_ns;
    } else if (code == STRIA_ERR_FULL) {
        slot->due_ns = now_ns + STRIA_FETCH_PAUSE_NS;
    } else if (code == STRIA_ERR_INVALID) {
        note(slot, STRIA_VERDICT_UNREADABLE, code);
        try_next(reader, slot);
    } else {
        stria_reads_give_up(reader->array, extent->drive, code);
        if (slot->state == SLOT_DUE && !stria_reads_usable(reader->array, slot->extents[slot->tried].drive))
            begin_alternative(reader, slot);
    }
}

static bool is_payload_of(const struct stria_reader *reader, const struct slot *slot, size_t index)
{
    const struct stria_map_extent *extent = &reader->map.extents[index];
    return extent->sequence != slot->extents->sequence && extent->length_bytes <= slot->fetch.bytes &&
           stria_digest_seeded(seed_of(reader, extent), slot->data, extent->length_bytes) == extent->digest;
}

/* A write that was misdirected lies near, in the stream too. */
static bool find_owner(struct stria_reader *reader, struct slot *slot)
{
    const size_t here = (size_t)(slot->extents - reader->map.extents);
    const size_t first = here > NEIGHBOURS ? here - NEIGHBOURS : 0;
    for (size_t index = first; index < reader->map.extent_count && index <= here + NEIGHBOURS; index++) {
        slot->other = index;
        if (is_payload_of(reader, slot, index))
            return true;
    }
    reader->searches_in_vain++;
    return false;
}

/* Read whole, and not what came in. */
static void diagnose(struct stria_reader *reader, struct slot *slot)
{
    if (slot->tried > 0)
        return;
    slot->verdict = stria_all_zero(slot->data, slot->extents->length_bytes) ? STRIA_VERDICT_STALE
                    : reader->searches_in_vain < SEARCHES_MAX && find_owner(reader, slot)
                        ? STRIA_VERDICT_MISPLACED
                        : STRIA_VERDICT_CORRUPT;
}

static void judge(struct stria_reader *reader, struct slot *slot, uint64_t digest)
{
    slot->good = digest == slot->extents[slot->tried].digest;
    if (slot->good) {
        slot->state = SLOT_READY;
        return;
    }
    diagnose(reader, slot);
    try_next(reader, slot);
}

static void on_done(void *context, uint32_t drive, const struct stria_done *done)
{
    struct stria_reader *reader = context;
    uint32_t index = (uint32_t)done->tag;
    struct slot *slot = index < reader->slot_count ? &reader->slots[index] : NULL;
    if (!slot || slot->state != SLOT_READING || slot->turn != done->tag >> 32)
        return;
    slot->state = SLOT_DUE;
    slot->due_ns = 0;
    slot->read_ns = stria_clock_ns();
    if (slot->chunk == CHUNK_NONE) {
        slot->state = SLOT_EMPTY;
        return;
    }
    const struct stria_map_extent *extent = &slot->extents[slot->tried];
    bool whole = stria_fetch_piece(&slot->fetch).whole;
    switch (stria_fetch_done(&slot->fetch, done->code, done->bytes)) {
    case STRIA_FETCH_SUBMIT:
        break;
    case STRIA_FETCH_PAUSE:
        slot->due_ns = stria_clock_ns() + STRIA_FETCH_PAUSE_NS;
        break;
    case STRIA_FETCH_FAILED:
        note(slot, STRIA_VERDICT_UNREADABLE, slot->fetch.code);
        try_next(reader, slot);
        break;
    case STRIA_FETCH_WHOLE:
        judge(reader, slot,
              whole ? stria_reads_digest(reader->array, drive, done, slot->data, extent->length_bytes,
                                         seed_of(reader, extent))
                    : stria_digest_seeded(seed_of(reader, extent), slot->data, extent->length_bytes));
        break;
    }
    if (done->code == STRIA_ERR_GONE)
        stria_reads_give_up(reader->array, drive, done->code);
}

static uint8_t *fresh_buffer(const struct stria_reader *reader)
{
    return stria_pages_map(reader->array->chunk_bytes);
}

/* The chunk is begun anew once there is memory for it, if it is still wanted then. */
static void put_off(struct stria_reader *reader, struct slot *slot)
{
    if (slot->chunk < reader->next)
        reader->next = slot->chunk;
    slot->chunk = CHUNK_NONE;
    slot->state = SLOT_EMPTY;
}

/* What was in flight may still arrive: its memory is left to it. */
static void on_gone(void *context, uint32_t drive, int code)
{
    struct stria_reader *reader = context;
    (void)code;
    for (uint32_t index = 0; index < reader->slot_count; index++) {
        struct slot *slot = &reader->slots[index];
        bool reading = slot->state == SLOT_READING;
        if ((!reading && slot->state != SLOT_DUE) || slot->extents[slot->tried].drive != drive)
            continue;
        if (reading) {
            slot->turn++;
            slot->data = fresh_buffer(reader);
        }
        if (slot->chunk == CHUNK_NONE || !slot->data)
            put_off(reader, slot);
        else
            begin_alternative(reader, slot);
    }
}

static struct slot *slot_of(const struct stria_reader *reader, uint64_t chunk)
{
    for (uint32_t index = 0; index < reader->slot_count; index++)
        if (reader->slots[index].state != SLOT_EMPTY && reader->slots[index].chunk == chunk)
            return &reader->slots[index];
    return NULL;
}

static struct slot *empty_slot(const struct stria_reader *reader)
{
    for (uint32_t index = 0; index < reader->slot_count; index++) {
        struct slot *slot = &reader->slots[index];
        if (slot->state != SLOT_EMPTY)
            continue;
        if (!slot->data)
            slot->data = fresh_buffer(reader);
        if (slot->data)
            return slot;
    }
    return NULL;
}

/* Forgets chunks outside of what is wanted from now on. */
static void forget(struct stria_reader *reader, uint64_t first, uint64_t end)
{
    for (uint32_t index = 0; index < reader->slot_count; index++) {
        struct slot *slot = &reader->slots[index];
        if (slot->state == SLOT_EMPTY || (slot->chunk >= first && slot->chunk < end))
            continue;
        slot->chunk = CHUNK_NONE;
        if (slot->state != SLOT_READING)
            slot->state = SLOT_EMPTY;
    }
}

/* Begins the reads of what is wanted next, as far as there are buffers. Holes cost nothing. */
static void read_ahead(struct stria_reader *reader)
{
    uint64_t end = reader->current + reader->ahead;
    while (reader->next < end) {
        struct stria_map_place place = stria_map_find(&reader->map, reader->next);
        struct slot *slot = place.state == STRIA_MAP_STORED ? empty_slot(reader) : NULL;
        if (place.state == STRIA_MAP_BEYOND || (place.state == STRIA_MAP_STORED && !slot))
            return;
        if (slot && !slot_of(reader, reader->next)) {
            slot->chunk = reader->next;
            slot->extents = place.extents;
            slot->extent_count = place.extent_count;
            slot->tried = 0;
            slot->read_ns = 0;
            begin_alternative(reader, slot);
        }
        if (place.state != STRIA_MAP_STORED)
            end = end > UINT64_MAX - place.chunk_count ? UINT64_MAX : end + place.chunk_count;
        reader->next += place.chunk_count;
    }
}

/* A jump begins anew, reading ahead little; going straight on reads ahead more and more. */
static void move_to(struct stria_reader *reader, uint64_t chunk)
{
    if (chunk == reader->current)
        return;
    if (chunk == reader->current + 1 || (chunk > reader->current && chunk <= reader->next)) {
        reader->ahead = reader->ahead * 2 < reader->slot_count ? reader->ahead * 2 : reader->slot_count;
    } else {
        reader->ahead = 1;
        reader->next = chunk;
    }
    reader->current = chunk;
    forget(reader, chunk, chunk > reader->next ? chunk : reader->next);
    if (reader->next < chunk || !slot_of(reader, chunk))
        reader->next = chunk;
}

/* Submits what is due and gives up drives that do not answer. Returns when there is something to do next. */
static uint64_t drive_slots(struct stria_reader *reader, uint64_t now_ns)
{
    stria_watch_look(&reader->watch, now_ns);
    uint64_t due_ns = UINT64_MAX;
    for (uint32_t index = 0; index < reader->slot_count; index++) {
        struct slot *slot = &reader->slots[index];
        if (slot->state == SLOT_DUE && slot->due_ns <= now_ns)
            submit(reader, slot, now_ns);
        if (slot->state == SLOT_READING && stria_watch_over(&reader->watch, slot->since_ns))
            stria_reads_give_up(reader->array, slot->extents[slot->tried].drive, STRIA_ERR_TIMEOUT);
        uint64_t slot_ns = slot->state == SLOT_DUE       ? slot->due_ns
                           : slot->state == SLOT_READING ? stria_watch_due_ns(&reader->watch, slot->since_ns)
                                                         : UINT64_MAX;
        due_ns = slot_ns < due_ns ? slot_ns : due_ns;
    }
    return due_ns;
}

static bool any_under_way(const struct stria_reader *reader)
{
    for (uint32_t index = 0; index < reader->slot_count; index++)
        if (reader->slots[index].state == SLOT_READING)
            return true;
    return false;
}

/* Reads on until the current chunk is there; null when there is no memory left to read it into. */
static struct slot *wait_for_current(struct stria_reader *reader)
{
    for (;;) {
        uint32_t ticket = stria_reads_listen(reader->array);
        uint32_t ended = stria_reads_poll(reader->array);
        uint64_t now_ns = stria_clock_ns();
        read_ahead(reader);
        bool begun = slot_of(reader, reader->current) != NULL;
        if (!begun && !any_under_way(reader))
            return NULL;
        uint64_t due_ns = drive_slots(reader, now_ns);
        struct slot *slot = slot_of(reader, reader->current);
        if (slot && slot->state == SLOT_READY)
            return slot;
        bool put_off_now = begun && !slot;
        if (ended == 0 && due_ns > now_ns && !put_off_now)
            stria_reads_wait(reader->array, ticket, due_ns - now_ns);
    }
}

static enum stria_read_verdict hole_verdict(enum stria_map_state state)
{
    return state == STRIA_MAP_MISSING ? STRIA_READ_MISSING : STRIA_READ_GAP;
}

bool stria_reader_removed(struct stria_reader *reader)
{
    reader->looked_ns = stria_clock_ns();
    if (!reader->removed && !reader->array->writable)
        stria_held_look(reader->array, &reader->info.id, 1, &reader->removed);
    return reader->removed;
}

/* Whether what a slot holds may be called damaged: only a look that is younger than its read can tell that
 * the recording was there. One look does for all that was read before. */
static bool is_damage(struct stria_reader *reader, const struct slot *slot)
{
    if (reader->looked_ns < slot->read_ns)
        stria_reader_removed(reader);
    return !reader->removed;
}

int64_t stria_reader_view(struct stria_reader *reader, uint64_t offset, const void **data,
                          enum stria_read_verdict *verdict)
{
    *data = NULL;
    *verdict = STRIA_READ_OK;
    if (offset >= reader->map.length_bytes)
        return 0;
    uint64_t chunk = offset / reader->map.chunk_bytes;
    uint64_t within = offset % reader->map.chunk_bytes;
    struct stria_map_place place = stria_map_find(&reader->map, chunk);
    uint64_t bytes = stria_map_bytes(&reader->map, chunk, place.chunk_count) - within;
    if (place.state != STRIA_MAP_STORED) {
        *verdict = hole_verdict(place.state);
        return (int64_t)bytes;
    }
    move_to(reader, chunk);
    const struct slot *slot = wait_for_current(reader);
    if (!slot)
        return STRIA_ERR_NO_MEMORY;
    *verdict = slot->good ? STRIA_READ_OK : STRIA_READ_CORRUPT;
    if (!slot->good && !is_damage(reader, slot))
        return STRIA_ERR_NOT_FOUND;
    if (slot->good)
        *data = slot->data + within;
    return (int64_t)bytes;
}

int64_t stria_reader_read(struct stria_reader *reader, uint64_t offset, void *buffer, size_t bytes,
                          enum stria_read_verdict *verdict)
{
    size_t done = 0;
    *verdict = STRIA_READ_OK;
    if (bytes > INT64_MAX)
        bytes = INT64_MAX;
    while (done < bytes) {
        const void *data;
        enum stria_read_verdict next;
        int64_t count = stria_reader_view(reader, offset + done, &data, &next);
        if (count < 0 && done == 0)
            return count;
        if (count <= 0 || (done > 0 && next != *verdict))
            break;
        *verdict = next;
        size_t take = (uint64_t)count < bytes - done ? (size_t)count : bytes - done;
        if (data)
            memcpy((uint8_t *)buffer + done, data, take);
        else
            memset((uint8_t *)buffer + done, 0, take);
        done += take;
    }
    return (int64_t)done;
}

void stria_reader_describe(const struct stria_reader *reader, struct stria_recording_info *info)
{
    *info = reader->info;
}

enum stria_gap_cause stria_reader_gap(const struct stria_reader *reader, uint64_t offset, int *drive)
{
    struct stria_map_place place = stria_map_find(&reader->map, offset / reader->map.chunk_bytes);
    bool gap = place.state == STRIA_MAP_GAP || place.state == STRIA_MAP_LOST;
    *drive = gap && place.drive < reader->array->member_count ? (int)place.drive : -1;
    return gap ? (enum stria_gap_cause)place.cause : STRIA_GAP_NONE;
}

void stria_reader_fault(const struct stria_reader *reader, uint64_t offset, struct stria_read_fault *fault)
{
    const uint64_t chunk = offset / reader->map.chunk_bytes;
    const struct stria_map_place place = stria_map_find(&reader->map, chunk);
    const struct slot *slot = slot_of(reader, chunk);
    *fault = (struct stria_read_fault){.verdict = STRIA_VERDICT_MISSING,
                                       .drive = stria_array_keeper(reader->array, place.drive)};
    if (place.state != STRIA_MAP_STORED)
        return;
    const struct stria_map_extent *extent = place.extents;
    const struct stria_geometry *geometry = &reader->array->members[extent->drive].super.geometry;
    fault->verdict = slot ? slot->verdict : STRIA_VERDICT_CORRUPT;
    fault->code = slot ? slot->code : STRIA_OK;
    fault->drive = extent->drive;
    const uint64_t within = offset % reader->map.chunk_bytes;
    fault->drive_offset = stria_geometry_extent_offset(geometry, extent->position) + within;
    if (fault->verdict == STRIA_VERDICT_MISPLACED)
        fault->other_offset = reader->map.extents[slot->other].stream_offset + within;
}

static int create_slots(struct stria_reader *reader, struct stria_trouble *trouble)
{
    const struct stria_array *array = reader->array;
    uint64_t per_drive = AHEAD_PER_DRIVE_BYTES / array->chunk_bytes;
    if (per_drive < AHEAD_PER_DRIVE_MIN)
        per_drive = AHEAD_PER_DRIVE_MIN;
    if (per_drive > AHEAD_PER_DRIVE_MAX)
        per_drive = AHEAD_PER_DRIVE_MAX;
    reader->slot_count = (uint32_t)per_drive * array->member_count + 1;
    reader->buffers_bytes = (size_t)reader->slot_count * array->chunk_bytes;
    reader->slots = calloc(reader->slot_count, sizeof(*reader->slots));
    reader->buffers = stria_pages_map(reader->buffers_bytes);
    if (!reader->slots || !reader->buffers)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for reading recording %s",
                                 reader->info.name);
    for (uint32_t index = 0; index < reader->slot_count; index++)
        reader->slots[index] =
            (struct slot){.chunk = CHUNK_NONE, .data = reader->buffers + (size_t)index * array->chunk_bytes};
    return STRIA_OK;
}

static void attach_buffers(struct stria_reader *reader)
{
    const struct stria_region region = {reader->buffers, reader->buffers_bytes};
    for (uint32_t index = 0; index < reader->array->member_count; index++)
        stria_reads_attach(reader->array, &reader->user, index, &region, 1);
}

static void destroy(struct stria_reader *reader, bool abandoned)
{
    for (uint32_t index = 0; reader->slots && index < reader->slot_count; index++) {
        uint8_t *data = reader->slots[index].data;
        bool own = data && (data < reader->buffers || data >= reader->buffers + reader->buffers_bytes);
        if (own && !abandoned)
            stria_pages_unmap(data, reader->array->chunk_bytes);
    }
    if (!abandoned)
        stria_pages_unmap(reader->buffers, reader->buffers_bytes);
    stria_reads_unmap(&reader->map);
    free(reader->slots);
    free(reader);
}

static int hold(struct stria_reader *reader, struct stria_trouble *trouble)
{
    const int code =
        stria_held_begin(reader->array, &reader->user, &reader->info.id, 1, &reader->removed, trouble);
    if (code != STRIA_OK || !reader->removed)
        return code;
    return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND, "recording %s has just been removed",
                             reader->info.name);
}

int stria_reader_open(struct stria_array *array, const char *name, struct stria_reader **reader,
                      struct stria_trouble *trouble)
{
    const struct stria_recording *recording = stria_inventory_find(&array->inventory, name);
    if (!recording)
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "array %s has no recording named %.64s: 'stria ls' lists them", array->name,
                                 name);
    struct stria_reader *opened = calloc(1, sizeof(*opened));
    if (!opened)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    opened->array = array;
    stria_watch_init(&opened->watch, array->config->read_deadline_ns);
    opened->current = CHUNK_NONE;
    opened->ahead = 1;
    opened->user = (struct stria_reads_user){.context = opened, .done = on_done, .gone = on_gone};
    stria_recording_describe(recording, &opened->info);
    int code = stria_reads_map(array, recording, &opened->map, trouble);
    if (code == STRIA_OK)
        code = create_slots(opened, trouble);
    if (code == STRIA_OK)
        code = stria_reads_join(array, &opened->user, trouble);
    const bool joined = code == STRIA_OK;
    if (code == STRIA_OK)
        code = hold(opened, trouble);
    if (code != STRIA_OK && joined)
        stria_reads_leave(array, &opened->user);
    if (code != STRIA_OK) {
        destroy(opened, false);
        return code;
    }
    attach_buffers(opened);
    *reader = opened;
    return STRIA_OK;
}

void stria_reader_close(struct stria_reader *reader)
{
    if (!reader)
        return;
    bool abandoned = stria_reads_leave(reader->array, &reader->user);
    destroy(reader, abandoned);
}
