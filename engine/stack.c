#include "engine/stack.h"

#include "backends/fake.h"
#include "backends/fault.h"
#include "backends/split.h"
#include "backends/threaded.h"
#include "config/profile.h"
#include "core/digest.h"
#include "support/path.h"

#include <stdio.h>
#include <string.h>

void stria_stack_close(struct stria_drive *drive)
{
    if (drive)
        drive->backend->close(drive);
}

#define MEDIUM_PATH_BYTES (sizeof(STRIA_PASSTHROUGH_PREFIX) + STRIA_CONFIG_PATH_BYTES)

static const char *medium_path(const struct stria_drive_config *config, char path[MEDIUM_PATH_BYTES])
{
    snprintf(path, MEDIUM_PATH_BYTES, "%s%s", config->passthrough ? STRIA_PASSTHROUGH_PREFIX : "",
             config->path);
    return path;
}

const struct stria_backend *stria_stack_backend(const struct stria_drive_config *config,
                                                struct stria_trouble *trouble)
{
    char path[MEDIUM_PATH_BYTES];
    return stria_backend_find(medium_path(config, path), trouble);
}

static int open_medium(const struct stria_drive_config *config, const struct stria_stack_options *options,
                       struct stria_drive **drive, struct stria_trouble *trouble)
{
    char path[MEDIUM_PATH_BYTES];
    const struct stria_drive_options medium = {
        .path = medium_path(config, path),
        .read_only = !options->writable,
        .exclusive = options->writable && !options->held,
        .held = options->held,
        .partly = options->partly,
        .direct = true,
        .depth = options->depth,
    };
    return stria_drive_open(&medium, drive, trouble);
}

/* Puts one wrapper around *drive; when that fails, what is inside is closed. */
static int wrapped(int code, struct stria_drive *outer, struct stria_drive **drive)
{
    if (code == STRIA_OK)
        *drive = outer;
    else
        stria_stack_close(*drive);
    return code;
}

/* Each drive stalls at times of its own, the same ones in every run. */
static uint64_t model_seed(const struct stria_drive_config *config)
{
    return stria_digest_seeded(config->fault_seed, config->name, strlen(config->name));
}

/* The profile was found once already, when array.ini was read. */
static int add_model(const struct stria_drive_config *config, const struct stria_stack_options *options,
                     struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    struct stria_drive *outer = NULL;
    char state_path[STRIA_CONFIG_PATH_BYTES + 16];
    int code = stria_profile_find(config->profile, &profile, &problems);
    if (code != STRIA_OK)
        stria_trouble_set(trouble, code, "%s", problems.count > 0 ? problems.sentences[0] : config->profile);
    stria_problems_clear(&problems);
    if (code == STRIA_OK)
        code = stria_profile_scale(&profile, config->capacity_scale, config->rate_scale, trouble);
    bool keeps_state = options->writable && !options->forgets &&
                       stria_fake_state_path(config->path, state_path, sizeof(state_path));
    if (code == STRIA_OK)
        code = stria_fake_wrap(*drive, &profile.parameters, model_seed(config),
                               keeps_state ? state_path : NULL, &outer, trouble);
    return wrapped(code, outer, drive);
}

static int add_faults(const struct stria_drive_config *config, struct stria_drive **drive,
                      struct stria_trouble *trouble)
{
    struct stria_drive *outer = NULL;
    int code = stria_fault_wrap(*drive, config->fault, config->fault_seed, &outer, trouble);
    return wrapped(code, outer, drive);
}

/* A chunk is one request, whatever the drive takes at once. */
static int add_split(uint32_t depth, struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct stria_drive *outer = NULL;
    if ((*drive)->traits.transfer_bytes_max >= STRIA_CHUNK_BYTES_MAX)
        return STRIA_OK;
    int code = stria_split_wrap(*drive, 0, depth, &outer, trouble);
    return wrapped(code, outer, drive);
}

static void ring(void *bell)
{
    stria_bell_ring(bell);
}

static int add_thread(struct stria_bell *bell, struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct stria_drive *outer = NULL;
    int code = stria_threaded_wrap(*drive, ring, bell, &outer, trouble);
    return wrapped(code, outer, drive);
}

int stria_stack_open(const struct stria_drive_config *config, const struct stria_stack_options *options,
                     struct stria_drive **out, struct stria_trouble *trouble)
{
    struct stria_drive *drive = NULL;
    int code = open_medium(config, options, &drive, trouble);
    if (code != STRIA_OK)
        return code;
    bool wants_thread = options->bell && (drive->traits.may_block || config->profile[0] || config->fault[0]);
    code = add_split(options->depth, &drive, trouble);
    if (code == STRIA_OK && config->profile[0])
        code = add_model(config, options, &drive, trouble);
    if (code == STRIA_OK && config->fault[0])
        code = add_faults(config, &drive, trouble);
    if (code == STRIA_OK && wants_thread)
        code = add_thread(options->bell, &drive, trouble);
    if (code == STRIA_OK)
        *out = drive;
    return code;
}
