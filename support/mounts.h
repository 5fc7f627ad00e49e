/* Which file systems are mounted where, of this machine or of a recorded tree (support/tree.h). */
#ifndef STRIA_SUPPORT_MOUNTS_H
#define STRIA_SUPPORT_MOUNTS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct stria_mount {
    dev_t device; /* of the file system; anonymous for some (btrfs, tmpfs) */
    char place[PATH_MAX];
    char type[64];         /* such as "ext4" */
    char source[PATH_MAX]; /* what was mounted: often the path of a block device */
};

/* Calls visit for each mount, in the order in which they were made, until it returns false. */
void stria_mounts_each(const char *root, bool (*visit)(const struct stria_mount *mount, void *user),
                       void *user);

/* Calls visit for the path of each swap area, until it returns false. */
void stria_swaps_each(const char *root, bool (*visit)(const char *path, void *user), void *user);

#endif
