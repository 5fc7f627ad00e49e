#include "measure/target.h"

#include "backends/fake.h"
#include "backends/sysfs.h"
#include "config/profile.h"
#include "engine/stack.h"
#include "measure/place.h"
#include "support/allocate.h"
#include "support/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Neither a partition table nor a file system's mark shall ever be imitated by what a bench writes. */
#define DEVICE_BEGIN_BYTES (1ull << 20)

/* What a target is before it is opened. */
struct approach {
    const struct stria_target_request *request;
    const char *path;
    bool there, regular;
    bool erase; /* signatures are to be taken off */
    struct stat status;
};

static int check_engine(const struct approach *approach, struct stria_trouble *trouble)
{
    const char *wanted = approach->request->engine;
    for (unsigned i = 0; wanted && stria_backends[i]; i++) {
        if (!stria_backends[i]->claims(approach->path))
            continue;
        if (strcmp(stria_backends[i]->name, wanted) == 0)
            return STRIA_OK;
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s is served by the backend %s, not by %s: leave --engine out, or name that", approach->path,
            stria_backends[i]->name, wanted);
    }
    return STRIA_OK;
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

static int admit(struct approach *approach, struct stria_trouble *trouble)
{
    int code = check_engine(approach, trouble);
    if (code != STRIA_OK || stria_path_is_prefixed(approach->path))
        return code;
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
        code = stria_guard_check(approach->path, approach->request->guard, &approach->erase, trouble);
    return code;
}

static int make_file(const struct approach *approach, const struct stria_drive_config *config, bool *made,
                     struct stria_trouble *trouble)
{
    const uint64_t bytes = config->size_bytes ? config->size_bytes : approach->request->file_bytes;
    if (bytes == 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s does not exist: say with --size how large a file to measure in",
                                 approach->path);
    return stria_allocate_file(approach->path, bytes, made, trouble);
}

/* As init does it: held against others while it is made ready. */
static int erase(const struct approach *approach, struct stria_trouble *trouble)
{
    int hold = -1;
    int code = stria_guard_hold(approach->path, &hold, trouble);
    if (code == STRIA_OK)
        code = stria_guard_erase(approach->path, trouble);
    if (hold >= 0)
        close(hold);
    return code;
}

static int use_part(const struct approach *approach, struct stria_target *target,
                    struct stria_trouble *trouble)
{
    const struct stria_traits *traits = &target->drive->traits;
    const uint64_t wanted = approach->request->bytes;
    char has[STRIA_UNITS_TEXT_BYTES], asked[STRIA_UNITS_TEXT_BYTES];
    target->device = traits->block_device;
    target->begin_bytes = target->device ? DEVICE_BEGIN_BYTES : 0;
    const uint64_t room =
        traits->drive_bytes > target->begin_bytes ? traits->drive_bytes - target->begin_bytes : 0;
    target->bytes = wanted && wanted < room ? wanted - wanted % traits->block_bytes : room;
    if (target->bytes > 0 && wanted <= room)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                             "%s has room for %s, less than the %s that are asked: "
                             "give a smaller --size",
                             approach->path, stria_size_print_both(has, sizeof(has), room),
                             stria_size_print_both(asked, sizeof(asked), wanted));
}

static void learn_profile(struct stria_target *target)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    const struct stria_drive_config *config = &target->config;
    if (config->profile[0] && stria_profile_find(config->profile, &profile, &problems) == STRIA_OK &&
        stria_profile_scale(&profile, config->capacity_scale, config->rate_scale, NULL) == STRIA_OK) {
        target->link_bytes_per_s = (struct stria_told){true, profile.parameters.link_bytes_per_s};
        snprintf(target->model, sizeof(target->model), "%s", profile.model);
        target->price = profile.price;
    }
    stria_problems_clear(&problems);
}

/* A loop device writes into the page cache of its file unless it was told not to. */
static void warn_of_cache(const struct approach *approach, struct stria_target *target)
{
    char direct[16];
    if (target->device && stria_sysfs_read(approach->status.st_rdev, "loop/dio", direct, sizeof(direct)) &&
        strcmp(direct, "1") != 0)
        snprintf(target->warning, sizeof(target->warning),
                 "%.128s is a loop device that writes into memory first: make it with losetup --direct-io=on",
                 approach->path);
}

static void identify(const struct approach *approach, struct stria_target *target)
{
    for (unsigned i = 0; !target->engine[0] && stria_backends[i]; i++)
        if (stria_backends[i]->claims(approach->path))
            snprintf(target->engine, sizeof(target->engine), "%s", stria_backends[i]->name);
    target->size_bytes = target->drive->traits.drive_bytes;
    snprintf(target->serial, sizeof(target->serial), "%s", target->drive->traits.serial);
    target->lba_bytes = (struct stria_told){target->device, target->drive->traits.block_bytes};
    if (approach->regular)
        stria_place_file_system(approach->path, target->file_system, sizeof(target->file_system));
    learn_profile(target);
    warn_of_cache(approach, target);
}

int stria_target_open(const struct stria_drive_config *config, const struct stria_target_request *request,
                      struct stria_target *target, struct stria_trouble *trouble)
{
    struct approach approach = {.request = request, .path = config->path};
    memset(target, 0, sizeof(*target));
    target->config = *config;
    int code = admit(&approach, trouble);
    if (code == STRIA_OK && approach.regular && !approach.there && !stria_path_is_prefixed(config->path))
        code = make_file(&approach, config, &target->made, trouble);
    if (code == STRIA_OK && approach.erase)
        code = erase(&approach, trouble);
    const struct stria_stack_options options = {
        .writable = request->writes || target->made,
        .depth = request->depth,
        .forgets = target->made,
    };
    if (code == STRIA_OK)
        code = stria_stack_open(config, &options, &target->drive, trouble);
    if (code == STRIA_OK) {
        code = use_part(&approach, target, trouble);
        if (code == STRIA_OK)
            identify(&approach, target);
        else
            stria_target_close(target);
    }
    /* Nothing is left behind, however the bench ends. */
    if (target->made)
        unlink(config->path);
    return code;
}

void stria_target_close(struct stria_target *target)
{
    stria_stack_close(target->drive);
    target->drive = NULL;
}

bool stria_target_trim(struct stria_target *target, char *reason, size_t size)
{
    const struct stria_traits *traits = &target->drive->traits;
    reason[0] = '\0';
    if (traits->read_only)
        snprintf(reason, size, "the drive is only read");
    else if (!traits->trims)
        snprintf(reason, size,
                 traits->block_device ? "the drive does not know TRIM"
                                      : "a file cannot be given back by TRIM");
    if (reason[0])
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
    if (!atomic_load(&target->has_heat))
        return;
    const int64_t temperature_mc = atomic_load(&target->temperature_mc);
    health->temperature_c =
        (struct stria_told){true, temperature_mc > 0 ? (uint64_t)temperature_mc / 1000 : 0};
    health->throttle_count = (struct stria_told){true, atomic_load(&target->throttle_count)};
}
