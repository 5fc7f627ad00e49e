#define _GNU_SOURCE

#include "tools/output.h"

#include "backends/usage.h"
#include "engine/array.h"
#include "support/file.h"
#include "tools/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZEROS_BYTES    (1u << 16)
#define READER_WAIT_MS 50 /* between two looks whether a FIFO is read */

struct stria_output {
    int fd;
    bool file; /* written under temporary, to be renamed to target */
    uint64_t offset;
    char path[PATH_MAX];   /* for people */
    char target[PATH_MAX]; /* path, or where the link of that name points */
    char temporary[PATH_MAX + 32];
};

static int cannot_write(const struct stria_output *output, int error, struct stria_trouble *trouble)
{
    const char *reason = error == EPIPE   ? "its reader has gone"
                         : error == EINTR ? "ended by a signal"
                                          : stria_errno_text(error);
    return stria_trouble_set(
        trouble, error == EPIPE || error == EINTR ? STRIA_ERR_SYSTEM : stria_code_of_errno(error),
        "cannot write %s after %llu bytes: %s", output->path, (unsigned long long)output->offset, reason);
}

static int cannot_begin(const struct stria_output *output, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot write %s: %s", output->path,
                             stria_errno_text(error));
}

const char *stria_output_drive(const struct stria_array *array, const struct stat *status)
{
    const struct stria_array_config *config = stria_array_config(array);
    for (uint32_t i = 0; i < config->drive_count; i++) {
        struct stat drive;
        if (stat(config->drives[i].path, &drive) == 0 && stria_usage_overlaps(&drive, status))
            return config->drives[i].path;
    }
    return NULL;
}

/* The files that array.ini names besides the drives. */
static int check_profiles(const char *path, const struct stria_array_config *config,
                          struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    for (uint32_t i = 0; i < config->drive_count && code == STRIA_OK; i++)
        code = stria_file_check_apart(path, config->drives[i].profile, "the profile of a drive", trouble);
    return code;
}

static int check_device(const char *path, const struct stat *status, struct stria_trouble *trouble)
{
    if (S_ISDIR(status->st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "cannot write %s: it is a folder, name a file in it", path);
    if (S_ISBLK(status->st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                 "%s is a device and is not overwritten: name a file", path);
    return STRIA_OK;
}

/* False where nothing is there yet, or nothing that can be written to. */
static bool output_status(const char *path, int descriptor, struct stat *status)
{
    if (descriptor < 0)
        return stat(path, status) == 0;
    const int fd = stria_file_open_descriptor(descriptor);
    const bool known = fd >= 0 && fstat(fd, status) == 0;
    if (fd >= 0)
        close(fd);
    return known;
}

int stria_output_check(const char *path, const struct stria_array *array, bool *file,
                       struct stria_trouble *trouble)
{
    struct stat status;
    const struct stria_array_config *config = stria_array_config(array);
    const int descriptor = stria_file_descriptor(path);
    int code = STRIA_OK;
    *file = descriptor < 0;
    if (!output_status(path, descriptor, &status))
        return STRIA_OK;
    if (*file)
        code = check_device(path, &status, trouble);
    if (code == STRIA_OK && stria_output_drive(array, &status))
        code = stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s is a drive of the array: name another file",
                                 stria_file_shown(path));
    if (code == STRIA_OK && stria_file_check_apart(path, config->file, "", NULL) != STRIA_OK)
        code = stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s describes the array: name another file",
                                 stria_file_shown(path));
    if (code == STRIA_OK)
        code = check_profiles(path, config, trouble);
    *file &= S_ISREG(status.st_mode);
    return code;
}

/* A FIFO is opened once somebody reads it. */
static int open_directly(const char *path)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == ENXIO && !stria_signals_stop()) {
        struct pollfd signals = {.fd = stria_signals_fd(), .events = POLLIN};
        poll(&signals, 1, READER_WAIT_MS);
        fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    }
    return fd;
}

static int open_path(struct stria_output *output, const char *path, struct stria_trouble *trouble)
{
    const int descriptor = stria_file_descriptor(path);
    if (descriptor >= 0) {
        output->fd = stria_file_open_descriptor(descriptor);
        return output->fd >= 0 ? STRIA_OK : cannot_begin(output, -output->fd, trouble);
    }
    const int error = -stria_file_follow(path, output->target);
    if (error)
        return cannot_begin(output, error, trouble);
    snprintf(output->temporary, sizeof(output->temporary), "%s.part%ld", output->target, (long)getpid());
    output->fd = output->file ? open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                              : open_directly(path);
    return output->fd >= 0 ? STRIA_OK : cannot_begin(output, errno, trouble);
}

int stria_output_open(const char *path, const struct stria_array *array, struct stria_output **output,
                      struct stria_trouble *trouble)
{
    struct stria_output *made = calloc(1, sizeof(*made));
    if (!made)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to write %s", path);
    snprintf(made->path, sizeof(made->path), "%s", stria_file_shown(path));
    int code = stria_output_check(path, array, &made->file, trouble);
    if (code == STRIA_OK)
        code = open_path(made, path, trouble);
    if (code != STRIA_OK) {
        free(made);
        return code;
    }
    *output = made;
    return STRIA_OK;
}

int stria_output_write(struct stria_output *output, const void *data, size_t bytes,
                       struct stria_trouble *trouble)
{
    size_t written;
    const int error = -stria_file_write_all(output->fd, data, bytes, stria_signals_fd(), &written);
    output->offset += written;
    return error ? cannot_write(output, error, trouble) : STRIA_OK;
}

int stria_output_skip(struct stria_output *output, uint64_t bytes, struct stria_trouble *trouble)
{
    static const char zeros[ZEROS_BYTES];
    if (output->file) {
        output->offset += bytes;
        /* The size grows at once, so that a hole at the very end is there too. */
        if (ftruncate(output->fd, (off_t)output->offset) != 0 || lseek(output->fd, 0, SEEK_END) < 0)
            return cannot_write(output, errno, trouble);
        return STRIA_OK;
    }
    int code = STRIA_OK;
    while (bytes && code == STRIA_OK) {
        const size_t part = bytes < sizeof(zeros) ? (size_t)bytes : sizeof(zeros);
        code = stria_output_write(output, zeros, part, trouble);
        bytes -= part;
    }
    return code;
}

int stria_output_finish(struct stria_output *output, struct stria_trouble *trouble)
{
    int error = 0;
    if (output->file)
        error = -stria_file_publish(output->fd, output->temporary, output->target);
    else if (close(output->fd) != 0)
        error = errno;
    const int code = error ? cannot_write(output, error, trouble) : STRIA_OK;
    free(output);
    return code;
}

void stria_output_abandon(struct stria_output *output)
{
    if (!output)
        return;
    close(output->fd);
    if (output->file)
        unlink(output->temporary);
    free(output);
}
