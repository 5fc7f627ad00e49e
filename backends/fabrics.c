#include "backends/fabrics.h"

#include "backends/list.h"
#include "support/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The device of this host's kernel that the other host's drive has become, with the connection to it. */
struct fabrics_drive {
    struct stria_drive drive;
    struct stria_drive *inner;
    struct stria_fabrics_reach reach;
};

static const char passthrough[] = STRIA_PASSTHROUGH_PREFIX;

static bool fabrics_claims(const char *path)
{
    return stria_fabrics_url_is(stria_path_plain(path));
}

static int open_device(struct fabrics_drive *fabrics, const struct stria_drive_options *options,
                       struct stria_trouble *trouble)
{
    const char *url = stria_path_plain(options->path);
    char path[sizeof(passthrough) + sizeof(fabrics->reach.device)];
    struct stria_drive_options device = *options;
    struct stria_trouble reason;
    snprintf(path, sizeof(path), "%s%s", url == options->path ? "" : passthrough, fabrics->reach.device);
    device.path = path;
    const int code = stria_drive_open(&device, &fabrics->inner, &reason);
    if (code != STRIA_OK)
        return stria_trouble_set(trouble, code, "%s: %s", url, reason.sentence);
    fabrics->drive =
        (struct stria_drive){.backend = &stria_backend_fabrics, .traits = fabrics->inner->traits};
    snprintf(fabrics->drive.traits.path, sizeof(fabrics->drive.traits.path), "%s", url);
    return STRIA_OK;
}

static int fabrics_open(const struct stria_drive_options *options, struct stria_drive **drive,
                        struct stria_trouble *trouble)
{
    struct fabrics_drive *fabrics = calloc(1, sizeof(*fabrics));
    if (!fabrics)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    int code = stria_fabrics_reach(stria_path_plain(options->path), &fabrics->reach, trouble);
    if (code != STRIA_OK) {
        free(fabrics);
        return code;
    }
    code = open_device(fabrics, options, trouble);
    if (code != STRIA_OK) {
        stria_fabrics_leave(&fabrics->reach);
        free(fabrics);
        return code;
    }
    *drive = &fabrics->drive;
    return STRIA_OK;
}

static int fabrics_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct fabrics_drive *fabrics = (struct fabrics_drive *)drive;
    const int code = fabrics->inner->backend->attach(fabrics->inner, regions, count);
    drive->traits.registered = fabrics->inner->traits.registered;
    drive->traits.depth_max = fabrics->inner->traits.depth_max;
    stria_traits_note(&drive->traits, "%s", fabrics->inner->traits.note);
    return code;
}

static int fabrics_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct stria_drive *inner = ((struct fabrics_drive *)drive)->inner;
    return inner->backend->submit(inner, io);
}

static int fabrics_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct stria_drive *inner = ((struct fabrics_drive *)drive)->inner;
    return inner->backend->poll(inner, done, max, wait_ns);
}

static void fabrics_wake(struct stria_drive *drive)
{
    struct stria_drive *inner = ((struct fabrics_drive *)drive)->inner;
    if (inner->backend->wake)
        inner->backend->wake(inner);
}

static int fabrics_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                        char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return stria_drive_lock(((struct fabrics_drive *)drive)->inner, number, how, holder);
}

static void fabrics_close(struct stria_drive *drive)
{
    struct fabrics_drive *fabrics = (struct fabrics_drive *)drive;
    fabrics->inner->backend->close(fabrics->inner);
    stria_fabrics_leave(&fabrics->reach);
    free(fabrics);
}

const struct stria_backend stria_backend_fabrics = {
    .name = "fabrics",
    .claims = fabrics_claims,
    .open = fabrics_open,
    .attach = fabrics_attach,
    .submit = fabrics_submit,
    .poll = fabrics_poll,
    .wake = fabrics_wake,
    .lock = fabrics_lock,
    .close = fabrics_close,
};
