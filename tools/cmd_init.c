#include "backends/guard.h"
#include "core/geometry.h"
#include "engine/create.h"
#include "support/allocate.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/opening.h"
#include "tools/status.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct init_options {
    struct stria_texts erase;
};

static const struct stria_option options[] = {
    {"erase", 0, STRIA_OPTION_TEXTS, "SERIAL|PATH",
     "Allows the drive with this serial number, or the file at this path, to be\n"
     "overwritten although it carries something. May be given several times. A\n"
     "drive in use, and the system's own, are refused all the same",
     offsetof(struct init_options, erase), NULL},
    {.name = NULL},
};

/* What is to be done with each drive, found out before anything is. */
struct plan {
    const struct stria_array_config *config;
    bool is_file[STRIA_DRIVES_MAX];
    bool erase[STRIA_DRIVES_MAX];
    bool made[STRIA_DRIVES_MAX]; /* the file is new, and goes again if the rest fails */
    uint64_t file_bytes[STRIA_DRIVES_MAX];
    int hold[STRIA_DRIVES_MAX]; /* descriptors that keep others out while the drives are made ready; −1: none
                                 */
    struct stria_problems problems;
    int code; /* of the first problem */
};

static void refuse(struct plan *plan, int code, const char *sentence)
{
    stria_problems_add(&plan->problems, "%s", sentence);
    if (plan->code == STRIA_OK)
        plan->code = code;
}

/* A file needs a size, from array.ini or because it is there already, that an array can be laid out in. */
static void plan_file(struct plan *plan, unsigned index, const struct stat *status)
{
    const struct stria_drive_config *drive = &plan->config->drives[index];
    const uint64_t least = stria_geometry_drive_bytes_min(plan->config->chunk_bytes);
    struct stria_trouble trouble;
    char size[STRIA_UNITS_TEXT_BYTES], limit[STRIA_UNITS_TEXT_BYTES], chunk[STRIA_UNITS_TEXT_BYTES];
    plan->is_file[index] = true;
    plan->file_bytes[index] = drive->size_bytes ? drive->size_bytes : status ? (uint64_t)status->st_size : 0;
    if (plan->file_bytes[index] >= least)
        return;
    stria_size_print(limit, sizeof(limit), (least + (1u << 20) - 1) >> 20 << 20);
    if (plan->file_bytes[index] == 0)
        stria_trouble_set(
            &trouble, STRIA_ERR_INVALID,
            "%s:%u: [drive.%s] has no size, and %s is not there: add size = 8GiB or whatever it shall have, "
            "at least %s",
            plan->config->file, drive->line, drive->name, drive->path, limit);
    else
        stria_trouble_set(&trouble, STRIA_ERR_INVALID,
                          "%s:%u: a size of %s for %s is too small for chunks of %s: give it at least %s",
                          plan->config->file, drive->line,
                          stria_size_print(size, sizeof(size), plan->file_bytes[index]), drive->path,
                          stria_size_print(chunk, sizeof(chunk), plan->config->chunk_bytes), limit);
    refuse(plan, trouble.code, trouble.sentence);
}

/* A device that is not there must not become a file in memory that has its name. */
static bool would_be_a_device(const char *path)
{
    char folder[PATH_MAX], real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    if (!realpath(folder, real))
        return false;
    const size_t length = strlen(real);
    snprintf(real + length, sizeof(real) - length, "/");
    return strncmp(real, "/dev/", 5) == 0 && strncmp(real, "/dev/shm/", 9) != 0;
}

/* Files that are no place for a drive. status: null where there is none yet. */
static bool is_misplaced(struct plan *plan, const char *path, const struct stat *status)
{
    struct stria_trouble trouble;
    struct stat ini;
    if (!status && would_be_a_device(path))
        stria_trouble_set(&trouble, STRIA_ERR_NOT_FOUND,
                          "there is no device %s: connect it, or correct the path; 'stria drives' lists what "
                          "is there",
                          path);
    else if (status && stat(plan->config->file, &ini) == 0 && ini.st_dev == status->st_dev &&
             ini.st_ino == status->st_ino)
        stria_trouble_set(&trouble, STRIA_ERR_REFUSED,
                          "%s describes the array: name another file for a drive", path);
    else
        return false;
    refuse(plan, trouble.code, trouble.sentence);
    return true;
}

static void plan_drive(struct plan *plan, unsigned index, const struct stria_guard *guard)
{
    const char *path = plan->config->drives[index].path;
    struct stria_trouble trouble;
    struct stat status;
    const bool prefixed = stria_path_is_prefixed(path);
    const bool there = !prefixed && stat(path, &status) == 0;
    const int code = stria_guard_check(path, guard, &plan->erase[index], &trouble);
    if (!prefixed && is_misplaced(plan, path, there ? &status : NULL))
        return;
    if (code != STRIA_OK)
        refuse(plan, code, trouble.sentence);
    if (code != STRIA_OK || prefixed)
        return;
    if (!there || S_ISREG(status.st_mode))
        plan_file(plan, index, there ? &status : NULL);
}

static void refuse_unused_names(struct plan *plan, const struct stria_texts *erase, const bool *used)
{
    for (unsigned i = 0; i < erase->count; i++) {
        struct stria_trouble trouble;
        if (used[i])
            continue;
        stria_trouble_set(
            &trouble, STRIA_ERR_INVALID,
            "--erase %s is none of the drives in %s: name a drive's serial number, or a file's path",
            erase->list[i], plan->config->file);
        refuse(plan, trouble.code, trouble.sentence);
    }
}

static void make_plan(struct plan *plan, const struct stria_texts *erase)
{
    bool used[STRIA_TEXTS_MAX] = {false};
    const struct stria_guard guard = {.erase = erase->list, .erase_count = erase->count, .erase_used = used};
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        plan_drive(plan, i, &guard);
    refuse_unused_names(plan, erase, used);
}

/* All drives are held before the first is changed: one that is in use spares the others. */
static int hold_drives(struct plan *plan, struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    for (unsigned i = 0; code == STRIA_OK && i < plan->config->drive_count; i++)
        if (plan->hold[i] < 0)
            code = stria_guard_hold(plan->config->drives[i].path, &plan->hold[i], trouble);
    return code;
}

static void release_drives(struct plan *plan)
{
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        if (plan->hold[i] >= 0)
            close(plan->hold[i]);
}

static int prepare_drives(struct plan *plan, struct stria_trouble *trouble)
{
    for (unsigned i = 0; i < plan->config->drive_count; i++) {
        const char *path = plan->config->drives[i].path;
        int code = plan->is_file[i] ? stria_allocate_file(path, plan->file_bytes[i], &plan->made[i], trouble)
                                    : STRIA_OK;
        if (code != STRIA_OK)
            return code;
    }
    /* Those that were only made now. */
    int held = hold_drives(plan, trouble);
    if (held != STRIA_OK)
        return held;
    for (unsigned i = 0; i < plan->config->drive_count; i++) {
        int code = plan->erase[i] ? stria_guard_erase(plan->config->drives[i].path, trouble) : STRIA_OK;
        if (code != STRIA_OK)
            return code;
    }
    return STRIA_OK;
}

static void take_back(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        if (plan->made[i])
            unlink(plan->config->drives[i].path);
}

static void print_created(const struct stria_array_config *config, const struct stria_created *created)
{
    char size[STRIA_UNITS_TEXT_BYTES];
    printf("array '%s' %s\n", config->name, created->uuid);
    for (unsigned i = 0; i < config->drive_count; i++)
        printf("  %-12s %s: room for %s\n", config->drives[i].name, stria_shown(config->drives[i].path),
               stria_size_print_both(size, sizeof(size), created->drives[i].extents * config->chunk_bytes));
}

/* The drives are held from before the first is changed until all are an array. */
static int create(struct plan *plan)
{
    struct stria_created created;
    struct stria_trouble trouble = {0};
    bool held[STRIA_DRIVES_MAX];
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        plan->hold[i] = -1;
    int code = hold_drives(plan, &trouble);
    if (code == STRIA_OK)
        code = prepare_drives(plan, &trouble);
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        held[i] = plan->hold[i] >= 0;
    if (code == STRIA_OK)
        code = stria_array_create(plan->config, held, &created, &trouble);
    release_drives(plan);
    if (code != STRIA_OK) {
        take_back(plan);
        return stria_status_fail("init", &trouble);
    }
    print_created(plan->config, &created);
    return STRIA_STATUS_OK;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct init_options *init = given;
    int status;
    (void)operand_count;
    struct stria_array_config *config = stria_opening_read("init", operands[0], &status);
    if (!config)
        return status;
    struct plan plan = {.config = config};
    make_plan(&plan, &init->erase);
    status = plan.problems.count ? stria_status_fail_all("init", plan.code, &plan.problems) : create(&plan);
    stria_problems_clear(&plan.problems);
    free(config);
    return status;
}

const struct stria_command stria_command_init = {
    .name = "init",
    .summary = "makes an array of the drives in an INI file",
    .operands = "ARRAY.ini",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Creates and fully allocates the files among the drives, and writes to each drive what "
                   "makes it one of\n"
                   "the array. A drive that is mounted, is swap, has partitions or holders, or carries "
                   "anything that is\n"
                   "known is refused, and nothing is changed.",
    .options = options,
    .options_bytes = sizeof(struct init_options),
    .run = run,
};
