/* Removing recordings. */
#include "core/space.h"
#include "engine/array_internal.h"
#include "engine/gang.h"
#include "support/clock.h"

#include <stdlib.h>
#include <string.h>

/* The extents of one drive that a removal freed, gone through run by run. */
struct freed_extents {
    bool *freed; /* by position; null: this drive does not trim */
    uint64_t count, next;
};

static void note_used(const struct stria_member *member, struct freed_extents *extents)
{
    if (!member->drive || !member->drive->traits.trims)
        return;
    extents->count = member->super.geometry.extent_count;
    extents->freed = calloc(extents->count, sizeof(*extents->freed));
    for (uint64_t position = 0; extents->freed && position < extents->count; position++)
        extents->freed[position] = member->extent_state[position] == STRIA_EXTENT_USED;
}

static void keep_freed(const struct stria_member *member, struct freed_extents *extents)
{
    for (uint64_t position = 0; extents->freed && position < extents->count; position++)
        extents->freed[position] &= member->drive && member->extent_state[position] == STRIA_EXTENT_FREE;
}

/* The next run as a trim job; false at the end. */
static bool next_trim(const struct stria_member *member, struct freed_extents *extents,
                      struct stria_gang_job *job)
{
    memset(job, 0, sizeof(*job));
    if (!extents->freed || !member->drive)
        return false;
    while (extents->next < extents->count && !extents->freed[extents->next])
        extents->next++;
    uint64_t start = extents->next;
    while (extents->next < extents->count && extents->freed[extents->next])
        extents->next++;
    if (start == extents->next)
        return false;
    job->drive = member->drive;
    job->op = STRIA_IO_TRIM;
    job->offset = stria_geometry_extent_offset(&member->super.geometry, start);
    job->length = (extents->next - start) * member->super.geometry.chunk_bytes;
    return true;
}

/* A trim that fails costs nothing but speed: the extents are free all the same. */
static void trim(struct stria_array *array, struct freed_extents extents[STRIA_DRIVES_MAX])
{
    for (;;) {
        struct stria_gang_job jobs[STRIA_DRIVES_MAX];
        bool any = false;
        for (uint32_t index = 0; index < array->member_count; index++)
            any |= next_trim(&array->members[index], &extents[index], &jobs[index]);
        if (!any)
            return;
        stria_gang_run(jobs, array->member_count, &array->bell, array->config->write_deadline_ns);
        for (uint32_t index = 0; index < array->member_count; index++)
            if (jobs[index].drive && jobs[index].code == STRIA_ERR_TIMEOUT) {
                array->members[index].abandoned = true;
                stria_array_drop(array, index, "a trim never ended");
            }
    }
}

int stria_array_remove(struct stria_array *array, const char *name, struct stria_trouble *trouble)
{
    const struct stria_recording *recording = stria_inventory_find(&array->inventory, name);
    if (!recording)
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "array %s has no recording named %.64s: 'stria ls' lists them", array->name,
                                 name);
    if (!array->writable)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION, "array %s is open for reading only",
                                 array->name);
    if (array->busy)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY, "array %s is recording", array->name);
    struct freed_extents extents[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++)
        note_used(&array->members[index], &extents[index]);
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_REMOVED, .recording = recording->id, .wall_ns = stria_clock_wall_ns()};
    int code = stria_array_append(array, &entry, trouble);
    if (code == STRIA_OK)
        code = stria_array_take_stock(array, trouble);
    if (code == STRIA_OK) {
        for (uint32_t index = 0; index < array->member_count; index++)
            keep_freed(&array->members[index], &extents[index]);
        trim(array, extents);
    }
    for (uint32_t index = 0; index < array->member_count; index++)
        free(extents[index].freed);
    return code;
}
