#include "tools/opening.h"

#include "backends/fault_script.h"
#include "engine/array.h"
#include "support/plain.h"
#include "tools/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fault script that cannot be read is a mistake in array.ini, not a drive that is gone. */
static void check_faults(const struct stria_array_config *config, struct stria_problems *problems)
{
    for (uint32_t i = 0; i < config->drive_count; i++) {
        struct fault_script script;
        struct stria_trouble trouble;
        if (config->drives[i].fault[0] &&
            fault_script_parse(config->drives[i].fault, &script, &trouble) != STRIA_OK)
            stria_problems_add(problems, "%s: [drive.%s]: %s", config->file, config->drives[i].name,
                               trouble.sentence);
    }
}

struct stria_array_config *stria_opening_read(const char *command, const char *ini_path, int *status)
{
    struct stria_problems problems = {0};
    struct stria_array_config *config = malloc(sizeof(*config));
    int code = STRIA_ERR_NO_MEMORY;
    if (config)
        code = stria_array_config_read(ini_path, config, &problems);
    else
        stria_problems_add(&problems, "not enough memory to read %s", ini_path);
    if (code == STRIA_OK)
        check_faults(config, &problems);
    if (code == STRIA_OK && problems.count)
        code = STRIA_ERR_INVALID;
    if (code != STRIA_OK) {
        *status = stria_status_fail_all(command, code, &problems);
        free(config);
        config = NULL;
    }
    stria_problems_clear(&problems);
    return config;
}

static void print_complaints(const char *command, const struct stria_array *array)
{
    struct stria_array_info info;
    stria_array_describe(array, &info);
    if (info.complaint[0])
        fprintf(stderr, "stria %s: warning: %s\n", command, stria_shown(info.complaint));
    for (uint32_t i = 0; i < info.drive_count; i++) {
        struct stria_drive_info drive;
        /* Why a drive is absent may be what is wrong with the whole. */
        if (stria_array_drive(array, i, &drive) == STRIA_OK && drive.complaint[0] &&
            !strstr(info.complaint, drive.complaint))
            fprintf(stderr, "stria %s: warning: %s\n", command, stria_shown(drive.complaint));
    }
}

uint32_t stria_opening_present(const struct stria_array *array)
{
    struct stria_drive_info drive;
    uint32_t present = 0;
    for (uint32_t i = 0; stria_array_drive(array, i, &drive) == STRIA_OK; i++)
        present |= (uint32_t)drive.present << i;
    return present;
}

bool stria_opening_tell_lost(const char *command, const struct stria_array *array, uint32_t present_before)
{
    const uint32_t lost = present_before & ~stria_opening_present(array);
    struct stria_drive_info drive;
    for (uint32_t i = 0; i < STRIA_DRIVES_MAX; i++)
        if ((lost >> i & 1) && stria_array_drive(array, i, &drive) == STRIA_OK)
            fprintf(stderr,
                    "stria %s: warning: drive %s was given up: %s; 'stria doctor' looks at its health\n",
                    command, stria_shown(drive.name), stria_shown(drive.complaint));
    return lost != 0;
}

struct stria_array *stria_opening_open(const char *command, const char *ini_path, bool writable, int *status)
{
    struct stria_array_config *config = stria_opening_read(command, ini_path, status);
    if (!config)
        return NULL;
    struct stria_array *array = NULL;
    struct stria_trouble trouble = {0};
    if (stria_array_open_config(config, writable, &array, &trouble) != STRIA_OK) {
        *status = stria_status_fail(command, &trouble);
        array = NULL;
    } else {
        print_complaints(command, array);
    }
    free(config);
    return array;
}
