#include "core/assert.h"
#include "core/bits.h"
#include "core/catalogue.h"
#include "core/catalogue_cell.h"
#include "core/catalogue_unite.h"
#include "core/code.h"

#include <string.h>

static uint32_t newest(const struct stria_catalogue *replicas, uint32_t replica_count)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < replica_count; i++)
        if (replicas[i].image && (!replicas[found].image || replicas[i].epoch > replicas[found].epoch))
            found = i;
    return found;
}

/* Room for a log that holds everything, even where that is more than the drives have room for. */
static uint32_t cells_needed(const struct stria_catalogue *replicas, uint32_t replica_count)
{
    const struct stria_catalogue *into = &replicas[newest(replicas, replica_count)];
    const uint32_t used = stria_catalogue_cells_used(replicas, replica_count) + 1;
    const uint32_t cells = into->image && into->entries_max > used ? into->entries_max : used;
    return (uint32_t)stria_align_up(cells, STRIA_PAGE_BYTES / STRIA_CATALOGUE_ENTRY_BYTES);
}

size_t stria_catalogue_merge_bytes(const struct stria_catalogue *replicas, uint32_t replica_count)
{
    return (size_t)cells_needed(replicas, replica_count) * STRIA_CATALOGUE_ENTRY_BYTES +
           stria_catalogue_unite_scratch_bytes(replicas, replica_count);
}

/* Fills empty and damaged cells of a log from another of its epoch; false when the other holds something
 * else in some cell: then they are not replicas of one log. */
static bool complement(struct stria_catalogue *into, const struct stria_catalogue *from)
{
    if (memcmp(into->image, from->image, STRIA_CATALOGUE_ENTRY_BYTES) != 0 ||
        from->entries_max != into->entries_max)
        return false;
    for (uint32_t index = 1; index < from->count; index++) {
        struct stria_catalogue_entry theirs, ours;
        const uint8_t *cell = stria_catalogue_cell_at(from, index);
        uint8_t *place = stria_catalogue_cell_at(into, index);
        if (!stria_catalogue_cell_whole(from, index, &theirs) ||
            memcmp(place, cell, STRIA_CATALOGUE_ENTRY_BYTES) == 0)
            continue;
        if (index < into->count && stria_catalogue_cell_whole(into, index, &ours))
            return false;
        memcpy(place, cell, STRIA_CATALOGUE_ENTRY_BYTES);
        if (index < into->count) {
            into->damaged_count--;
        } else {
            into->damaged_count += index - into->count;
            into->count = index + 1;
        }
        stria_catalogue_recording_seen(into, theirs.recording);
    }
    return true;
}

/* True when the log says all that another says. Both are mostly in the same order, so that each entry is
 * looked for behind the one that was found last. */
static bool covers(const struct stria_catalogue *log, const struct stria_catalogue *other)
{
    uint32_t hint = 0;
    for (uint32_t index = 1; index < other->count; index++) {
        struct stria_catalogue_entry entry;
        if (!stria_catalogue_cell_whole(other, index, &entry))
            continue;
        uint32_t tried = 0, at = hint;
        bool found = false;
        for (; tried < log->count && !found; tried++) {
            at = at + 1 < log->count ? at + 1 : 0;
            found = at > 0 &&
                    stria_catalogue_cell_same(stria_catalogue_cell_at(log, at),
                                              stria_catalogue_cell_at(other, index)) &&
                    stria_catalogue_cell_whole(log, at, &entry);
        }
        if (!found)
            return false;
        hint = at;
    }
    return true;
}

/* Complements a copy of the newest log; false when that does not give all that the replicas know. */
static bool merge_one_way(const struct stria_catalogue *replicas, uint32_t replica_count, uint32_t chosen,
                          struct stria_catalogue *merged)
{
    const uint64_t next_recording = stria_catalogue_head_next(&replicas[chosen]);
    for (uint32_t i = 0; i < replica_count; i++)
        if (i != chosen && replicas[i].image && replicas[i].epoch == merged->epoch &&
            !complement(merged, &replicas[i]))
            return false;
    for (uint32_t i = 0; i < replica_count; i++)
        if (replicas[i].image && replicas[i].epoch < merged->epoch &&
            (stria_catalogue_head_next(&replicas[i]) > next_recording || !covers(merged, &replicas[i])))
            return false;
    return true;
}

/* A new log of what replicas know that went separate ways. Ids that only one of them knows may lie below
 * the others' next ones, so next_recording, below which older programs believe in removals, does not rise. */
static int merge_separate_ways(const struct stria_catalogue *replicas, uint32_t replica_count,
                               uint32_t chosen, const struct stria_catalogue_meeting *meeting,
                               struct stria_catalogue *merged)
{
    struct stria_catalogue_union all = {
        .sources = replicas,
        .source_count = replica_count,
        .head = {.epoch = replicas[chosen].epoch + 1,
                 .format = STRIA_CATALOGUE_FORMAT,
                 .entries_max = cells_needed(replicas, replica_count)},
        .wall_ns = meeting->wall_ns,
        .drive_absent = meeting->drive_absent,
    };
    for (uint32_t i = 0; i < replica_count; i++)
        if (replicas[i].image && stria_catalogue_head_next(&replicas[i]) > all.head.next_recording)
            all.head.next_recording = stria_catalogue_head_next(&replicas[i]);
    stria_catalogue_unite(&all, merged->image + (size_t)all.head.entries_max * STRIA_CATALOGUE_ENTRY_BYTES,
                          merged);
    if (merged->count > replicas[chosen].entries_max || merged->epoch == UINT64_MAX)
        return STRIA_ERR_FULL;
    all.head.entries_max = merged->entries_max = replicas[chosen].entries_max;
    const struct stria_catalogue_entry head = {
        .kind = STRIA_CATALOGUE_HEAD, .wall_ns = meeting->wall_ns, .head = all.head};
    stria_catalogue_cell_encode(merged->image, &head, merged->seed);
    return STRIA_OK;
}

int stria_catalogue_merge(const struct stria_catalogue *replicas, uint32_t replica_count,
                          const struct stria_catalogue_meeting *meeting, struct stria_catalogue *merged)
{
    STRIA_ASSERT(replica_count > 0 && replica_count <= STRIA_DRIVES_MAX);
    const uint32_t chosen = newest(replicas, replica_count);
    *merged = replicas[chosen];
    if (!merged->image)
        return STRIA_ERR_NOT_FOUND;
    merged->image = meeting->memory;
    memcpy(merged->image, replicas[chosen].image, (size_t)merged->entries_max * STRIA_CATALOGUE_ENTRY_BYTES);
    if (merge_one_way(replicas, replica_count, chosen, merged))
        return STRIA_OK;
    return merge_separate_ways(replicas, replica_count, chosen, meeting, merged);
}

/* True when writing the log over a replica changes nothing in it that counts. */
static bool extends(const struct stria_catalogue *log, const struct stria_catalogue *replica)
{
    if (log->epoch != replica->epoch || log->entries_max != replica->entries_max)
        return false;
    for (uint32_t index = 0; index < replica->count; index++) {
        struct stria_catalogue_entry entry;
        if (stria_catalogue_cell_whole(replica, index, &entry) &&
            memcmp(stria_catalogue_cell_at(log, index), stria_catalogue_cell_at(replica, index),
                   STRIA_CATALOGUE_ENTRY_BYTES) != 0)
            return false;
    }
    return true;
}

enum stria_catalogue_renewal stria_catalogue_renewal(const struct stria_catalogue *log,
                                                     const struct stria_catalogue *replica)
{
    if (!replica->image || (log->epoch & 1) != (replica->epoch & 1))
        return STRIA_RENEWAL_WHOLE;
    if (!extends(log, replica))
        return STRIA_RENEWAL_BY_OTHER_HALF;
    return memcmp(log->image, replica->image, (size_t)log->entries_max * STRIA_CATALOGUE_ENTRY_BYTES) == 0
               ? STRIA_RENEWAL_NONE
               : STRIA_RENEWAL_IN_PLACE;
}

void stria_catalogue_copy(const struct stria_catalogue *source, uint64_t epoch, uint64_t wall_ns,
                          uint8_t *image, struct stria_catalogue *target)
{
    const struct stria_catalogue_head head = {
        .epoch = epoch,
        .next_recording = stria_catalogue_head_next(source),
        .format = STRIA_CATALOGUE_FORMAT,
        .entries_max = source->entries_max,
    };
    *target = *source;
    target->image = image;
    stria_catalogue_begin(target, &head, wall_ns);
    for (uint32_t index = 1; index < source->count; index++) {
        struct stria_catalogue_entry entry;
        if (stria_catalogue_cell_whole(source, index, &entry))
            stria_catalogue_append_cell(target, stria_catalogue_cell_at(source, index));
    }
}
