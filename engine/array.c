/* Opening and closing arrays. */
#define _GNU_SOURCE
#include "engine/array.h"

#include "engine/array_internal.h"
#include "engine/gang.h"
#include "engine/stack.h"
#include "support/plain.h"
#include "support/standard.h"
#include "support/uuid.h"

#include <inttypes.h>
#include <stdarg.h>
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
        .depth = array->config->depth + STRIA_DEPTH_EXTRA,
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

/* The array that most drives belong to; the first among equals. */
static const struct stria_superblock *choose_array(const struct candidate *candidates, uint32_t count)
{
    const struct stria_superblock *best = NULL;
    uint32_t best_votes = 0;
    for (uint32_t index = 0; index < count; index++) {
        if (!candidates[index].drive)
            continue;
        uint32_t votes = 0;
        for (uint32_t other = 0; other < count; other++)
            votes +=
                candidates[other].drive && memcmp(candidates[index].super.array_uuid,
                                                  candidates[other].super.array_uuid, STRIA_UUID_BYTES) == 0;
        if (votes > best_votes) {
            best = &candidates[index].super;
            best_votes = votes;
        }
    }
    return best;
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

static void add_complaint(struct stria_array *array, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_complaint(struct stria_array *array, const char *format, ...)
{
    size_t used = strlen(array->complaint);
    if (used > 0 && used + 3 < sizeof(array->complaint))
        used += (size_t)snprintf(array->complaint + used, sizeof(array->complaint) - used, "; ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(array->complaint + used, sizeof(array->complaint) - used, format, arguments);
    va_end(arguments);
    stria_plain(array->complaint + used);
}

void stria_array_only_read(struct stria_array *array, const char *reason)
{
    array->writable = false;
    add_complaint(array, "array %s: %s", array->name, reason);
}

static void complain_of_stranger(struct stria_array *array, const char *path,
                                 const struct stria_superblock *super)
{
    char uuid[STRIA_UUID_TEXT_BYTES];
    stria_uuid_text(super->array_uuid, uuid);
    add_complaint(
        array,
        "%s belongs to another array, '%s' with UUID %s: connect this array's drive in its place, or "
        "correct the path",
        path, super->array_name, uuid);
}

/* Gives an open drive its place; a drive that has none is closed and complained about. */
static void place_candidate(struct stria_array *array, struct candidate *candidate)
{
    const char *path = candidate->config->path;
    if (!candidate->drive) {
        add_complaint(array, "%s", candidate->trouble.sentence);
        return;
    }
    struct stria_member *member = &array->members[candidate->super.drive_index];
    bool ours = memcmp(candidate->super.array_uuid, array->uuid, STRIA_UUID_BYTES) == 0;
    if (!ours)
        complain_of_stranger(array, path, &candidate->super);
    else if (member->drive)
        add_complaint(array,
                      "%s and %s both say that they are drive %u of this array: one is a copy, take it away",
                      member->config->path, path, candidate->super.drive_index);
    bool agrees = candidate->super.drive_count == array->member_count &&
                  candidate->super.geometry.chunk_bytes == array->chunk_bytes &&
                  candidate->super.geometry.block_bytes == array->block_bytes;
    if (ours && !member->drive && !agrees)
        add_complaint(array,
                      "%s disagrees with the other drives about the array's drives, chunk or block size: "
                      "its superblock is damaged",
                      path);
    if (!ours || member->drive || !agrees) {
        stria_stack_close(candidate->drive);
        return;
    }
    if (candidate->read_only && array->writable)
        add_complaint(array, "%s has features that let this Stria only read it", path);
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

void stria_array_drop(struct stria_array *array, uint32_t index, const char *reason)
{
    struct stria_member *member = &array->members[index];
    if (!member->drive)
        return;
    snprintf(member->complaint, sizeof(member->complaint), "%s: %s", member->drive->traits.path, reason);
    stria_member_close(member);
    member->drive = NULL;
}

/* One region of each drive, into its image. */
static void load_region(struct stria_array *array, uint64_t (*offset)(const struct stria_geometry *),
                        uint64_t (*length)(const struct stria_geometry *),
                        uint8_t *(*image)(struct stria_member *), const char *what)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        if (!member->drive)
            continue;
        jobs[index] = (struct stria_gang_job){
            .op = STRIA_IO_READ,
            .drive = member->drive,
            .offset = offset(&member->super.geometry),
            .length = length(&member->super.geometry),
            .data = image(member),
        };
    }
    stria_gang_run(jobs, array->member_count, &array->bell, array->config->read_deadline_ns);
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (!array->members[index].drive || jobs[index].code == STRIA_OK)
            continue;
        char reason[128];
        snprintf(reason, sizeof(reason), "its %s cannot be read (%s)", what,
                 stria_code_text(jobs[index].code));
        array->members[index].abandoned = jobs[index].code == STRIA_ERR_TIMEOUT;
        stria_array_drop(array, index, reason);
    }
}

static uint64_t checkpoint_offset(const struct stria_geometry *geometry)
{
    return geometry->checkpoint_offset;
}

static uint64_t checkpoint_length(const struct stria_geometry *geometry)
{
    (void)geometry;
    return STRIA_CHECKPOINT_BYTES;
}

static uint8_t *checkpoint_image(struct stria_member *member)
{
    return member->checkpoints;
}

static uint64_t catalogue_offset(const struct stria_geometry *geometry)
{
    return geometry->catalogue_offset;
}

static uint64_t catalogue_length(const struct stria_geometry *geometry)
{
    return geometry->catalogue_bytes;
}

static uint8_t *catalogue_image(struct stria_member *member)
{
    return member->halves[0];
}

static uint64_t ledger_offset(const struct stria_geometry *geometry)
{
    return geometry->ledger_offset;
}

static uint64_t ledger_length(const struct stria_geometry *geometry)
{
    return geometry->ledger_bytes;
}

static uint8_t *ledger_image(struct stria_member *member)
{
    return member->ledger;
}

static int load_images(struct stria_array *array, struct stria_trouble *trouble)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        if (member->drive && stria_member_map(member, trouble) != STRIA_OK)
            return STRIA_ERR_NO_MEMORY;
    }
    load_region(array, checkpoint_offset, checkpoint_length, checkpoint_image, "checkpoint");
    load_region(array, catalogue_offset, catalogue_length, catalogue_image, "catalogue");
    load_region(array, ledger_offset, ledger_length, ledger_image, "ledger");
    return STRIA_OK;
}

static void decode_images(struct stria_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        if (!member->drive)
            continue;
        struct stria_ledger_binding binding = stria_superblock_binding(&member->super);
        member->checkpoint_valid =
            stria_checkpoint_choose(member->checkpoints, &member->checkpoint, &binding) == STRIA_OK;
        int code = stria_catalogue_load(&member->catalogue, member->halves, stria_member_half_bytes(member),
                                        array->uuid);
        if (code != STRIA_OK)
            add_complaint(array, "%s: its catalogue is %s: those of the other drives count",
                          member->drive->traits.path,
                          code == STRIA_ERR_FORMAT ? "damaged" : stria_code_text(code));
        /* What a newer Stria wrote there must not be written over. */
        if (code == STRIA_ERR_VERSION)
            stria_array_only_read(array, "it is only read: use a newer Stria");
    }
}

uint32_t stria_array_present(const struct stria_array *array)
{
    uint32_t present = 0;
    for (uint32_t index = 0; index < array->member_count; index++)
        present += array->members[index].drive != NULL;
    return present;
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

static int open_members(struct stria_array *array, struct stria_trouble *trouble)
{
    uint32_t count = array->config->drive_count;
    struct candidate *candidates = calloc(count, sizeof(*candidates));
    if (!candidates)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    for (uint32_t index = 0; index < count; index++) {
        candidates[index].config = &array->config->drives[index];
        open_candidate(array, &candidates[index]);
    }
    const struct stria_superblock *chosen = choose_array(candidates, count);
    const struct stria_trouble *reason = own_limit(candidates, count);
    int code = STRIA_OK;
    if (!reason && !chosen)
        reason = gravest(candidates, count);
    if (reason) {
        for (uint32_t index = 0; index < count; index++)
            if (candidates[index].drive)
                stria_stack_close(candidates[index].drive);
        code = reason->code;
        if (trouble)
            *trouble = *reason;
    } else {
        adopt_array(array, chosen);
        for (uint32_t index = 0; index < count; index++)
            place_candidate(array, &candidates[index]);
        align_to_drives(array);
        name_absent(array, candidates, count);
        for (uint32_t index = 0; index < array->member_count; index++)
            stria_member_mend(&array->members[index], array->writable);
    }
    free(candidates);
    return code;
}

int stria_array_open_config(const struct stria_array_config *config, bool writable, struct stria_array **out,
                            struct stria_trouble *trouble)
{
    struct stria_array *array = calloc(1, sizeof(*array));
    struct stria_array_config *copy = malloc(sizeof(*copy));
    if (!array || !copy) {
        free(array);
        free(copy);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while opening %s",
                                 config->file);
    }
    *copy = *config;
    array->config = copy;
    array->writable = writable;
    int code = open_members(array, trouble);
    if (code == STRIA_OK)
        code = load_images(array, trouble);
    if (code == STRIA_OK) {
        decode_images(array);
        code = stria_array_merge_catalogues(array, trouble);
    }
    if (code == STRIA_OK)
        code = stria_array_take_stock(array, trouble);
    if (code == STRIA_OK)
        code = stria_array_close_interrupted(array, trouble);
    if (code != STRIA_OK) {
        stria_array_close(array);
        return code;
    }
    *out = array;
    return STRIA_OK;
}

int stria_array_open(const char *ini_path, bool writable, struct stria_array **array,
                     struct stria_trouble *trouble)
{
    struct stria_array_config *config = malloc(sizeof(*config));
    if (!config)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while reading %s", ini_path);
    const int error = -stria_standard_fill();
    if (error) {
        free(config);
        return stria_trouble_set(trouble, stria_code_of_errno(error),
                                 "a standard descriptor is closed, and cannot be kept from becoming a "
                                 "drive's: /dev/null: %s",
                                 stria_errno_text(error));
    }
    struct stria_problems problems = {0};
    int code = stria_array_config_read(ini_path, config, &problems);
    if (code != STRIA_OK)
        stria_trouble_set(trouble, code, "%s", problems.count > 0 ? problems.sentences[0] : ini_path);
    else
        code = stria_array_open_config(config, writable, array, trouble);
    stria_problems_clear(&problems);
    free(config);
    return code;
}

void stria_array_close(struct stria_array *array)
{
    if (!array)
        return;
    for (uint32_t index = 0; index < STRIA_DRIVES_MAX; index++)
        stria_member_close(&array->members[index]);
    free(array->inventory.recordings);
    if (array->log)
        stria_array_discard_log(array, array->log);
    free(array->config);
    free(array);
}

const struct stria_array_config *stria_array_config(const struct stria_array *array)
{
    return array->config;
}
