/* Who uses a drive now: mounts, swap, what is built upon it, the running system itself. */
#ifndef STRIA_BACKENDS_USAGE_H
#define STRIA_BACKENDS_USAGE_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* True if the running system's root file system is on this block device: the device itself, the disk whose
 * partition it is, or what lies below it through any number of layers (dm, md, loop). */
bool stria_usage_is_root(dev_t device);

/* STRIA_OK if nobody uses the block device or file, else STRIA_ERR_BUSY with a sentence that says who and
 * what to do. status is of path, symbolic links followed. For a device also its partitions count. */
int stria_usage_check(const char *path, const struct stat *status, struct stria_trouble *trouble);

/* True if two files or block devices share bytes: they are the same, or one is laid upon the other (a loop
 * device over its file, a partition of its disk, dm and md over their members), or both lead to the same
 * bytes: two loop devices over one file, two paths to one drive. */
bool stria_usage_overlaps(const struct stat *a, const struct stat *b);

#endif
