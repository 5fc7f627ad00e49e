#include "tools/ending.h"

#include "support/fabrics_url.h"
#include "tools/opening.h"
#include "tools/signals.h"
#include "tools/status.h"

#include <stdio.h>
#include <stdlib.h>

void stria_ending_at_once(char *const *paths, int path_count)
{
    for (int i = 0; i < path_count; i++)
        if (stria_fabrics_url_is(paths[i]))
            return;
    stria_signals_give_back();
}

bool stria_ending_at_once_with(const char *command, const char *ini_path, int *status)
{
    struct stria_array_config *config = stria_opening_read(command, ini_path, status);
    if (!config)
        return false;
    char *paths[STRIA_DRIVES_MAX];
    for (uint32_t i = 0; i < config->drive_count; i++)
        paths[i] = config->drives[i].path;
    stria_ending_at_once(paths, (int)config->drive_count);
    free(config);
    return true;
}

bool stria_ending_asked(const char *command, int *status)
{
    if (!stria_signals_stop())
        return false;
    fprintf(stderr, "stria %s: ended by a signal\n", command);
    *status = STRIA_STATUS_SYSTEM;
    return true;
}
