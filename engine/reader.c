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

enum pull_state { PULL_EMPTY, PULL_DUE, PULL_READING, PULL_READY };

/* One chunk of the stream on its way into a buffer, or there. */
struct pull {
    enum pull_state state;
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
    struct pull *pulls;
    uint32_t pull_count;
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
static void note(struct pull *pull, enum stria_verdict verdict, int code)
{
    if (pull->tried > 0)
        return;
    pull->verdict = verdict;
    pull->code = code;
}

/* The next alternative on a drive that is there; the chunk is not to be had when none is left. */
static void begin_alternative(struct stria_reader *reader, struct pull *pull)
{
    pull->good = false;
    for (; pull->tried < pull->extent_count; pull->tried++) {
        const struct stria_map_extent *extent = &pull->extents[pull->tried];
        if (!stria_reads_usable(reader->array, extent->drive)) {
            int code = reader->array->given_up[extent->drive];
            note(pull, STRIA_VERDICT_UNREADABLE, code == STRIA_OK ? STRIA_ERR_GONE : code);
            continue;
        }
        const struct stria_member *member = &reader->array->members[extent->drive];
        stria_fetch_begin(
            &pull->fetch, stria_geometry_extent_offset(&member->super.geometry, extent->position),
            extent->length_bytes, reader->array->block_bytes, member->drive->traits.transfer_bytes_max);
        pull->state = PULL_DUE;
        pull->due_ns = 0;
        return;
    }
    pull->state = PULL_READY;
}

static void try_next(struct stria_reader *reader, struct pull *pull)
{
    pull->tried++;
    begin_alternative(reader, pull);
}

static uint64_t seed_of(const struct stria_reader *reader, const struct stria_map_extent *extent)
{
    return stria_digest_seed(reader->info.id, extent->sequence);
}

static void submit(struct stria_reader *reader, struct pull *pull, uint64_t now_ns)
{
    const struct stria_map_extent *extent = &pull->extents[pull->tried];
    struct stria_fetch_piece piece = stria_fetch_piece(&pull->fetch);
    pull->turn++;
    const struct stria_io io = {
        .op = STRIA_IO_READ,
        .offset = piece.offset,
        .length = piece.bytes,
        .data = pull->data + piece.at,
        .tag = (uint64_t)pull->turn << 32 | (uint32_t)(pull - reader->pulls),
        .digest_wanted = piece.whole,
        .digest_bytes = extent->length_bytes,
        .digest_seed = seed_of(reader, extent),
    };
    int code = stria_reads_submit(reader->array, &reader->user, extent->drive, &io);
    if (code == STRIA_OK) {
        pull->state = PULL_READING;
        pull->since_ns = reader->watch.watched_ns;
    } else if (code == STRIA_ERR_FULL) {
        pull->due_ns = now_ns + STRIA_FETCH_PAUSE_NS;
    } else if (code == STRIA_ERR_INVALID) {
        note(pull, STRIA_VERDICT_UNREADABLE, code);
        try_next(reader, pull);
    } else {
        stria_reads_give_up(reader->array, extent->drive, code);
        if (pull->state == PULL_DUE && !stria_reads_usable(reader->array, pull->extents[pull->tried].drive))
            begin_alternative(reader, pull);
    }
}

static bool is_payload_of(const struct stria_reader *reader, const struct pull *pull, size_t index)
{
    const struct stria_map_extent *extent = &reader->map.extents[index];
    return extent->sequence != pull->extents->sequence && extent->length_bytes <= pull->fetch.bytes &&
           stria_digest_seeded(seed_of(reader, extent), pull->data, extent->length_bytes) == extent->digest;
}

/* A write that was misdirected lies near, in the stream too. */
static bool find_owner(struct stria_reader *reader, struct pull *pull)
{
    const size_t here = (size_t)(pull->extents - reader->map.extents);
    const size_t first = here > NEIGHBOURS ? here - NEIGHBOURS : 0;
    for (size_t index = first; index < reader->map.extent_count && index <= here + NEIGHBOURS; index++) {
        pull->other = index;
        if (is_payload_of(reader, pull, index))
            return true;
    }
    reader->searches_in_vain++;
    return false;
}

/* Read whole, and not what came in. */
static void diagnose(struct stria_reader *reader, struct pull *pull)
{
    if (pull->tried > 0)
        return;
    pull->verdict = stria_all_zero(pull->data, pull->extents->length_bytes) ? STRIA_VERDICT_STALE
                    : reader->searches_in_vain < SEARCHES_MAX && find_owner(reader, pull)
                        ? STRIA_VERDICT_MISPLACED
                        : STRIA_VERDICT_CORRUPT;
}

static void judge(struct stria_reader *reader, struct pull *pull, uint64_t digest)
{
    pull->good = digest == pull->extents[pull->tried].digest;
    if (pull->good) {
        pull->state = PULL_READY;
        return;
    }
    diagnose(reader, pull);
    try_next(reader, pull);
}

static void on_done(void *context, uint32_t drive, const struct stria_done *done)
{
    struct stria_reader *reader = context;
    uint32_t index = (uint32_t)done->tag;
    struct pull *pull = index < reader->pull_count ? &reader->pulls[index] : NULL;
    if (!pull || pull->state != PULL_READING || pull->turn != done->tag >> 32)
        return;
    pull->state = PULL_DUE;
    pull->due_ns = 0;
    pull->read_ns = stria_clock_ns();
    if (pull->chunk == CHUNK_NONE) {
        pull->state = PULL_EMPTY;
        return;
    }
    const struct stria_map_extent *extent = &pull->extents[pull->tried];
    bool whole = stria_fetch_piece(&pull->fetch).whole;
    switch (stria_fetch_done(&pull->fetch, done->code, done->bytes)) {
    case STRIA_FETCH_SUBMIT:
        break;
    case STRIA_FETCH_PAUSE:
        pull->due_ns = stria_clock_ns() + STRIA_FETCH_PAUSE_NS;
        break;
    case STRIA_FETCH_FAILED:
        note(pull, STRIA_VERDICT_UNREADABLE, pull->fetch.code);
        try_next(reader, pull);
        break;
    case STRIA_FETCH_WHOLE:
        judge(reader, pull,
              whole ? stria_reads_digest(reader->array, drive, done, pull->data, extent->length_bytes,
                                         seed_of(reader, extent))
                    : stria_digest_seeded(seed_of(reader, extent), pull->data, extent->length_bytes));
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
static void put_off(struct stria_reader *reader, struct pull *pull)
{
    if (pull->chunk < reader->next)
        reader->next = pull->chunk;
    pull->chunk = CHUNK_NONE;
    pull->state = PULL_EMPTY;
}

/* What was in flight may still arrive: its memory is left to it. */
static void on_gone(void *context, uint32_t drive, int code)
{
    struct stria_reader *reader = context;
    (void)code;
    for (uint32_t index = 0; index < reader->pull_count; index++) {
        struct pull *pull = &reader->pulls[index];
        bool reading = pull->state == PULL_READING;
        if ((!reading && pull->state != PULL_DUE) || pull->extents[pull->tried].drive != drive)
            continue;
        if (reading) {
            pull->turn++;
            pull->data = fresh_buffer(reader);
        }
        if (pull->chunk == CHUNK_NONE || !pull->data)
            put_off(reader, pull);
        else
            begin_alternative(reader, pull);
    }
}

static struct pull *pull_of(const struct stria_reader *reader, uint64_t chunk)
{
    for (uint32_t index = 0; index < reader->pull_count; index++)
        if (reader->pulls[index].state != PULL_EMPTY && reader->pulls[index].chunk == chunk)
            return &reader->pulls[index];
    return NULL;
}

static struct pull *empty_pull(const struct stria_reader *reader)
{
    for (uint32_t index = 0; index < reader->pull_count; index++) {
        struct pull *pull = &reader->pulls[index];
        if (pull->state != PULL_EMPTY)
            continue;
        if (!pull->data)
            pull->data = fresh_buffer(reader);
        if (pull->data)
            return pull;
    }
    return NULL;
}

/* Forgets chunks outside of what is wanted from now on. */
static void forget(struct stria_reader *reader, uint64_t first, uint64_t end)
{
    for (uint32_t index = 0; index < reader->pull_count; index++) {
        struct pull *pull = &reader->pulls[index];
        if (pull->state == PULL_EMPTY || (pull->chunk >= first && pull->chunk < end))
            continue;
        pull->chunk = CHUNK_NONE;
        if (pull->state != PULL_READING)
            pull->state = PULL_EMPTY;
    }
}

/* Begins the reads of what is wanted next, as far as there are buffers. Holes cost nothing. */
static void read_ahead(struct stria_reader *reader)
{
    uint64_t end = reader->current + reader->ahead;
    while (reader->next < end) {
        struct stria_map_place place = stria_map_find(&reader->map, reader->next);
        struct pull *pull = place.state == STRIA_MAP_STORED ? empty_pull(reader) : NULL;
        if (place.state == STRIA_MAP_BEYOND || (place.state == STRIA_MAP_STORED && !pull))
            return;
        if (pull && !pull_of(reader, reader->next)) {
            pull->chunk = reader->next;
            pull->extents = place.extents;
            pull->extent_count = place.extent_count;
            pull->tried = 0;
            pull->read_ns = 0;
            begin_alternative(reader, pull);
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
        reader->ahead = reader->ahead * 2 < reader->pull_count ? reader->ahead * 2 : reader->pull_count;
    } else {
        reader->ahead = 1;
        reader->next = chunk;
    }
    reader->current = chunk;
    forget(reader, chunk, chunk > reader->next ? chunk : reader->next);
    if (reader->next < chunk || !pull_of(reader, chunk))
        reader->next = chunk;
}

/* Submits what is due and gives up drives that do not answer. Returns when there is something to do next. */
static uint64_t advance_pulls(struct stria_reader *reader, uint64_t now_ns)
{
    stria_watch_look(&reader->watch, now_ns);
    uint64_t due_ns = UINT64_MAX;
    for (uint32_t index = 0; index < reader->pull_count; index++) {
        struct pull *pull = &reader->pulls[index];
        if (pull->state == PULL_DUE && pull->due_ns <= now_ns)
            submit(reader, pull, now_ns);
        if (pull->state == PULL_READING && stria_watch_over(&reader->watch, pull->since_ns))
            stria_reads_give_up(reader->array, pull->extents[pull->tried].drive, STRIA_ERR_TIMEOUT);
        uint64_t pull_ns = pull->state == PULL_DUE       ? pull->due_ns
                           : pull->state == PULL_READING ? stria_watch_due_ns(&reader->watch, pull->since_ns)
                                                         : UINT64_MAX;
        due_ns = pull_ns < due_ns ? pull_ns : due_ns;
    }
    return due_ns;
}

static bool any_under_way(const struct stria_reader *reader)
{
    for (uint32_t index = 0; index < reader->pull_count; index++)
        if (reader->pulls[index].state == PULL_READING)
            return true;
    return false;
}

/* Reads on until the current chunk is there; null when there is no memory left to read it into. */
static struct pull *wait_for_current(struct stria_reader *reader)
{
    for (;;) {
        uint32_t ticket = stria_reads_listen(reader->array);
        uint32_t ended = stria_reads_poll(reader->array);
        uint64_t now_ns = stria_clock_ns();
        read_ahead(reader);
        bool begun = pull_of(reader, reader->current) != NULL;
        if (!begun && !any_under_way(reader))
            return NULL;
        uint64_t due_ns = advance_pulls(reader, now_ns);
        struct pull *pull = pull_of(reader, reader->current);
        if (pull && pull->state == PULL_READY)
            return pull;
        bool put_off_now = begun && !pull;
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

/* Whether what a pull holds may be called damaged: only a look that is younger than its read can tell that
 * the recording was there. One look does for all that was read before. */
static bool is_damage(struct stria_reader *reader, const struct pull *pull)
{
    if (reader->looked_ns < pull->read_ns)
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
    const struct pull *pull = wait_for_current(reader);
    if (!pull)
        return STRIA_ERR_NO_MEMORY;
    *verdict = pull->good ? STRIA_READ_OK : STRIA_READ_CORRUPT;
    if (!pull->good && !is_damage(reader, pull))
        return STRIA_ERR_NOT_FOUND;
    if (pull->good)
        *data = pull->data + within;
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
    const struct pull *pull = pull_of(reader, chunk);
    *fault = (struct stria_read_fault){.verdict = STRIA_VERDICT_MISSING,
                                       .drive = stria_array_keeper(reader->array, place.drive)};
    if (place.state != STRIA_MAP_STORED)
        return;
    const struct stria_map_extent *extent = place.extents;
    const struct stria_geometry *geometry = &reader->array->members[extent->drive].super.geometry;
    fault->verdict = pull ? pull->verdict : STRIA_VERDICT_CORRUPT;
    fault->code = pull ? pull->code : STRIA_OK;
    fault->drive = extent->drive;
    const uint64_t within = offset % reader->map.chunk_bytes;
    fault->drive_offset = stria_geometry_extent_offset(geometry, extent->position) + within;
    if (fault->verdict == STRIA_VERDICT_MISPLACED)
        fault->other_offset = reader->map.extents[pull->other].stream_offset + within;
}

static int create_pulls(struct stria_reader *reader, struct stria_trouble *trouble)
{
    const struct stria_array *array = reader->array;
    uint64_t per_drive = AHEAD_PER_DRIVE_BYTES / array->chunk_bytes;
    if (per_drive < AHEAD_PER_DRIVE_MIN)
        per_drive = AHEAD_PER_DRIVE_MIN;
    if (per_drive > AHEAD_PER_DRIVE_MAX)
        per_drive = AHEAD_PER_DRIVE_MAX;
    reader->pull_count = (uint32_t)per_drive * array->member_count + 1;
    reader->buffers_bytes = (size_t)reader->pull_count * array->chunk_bytes;
    reader->pulls = calloc(reader->pull_count, sizeof(*reader->pulls));
    reader->buffers = stria_pages_map(reader->buffers_bytes);
    if (!reader->pulls || !reader->buffers)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for reading recording %s",
                                 reader->info.name);
    for (uint32_t index = 0; index < reader->pull_count; index++)
        reader->pulls[index] =
            (struct pull){.chunk = CHUNK_NONE, .data = reader->buffers + (size_t)index * array->chunk_bytes};
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
    for (uint32_t index = 0; reader->pulls && index < reader->pull_count; index++) {
        uint8_t *data = reader->pulls[index].data;
        bool own = data && (data < reader->buffers || data >= reader->buffers + reader->buffers_bytes);
        if (own && !abandoned)
            stria_pages_unmap(data, reader->array->chunk_bytes);
    }
    if (!abandoned)
        stria_pages_unmap(reader->buffers, reader->buffers_bytes);
    stria_reads_unmap(&reader->map);
    free(reader->pulls);
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
        code = create_pulls(opened, trouble);
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
