#define _GNU_SOURCE

#include "support/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Zero once fd takes something, or says by failing why it never will; errno. A descriptor below zero is not
 * looked at. */
static int wait_until_writable(int fd, int stop_fd)
{
    struct pollfd both[2] = {{.fd = fd, .events = POLLOUT}, {.fd = stop_fd, .events = POLLIN}};
    int ready;
    do
        ready = poll(both, 2, -1);
    while (ready < 0 && errno == EINTR && stop_fd >= 0);
    if (ready < 0)
        return errno;
    return both[1].revents ? EINTR : 0;
}

/* What a pipe that is ready takes without making us wait inside write(), where no signal may be seen. */
static size_t piece_bytes_max(int fd)
{
    struct stat status;
    const int flags = fcntl(fd, F_GETFL);
    const bool waits = flags >= 0 && !(flags & O_NONBLOCK) && fstat(fd, &status) == 0;
    return waits && !S_ISREG(status.st_mode) ? PIPE_BUF : SIZE_MAX;
}

int stria_file_write_all(int fd, const void *data, size_t bytes, int stop_fd, size_t *written)
{
    const size_t piece_max = piece_bytes_max(fd);
    size_t done = 0;
    int error = 0;
    while (done < bytes && (error = wait_until_writable(fd, stop_fd)) == 0) {
        const size_t left = bytes - done;
        const ssize_t wrote = write(fd, (const char *)data + done, left < piece_max ? left : piece_max);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
            error = errno;
            break;
        }
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    if (written)
        *written = done;
    return -error;
}

static int cannot_write(const char *path, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot write %s: %s", path,
                             stria_errno_text(error));
}

/* As many links as the system follows. */
#define LINKS_MAX 40

/* Puts in place of target where the link of that name points. Zero if it is none; negative errno. */
static int follow_link(char target[PATH_MAX])
{
    char link[PATH_MAX], next[PATH_MAX];
    const ssize_t length = readlink(target, link, sizeof(link));
    if (length < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -errno;
    const char *slash = strrchr(target, '/');
    const int folder_length = slash && link[0] != '/' ? (int)(slash - target + 1) : 0;
    if (snprintf(next, sizeof(next), "%.*s%.*s", folder_length, target, (int)length, link) >=
        (int)sizeof(next))
        return -ENAMETOOLONG;
    memcpy(target, next, sizeof(next));
    return 1;
}

int stria_file_follow(const char *path, char *target)
{
    if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX)
        return -ENAMETOOLONG;
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        const int followed = follow_link(target);
        if (followed <= 0)
            return followed;
    }
    return -ELOOP;
}

/* The number behind the last slash, if that stands in the folder where the system shows our descriptors. */
static int descriptor_named(const char *target)
{
    char folder[PATH_MAX], there[PATH_MAX], ours[PATH_MAX];
    const char *slash = strrchr(target, '/');
    if (!slash || !isdigit((unsigned char)slash[1]))
        return -1;
    char *end;
    const unsigned long number = strtoul(slash + 1, &end, 10);
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - target + 1), target);
    const bool named = *end == '\0' && number <= INT_MAX && realpath(folder, there) &&
                       realpath("/proc/self/fd", ours) && strcmp(there, ours) == 0;
    return named ? (int)number : -1;
}

int stria_file_descriptor(const char *path)
{
    char target[PATH_MAX];
    if (strcmp(path, "-") == 0)
        return STDOUT_FILENO;
    if (snprintf(target, sizeof(target), "%s", path) >= (int)sizeof(target))
        return -1;
    int descriptor = descriptor_named(target);
    for (unsigned i = 0; i < LINKS_MAX && descriptor < 0 && follow_link(target) > 0; i++)
        descriptor = descriptor_named(target);
    return descriptor;
}

int stria_file_open_descriptor(int descriptor)
{
    struct stat status;
    char name[32];
    const int flags = fcntl(descriptor, F_GETFD), mode = fcntl(descriptor, F_GETFL);
    if (flags < 0 || flags & FD_CLOEXEC || mode < 0 || (mode & O_ACCMODE) == O_RDONLY)
        return -EBADF;
    snprintf(name, sizeof(name), "/proc/self/fd/%d", descriptor);
    int fd = fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode)
                 ? open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                 : -1;
    /* A pipe of another user, or whose reader has gone. */
    if (fd < 0)
        fd = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    return fd >= 0 ? fd : -errno;
}

const char *stria_file_shown(const char *path)
{
    return stria_file_descriptor(path) == STDOUT_FILENO ? "standard output" : path;
}

bool stria_file_leads_to(const char *path, const struct stat *file)
{
    struct stat output;
    const int descriptor = stria_file_descriptor(path);
    return (descriptor >= 0 ? fstat(descriptor, &output) : stat(path, &output)) == 0 &&
           S_ISREG(output.st_mode) && output.st_dev == file->st_dev && output.st_ino == file->st_ino;
}

int stria_file_check_apart(const char *path, const char *input, const char *what,
                           struct stria_trouble *trouble)
{
    struct stat status;
    const int code = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(input, &status);
    if (code != 0 || !stria_file_leads_to(path, &status))
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s is %s and is not overwritten: name another file",
                             stria_file_shown(path), what);
}

/* errno of what keeps a file from being made in the folder of target under a longer name first; zero if
 * nothing.
 */
static int trouble_beside(const char *target)
{
    char folder[PATH_MAX], beside[PATH_MAX + 32];
    struct stat status;
    const char *slash = strrchr(target, '/');
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - target + 1) : 1, slash ? target : ".");
    snprintf(beside, sizeof(beside), "%s.tmp%ld", target, (long)getpid());
    if (access(folder, W_OK | X_OK) != 0 || (lstat(beside, &status) != 0 && errno == ENAMETOOLONG))
        return errno;
    return 0;
}

static int refuse_device(const char *path, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s is a device and is not overwritten: name a file",
                             path);
}

static int check_descriptor(const char *path, int descriptor, struct stria_trouble *trouble)
{
    const int fd = stria_file_open_descriptor(descriptor);
    if (fd < 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s cannot be written: %s",
                                 stria_file_shown(path), stria_errno_text(-fd));
    close(fd);
    return STRIA_OK;
}

int stria_file_check_place(const char *path, struct stria_trouble *trouble)
{
    char target[PATH_MAX];
    struct stat status;
    const int descriptor = stria_file_descriptor(path);
    if (descriptor >= 0)
        return check_descriptor(path, descriptor, trouble);
    const bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s is a folder: name a file in it", path);
    if (there && S_ISBLK(status.st_mode))
        return refuse_device(path, trouble);
    int error = -stria_file_follow(path, target);
    if (!error && there && !S_ISREG(status.st_mode))
        error = access(path, W_OK) == 0 ? 0 : errno;
    else if (!error)
        error = trouble_beside(target);
    if (!error)
        return STRIA_OK;
    const bool elsewhere = strcmp(path, target) != 0 && error != ELOOP && error != ENAMETOOLONG;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s cannot be written%s%s: %s", path,
                             elsewhere ? ", which is a link to " : "", elsewhere ? target : "",
                             stria_errno_text(error));
}

static int write_directly(const char *path, const void *data, size_t bytes, struct stria_trouble *trouble)
{
    const int descriptor = stria_file_descriptor(path);
    const int fd =
        descriptor >= 0 ? stria_file_open_descriptor(descriptor) : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_write(stria_file_shown(path), descriptor >= 0 ? -fd : errno, trouble);
    int error = -stria_file_write_all(fd, data, bytes, -1, NULL);
    if (close(fd) != 0 && !error)
        error = errno;
    return error ? cannot_write(stria_file_shown(path), error, trouble) : STRIA_OK;
}

/* Some file systems cannot sync a folder, and one that may be written need not be readable; only a folder
 * that failed is worth telling. Negative errno. */
static int sync_folder(const char *path)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return error == EIO || error == ENOSPC || error == EDQUOT ? -error : 0;
}

int stria_file_publish(int fd, const char *temporary, const char *path)
{
    int error = fsync(fd) == 0 ? 0 : errno;
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && rename(temporary, path) != 0)
        error = errno;
    if (error) {
        unlink(temporary);
        return -error;
    }
    return sync_folder(path);
}

/* Opened by hand rather than by mkstemp, so that the mode follows the umask without touching it. A file of
 * this name can only be left over from a killed process that had our number. */
static int open_temporary(const char *temporary, mode_t mode)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    int fd = open(temporary, flags, mode);
    if (fd < 0 && errno == EEXIST && unlink(temporary) == 0)
        fd = open(temporary, flags, mode);
    return fd;
}

static int write_renamed(const char *path, const void *data, size_t bytes, mode_t mode,
                         struct stria_trouble *trouble)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof(temporary), "%s.tmp%ld", path, (long)getpid()) >= (int)sizeof(temporary))
        return cannot_write(path, ENAMETOOLONG, trouble);
    int fd = open_temporary(temporary, mode);
    if (fd < 0)
        return cannot_write(path, errno, trouble);
    int error = -stria_file_write_all(fd, data, bytes, -1, NULL);
    if (error) {
        close(fd);
        unlink(temporary);
    } else {
        error = -stria_file_publish(fd, temporary, path);
    }
    return error ? cannot_write(path, error, trouble) : STRIA_OK;
}

int stria_file_write_whole(const char *path, const void *data, size_t bytes, struct stria_trouble *trouble)
{
    struct stat status;
    if (stria_file_descriptor(path) >= 0)
        return write_directly(path, data, bytes, trouble);
    const bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "cannot write %s: it is a folder, name a file in it", path);
    if (there && S_ISBLK(status.st_mode))
        return refuse_device(path, trouble);
    if (there && !S_ISREG(status.st_mode))
        return write_directly(path, data, bytes, trouble);
    char target[PATH_MAX];
    const int error = -stria_file_follow(path, target);
    if (error)
        return cannot_write(path, error, trouble);
    /* A signal that ends this process does so before there is a temporary file, or when there is none any
     * more. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int code = write_renamed(target, data, bytes, there ? status.st_mode & 07777 : 0666, trouble);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
