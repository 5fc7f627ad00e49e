#include "engine/stack.h"

#include "backends/threaded.h"

#include <stdio.h>
#include <string.h>

void stria_stack_close(struct stria_drive *drive)
{
    if (drive)
        drive->backend->close(drive);
}

static int open_medium(const struct stria_drive_config *config, const struct stria_stack_options *options,
                       struct stria_drive **drive, struct stria_trouble *trouble)
{
    const struct stria_drive_options medium = {
        .path = config->path,
        .read_only = !options->writable,
        .exclusive = options->writable,
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
    bool wants_thread = drive->traits.may_block || config->profile[0] || config->fault[0];
    if (code == STRIA_OK && wants_thread)
        code = add_thread(options->bell, &drive, trouble);
    if (code == STRIA_OK)
        *out = drive;
    return code;
}
