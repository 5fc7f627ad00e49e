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

/* A drive and a sparse file of its size that holds copies of its ends. */
struct remote {
    struct stria_drive *drive;
    int copy;
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

/* Where the ends lie; both are one on a small drive. */
static unsigned find_ends(const struct remote *remote, uint64_t offsets[2], uint64_t *bytes)
{
    const uint64_t drive_bytes = remote->drive->traits.drive_bytes;
    *bytes = drive_bytes < END_BYTES ? drive_bytes : END_BYTES;
    offsets[0] = 0;
    offsets[1] = drive_bytes - *bytes;
    return offsets[1] > 0 ? 2 : 1;
}

static int copy_ends(struct remote *remote)
{
    uint64_t offsets[2], bytes;
    const unsigned count = find_ends(remote, offsets, &bytes);
    for (unsigned i = 0; i < count; i++) {
        int code = stria_drive_run(remote->drive, STRIA_IO_READ, offsets[i], bytes, remote->buffer);
        if (code < 0)
            return code;
        if (pwrite(remote->copy, remote->buffer, bytes, (off_t)offsets[i]) != (ssize_t)bytes)
            return STRIA_ERR_NO_MEMORY;
    }
    return STRIA_OK;
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
    code = copy_ends(remote);
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

/* Writes back the blocks of one end that differ in the copy by now. */
static int write_back(const struct remote *remote, uint64_t offset, uint64_t bytes, uint8_t *wiped)
{
    const uint32_t block = remote->drive->traits.block_bytes;
    int code = stria_drive_run(remote->drive, STRIA_IO_READ, offset, bytes, remote->buffer);
    if (code == STRIA_OK && pread(remote->copy, wiped, bytes, (off_t)offset) != (ssize_t)bytes)
        code = STRIA_ERR_IO;
    for (uint64_t at = 0; code == STRIA_OK && at < bytes; at += block)
        if (memcmp(wiped + at, remote->buffer + at, block) != 0)
            code = stria_drive_run(remote->drive, STRIA_IO_WRITE, offset + at, block, wiped + at);
    return code;
}

static int write_ends_back(const struct remote *remote)
{
    uint64_t offsets[2], bytes;
    const unsigned count = find_ends(remote, offsets, &bytes);
    uint8_t *wiped = aligned_alloc(STRIA_PAGE_BYTES, END_BYTES);
    int code = wiped ? STRIA_OK : STRIA_ERR_NO_MEMORY;
    for (unsigned i = 0; code == STRIA_OK && i < count; i++)
        code = write_back(remote, offsets[i], bytes, wiped);
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
            code = write_ends_back(&remote);
        if (code < 0 && trouble && trouble->code != code)
            stria_trouble_set(trouble, code, "cannot wipe the signatures from %s: %s", path,
                              stria_code_text(code));
    }
    remote_close(&remote);
    return code;
}
