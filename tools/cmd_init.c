#include "backends/guard.h"
#include "backends/sysfs.h"
#include "backends/usage.h"
#include "core/geometry.h"
#include "engine/create.h"
#include "support/allocate.h"
#include "support/fabrics_url.h"
#include "support/file.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/opening.h"
#include "tools/signals.h"
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

/* What is to be done with a drive, found out before anything is. */
struct planned {
    const char *path;
    bool is_file;
    bool overlaps; /* another drive of the array, so that it is looked at no further */
    bool erase;
    bool made;    /* the file is new, and goes again if the rest fails */
    bool resized; /* it has its old size again if the rest fails */
    int hold; /* keeps others out until the array is made; −1: there is nothing yet, or nothing to hold */
    uint64_t bytes_before, file_bytes;
};

struct plan {
    const struct stria_array_config *config;
    struct planned drives[STRIA_DRIVES_MAX];
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
static void plan_file(struct plan *plan, unsigned index)
{
    const struct stria_drive_config *drive = &plan->config->drives[index];
    struct planned *planned = &plan->drives[index];
    const uint64_t least = stria_geometry_drive_bytes_min(plan->config->chunk_bytes);
    struct stria_trouble trouble;
    char size[STRIA_UNITS_TEXT_BYTES], limit[STRIA_UNITS_TEXT_BYTES], chunk[STRIA_UNITS_TEXT_BYTES];
    planned->is_file = true;
    planned->file_bytes = drive->size_bytes ? drive->size_bytes : planned->bytes_before;
    if (planned->file_bytes >= least)
        return;
    stria_size_print(limit, sizeof(limit), (least + (1u << 20) - 1) >> 20 << 20);
    if (planned->file_bytes == 0)
        stria_trouble_set(
            &trouble, STRIA_ERR_INVALID,
            "%s:%u: [drive.%s] has no size, and %s is not there: add size = 8GiB or whatever it shall have, "
            "at least %s",
            plan->config->file, drive->line, drive->name, drive->path, limit);
    else
        stria_trouble_set(&trouble, STRIA_ERR_INVALID,
                          "%s:%u: a size of %s for %s is too small for chunks of %s: give it at least %s",
                          plan->config->file, drive->line,
                          stria_size_print(size, sizeof(size), planned->file_bytes), drive->path,
                          stria_size_print(chunk, sizeof(chunk), plan->config->chunk_bytes), limit);
    refuse(plan, trouble.code, trouble.sentence);
}

/* A device that is not there must not become a file in memory that has its name. */
static bool would_be_a_device(const char *path)
{
    char target[PATH_MAX], folder[PATH_MAX], real[PATH_MAX];
    if (stria_file_follow(path, target) < 0)
        return false;
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - target + 1) : 1, slash ? target : ".");
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

static bool drive_status(const struct planned *drive, struct stat *status)
{
    return !stria_path_is_prefixed(drive->path) && stat(drive->path, status) == 0;
}

/* Two names may lead to the same bytes, which none of the drives would keep for long. */
static void refuse_overlaps(struct plan *plan, unsigned index)
{
    struct stat status, other;
    struct stria_trouble trouble;
    if (!drive_status(&plan->drives[index], &status))
        return;
    for (unsigned i = 0; i < index && !plan->drives[index].overlaps; i++) {
        if (!drive_status(&plan->drives[i], &other) || !stria_usage_overlaps(&status, &other))
            continue;
        plan->drives[index].overlaps = true;
        stria_trouble_set(&trouble, STRIA_ERR_REFUSED,
                          "%s and %s lead to the same bytes: name another drive for one of them",
                          plan->drives[i].path, plan->drives[index].path);
        refuse(plan, trouble.code, trouble.sentence);
    }
}

static void plan_drive(struct plan *plan, unsigned index, const struct stria_guard *guard)
{
    struct planned *drive = &plan->drives[index];
    struct stria_trouble trouble;
    struct stat status;
    const bool prefixed = stria_path_is_prefixed(drive->path);
    const bool there = drive_status(drive, &status);
    if (drive->overlaps)
        return;
    const int code = stria_guard_take(drive->path, guard, &drive->hold, &drive->erase, &trouble);
    if (!prefixed && is_misplaced(plan, drive->path, there ? &status : NULL))
        return;
    if (code != STRIA_OK) {
        refuse(plan, code, trouble.sentence);
        return;
    }
    const bool held = drive->hold >= 0 && fstat(drive->hold, &status) == 0;
    drive->bytes_before = held ? (uint64_t)status.st_size : 0;
    if (held ? S_ISREG(status.st_mode) : !prefixed)
        plan_file(plan, index);
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

/* All drives are held from here on until they are an array: one that is in use spares the others, and nobody
 * puts anything on one after it was looked at. */
static void make_plan(struct plan *plan, const struct stria_texts *erase)
{
    bool used[STRIA_TEXTS_MAX] = {false};
    const struct stria_guard guard = {.erase = erase->list, .erase_count = erase->count, .erase_used = used};
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        plan->drives[i] = (struct planned){.path = plan->config->drives[i].path, .hold = -1};
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        refuse_overlaps(plan, i);
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        plan_drive(plan, i, &guard);
    refuse_unused_names(plan, erase, used);
}

static void release_drives(struct plan *plan)
{
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        if (plan->drives[i].hold >= 0)
            close(plan->drives[i].hold);
}

static int check_stop(struct stria_trouble *trouble)
{
    return stria_signals_stop()
               ? stria_trouble_set(trouble, STRIA_ERR_SYSTEM, "ended by a signal before anything was changed")
               : STRIA_OK;
}

static int make_file(struct planned *drive, struct stria_trouble *trouble)
{
    int code = stria_allocate_make(drive->path, &drive->hold, trouble);
    if (code == STRIA_OK)
        code = stria_guard_take_new(drive->hold, drive->path, trouble);
    drive->made = code == STRIA_OK;
    return code == STRIA_OK ? stria_allocate_resize(drive->hold, drive->path, drive->file_bytes, trouble)
                            : code;
}

static int resize_file(struct planned *drive, struct stria_trouble *trouble)
{
    drive->resized = true;
    return stria_allocate_resize(drive->hold, drive->path, drive->file_bytes, trouble);
}

/* In what order the drives are made ready: what cannot be taken back comes last. */
enum step { STEP_MAKE, STEP_GROW, STEP_SHRINK, STEP_ERASE, STEPS };

static int prepare(struct planned *drive, enum step step, struct stria_trouble *trouble)
{
    const bool is_new = drive->is_file && (drive->hold < 0 || drive->made);
    const bool shrinks = drive->file_bytes < drive->bytes_before;
    switch (step) {
    case STEP_MAKE:
        return is_new ? make_file(drive, trouble) : STRIA_OK;
    case STEP_GROW:
        return drive->is_file && !is_new && !shrinks ? resize_file(drive, trouble) : STRIA_OK;
    case STEP_SHRINK:
        return drive->is_file && !is_new && shrinks ? resize_file(drive, trouble) : STRIA_OK;
    case STEP_ERASE:
        return drive->erase ? stria_guard_erase(drive->path, drive->hold, trouble) : STRIA_OK;
    case STEPS:
        break;
    }
    return STRIA_OK;
}

static int prepare_drives(struct plan *plan, struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    for (unsigned step = 0; step < STEPS; step++)
        for (unsigned i = 0; i < plan->config->drive_count && code == STRIA_OK; i++) {
            code = step < STEP_SHRINK ? check_stop(trouble) : STRIA_OK;
            if (code == STRIA_OK)
                code = prepare(&plan->drives[i], step, trouble);
        }
    return code;
}

static void take_back(const struct plan *plan)
{
    for (unsigned i = 0; i < plan->config->drive_count; i++) {
        const struct planned *drive = &plan->drives[i];
        if (drive->made)
            stria_allocate_take_back(drive->path);
        if (drive->resized)
            (void)!ftruncate(drive->hold, (off_t)drive->bytes_before);
    }
}

/* The device that a path leads to, where that is not the path itself; else empty. */
static void find_device(const struct planned *drive, char device[PATH_MAX])
{
    struct stat status;
    device[0] = '\0';
    if (drive->hold < 0 || fstat(drive->hold, &status) != 0 || !S_ISBLK(status.st_mode))
        return;
    snprintf(device, PATH_MAX, "/dev/");
    if (!stria_sysfs_name(status.st_rdev, device + strlen(device)) || strcmp(device, drive->path) == 0)
        device[0] = '\0';
}

static void print_drive(const struct plan *plan, const struct stria_created *created, unsigned index)
{
    char size[STRIA_UNITS_TEXT_BYTES], device[PATH_MAX];
    const char *serial = created->drives[index].serial;
    const uint64_t room = created->drives[index].extents * plan->config->chunk_bytes;
    find_device(&plan->drives[index], device);
    printf("  %-12s %s", plan->config->drives[index].name, stria_shown(plan->drives[index].path));
    printf("%s%s", device[0] ? " -> " : "", device);
    printf("%s%s", serial[0] ? ", serial " : "", serial[0] ? stria_shown(serial) : "");
    printf(": room for %s\n", stria_size_print_both(size, sizeof(size), room));
}

/* All drives are written in the blocks of the one that needs the largest. */
static void print_blocks(const struct stria_array_config *config, const struct stria_created *created)
{
    const char *needs = NULL;
    uint32_t least = created->block_bytes;
    for (unsigned i = 0; i < config->drive_count; i++) {
        if (created->drives[i].block_bytes < least)
            least = created->drives[i].block_bytes;
        if (created->drives[i].block_bytes == created->block_bytes && !needs)
            needs = config->drives[i].name;
    }
    if (needs && least < created->block_bytes)
        printf("all are written in blocks of %" PRIu32 " bytes, which %s needs, though others take %" PRIu32
               "\n",
               created->block_bytes, needs, least);
}

static void print_created(const struct plan *plan, const struct stria_created *created)
{
    printf("array '%s' %s\n", plan->config->name, created->uuid);
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        print_drive(plan, created, i);
    print_blocks(plan->config, created);
}

static int create(struct plan *plan)
{
    struct stria_created created;
    struct stria_trouble trouble = {0};
    bool held[STRIA_DRIVES_MAX];
    int code = prepare_drives(plan, &trouble);
    for (unsigned i = 0; i < plan->config->drive_count; i++)
        held[i] = plan->drives[i].hold >= 0;
    if (code == STRIA_OK)
        code = stria_array_create(plan->config, held, &created, &trouble);
    if (code != STRIA_OK) {
        take_back(plan);
        return stria_status_fail("init", &trouble);
    }
    print_created(plan, &created);
    return STRIA_STATUS_OK;
}

/* A command that ends at once leaves drives of other hosts connected. */
static bool is_local(const struct stria_array_config *config)
{
    bool local = true;
    for (unsigned i = 0; i < config->drive_count; i++)
        local = local && !stria_fabrics_url_is(config->drives[i].path);
    return local;
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
    /* To look changes nothing, and takes its time with large files: signals may end that at once. */
    if (is_local(config))
        stria_signals_give_back();
    make_plan(&plan, &init->erase);
    stria_signals_take();
    status = plan.problems.count ? stria_status_fail_all("init", plan.code, &plan.problems) : create(&plan);
    release_drives(&plan);
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
