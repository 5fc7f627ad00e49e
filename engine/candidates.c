/* Which of the drives that array.ini names are the array's. */
#include "engine/array_internal.h"
#include "engine/stack.h"
#include "support/units.h"
#include "support/uuid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One drive of the INI, opened and looked at. */
struct candidate {
    const struct stria_drive_config *config;
    struct stria_drive *drive;
    struct stria_superblock super;
    struct stria_member_copies copies;
    bool read_only;
    struct stria_trouble trouble;
};

/* Where a limit leaves not even room for the metadata and a chunk, the drive cannot be written at all. */
static bool too_limited(const struct candidate *candidate)
{
    const uint64_t writable = candidate->drive->traits.writable_bytes;
    const struct stria_geometry *geometry = &candidate->super.geometry;
    return writable > 0 && writable < geometry->data_offset + geometry->chunk_bytes;
}

static int refuse_limited(const struct candidate *candidate, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_PERMISSION,
                             "%s has %" PRIu64 " bytes, and this process may write only the first %" PRIu64
                             " of a file: raise the limit on the size of files (ulimit -f, LimitFSIZE=)",
                             candidate->config->path, candidate->drive->traits.drive_bytes,
                             candidate->drive->traits.writable_bytes);
}

static void open_candidate(struct stria_array *array, struct candidate *candidate)
{
    struct stria_stack_options options = {
        .writable = array->writable,
        .partly = true,
        .depth = stria_depth_with_extra(array->config->depth),
        .bell = &array->bell,
    };
    if (stria_stack_open(candidate->config, &options, &candidate->drive, &candidate->trouble) != STRIA_OK)
        return;
    int code = stria_member_identify(candidate->drive, array->config->read_deadline_ns, &candidate->super,
                                     &candidate->read_only, &candidate->copies, &candidate->trouble);
    if (code == STRIA_OK && too_limited(candidate))
        code = refuse_limited(candidate, &candidate->trouble);
    if (code != STRIA_OK) {
        stria_stack_close(candidate->drive);
        candidate->drive = NULL;
    }
}

/* Whoever uses one drive of an array now may be writing to it; what went onto the others meanwhile would
 * split the array in two. */
static const struct stria_trouble *refuse_busy(struct candidate *candidate)
{
    char reason[sizeof(candidate->trouble.sentence)];
    memcpy(reason, candidate->trouble.sentence, sizeof(reason));
    stria_trouble_set(&candidate->trouble, candidate->trouble.code,
                      "%s; an array of which a drive is in use is not written to (of two that begin at once "
                      "both may be refused: begin one again)",
                      reason);
    return &candidate->trouble;
}

/* Opens the drives in the order of array.ini; for writing, none after one that is in use. Returns why the
 * array is not to be opened; null: nothing is against it. */
static const struct stria_trouble *open_candidates(struct stria_array *array, struct candidate *candidates,
                                                   uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        candidates[index].config = &array->config->drives[index];
        open_candidate(array, &candidates[index]);
        if (array->writable && candidates[index].trouble.code == STRIA_ERR_BUSY)
            return refuse_busy(&candidates[index]);
    }
    return NULL;
}

static bool same_array(const struct stria_superblock *one, const struct stria_superblock *other)
{
    return memcmp(one->array_uuid, other->array_uuid, STRIA_UUID_BYTES) == 0;
}

/* How many of the drives belong to the same array as this one. */
static uint32_t votes_for(const struct candidate *candidates, uint32_t count,
                          const struct stria_superblock *super)
{
    uint32_t votes = 0;
    for (uint32_t index = 0; index < count; index++)
        votes += candidates[index].drive && same_array(&candidates[index].super, super);
    return votes;
}

static bool is_named(const struct stria_array *array, const struct stria_superblock *super)
{
    return super && strcmp(super->array_name, array->config->name) == 0;
}

/* An array.ini without a name means whichever array its paths lead to. */
static bool is_meant(const struct stria_array *array, const char *name)
{
    return array->config->name_initial || strcmp(name, array->config->name) == 0;
}

/* Which array the drives are taken for. */
struct choice {
    const struct stria_superblock *super; /* of one of its drives; null: there is none */
    bool tied; /* another array has as many drives, and as good a claim to the name */
};

/* The array that most drives belong to; among equals the one that array.ini names, then the first. */
static struct choice choose_array(const struct stria_array *array, const struct candidate *candidates,
                                  uint32_t count)
{
    struct choice choice = {0};
    uint32_t most = 0;
    for (uint32_t index = 0; index < count; index++) {
        const struct stria_superblock *super = &candidates[index].super;
        if (!candidates[index].drive || (choice.super && same_array(super, choice.super)))
            continue;
        const uint32_t votes = votes_for(candidates, count, super);
        const bool named = is_named(array, super);
        if (!choice.super || votes > most || (votes == most && named && !is_named(array, choice.super)))
            choice = (struct choice){.super = super};
        else if (votes == most && named == is_named(array, choice.super))
            choice.tied = true;
        most = votes > most ? votes : most;
    }
    return choice;
}

/* "a.img of 'alpha' with UUID …, b.img of 'beta' with UUID …" */
static void print_owners(const struct candidate *candidates, uint32_t count, char *text, size_t size)
{
    text[0] = '\0';
    for (uint32_t index = 0; index < count; index++) {
        const struct candidate *candidate = &candidates[index];
        const size_t used = strlen(text);
        char uuid[STRIA_UUID_TEXT_BYTES];
        if (!candidate->drive)
            continue;
        stria_uuid_text(candidate->super.array_uuid, uuid);
        const int more = snprintf(text + used, size - used, "%s%s of '%s' with UUID %s", used > 0 ? ", " : "",
                                  candidate->config->path, candidate->super.array_name, uuid);
        if (more < 0 || (size_t)more >= size - used)
            return; /* the sentence has no room for the rest either */
    }
}

/* Which array is meant must be certain before one is changed. */
static int check_choice(const struct stria_array *array, const struct choice *choice,
                        const struct candidate *candidates, uint32_t count, struct stria_trouble *trouble)
{
    const struct stria_array_config *config = array->config;
    char owners[4096];
    if (!array->writable || (!choice->tied && choice->super && is_meant(array, choice->super->array_name)))
        return STRIA_OK;
    print_owners(candidates, count, owners, sizeof(owners));
    if (choice->tied)
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                 "%s: its drives belong to several arrays, as many to one as to another, and "
                                 "name = %s does not tell which is meant: %s: correct the paths, or the name",
                                 config->file, config->name, owners);
    return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                             "%s: name = %s, but its paths lead to array '%s', which is therefore only "
                             "read: %s: correct the paths, or write name = %s",
                             config->file, config->name, choice->super->array_name, owners,
                             choice->super->array_name);
}

static void adopt_array(struct stria_array *array, const struct stria_superblock *super)
{
    memcpy(array->uuid, super->array_uuid, STRIA_UUID_BYTES);
    memcpy(array->name, super->array_name, STRIA_NAME_BYTES);
    array->member_count = super->drive_count;
    array->chunk_bytes = super->geometry.chunk_bytes;
    array->block_bytes = super->geometry.block_bytes;
    array->policy = array->config->policy;
    for (uint32_t index = 0; index < array->member_count; index++)
        snprintf(array->members[index].complaint, sizeof(array->members[index].complaint),
                 "drive %u of array %s is not among the drives of %.400s: connect it, or correct its path",
                 index, array->name, array->config->file);
}

static void complain_of_stranger(struct stria_array *array, const char *path,
                                 const struct stria_superblock *super)
{
    char uuid[STRIA_UUID_TEXT_BYTES];
    stria_uuid_text(super->array_uuid, uuid);
    stria_array_complain(
        array,
        "%s belongs to another array, '%s' with UUID %s: connect this array's drive in its place, or "
        "correct the path",
        path, super->array_name, uuid);
}

/* What array.ini says now of what was fixed when the array was made. */
static void compare_to_ini(struct stria_array *array)
{
    const struct stria_array_config *config = array->config;
    if (!is_meant(array, array->name))
        stria_array_complain(array,
                             "%s: name = %s, but its drives belong to array '%s', which is therefore only "
                             "read: correct the paths, or write name = %s",
                             config->file, config->name, array->name, array->name);
    char said[STRIA_UNITS_TEXT_BYTES], held[STRIA_UNITS_TEXT_BYTES];
    if (!config->chunk_initial && config->chunk_bytes != array->chunk_bytes)
        stria_array_complain(
            array,
            "%s: chunk = %s, but array '%s' was made with chunks of %s and keeps them: correct "
            "the line, or make an array anew",
            config->file, stria_size_print(said, sizeof(said), config->chunk_bytes), array->name,
            stria_size_print(held, sizeof(held), array->chunk_bytes));
}

/* Gives an open drive its place; a drive that has none is closed and complained about. */
static void place_candidate(struct stria_array *array, struct candidate *candidate)
{
    const char *path = candidate->config->path;
    if (!candidate->drive) {
        stria_array_complain(array, "%s", candidate->trouble.sentence);
        return;
    }
    struct stria_member *member = &array->members[candidate->super.drive_index];
    const bool ours = memcmp(candidate->super.array_uuid, array->uuid, STRIA_UUID_BYTES) == 0;
    if (!ours)
        complain_of_stranger(array, path, &candidate->super);
    else if (member->drive)
        stria_array_complain(
            array, "%s and %s both say that they are drive %u of this array: one is a copy, take it away",
            member->config->path, path, candidate->super.drive_index);
    bool agrees = candidate->super.drive_count == array->member_count &&
                  candidate->super.geometry.chunk_bytes == array->chunk_bytes &&
                  candidate->super.geometry.block_bytes == array->block_bytes;
    if (ours && !member->drive && !agrees)
        stria_array_complain(
            array,
            "%s disagrees with the other drives about the array's drives, chunk or block size: "
            "its superblock is damaged",
            path);
    if (!ours || member->drive || !agrees) {
        stria_stack_close(candidate->drive);
        return;
    }
    if (candidate->read_only && array->writable)
        stria_array_complain(array, "%s has features that let this Stria only read it", path);
    array->writable &= !candidate->read_only;
    member->config = candidate->config;
    member->drive = candidate->drive;
    member->super = candidate->super;
    member->copies = candidate->copies;
    const char *note = candidate->drive->traits.note;
    member->complaint[0] = '\0';
    if (note[0])
        snprintf(member->complaint, sizeof(member->complaint), "%.400s: %s", path, note);
}

static void align_to_drives(struct stria_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_drive *drive = array->members[index].drive;
        if (drive)
            array->block_bytes = stria_block_bytes_larger(array->block_bytes, drive->traits.block_bytes);
    }
}

/* A drive that is absent and the only section that has none belong together: it has a name then, and a
 * reason. */
static void name_absent(struct stria_array *array, const struct candidate *candidates, uint32_t count)
{
    const struct candidate *left = NULL;
    uint32_t sections = 0;
    for (uint32_t index = 0; index < count; index++) {
        bool placed = false;
        for (uint32_t member = 0; member < array->member_count; member++)
            placed |= array->members[member].config == candidates[index].config;
        if (!placed)
            left = &candidates[index];
        sections += !placed;
    }
    if (sections != 1 || array->member_count - stria_array_present(array) != 1)
        return;
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        if (member->drive)
            continue;
        member->config = left->config;
        if (left->trouble.code != STRIA_OK)
            memcpy(member->complaint, left->trouble.sentence, sizeof(left->trouble.sentence));
    }
}

/* Which failure says most of an array of which no drive can be used: a drive that failed, one that is
 * damaged, else the first. */
static const struct stria_trouble *gravest(const struct candidate *candidates, uint32_t count)
{
    const struct stria_trouble *found = &candidates[0].trouble;
    for (uint32_t index = 0; index < count; index++) {
        const struct stria_trouble *other = &candidates[index].trouble;
        switch (other->code) {
        case STRIA_ERR_IO:
        case STRIA_ERR_GONE:
        case STRIA_ERR_TIMEOUT:
        case STRIA_ERR_NO_MEMORY:
        case STRIA_ERR_SYSTEM:
            return other;
        case STRIA_ERR_DAMAGED:
            found = found->code == STRIA_ERR_DAMAGED ? found : other;
            break;
        default:
            break;
        }
    }
    return found;
}

/* What this process may not have says nothing of the drive: it is not missing, and nothing is lost. A limit
 * that cuts off some drives leaves the others; one that cuts off all is a mistake. Null: none. */
static const struct stria_trouble *own_limit(struct candidate *candidates, uint32_t count)
{
    struct candidate *limited = NULL;
    bool whole = false;
    for (uint32_t index = 0; index < count; index++) {
        struct candidate *candidate = &candidates[index];
        if (candidate->trouble.code == STRIA_ERR_NO_MEMORY)
            return &candidate->trouble;
        if (candidate->drive && candidate->drive->traits.writable_bytes > 0)
            limited = candidate;
        else
            whole |= candidate->drive != NULL;
    }
    if (!limited || whole)
        return NULL;
    refuse_limited(limited, &limited->trouble);
    return &limited->trouble;
}

static void adopt_members(struct stria_array *array, const struct stria_superblock *chosen,
                          struct candidate *candidates, uint32_t count)
{
    adopt_array(array, chosen);
    for (uint32_t index = 0; index < count; index++)
        place_candidate(array, &candidates[index]);
    compare_to_ini(array);
    align_to_drives(array);
    name_absent(array, candidates, count);
    for (uint32_t index = 0; index < array->member_count; index++)
        stria_member_mend(&array->members[index], array->writable);
}

int stria_array_open_members(struct stria_array *array, struct stria_trouble *trouble)
{
    uint32_t count = array->config->drive_count;
    struct candidate *candidates = calloc(count, sizeof(*candidates));
    if (!candidates)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    const struct stria_trouble *reason = open_candidates(array, candidates, count);
    const struct choice choice = choose_array(array, candidates, count);
    if (!reason)
        reason = own_limit(candidates, count);
    if (!reason && !choice.super)
        reason = gravest(candidates, count);
    int code = reason ? reason->code : STRIA_OK;
    if (reason && trouble)
        *trouble = *reason;
    if (!reason)
        code = check_choice(array, &choice, candidates, count, trouble);
    if (!reason && code == STRIA_OK)
        adopt_members(array, choice.super, candidates, count);
    for (uint32_t index = 0; code != STRIA_OK && index < count; index++)
        stria_stack_close(candidates[index].drive);
    free(candidates);
    return code;
}
