#define _GNU_SOURCE

#include "support/allocate.h"

#include "support/file.h"
#include "support/units.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* How much room is missing for a file of this size where path is, or zero if that is not the reason. */
static uint64_t missing_of(const char *path, uint64_t bytes)
{
    char folder[PATH_MAX];
    struct stat file;
    struct statvfs room;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (statvfs(folder, &room) != 0)
        return 0;
    uint64_t has = (uint64_t)room.f_bavail * room.f_frsize;
    if (stat(path, &file) == 0)
        has += (uint64_t)file.st_blocks * 512;
    return has < bytes ? bytes - has : 0;
}

static int cannot_allocate(const char *path, uint64_t bytes, int error, struct stria_trouble *trouble)
{
    char size[STRIA_UNITS_TEXT_BYTES], missing[STRIA_UNITS_TEXT_BYTES];
    stria_size_print(size, sizeof(size), bytes);
    const uint64_t missing_bytes = missing_of(path, bytes);
    if (error == ENOSPC && missing_bytes)
        return stria_trouble_set(
            trouble, STRIA_ERR_NO_SPACE,
            "cannot allocate %s for %s: %s are missing on its file system: free them, give it a smaller "
            "size or another place",
            size, path, stria_size_print_both(missing, sizeof(missing), missing_bytes));
    if (error == ENOSPC || error == EDQUOT)
        return stria_trouble_set(
            trouble, STRIA_ERR_NO_SPACE,
            "cannot allocate %s for %s: its file system has not enough room: give it a smaller size or "
            "another place",
            size, path);
    if (error == EOPNOTSUPP)
        return stria_trouble_set(
            trouble, STRIA_ERR_UNSUPPORTED,
            "cannot allocate %s for %s in full: its file system does not do that: use one that does, "
            "such as ext4 or XFS",
            size, path);
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot make %s with %s: %s", path, size,
                             stria_errno_text(error));
}

static int cannot_make(const char *path, const char *target, int error, struct stria_trouble *trouble)
{
    const char *link = strcmp(path, target) != 0 ? ", which is a link to " : "";
    if (error == EEXIST)
        return stria_trouble_set(trouble, STRIA_ERR_EXISTS,
                                 "somebody else has made %s meanwhile: look at it, and try again", path);
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot make %s%s%s: %s", path, link,
                             link[0] ? target : "", stria_errno_text(error));
}

int stria_allocate_make(const char *path, int *fd, struct stria_trouble *trouble)
{
    char target[PATH_MAX];
    *fd = -1;
    const int code = stria_file_follow(path, target);
    if (code < 0)
        return cannot_make(path, path, -code, trouble);
    *fd = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *fd >= 0 ? STRIA_OK : cannot_make(path, target, errno, trouble);
}

void stria_allocate_take_back(const char *path)
{
    char target[PATH_MAX];
    if (stria_file_follow(path, target) == 0)
        unlink(target);
}

/* errno of the first that fails, or zero. fallocate of glibc's posix_ kind would write zeros one by one where
 * the file system cannot allocate: that is why it is called by itself. */
static int resize(int fd, uint64_t bytes)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return errno;
    int failed;
    do
        failed = fallocate(fd, 0, 0, (off_t)bytes);
    while (failed && errno == EINTR);
    if (failed) {
        const int error = errno;
        (void)!ftruncate(fd, status.st_size);
        return error;
    }
    if ((uint64_t)status.st_size > bytes && ftruncate(fd, (off_t)bytes) != 0)
        return errno;
    return fsync(fd) == 0 ? 0 : errno;
}

int stria_allocate_resize(int fd, const char *path, uint64_t bytes, struct stria_trouble *trouble)
{
    const int error = resize(fd, bytes);
    return error ? cannot_allocate(path, bytes, error, trouble) : STRIA_OK;
}
