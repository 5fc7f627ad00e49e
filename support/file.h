/* Whole files, written atomically. */
#ifndef STRIA_SUPPORT_FILE_H
#define STRIA_SUPPORT_FILE_H

#include "support/trouble.h"

#include <stddef.h>

/* Writes data to path, whole or not at all: into a temporary file in the same folder, synced, renamed over
 * path, the folder synced. A symbolic link keeps pointing where it did. "-" and /dev/stdout are standard
 * output; they and a path that is no regular file are written directly. The sentence of a failure names path.
 */
int stria_file_write_whole(const char *path, const void *data, size_t bytes, struct stria_trouble *trouble);

/* Whether the folder of path can be written into, so that a result which cannot be written is not found out
 * at the end. "-" always can. */
int stria_file_check_place(const char *path, struct stria_trouble *trouble);

/* Writes all of data to an open file, however often the system takes only part of it. Negative errno. */
int stria_file_write_all(int fd, const void *data, size_t bytes);

#endif
