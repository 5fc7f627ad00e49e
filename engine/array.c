/* Opening and closing arrays: what is on their drives is read into memory. */
#include "engine/array.h"

#include "engine/array_internal.h"
#include "engine/gang.h"
#include "support/plain.h"
#include "support/standard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stria_array_complain(struct stria_array *array, const char *format, ...)
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
    stria_array_complain(array, "array %s: %s", array->name, reason);
}

void stria_array_drop(struct stria_array *array, uint32_t index, const char *reason)
{
    struct stria_member *member = &array->members[index];
    if (!member->drive)
        return;
    snprintf(member->complaint, sizeof(member->complaint), "%s: %s", member->drive->traits.path, reason);
    stria_member_close(member);
    /* The images are gone, and whatever is worked out from now on is worked out without them. */
    array->inventory_drives[index].present = false;
    array->inventory_drives[index].ledger = NULL;
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
            stria_array_complain(array, "%s: its catalogue is %s: those of the other drives count",
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
    int code = stria_array_open_members(array, trouble);
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
