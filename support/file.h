/* Whole files, written atomically. */
#ifndef STRIA_SUPPORT_FILE_H
#define STRIA_SUPPORT_FILE_H

#include "support/trouble.h"

#include <stddef.h>

/* Writes data to path, whole or not at all: into a temporary file in the same folder, synced, renamed over
 * path, the folder synced. A symbolic link keeps pointing where it did. "-" and /dev/stdout are standard
 * output; they and a path that is no regular file are written directly. Signals for the calling thread wait
 * until that is over: if no other thread takes them, no temporary file is left by one that ends the process.
 * The sentence of a failure names path. */
int stria_file_write_whole(const char *path, const void *data, size_t bytes, struct stria_trouble *trouble);

/* Where a file that is written to path comes to lie: there, or where the symbolic link of that name points,
 * whether something is there or not. target holds PATH_MAX bytes. Negative errno. */
int stria_file_follow(const char *path, char *target);

/* Whether the folder of path can be written into, so that a result which cannot be written is not found out
 * at the end. "-" always can. */
int stria_file_check_place(const char *path, struct stria_trouble *trouble);

/* Ends a file that was written under a temporary name in the folder of path: synced, closed, renamed to path,
 * the folder synced. fd is closed in any case, and what cannot be made durable leaves nothing behind; only
 * when it is the folder that cannot be synced, the file is there. Negative errno. */
int stria_file_publish(int fd, const char *temporary, const char *path);

/* Writes all of data to an open file, however often the system takes only part of it. Negative errno. */
int stria_file_write_all(int fd, const void *data, size_t bytes);

#endif
