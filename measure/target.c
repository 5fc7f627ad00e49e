#include "measure/target.h"

#include "backends/fake.h"
#include "backends/sysfs.h"
#include "config/profile.h"
#include "engine/stack.h"
#include "measure/place.h"
#include "support/allocate.h"
#include "support/units.h"
#include "survey/drive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Neither a partition table nor a file system's mark shall ever be imitated by what a bench writes. */
#define DEVICE_BEGIN_BYTES (1ull << 20)

/* What a target is before it is opened. */
struct approach {
    const struct stria_target_request *request;
    const struct stria_drive_config *config;
    const char *path;
    bool there, regular;
    int *hold;  /* of the drive, to be taken; null: it is only looked at */
    bool erase; /* signatures are to be taken off */
    struct stat status;
};

static int check_engine(const struct approach *approach, struct stria_trouble *trouble)
{
    const char *wanted = approach->request->engine;
    const struct stria_backend *backend = stria_stack_backend(approach->config, trouble);
    if (!backend)
        return STRIA_ERR_UNSUPPORTED;
    if (!wanted || strcmp(backend->name, wanted) == 0)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                             "%s is served by the backend %s, not by %s: leave --engine out, or name that",
                             approach->path, backend->name, wanted);
}

static bool is_named(const struct approach *approach)
{
    const struct stria_guard *guard = approach->request->guard;
    for (unsigned i = 0; i < guard->erase_count; i++) {
        struct stat status;
        if (stat(guard->erase[i], &status) == 0 && status.st_dev == approach->status.st_dev &&
            status.st_ino == approach->status.st_ino)
            return true;
    }
    return false;
}

/* A hole is read from nowhere and written with the file system's own work: neither is the drive's rate. */
static int check_holes(const struct approach *approach, struct stria_trouble *trouble)
{
    if ((uint64_t)approach->status.st_blocks * 512 >= (uint64_t)approach->status.st_size)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                             "%s is sparse, so that its file system would be measured and not the drive: "
                             "name a file that does not exist, which is then made without holes",
                             approach->path);
}

static int admit_file(const struct approach *approach, struct stria_trouble *trouble)
{
    if (approach->request->writes && !is_named(approach))
        return stria_trouble_set(
            trouble, STRIA_ERR_REFUSED,
            "%s exists, and what is in it would be lost: name a file that does not exist, "
            "or allow this one to be overwritten with --erase %s",
            approach->path, approach->path);
    return check_holes(approach, trouble);
}

static int admit_content(struct approach *approach, struct stria_trouble *trouble)
{
    const struct stria_guard *guard = approach->request->guard;
    return approach->hold ? stria_guard_take(approach->path, guard, approach->hold, &approach->erase, trouble)
                          : stria_guard_check(approach->path, guard, &approach->erase, trouble);
}

static int admit(struct approach *approach, struct stria_trouble *trouble)
{
    int code = check_engine(approach, trouble);
    if (code == STRIA_OK)
        code = stria_target_refuse_cache(approach->config, trouble);
    if (code != STRIA_OK)
        return code;
    if (stria_path_is_prefixed(approach->path))
        return approach->request->writes ? admit_content(approach, trouble) : STRIA_OK;
    approach->there = stat(approach->path, &approach->status) == 0;
    if (!approach->there && strncmp(approach->path, "/dev/", 5) == 0 &&
        strncmp(approach->path, "/dev/shm/", 9) != 0)
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "there is no device %s: connect the drive, or correct the path",
                                 approach->path);
    approach->regular = !approach->there || S_ISREG(approach->status.st_mode);
    if (approach->regular) {
        code = stria_place_check(approach->path, trouble);
        if (code == STRIA_OK && approach->there)
            code = admit_file(approach, trouble);
    }
    if (code == STRIA_OK && approach->there && approach->request->writes)
        code = admit_content(approach, trouble);
    return code;
}

/* A file of the bench's own, held from the first. */
static int make_file(const struct approach *approach, struct stria_target *target,
                     struct stria_trouble *trouble)
{
    const uint64_t bytes =
        approach->config->size_bytes ? approach->config->size_bytes : approach->request->file_bytes;
    if (bytes == 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s does not exist: say with --size how large a file to measure in",
                                 approach->path);
    int code = stria_allocate_make(approach->path, &target->hold, trouble);
    target->made = code == STRIA_OK;
    if (code == STRIA_OK)
        code = stria_guard_take_new(target->hold, approach->path, trouble);
    return code == STRIA_OK ? stria_allocate_resize(target->hold, approach->path, bytes, trouble) : code;
}

static int use_part(const struct approach *approach, struct stria_target *target,
                    struct stria_trouble *trouble)
{
    const struct stria_traits *traits = &target->drive->traits;
    const uint64_t wanted = approach->request->bytes - approach->request->bytes % traits->block_bytes;
    char has[STRIA_UNITS_TEXT_BYTES], asked[STRIA_UNITS_TEXT_BYTES];
    target->device = traits->block_device;
    target->begin_bytes = target->device ? DEVICE_BEGIN_BYTES : 0;
    const uint64_t room =
        traits->drive_bytes > target->begin_bytes ? traits->drive_bytes - target->begin_bytes : 0;
    target->bytes = wanted && wanted < room ? wanted : room;
    if (target->bytes > 0 && wanted <= room)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                             "%s has room for %s, less than the %s that are asked: "
                             "give a smaller --size",
                             approach->path, stria_size_print_both(has, sizeof(has), room),
                             stria_size_print_both(asked, sizeof(asked), wanted));
}

int stria_target_measure(const char *path, uint64_t file_bytes, struct stria_target_extent *extent,
                         struct stria_trouble *trouble)
{
    struct stria_survey_drive *drive = calloc(1, sizeof(*drive));
    if (!drive)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to look at %s", path);
    *extent = (struct stria_target_extent){.block_bytes = STRIA_BLOCK_BYTES_MIN};
    int code = stria_survey_read("", path, drive, trouble);
    if (code == STRIA_OK) {
        const bool file = drive->transport == STRIA_SURVEY_FILE;
        const uint64_t size =
            drive->exists && drive->size_bytes.known ? (uint64_t)drive->size_bytes.value : file_bytes;
        extent->begin_bytes = file || size < DEVICE_BEGIN_BYTES ? 0 : DEVICE_BEGIN_BYTES;
        extent->bytes = size - extent->begin_bytes;
        if (drive->lba_bytes.known && !file)
            extent->block_bytes = (uint32_t)drive->lba_bytes.value;
    }
    free(drive);
    return code;
}

static void learn_profile(struct stria_target *target)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    const struct stria_drive_config *config = &target->config;
    if (stria_profile_find(config->profile, &profile, &problems) == STRIA_OK &&
        stria_profile_scale(&profile, config->capacity_scale, config->rate_scale, NULL) == STRIA_OK) {
        target->link_bytes_per_s = (struct stria_told){true, profile.parameters.link_bytes_per_s};
        snprintf(target->model, sizeof(target->model), "%s", profile.model);
        target->price = profile.price;
    }
    stria_problems_clear(&problems);
}

static struct stria_told told(struct stria_survey_figure figure)
{
    return (struct stria_told){figure.known && figure.value >= 0,
                               figure.known && figure.value >= 0 ? (uint64_t)figure.value : 0};
}

/* Of a file, it is about the disk below. What cannot be found out is not known. */
static void survey(const struct approach *approach, struct stria_target *target)
{
    struct stria_survey_drive *drive = calloc(1, sizeof(*drive));
    if (!drive || stria_survey_read("", approach->path, drive, NULL) != STRIA_OK) {
        free(drive);
        return;
    }
    target->survey = drive;
    snprintf(target->model, sizeof(target->model), "%.79s", drive->model);
    snprintf(target->firmware, sizeof(target->firmware), "%.31s", drive->firmware);
    if (drive->serial[0])
        snprintf(target->serial, sizeof(target->serial), "%.63s", drive->serial);
    target->lba_bytes = told(drive->lba_bytes);
    target->link.gts = (double)drive->link.mts.value / 1000;
    target->link.capable_gts = (double)drive->link.capable_mts.value / 1000;
    target->link.width = told(drive->link.width);
    target->link.capable_width = told(drive->link.capable_width);
    target->link_bytes_per_s = told(drive->link.bytes_per_s);
}

int stria_target_refuse_cache(const struct stria_drive_config *config, struct stria_trouble *trouble)
{
    struct stat status;
    char direct[16];
    if (config->profile[0] || stria_path_is_prefixed(config->path) || stat(config->path, &status) != 0 ||
        !S_ISBLK(status.st_mode))
        return STRIA_OK;
    dev_t whole = status.st_rdev;
    stria_sysfs_is_partition(status.st_rdev, &whole);
    if (!stria_sysfs_read(whole, "loop/dio", direct, sizeof(direct)) || strcmp(direct, "1") == 0)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_REFUSED,
        "%s is a loop device that writes into memory first, which would be measured instead "
        "of the drive: let it write directly with 'losetup --direct-io=on %s'",
        config->path, config->path);
}

static void identify(const struct approach *approach, struct stria_target *target)
{
    const struct stria_backend *backend = stria_stack_backend(approach->config, NULL);
    snprintf(target->engine, sizeof(target->engine), "%s", backend ? backend->name : "");
    if (target->drive) {
        target->size_bytes = target->drive->traits.drive_bytes;
        target->lba_bytes = (struct stria_told){target->device, target->drive->traits.block_bytes};
        snprintf(target->serial, sizeof(target->serial), "%s", target->drive->traits.serial);
    }
    if (approach->regular)
        stria_place_file_system(approach->path, target->file_system, sizeof(target->file_system));
    if (target->config.profile[0])
        learn_profile(target);
    else if (!stria_path_is_prefixed(approach->path))
        survey(approach, target);
}

static void begin(struct stria_target *target, const struct stria_drive_config *config)
{
    memset(target, 0, sizeof(*target));
    target->config = *config;
    target->hold = -1;
}

void stria_target_describe(const struct stria_drive_config *config, struct stria_target *target)
{
    struct approach approach = {.config = config, .path = config->path};
    begin(target, config);
    approach.there = !stria_path_is_prefixed(config->path) && stat(config->path, &approach.status) == 0;
    approach.regular = approach.there && S_ISREG(approach.status.st_mode);
    target->device = approach.there && S_ISBLK(approach.status.st_mode);
    identify(&approach, target);
}

int stria_target_admit(const struct stria_drive_config *config, const struct stria_target_request *request,
                       struct stria_trouble *trouble)
{
    struct approach approach = {.request = request, .config = config, .path = config->path};
    return admit(&approach, trouble);
}

static int open_drive(struct approach *approach, struct stria_target *target, struct stria_trouble *trouble)
{
    const struct stria_target_request *request = approach->request;
    int code = admit(approach, trouble);
    if (code == STRIA_OK && approach->regular && !approach->there)
        code = make_file(approach, target, trouble);
    if (code == STRIA_OK && approach->erase)
        code = stria_guard_erase(approach->path, target->hold, trouble);
    if (code != STRIA_OK)
        return code;
    const struct stria_stack_options options = {
        .writable = request->writes || target->made,
        .held = target->hold >= 0,
        .depth = request->depth,
        .forgets = target->made,
    };
    code = stria_stack_open(approach->config, &options, &target->drive, trouble);
    return code == STRIA_OK ? use_part(approach, target, trouble) : code;
}

int stria_target_open(const struct stria_drive_config *config, const struct stria_target_request *request,
                      struct stria_target *target, struct stria_trouble *trouble)
{
    begin(target, config);
    struct approach approach = {
        .request = request, .config = config, .path = config->path, .hold = &target->hold};
    int code = open_drive(&approach, target, trouble);
    if (code == STRIA_OK)
        identify(&approach, target);
    else
        stria_target_close(target);
    /* Nothing is left behind, however the bench ends. */
    if (target->made)
        stria_allocate_take_back(config->path);
    return code;
}

void stria_target_close(struct stria_target *target)
{
    if (target->drive)
        stria_stack_close(target->drive);
    if (target->hold >= 0)
        close(target->hold);
    free(target->survey);
    target->drive = NULL;
    target->hold = -1;
    target->survey = NULL;
}

bool stria_target_knows_trim(const struct stria_target *target, char *reason, size_t size)
{
    const bool fake = target->config.profile[0] != '\0';
    const bool knows = target->drive ? target->drive->traits.trims
                       : target->survey
                           ? target->device && target->survey->discard.known && target->survey->discard.value
                           : true;
    reason[0] = '\0';
    if (target->drive && target->drive->traits.read_only)
        snprintf(reason, size, "the drive is only read");
    else if (!knows && !fake)
        snprintf(reason, size,
                 target->device ? "the drive does not know TRIM" : "a file cannot be given back by TRIM");
    return !reason[0];
}

bool stria_target_trim(struct stria_target *target, char *reason, size_t size)
{
    if (!stria_target_knows_trim(target, reason, size))
        return false;
    const int code = stria_drive_run(target->drive, STRIA_IO_TRIM, target->begin_bytes, target->bytes, NULL);
    if (code != STRIA_OK)
        snprintf(reason, size, "TRIM failed: %s", stria_code_text(code));
    return code == STRIA_OK;
}

void stria_target_look(struct stria_target *target)
{
    const struct stria_model *model = stria_fake_model(target->drive);
    if (!model || !model->parameters.heat.time_constant_ns)
        return;
    const bool hot = stria_model_heat_rate_per_mille(model) < STRIA_HEAT_FULL_PER_MILLE;
    if (hot && !target->hot)
        atomic_fetch_add(&target->throttle_count, 1);
    target->hot = hot;
    atomic_store(&target->has_heat, true);
    atomic_store(&target->temperature_mc, stria_model_temperature_mc(model));
}

void stria_target_health(struct stria_target *target, struct stria_health *health)
{
    *health = (struct stria_health){0};
    if (target->survey) {
        struct stria_survey_sample now;
        stria_survey_sample("", target->survey, &now);
        health->temperature_c = told(now.temperature_c);
        health->critical_warning = told(now.critical_warning);
        health->throttle_count = told(now.throttle_count);
        health->percentage_used = told(target->survey->percentage_used);
        health->media_errors = told(target->survey->media_errors);
        return;
    }
    if (!atomic_load(&target->has_heat))
        return;
    const int64_t temperature_mc = atomic_load(&target->temperature_mc);
    health->temperature_c =
        (struct stria_told){true, temperature_mc > 0 ? (uint64_t)temperature_mc / 1000 : 0};
    health->throttle_count = (struct stria_told){true, atomic_load(&target->throttle_count)};
}

void stria_target_condition(struct stria_target *target, struct stria_health *health)
{
    struct stria_survey_drive *now = target->survey ? calloc(1, sizeof(*now)) : NULL;
    if (now && stria_survey_read("", target->config.path, now, NULL) == STRIA_OK) {
        free(target->survey);
        target->survey = now;
    } else {
        free(now);
    }
    stria_target_health(target, health);
}
