#define _GNU_SOURCE

#include "tools/output.h"

#include "backends/usage.h"
#include "engine/array.h"
#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZEROS_BYTES (1u << 16)

struct stria_output {
    int fd;
    bool file; /* written under temporary, to be renamed to target */
    uint64_t offset;
    char path[PATH_MAX];
    char target[PATH_MAX]; /* path, or where the link of that name points */
    char temporary[PATH_MAX + 32];
};

static int cannot_write(const struct stria_output *output, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, error == EPIPE ? STRIA_ERR_SYSTEM : stria_code_of_errno(error),
                             "cannot write %s after %llu bytes: %s", output->path,
                             (unsigned long long)output->offset,
                             error == EPIPE ? "its reader has gone" : stria_errno_text(error));
}

static int cannot_begin(const struct stria_output *output, int error, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot write %s: %s", output->path,
                             stria_errno_text(error));
}

static bool same_file(const char *path, const struct stat *status)
{
    struct stat other;
    return stat(path, &other) == 0 && other.st_dev == status->st_dev && other.st_ino == status->st_ino;
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

int stria_output_check(const char *path, const struct stria_array *array, bool *file,
                       struct stria_trouble *trouble)
{
    struct stat status;
    *file = true;
    if (stat(path, &status) != 0)
        return STRIA_OK;
    if (S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "cannot write %s: it is a folder, name a file in it", path);
    if (S_ISBLK(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                 "%s is a device and is not overwritten: name a file", path);
    if (stria_output_drive(array, &status))
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s is a drive of the array: name another file",
                                 path);
    if (same_file(stria_array_config(array)->file, &status))
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s describes the array: name another file",
                                 path);
    *file = S_ISREG(status.st_mode);
    return STRIA_OK;
}

static int open_path(struct stria_output *output, const struct stria_array *array,
                     struct stria_trouble *trouble)
{
    int code = stria_output_check(output->path, array, &output->file, trouble);
    if (code != STRIA_OK)
        return code;
    const int error = -stria_file_follow(output->path, output->target);
    if (error) {
        output->file = false;
        return cannot_begin(output, error, trouble);
    }
    snprintf(output->temporary, sizeof(output->temporary), "%s.part%ld", output->target, (long)getpid());
    output->fd = output->file ? open(output->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                              : open(output->path, O_WRONLY | O_CLOEXEC);
    if (output->fd >= 0)
        return STRIA_OK;
    output->file = false;
    return cannot_begin(output, errno, trouble);
}

int stria_output_open(const char *path, const struct stria_array *array, struct stria_output **output,
                      struct stria_trouble *trouble)
{
    struct stria_output *made = calloc(1, sizeof(*made));
    if (!made)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to write %s", path);
    int code = STRIA_OK;
    made->fd = STDOUT_FILENO;
    if (strcmp(path, "-") == 0) {
        snprintf(made->path, sizeof(made->path), "standard output");
    } else {
        snprintf(made->path, sizeof(made->path), "%s", path);
        code = open_path(made, array, trouble);
    }
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
    int error = -stria_file_write_all(output->fd, data, bytes);
    if (error)
        return cannot_write(output, error, trouble);
    output->offset += bytes;
    return STRIA_OK;
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
    else if (output->fd != STDOUT_FILENO && close(output->fd) != 0)
        error = errno;
    const int code = error ? cannot_write(output, error, trouble) : STRIA_OK;
    free(output);
    return code;
}

void stria_output_abandon(struct stria_output *output)
{
    if (!output)
        return;
    if (output->fd != STDOUT_FILENO)
        close(output->fd);
    if (output->file)
        unlink(output->temporary);
    free(output);
}
