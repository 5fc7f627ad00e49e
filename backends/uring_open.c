#include "backends/guard.h"
#include "backends/uring.h"
#include "backends/usage.h"
#include "support/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

/* Opening a FIFO would wait for its other end, so what it is gets asked before. */
static int kind_check(const char *path, mode_t mode, struct stria_trouble *trouble)
{
    if (S_ISREG(mode) || S_ISBLK(mode))
        return STRIA_OK;
    const char *kind = S_ISDIR(mode)    ? "a folder"
                       : S_ISFIFO(mode) ? "a FIFO"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a character device";
    return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                             "%s is %s: a drive is a file or a block device, such as /dev/disk/by-id/…", path,
                             kind);
}

/* Devices say by what they are in use, files who has locked them. */
static int busy(const char *path, const struct stat *status, struct stria_trouble *trouble)
{
    if (S_ISBLK(status->st_mode) && stria_usage_check(path, status, trouble) == STRIA_ERR_BUSY)
        return STRIA_ERR_BUSY;
    char holder[128];
    uring_holder_print(holder, sizeof(holder), status);
    return stria_trouble_set(trouble, STRIA_ERR_BUSY, "%s is busy, %s uses it: end that use first", path,
                             holder);
}

static int failure(const struct stria_drive_options *options, int error, const struct stat *status,
                   struct stria_trouble *trouble)
{
    const char *path = options->path;
    const char *verb = options->read_only ? "read" : "write";
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return stria_trouble_set(
            trouble, STRIA_ERR_NOT_FOUND,
            "%s does not exist: connect the drive, correct the path, or let `stria init` "
            "create the file",
            path);
    case EACCES:
    case EPERM:
        return stria_trouble_set(
            trouble, STRIA_ERR_PERMISSION,
            "you may not %s %s: run as a user who may (devices: the group disk, or root)", verb, path);
    case EROFS:
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION,
                                 "%s is write-protected or on a read-only file system: make it writable",
                                 path);
    case EBUSY:
    case ETXTBSY:
    case EWOULDBLOCK:
        return busy(path, status, trouble);
    case ENXIO:
    case ENODEV:
    case ENOMEDIUM:
        return stria_trouble_set(trouble, STRIA_ERR_GONE, "%s has no drive behind it any more: reconnect it",
                                 path);
    case EINVAL:
        return stria_trouble_set(
            trouble, STRIA_ERR_UNSUPPORTED,
            "%s cannot be opened for direct I/O: its file system has none; use a file on "
            "ext4 or XFS, or a device",
            path);
    default:
        return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot open %s: %s", path,
                                 stria_errno_text(error));
    }
}

static int open_flags(const struct stria_drive_options *options)
{
    return O_CLOEXEC | O_NOCTTY | (options->read_only ? O_RDONLY : O_RDWR);
}

/* Whoever opens a drive in any way shares this lock, and stria_guard_take wants it alone: so readers, whom
 * nobody else has to keep away from, are not overwritten by an init. Where there are no such locks it goes
 * without. */
static int share(const struct stria_drive_options *options, int fd, struct stria_trouble *trouble)
{
    const int code = stria_lock_try(fd, F_RDLCK, 0, STRIA_GUARD_LOCK_BYTES);
    if (code == STRIA_OK || code == STRIA_ERR_UNSUPPORTED)
        return STRIA_OK;
    if (code != STRIA_ERR_BUSY)
        return stria_trouble_set(trouble, code, "cannot lock %s, to keep it from being overwritten: %s",
                                 options->path, stria_errno_text(errno));
    return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                             "%s is being made ready by another process: wait until that has ended",
                             options->path);
}

/* Keeps others out: devices by O_EXCL; of a file readers share the lock, a writer has it alone. The hold has
 * a descriptor of its own, unknown to the ring: what a ring knows stays open for seconds after a process was
 * killed, and the next one would find the drive busy. */
static int hold(const struct stria_drive_options *options, int *hold_fd, const struct stat *status,
                struct stria_trouble *trouble)
{
    const bool block = S_ISBLK(status->st_mode);
    *hold_fd = open(options->path, open_flags(options) | (block && options->exclusive ? O_EXCL : 0));
    if (*hold_fd < 0)
        return failure(options, errno, status, trouble);
    int code = share(options, *hold_fd, trouble);
    if (code != STRIA_OK || !options->exclusive)
        return code;
    if (!block && flock(*hold_fd, (options->read_only ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0)
        return failure(options, errno, status, trouble);
    return STRIA_OK;
}

int uring_size_limit(const struct stria_drive_options *options, const struct stat *status,
                     struct stria_traits *traits, struct stria_trouble *trouble)
{
    struct rlimit limit;
    if (options->read_only || !S_ISREG(status->st_mode) || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        limit.rlim_cur >= (rlim_t)status->st_size)
        return STRIA_OK;
    if (options->partly && limit.rlim_cur >= traits->block_bytes) {
        traits->writable_bytes = limit.rlim_cur - limit.rlim_cur % traits->block_bytes;
        stria_traits_note(
            traits,
            "this process may write only the first %llu bytes of it, so the rest is left out: raise "
            "the limit on the size of files (ulimit -f, LimitFSIZE=)",
            (unsigned long long)traits->writable_bytes);
        return STRIA_OK;
    }
    return stria_trouble_set(
        trouble, STRIA_ERR_PERMISSION,
        "%s has %llu bytes, and this process may write only the first %llu of a file: raise the "
        "limit on the size of files (ulimit -f, LimitFSIZE=)",
        options->path, (unsigned long long)status->st_size, (unsigned long long)limit.rlim_cur);
}

int uring_path_open(const struct stria_drive_options *options, int *fd, int *hold_fd, struct stat *status,
                    struct stria_trouble *trouble)
{
    if (stat(options->path, status) < 0)
        return failure(options, errno, status, trouble);
    int code = kind_check(options->path, status->st_mode, trouble);
    if (code < 0)
        return code;
    code = options->held ? STRIA_OK : hold(options, hold_fd, status, trouble);
    if (code < 0)
        return code;
    *fd = open(options->path, open_flags(options) | (options->direct ? O_DIRECT : 0));
    if (*fd < 0 || fstat(*fd, status) < 0)
        return failure(options, errno, status, trouble);
    /* Something else may have taken the name in between. */
    struct stat held;
    if (*hold_fd >= 0 && (fstat(*hold_fd, &held) < 0 || held.st_dev != status->st_dev ||
                          held.st_ino != status->st_ino || held.st_rdev != status->st_rdev))
        return failure(options, EBUSY, status, trouble);
    return kind_check(options->path, status->st_mode, trouble);
}
