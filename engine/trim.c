#include "engine/trim.h"

#include "engine/gang.h"

#include <stdlib.h>
#include <string.h>

static uint64_t extent_count(const struct stria_member *member)
{
    return member->super.geometry.extent_count;
}

void stria_extent_set_fill(struct stria_extent_set *set, const struct stria_array *array,
                           enum stria_extent_state state)
{
    memset(set, 0, sizeof(*set));
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_member *member = &array->members[index];
        if (!member->drive || !member->drive->traits.trims)
            continue;
        set->in[index] = calloc(extent_count(member), sizeof(*set->in[index]));
        for (uint64_t position = 0; set->in[index] && position < extent_count(member); position++)
            set->in[index][position] = member->extent_state[position] == state;
    }
}

void stria_extent_set_keep(struct stria_extent_set *set, const struct stria_array *array,
                           enum stria_extent_state state)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_member *member = &array->members[index];
        for (uint64_t position = 0; set->in[index] && position < extent_count(member); position++)
            set->in[index][position] &= member->drive && member->extent_state[position] == state;
    }
}

void stria_extent_set_clear(struct stria_extent_set *set)
{
    for (uint32_t index = 0; index < STRIA_DRIVES_MAX; index++)
        free(set->in[index]);
    memset(set, 0, sizeof(*set));
}

/* The next run of one drive from *next on, as a job; false at the end. */
static bool next_run(const struct stria_member *member, const bool *in, uint64_t *next,
                     struct stria_gang_job *job)
{
    memset(job, 0, sizeof(*job));
    if (!in || !member->drive)
        return false;
    uint64_t count = extent_count(member);
    while (*next < count && !in[*next])
        ++*next;
    uint64_t start = *next;
    while (*next < count && in[*next])
        ++*next;
    if (start == *next)
        return false;
    job->drive = member->drive;
    job->op = STRIA_IO_TRIM;
    job->offset = stria_geometry_extent_offset(&member->super.geometry, start);
    job->length = (*next - start) * member->super.geometry.chunk_bytes;
    return true;
}

void stria_array_trim(struct stria_array *array, const struct stria_extent_set *set)
{
    uint64_t next[STRIA_DRIVES_MAX] = {0};
    for (;;) {
        struct stria_gang_job jobs[STRIA_DRIVES_MAX];
        bool any = false;
        for (uint32_t index = 0; index < array->member_count; index++)
            any |= next_run(&array->members[index], set->in[index], &next[index], &jobs[index]);
        if (!any)
            return;
        stria_gang_run(jobs, array->member_count, &array->bell, array->config->read_deadline_ns);
        for (uint32_t index = 0; index < array->member_count; index++) {
            if (!jobs[index].drive || jobs[index].code != STRIA_ERR_TIMEOUT)
                continue;
            array->members[index].abandoned = true;
            stria_array_drop(array, index, "a trim never ended");
        }
    }
}
