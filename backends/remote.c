#include "backends/remote.h"

#include "backends/backend.h"
#include "backends/content.h"
#include "backends/vfio.h"
#include "core/geometry.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define END_BYTES (8ull << 20) /* looked at at each end: no signature lies farther in */

struct range {
    uint64_t offset, bytes;
};

/* A drive and a sparse file of its size that holds copies of its ends, and of the second superblock of one
 * that has grown. */
struct remote {
    struct stria_drive *drive;
    int copy;
    struct range ranges[3]; /* what is copied */
    unsigned range_count;
    uint8_t *buffer; /* END_BYTES */
};

bool stria_remote_is(const char *path)
{
    return stria_vfio_claims(path);
}

static void remote_close(struct remote *remote)
{
    if (remote->drive)
        remote->drive->backend->close(remote->drive);
    if (remote->copy >= 0)
        close(remote->copy);
    free(remote->buffer);
}

/* The ends, which are one on a small drive. */
static void find_ends(struct remote *remote)
{
    const uint64_t drive_bytes = remote->drive->traits.drive_bytes;
    const uint64_t bytes = drive_bytes < END_BYTES ? drive_bytes : END_BYTES;
    remote->ranges[0] = (struct range){0, bytes};
    remote->ranges[1] = (struct range){drive_bytes - bytes, bytes};
    remote->range_count = drive_bytes > bytes ? 2 : 1;
}

static int copy_range(const struct remote *remote, const struct range *range)
{
    int code = stria_drive_run(remote->drive, STRIA_IO_READ, range->offset, range->bytes, remote->buffer);
    if (code < 0)
        return code;
    const ssize_t wrote = pwrite(remote->copy, remote->buffer, range->bytes, (off_t)range->offset);
    return wrote == (ssize_t)range->bytes ? STRIA_OK : STRIA_ERR_NO_MEMORY;
}

static int copy_ranges(struct remote *remote)
{
    uint64_t copies[3];
    int code = STRIA_OK;
    find_ends(remote);
    for (unsigned i = 0; code == STRIA_OK && i < remote->range_count; i++)
        code = copy_range(remote, &remote->ranges[i]);
    if (code < 0 || stria_content_copies(remote->copy, remote->drive->traits.drive_bytes, copies) < 3)
        return code;
    remote->ranges[remote->range_count++] = (struct range){copies[2], STRIA_PAGE_BYTES};
    return copy_range(remote, &remote->ranges[remote->range_count - 1]);
}

static int remote_open(const char *path, bool writable, struct remote *remote, struct stria_trouble *trouble)
{
    const struct stria_drive_options options = {
        .path = path, .depth = 1, .read_only = !writable, .exclusive = true};
    *remote = (struct remote){.copy = -1};
    int code = stria_drive_open(&options, &remote->drive, trouble);
    if (code < 0)
        return code;
    remote->buffer = aligned_alloc(STRIA_PAGE_BYTES, END_BYTES);
    remote->copy = memfd_create("stria-remote", MFD_CLOEXEC);
    if (!remote->buffer || remote->copy < 0 ||
        ftruncate(remote->copy, (off_t)remote->drive->traits.drive_bytes) != 0)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: not enough memory to look at it", path);
    code = copy_ranges(remote);
    return code < 0 ? stria_trouble_set(trouble, code, "%s cannot be read: %s", path, stria_code_text(code))
                    : STRIA_OK;
}

static bool may_be_erased(const struct remote *remote, const struct stria_guard *guard)
{
    bool allowed = false;
    for (unsigned i = 0; i < guard->erase_count; i++) {
        if (!guard->erase[i][0] || strcmp(guard->erase[i], remote->drive->traits.serial) != 0)
            continue;
        allowed = true;
        if (guard->erase_used)
            guard->erase_used[i] = true;
    }
    return allowed;
}

static int check_content(const struct remote *remote, const char *path, bool allowed, bool *erase,
                         struct stria_trouble *trouble)
{
    const struct stria_traits *traits = &remote->drive->traits;
    struct stria_trouble reason;
    char content[512];
    bool found;
    int code = stria_content_describe(remote->copy, traits->drive_bytes, traits->block_bytes, false, &found,
                                      content, sizeof(content), &reason);
    if (!found)
        return code == STRIA_OK ? STRIA_OK : stria_trouble_set(trouble, code, "%s %s", path, reason.sentence);
    *erase = allowed;
    if (allowed)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_REFUSED,
        "%s carries %s: use another drive, or allow this one to be overwritten with --erase %s", path,
        content, traits->serial);
}

int stria_remote_check(const char *path, const struct stria_guard *guard, bool *erase,
                       struct stria_trouble *trouble)
{
    struct remote remote;
    *erase = false;
    int code = remote_open(path, false, &remote, trouble);
    if (code == STRIA_OK)
        code = check_content(&remote, path, may_be_erased(&remote, guard), erase, trouble);
    remote_close(&remote);
    return code;
}

/* Writes back the blocks of one range that differ in the copy by now. */
static int write_back(const struct remote *remote, const struct range *range, uint8_t *wiped)
{
    const uint64_t offset = range->offset, bytes = range->bytes;
    const uint32_t block = remote->drive->traits.block_bytes;
    int code = stria_drive_run(remote->drive, STRIA_IO_READ, offset, bytes, remote->buffer);
    if (code == STRIA_OK && pread(remote->copy, wiped, bytes, (off_t)offset) != (ssize_t)bytes)
        code = STRIA_ERR_IO;
    for (uint64_t at = 0; code == STRIA_OK && at < bytes; at += block)
        if (memcmp(wiped + at, remote->buffer + at, block) != 0)
            code = stria_drive_run(remote->drive, STRIA_IO_WRITE, offset + at, block, wiped + at);
    return code;
}

static int write_ranges_back(const struct remote *remote)
{
    uint8_t *wiped = aligned_alloc(STRIA_PAGE_BYTES, END_BYTES);
    int code = wiped ? STRIA_OK : STRIA_ERR_NO_MEMORY;
    for (unsigned i = 0; code == STRIA_OK && i < remote->range_count; i++)
        code = write_back(remote, &remote->ranges[i], wiped);
    if (code == STRIA_OK)
        code = stria_drive_run(remote->drive, STRIA_IO_FLUSH, 0, 0, NULL);
    free(wiped);
    return code;
}

int stria_remote_erase(const char *path, struct stria_trouble *trouble)
{
    struct remote remote;
    int code = remote_open(path, true, &remote, trouble);
    if (code == STRIA_OK) {
        const struct stria_traits *traits = &remote.drive->traits;
        code = stria_content_wipe(remote.copy, traits->drive_bytes, traits->block_bytes, path, trouble);
        if (code == STRIA_OK)
            code = write_ranges_back(&remote);
        if (code < 0 && trouble && trouble->code != code)
            stria_trouble_set(trouble, code, "cannot wipe the signatures from %s: %s", path,
                              stria_code_text(code));
    }
    remote_close(&remote);
    return code;
}
