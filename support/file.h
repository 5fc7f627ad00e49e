/* Whole files, written atomically. */
#ifndef STRIA_SUPPORT_FILE_H
#define STRIA_SUPPORT_FILE_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Writes data to path, whole or not at all: into a temporary file in the same folder, synced, renamed over
 * path, the folder synced. A symbolic link keeps pointing where it did. An open descriptor
 * (stria_file_descriptor) and a path that is no regular file are written directly; while they take nothing, a
 * signal with a handler ends it. A block device is refused. Else signals for the calling thread wait until
 * that is over: if no other thread takes them, no temporary file is left by one that ends the process. The
 * sentence of a failure names path. */
int stria_file_write_whole(const char *path, const void *data, size_t bytes, struct stria_trouble *trouble);

/* Where a file that is written to path comes to lie: there, or where the symbolic link of that name points,
 * whether something is there or not. target holds PATH_MAX bytes. Negative errno. */
int stria_file_follow(const char *path, char *target);

/* The open descriptor that path means: standard output for "-", N for /dev/fd/N and whatever leads to such a
 * name by links, as /dev/stdout does. Below zero: none, it is a file. The descriptor may not be open. */
int stria_file_descriptor(const char *path);

/* A descriptor of our own for one that this program was started with, to be closed: of the same open file, or
 * of the same pipe, which then never waits (O_NONBLOCK) without becoming so for others. Negative errno: EBADF
 * for one that is not open, not for writing, or was opened by this program itself (which are close-on-exec).
 */
int stria_file_open_descriptor(int descriptor);

/* For people: path, or "standard output". */
const char *stria_file_shown(const char *path);

/* True if what is written to path comes to lie in this file, or replaces it: by another name, a link or an
 * open descriptor. Regular files only; others keep nothing. */
bool stria_file_leads_to(const char *path, const struct stat *file);

/* STRIA_ERR_REFUSED if path leads to input, a file that is read ("-": standard input), which the sentence
 * says to be what, such as "one of the results". An input that is not there is none. */
int stria_file_check_apart(const char *path, const char *input, const char *what,
                           struct stria_trouble *trouble);

/* Whether the folder of path, or the descriptor that it means, can be written to, and is no block device, so
 * that a result which cannot be written is not found out at the end. */
int stria_file_check_place(const char *path, struct stria_trouble *trouble);

/* Ends a file that was written under a temporary name in the folder of path: synced, closed, renamed to path,
 * the folder synced. fd is closed in any case, and what cannot be made durable leaves nothing behind; only
 * when it is the folder that cannot be synced, the file is there. Negative errno. */
int stria_file_publish(int fd, const char *temporary, const char *path);

/* Writes all of data to an open file, however often the system takes only part of it, and waits while it
 * takes nothing. Once stop_fd is readable, that ends with EINTR; without one (-1), when a handler was run
 * while it waited. *written, unless null: how many bytes went through in any case. Negative errno. */
int stria_file_write_all(int fd, const void *data, size_t bytes, int stop_fd, size_t *written);

#endif
