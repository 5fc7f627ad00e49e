#include "engine/reads.h"

#include "core/digest.h"
#include "core/watch.h"
#include "engine/array_internal.h"
#include "engine/held.h"
#include "support/clock.h"

#include <stdlib.h>
#include <string.h>

#define TAG_BITS   48u
#define DONE_BATCH 64u
#define WAIT_NS    20000000u

int stria_reads_join(struct stria_array *array, struct stria_reads_user *user, struct stria_trouble *trouble)
{
    if (array->busy)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "array %s is recording: end the recording before reading", array->name);
    uint16_t number = 0;
    for (const struct stria_reads_user *other = array->readers; other; other = other->next)
        if (other->number >= number)
            number = (uint16_t)(other->number + 1);
    if (number == UINT16_MAX)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY, "array %s has too many readers", array->name);
    user->number = number;
    memset(user->outstanding, 0, sizeof(user->outstanding));
    user->attached = false;
    user->next = array->readers;
    array->readers = user;
    return STRIA_OK;
}

void stria_reads_attach(struct stria_array *array, struct stria_reads_user *user, uint32_t drive,
                        const struct stria_region *regions, unsigned count)
{
    if (array->readers != user || user->next || !stria_reads_usable(array, drive))
        return;
    struct stria_drive *open = array->members[drive].drive;
    int code = open->backend->attach(open, regions, count);
    user->attached = true;
    if (code != STRIA_OK)
        stria_reads_give_up(array, drive, code);
}

bool stria_reads_usable(const struct stria_array *array, uint32_t drive)
{
    return array->members[drive].drive && array->given_up[drive] == STRIA_OK;
}

int stria_reads_submit(struct stria_array *array, struct stria_reads_user *user, uint32_t drive,
                       const struct stria_io *io)
{
    if (!stria_reads_usable(array, drive))
        return STRIA_ERR_GONE;
    struct stria_drive *open = array->members[drive].drive;
    struct stria_io tagged = *io;
    tagged.tag |= (uint64_t)user->number << TAG_BITS;
    tagged.digest_wanted &= open->traits.digests;
    int code = open->backend->submit(open, &tagged);
    if (code == STRIA_OK)
        user->outstanding[drive]++;
    return code;
}

static struct stria_reads_user *user_of(const struct stria_array *array, uint64_t tag)
{
    struct stria_reads_user *user = array->readers;
    while (user && user->number != tag >> TAG_BITS)
        user = user->next;
    return user;
}

static uint32_t outstanding(const struct stria_array *array, uint32_t drive)
{
    uint32_t count = 0;
    for (const struct stria_reads_user *user = array->readers; user; user = user->next)
        count += user->outstanding[drive];
    return count;
}

static uint32_t poll_drive(struct stria_array *array, uint32_t drive)
{
    struct stria_drive *open = array->members[drive].drive;
    struct stria_done done[DONE_BATCH];
    int count = open->backend->poll(open, done, DONE_BATCH, 0);
    if (count < 0) {
        stria_reads_give_up(array, drive, count);
        return 1;
    }
    for (int index = 0; index < count; index++) {
        struct stria_reads_user *user = user_of(array, done[index].tag);
        if (!user || array->given_up[drive] != STRIA_OK)
            continue;
        user->outstanding[drive]--;
        done[index].tag &= ((uint64_t)1 << TAG_BITS) - 1;
        user->done(user->context, drive, &done[index]);
    }
    return (uint32_t)count;
}

uint32_t stria_reads_poll(struct stria_array *array)
{
    uint32_t count = 0;
    for (uint32_t drive = 0; drive < array->member_count; drive++)
        if (stria_reads_usable(array, drive) && outstanding(array, drive) > 0)
            count += poll_drive(array, drive);
    return count;
}

uint32_t stria_reads_listen(struct stria_array *array)
{
    return stria_bell_listen(&array->bell);
}

void stria_reads_wait(struct stria_array *array, uint32_t ticket, uint64_t wait_ns)
{
    for (uint32_t drive = 0; drive < array->member_count; drive++)
        if (stria_reads_usable(array, drive) && !array->members[drive].drive->backend->wake &&
            outstanding(array, drive) > 0)
            return;
    if (wait_ns > 0)
        stria_bell_wait(&array->bell, ticket, wait_ns < WAIT_NS ? wait_ns : WAIT_NS);
}

void stria_reads_give_up(struct stria_array *array, uint32_t drive, int code)
{
    if (!stria_reads_usable(array, drive))
        return;
    array->given_up[drive] = code;
    stria_drive_revoke(array->members[drive].drive);
    for (struct stria_reads_user *user = array->readers; user; user = user->next)
        user->gone(user->context, drive, code);
}

/* Until nothing is in flight: of one user, or of all when user is null. */
static void drain(struct stria_array *array, const struct stria_reads_user *user)
{
    struct stria_watch watch;
    stria_watch_init(&watch, array->config->read_deadline_ns);
    stria_watch_look(&watch, stria_clock_ns());
    uint64_t since_ns = watch.watched_ns;
    for (bool left = true; left;) {
        uint32_t ticket = stria_reads_listen(array);
        uint32_t count = stria_reads_poll(array);
        stria_watch_look(&watch, stria_clock_ns());
        bool late = stria_watch_over(&watch, since_ns);
        left = false;
        for (uint32_t drive = 0; drive < array->member_count; drive++) {
            if (!stria_reads_usable(array, drive))
                continue;
            bool waits = (user ? user->outstanding[drive] : outstanding(array, drive)) > 0;
            if (waits && late)
                stria_reads_give_up(array, drive, STRIA_ERR_TIMEOUT);
            left |= waits && !late;
        }
        if (left && count == 0)
            stria_reads_wait(array, ticket, WAIT_NS);
    }
}

static void detach(struct stria_array *array)
{
    drain(array, NULL);
    for (uint32_t drive = 0; drive < array->member_count; drive++)
        if (stria_reads_usable(array, drive))
            array->members[drive].drive->backend->attach(array->members[drive].drive, NULL, 0);
}

static void close_given_up(struct stria_array *array)
{
    bool any = false;
    for (uint32_t drive = 0; drive < array->member_count; drive++) {
        if (array->given_up[drive] == STRIA_OK)
            continue;
        stria_array_drop(array, drive, stria_code_text(array->given_up[drive]));
        array->given_up[drive] = STRIA_OK;
        any = true;
    }
    if (any)
        stria_array_take_stock(array, NULL);
}

bool stria_reads_leave(struct stria_array *array, struct stria_reads_user *user)
{
    stria_held_end(array, user);
    if (user->attached)
        detach(array);
    else
        drain(array, user);
    struct stria_reads_user **link = &array->readers;
    while (*link && *link != user)
        link = &(*link)->next;
    if (*link)
        *link = user->next;
    bool abandoned = false;
    for (uint32_t drive = 0; drive < array->member_count; drive++)
        abandoned |= user->outstanding[drive] > 0;
    if (!array->readers)
        close_given_up(array);
    return abandoned;
}

uint64_t stria_reads_digest(const struct stria_array *array, uint32_t drive, const struct stria_done *done,
                            const void *data, uint64_t bytes, uint64_t seed)
{
    return array->members[drive].drive->traits.digests ? done->digest
                                                       : stria_digest_seeded(seed, data, bytes);
}

int stria_reads_map(const struct stria_array *array, const struct stria_recording *recording,
                    struct stria_map *map, struct stria_trouble *trouble)
{
    if (recording->chunk_bytes != array->chunk_bytes)
        return stria_trouble_set(
            trouble, STRIA_ERR_DAMAGED,
            "recording %s says that its chunks have %u bytes, but those of array %s have "
            "%u: its catalogue entry is damaged",
            recording->name, recording->chunk_bytes, array->name, array->chunk_bytes);
    size_t extents = recording->extent_count, lost = recording->lost_entry_count;
    struct stria_map_memory memory = {
        .extents = calloc(extents ? extents : 1, sizeof(*memory.extents)),
        .extent_capacity = extents,
        .lost = calloc(lost ? lost : 1, sizeof(*memory.lost)),
        .lost_capacity = lost,
    };
    int code = STRIA_ERR_NO_MEMORY;
    if (memory.extents && memory.lost)
        code = stria_map_build(map, &array->inventory_input, recording, &memory);
    if (code == STRIA_OK)
        return STRIA_OK;
    free(memory.extents);
    free(memory.lost);
    *map = (struct stria_map){0};
    return stria_trouble_set(trouble, code, "out of memory for the map of recording %s", recording->name);
}

void stria_reads_unmap(struct stria_map *map)
{
    free(map->extents);
    free(map->lost);
    *map = (struct stria_map){0};
}
