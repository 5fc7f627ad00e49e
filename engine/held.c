#include "engine/held.h"

#include "core/watch.h"
#include "engine/array_internal.h"
#include "engine/reads.h"
#include "support/clock.h"
#include "support/pages.h"

#include <stdlib.h>

#define PIECE_BYTES ((uint64_t)1 << 20)
#define PAUSE_NS    1000000u
#define RETRIES_MAX 500u /* in a row without a byte */

static void set_locks(struct stria_array *array, uint64_t recording, enum stria_lock how)
{
    char holder[STRIA_LOCK_HOLDER_BYTES];
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive)
            stria_drive_lock(array->members[index].drive, recording, how, holder);
}

/* Who or what is in the way of a lock. */
struct obstacle {
    uint32_t drive;
    char holder[STRIA_LOCK_HOLDER_BYTES]; /* STRIA_ERR_BUSY */
};

/* Reading goes on where a lock fails: removing is what must not, while it does not know of readers. */
static bool stands_in_the_way(int code, enum stria_lock how)
{
    return code == STRIA_ERR_BUSY ||
           (how == STRIA_LOCK_ALONE && code != STRIA_OK && code != STRIA_ERR_UNSUPPORTED);
}

/* On every drive, since others may have only some of them. */
static int lock(struct stria_array *array, uint64_t recording, enum stria_lock how, struct obstacle *obstacle)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_drive *drive = array->members[index].drive;
        const int code = drive ? stria_drive_lock(drive, recording, how, obstacle->holder) : STRIA_OK;
        if (!stands_in_the_way(code, how))
            continue;
        obstacle->drive = index;
        set_locks(array, recording, STRIA_LOCK_NONE);
        return code;
    }
    return STRIA_OK;
}

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static bool among(const uint64_t *recordings, uint32_t count, uint64_t recording)
{
    return bsearch(&recording, recordings, count, sizeof(*recordings), compare) != NULL;
}

/* A drive's catalogue on its way into memory. */
struct look {
    struct stria_reads_user user;
    struct stria_watch watch;
    uint32_t drive;
    uint8_t *data;
    uint64_t offset, length; /* on the drive */
    uint64_t done;           /* of length */
    uint64_t due_ns;         /* when to ask on */
    uint64_t heard_ns;       /* of the drive, as watched time: its last answer */
    uint32_t retries;
    bool asked;
    int code;
};

static void on_done(void *context, uint32_t drive, const struct stria_done *done)
{
    struct look *look = context;
    (void)drive;
    look->asked = false;
    look->heard_ns = look->watch.watched_ns;
    if (done->code == STRIA_OK && done->bytes > 0) {
        look->done += done->bytes;
        look->retries = 0;
    } else if (done->code == STRIA_ERR_AGAIN && ++look->retries <= RETRIES_MAX) {
        look->due_ns = look->watch.now_ns + PAUSE_NS;
    } else {
        look->code = done->code == STRIA_OK ? STRIA_ERR_IO : done->code;
    }
}

static void on_gone(void *context, uint32_t drive, int code)
{
    struct look *look = context;
    if (drive == look->drive)
        look->code = code;
}

static void ask(struct stria_array *array, struct look *look)
{
    const uint64_t left = look->length - look->done;
    const struct stria_io io = {
        .op = STRIA_IO_READ,
        .offset = look->offset + look->done,
        .length = left < PIECE_BYTES ? left : PIECE_BYTES,
        .data = look->data + look->done,
    };
    const int code = stria_reads_submit(array, &look->user, look->drive, &io);
    look->asked = code == STRIA_OK;
    if (code == STRIA_ERR_FULL)
        look->due_ns = look->watch.now_ns + PAUSE_NS;
    else if (code != STRIA_OK)
        look->code = code;
}

static bool is_due(const struct look *look)
{
    return look->code == STRIA_OK && !look->asked && look->done < look->length &&
           look->due_ns <= look->watch.now_ns;
}

static void read_catalogue(struct stria_array *array, struct look *look)
{
    stria_watch_init(&look->watch, array->config->read_deadline_ns);
    stria_watch_look(&look->watch, stria_clock_ns());
    look->heard_ns = look->watch.watched_ns;
    while (look->code == STRIA_OK && look->done < look->length) {
        const uint32_t ticket = stria_reads_listen(array);
        const uint32_t ended = stria_reads_poll(array);
        if (is_due(look))
            ask(array, look);
        if (look->code == STRIA_OK && stria_watch_over(&look->watch, look->heard_ns))
            stria_reads_give_up(array, look->drive, STRIA_ERR_TIMEOUT);
        else if (ended == 0 && (look->asked || look->due_ns > look->watch.now_ns))
            stria_reads_wait(array, ticket, PAUSE_NS);
        stria_watch_look(&look->watch, stria_clock_ns());
    }
}

/* What one log says of recordings. */
static void take_mentions(const struct stria_catalogue *log, const uint64_t *recordings, uint32_t count,
                          bool *begun, bool *removed)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 1; stria_catalogue_next(log, &index, &entry);) {
        const uint64_t *found = bsearch(&entry.recording, recordings, count, sizeof(*recordings), compare);
        if (found && entry.kind == STRIA_CATALOGUE_BEGUN)
            begun[found - recordings] = true;
        if (found && entry.kind == STRIA_CATALOGUE_REMOVED)
            removed[found - recordings] = true;
    }
}

static int look_at(struct stria_array *array, uint32_t drive, const uint64_t *recordings, uint32_t count,
                   bool *begun, bool *removed)
{
    const struct stria_member *member = &array->members[drive];
    const size_t half_bytes = stria_member_half_bytes(member);
    struct look look = {.drive = drive,
                        .offset = member->super.geometry.catalogue_offset,
                        .length = 2 * (uint64_t)half_bytes};
    look.user = (struct stria_reads_user){.context = &look, .done = on_done, .gone = on_gone};
    look.data = stria_pages_map(look.length);
    if (!look.data)
        return STRIA_ERR_NO_MEMORY;
    look.code = stria_reads_join(array, &look.user, NULL);
    bool abandoned = false;
    if (look.code == STRIA_OK) {
        read_catalogue(array, &look);
        abandoned = stria_reads_leave(array, &look.user);
    }
    uint8_t *halves[2] = {look.data, look.data + half_bytes};
    struct stria_catalogue log;
    if (look.code == STRIA_OK)
        look.code = stria_catalogue_load(&log, halves, half_bytes, array->uuid);
    if (look.code == STRIA_OK)
        take_mentions(&log, recordings, count, begun, removed);
    if (!abandoned)
        stria_pages_unmap(look.data, look.length);
    return look.code;
}

void stria_held_look(struct stria_array *array, const uint64_t *recordings, uint32_t count, bool *removed)
{
    bool *begun = calloc(count ? count : 1, sizeof(*begun));
    bool all = begun != NULL;
    for (uint32_t index = 0; index < array->member_count; index++)
        all &= !array->members[index].drive || stria_reads_usable(array, index);
    for (uint32_t index = 0; all && index < array->member_count; index++)
        if (array->members[index].drive)
            all = look_at(array, index, recordings, count, begun, removed) == STRIA_OK;
    /* What no drive knows any more was removed and forgotten. */
    for (uint32_t index = 0; all && index < count; index++)
        removed[index] |= !begun[index];
    free(begun);
}

/* Nobody else writes to an array that is open for writing here. */
static void look_for_removed(struct stria_array *array, const uint64_t *recordings, uint32_t count,
                             bool *removed)
{
    if (!array->writable)
        stria_held_look(array, recordings, count, removed);
}

int stria_held_begin(struct stria_array *array, struct stria_reads_user *user, const uint64_t *recordings,
                     uint32_t count, bool *removed, struct stria_trouble *trouble)
{
    struct obstacle obstacle;
    user->recordings = recordings;
    for (uint32_t index = 0; index < count; index++) {
        if (lock(array, recordings[index], STRIA_LOCK_SHARED, &obstacle) != STRIA_OK) {
            const struct stria_recording *recording =
                stria_inventory_find_id(&array->inventory, recordings[index]);
            return stria_trouble_set(trouble, STRIA_ERR_BUSY, "recording %s is being removed by %s",
                                     recording ? recording->name : "", obstacle.holder);
        }
        user->recording_count = index + 1;
    }
    look_for_removed(array, recordings, count, removed);
    return STRIA_OK;
}

uint32_t stria_held_begin_rest(struct stria_array *array, struct stria_reads_user *user, uint64_t *recordings,
                               uint32_t count, bool *removed)
{
    struct obstacle obstacle;
    user->recordings = recordings;
    for (uint32_t index = 0; index < count; index++)
        if (lock(array, recordings[index], STRIA_LOCK_SHARED, &obstacle) == STRIA_OK)
            recordings[user->recording_count++] = recordings[index];
    look_for_removed(array, recordings, user->recording_count, removed);
    return user->recording_count;
}

void stria_held_end(struct stria_array *array, struct stria_reads_user *user)
{
    for (uint32_t index = 0; index < user->recording_count; index++) {
        bool others = false;
        for (const struct stria_reads_user *other = array->readers; other; other = other->next)
            others |=
                other != user && among(other->recordings, other->recording_count, user->recordings[index]);
        if (!others)
            set_locks(array, user->recordings[index], STRIA_LOCK_NONE);
    }
    user->recording_count = 0;
}

int stria_held_alone(struct stria_array *array, const struct stria_recording_info *recording,
                     struct stria_trouble *trouble)
{
    struct obstacle obstacle;
    const int code = lock(array, recording->id, STRIA_LOCK_ALONE, &obstacle);
    if (code == STRIA_OK)
        return STRIA_OK;
    if (code == STRIA_ERR_BUSY)
        return stria_trouble_set(trouble, code,
                                 "recording %s is being read by %s: wait until that has ended, or end it",
                                 recording->name, obstacle.holder);
    const struct stria_drive_config *config = array->members[obstacle.drive].config;
    return stria_trouble_set(trouble, code,
                             "recording %s stays, for whether somebody reads it is not known: locking it on "
                             "%s failed (%s): try again",
                             recording->name, config ? config->name : "a drive", stria_code_text(code));
}

void stria_held_release(struct stria_array *array, uint64_t recording)
{
    set_locks(array, recording, STRIA_LOCK_NONE);
}
