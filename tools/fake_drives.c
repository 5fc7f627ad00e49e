#include "backends/fake.h"
#include "config/profile.h"
#include "support/units.h"
#include "tools/fake.h"
#include "tools/opening.h"
#include "tools/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is done to one fake drive while nobody else uses it. */
struct treatment {
    bool trim;
    uint64_t rest_ns;
};

static void print_drive(const struct stria_drive_config *drive, const struct stria_model *model)
{
    char used[STRIA_UNITS_TEXT_BYTES], next[STRIA_UNITS_TEXT_BYTES];
    printf("%s: %s hold data, the next byte is written at %s", drive->name,
           stria_size_print_both(used, sizeof(used), stria_model_used_bytes(model)),
           stria_rate_print_both(next, sizeof(next),
                                 stria_model_write_bytes_per_s(model, stria_model_used_bytes(model))));
    if (model->parameters.heat.time_constant_ns > 0)
        printf(", %.1f °C", (double)stria_model_temperature_mc(model) / 1000);
    printf("\n");
}

static int treat_state(const struct stria_drive_config *drive,
                       const struct stria_model_parameters *parameters, const struct treatment *treatment,
                       struct stria_trouble *trouble)
{
    char path[STRIA_CONFIG_PATH_BYTES + 16];
    if (!stria_fake_state_path(drive->path, path, sizeof(path)))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s is no regular file: such a fake drive begins empty and rested each time",
                                 drive->path);
    struct stria_model *model = malloc(sizeof(*model));
    if (!model)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    int code = stria_fake_state_read(path, parameters, model, trouble);
    if (code == STRIA_ERR_NOT_FOUND) {
        code = STRIA_OK;
        printf("%s: never used, so there is nothing to do\n", drive->name);
    } else if (code == STRIA_OK) {
        if (treatment->trim)
            stria_model_trim(model, 0, 0, parameters->capacity_bytes);
        stria_model_rest(model, treatment->rest_ns);
        code = stria_fake_state_write(path, model, trouble);
        if (code == STRIA_OK)
            print_drive(drive, model);
    }
    free(model);
    return code;
}

/* Holds the drive meanwhile, so that a recorder cannot. */
static int treat_drive(const struct stria_drive_config *drive, const struct treatment *treatment,
                       struct stria_trouble *trouble)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    int code = stria_profile_find(drive->profile, &profile, &problems);
    if (code != STRIA_OK)
        stria_trouble_set(trouble, code, "%s", problems.count ? problems.sentences[0] : drive->profile);
    stria_problems_clear(&problems);
    if (code == STRIA_OK)
        code = stria_profile_scale(&profile, drive->capacity_scale, drive->rate_scale, trouble);
    if (code != STRIA_OK)
        return code;
    struct stria_drive *held = NULL;
    const struct stria_drive_options options = {.path = drive->path, .exclusive = true, .depth = 1};
    code = stria_drive_open(&options, &held, trouble);
    if (code != STRIA_OK)
        return code;
    code = treat_state(drive, &profile.parameters, treatment, trouble);
    held->backend->close(held);
    return code;
}

static bool is_named(const struct stria_drive_config *drive, char **names, int name_count)
{
    for (int i = 0; i < name_count; i++)
        if (strcmp(names[i], drive->name) == 0)
            return true;
    return name_count == 0;
}

/* Every name is that of a fake drive. */
static int check_names(const struct stria_array_config *config, const char *ini_path, char **names,
                       int name_count)
{
    struct stria_trouble trouble = {0};
    unsigned fakes = 0;
    for (uint32_t i = 0; i < config->drive_count; i++)
        fakes += config->drives[i].profile[0] != '\0';
    if (fakes == 0) {
        stria_trouble_set(&trouble, STRIA_ERR_INVALID,
                          "%s has no fake drive: 'profile = NAME' under [drive.NAME] makes one", ini_path);
        return stria_status_fail("fake", &trouble);
    }
    for (int n = 0; n < name_count; n++) {
        const struct stria_drive_config *found = NULL;
        for (uint32_t i = 0; i < config->drive_count; i++)
            found = strcmp(config->drives[i].name, names[n]) == 0 ? &config->drives[i] : found;
        if (found && found->profile[0])
            continue;
        stria_trouble_set(&trouble, STRIA_ERR_INVALID, "%s has no %sdrive '%s'", ini_path,
                          found ? "fake " : "", names[n]);
        return stria_status_fail("fake", &trouble);
    }
    return STRIA_STATUS_OK;
}

static int treat(const struct treatment *treatment, const char *ini_path, char **names, int name_count)
{
    int status;
    struct stria_array_config *config = stria_opening_read("fake", ini_path, &status);
    if (!config)
        return status;
    status = check_names(config, ini_path, names, name_count);
    for (uint32_t i = 0; i < config->drive_count && status == STRIA_STATUS_OK; i++) {
        const struct stria_drive_config *drive = &config->drives[i];
        struct stria_trouble trouble = {0};
        if (drive->profile[0] && is_named(drive, names, name_count) &&
            treat_drive(drive, treatment, &trouble) != STRIA_OK)
            status = stria_status_fail("fake", &trouble);
    }
    free(config);
    return status;
}

int fake_trim(const char *ini_path, char **names, int name_count)
{
    return treat(&(struct treatment){.trim = true}, ini_path, names, name_count);
}

int fake_rest(uint64_t rest_ns, const char *ini_path, char **names, int name_count)
{
    return treat(&(struct treatment){.rest_ns = rest_ns}, ini_path, names, name_count);
}
