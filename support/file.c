#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int stria_file_write_all(int fd, const void *data, size_t bytes)
{
    const char *next = data;
    while (bytes) {
        ssize_t wrote = write(fd, next, bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -errno;
        next += wrote;
        bytes -= (size_t)wrote;
    }
    return 0;
}

static int cannot_write(const char *path, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot write %s: %s", path,
                             stria_errno_text(error));
}

/* As many links as the system follows. */
#define LINKS_MAX 40

int stria_file_follow(const char *path, char *target)
{
    if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX)
        return -ENAMETOOLONG;
    for (unsigned i = 0; i < LINKS_MAX; i++) {
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
    }
    return -ELOOP;
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
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

int stria_file_check_place(const char *path, struct stria_trouble *trouble)
{
    char target[PATH_MAX];
    struct stat status;
    if (is_standard_output(path))
        return STRIA_OK;
    const bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s is a folder: name a file in it", path);
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
    const bool standard_output = is_standard_output(path);
    int fd = standard_output ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return cannot_write(path, errno, trouble);
    int error = -stria_file_write_all(fd, data, bytes);
    if (!standard_output && close(fd) != 0 && !error)
        error = errno;
    return error ? cannot_write(standard_output ? "standard output" : path, error, trouble) : STRIA_OK;
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
    int error = -stria_file_write_all(fd, data, bytes);
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
    if (is_standard_output(path))
        return write_directly(path, data, bytes, trouble);
    const bool there = stat(path, &status) == 0;
    if (there && S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "cannot write %s: it is a folder, name a file in it", path);
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
