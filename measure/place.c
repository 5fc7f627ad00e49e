#include "measure/place.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

static const struct {
    unsigned long number;
    const char *name;
    bool memory;
} kinds[] = {
    {EXT4_SUPER_MAGIC, "ext4", false},
    {XFS_SUPER_MAGIC, "xfs", false},
    {BTRFS_SUPER_MAGIC, "btrfs", false},
    {F2FS_SUPER_MAGIC, "f2fs", false},
    {OVERLAYFS_SUPER_MAGIC, "overlay", false},
    {0x2fc12fc1, "zfs", false},
    {NFS_SUPER_MAGIC, "nfs", false},
    {FUSE_SUPER_MAGIC, "fuse", false},
    {MSDOS_SUPER_MAGIC, "vfat", false},
    {EXFAT_SUPER_MAGIC, "exfat", false},
    {TMPFS_MAGIC, "tmpfs", true},
    {RAMFS_MAGIC, "ramfs", true},
    {HUGETLBFS_MAGIC, "hugetlbfs", true},
};

static bool find(const char *path, struct statfs *status)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (statfs(path, status) == 0)
        return true;
    snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return statfs(folder, status) == 0;
}

char *stria_place_file_system(const char *path, char *out, size_t size)
{
    struct statfs status;
    out[0] = '\0';
    if (!find(path, &status))
        return out;
    snprintf(out, size, "0x%lx", (unsigned long)status.f_type);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].number == (unsigned long)status.f_type)
            snprintf(out, size, "%s", kinds[i].name);
    return out;
}

int stria_place_check(const char *path, struct stria_trouble *trouble)
{
    struct statfs status;
    for (size_t i = 0; find(path, &status) && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (kinds[i].memory && kinds[i].number == (unsigned long)status.f_type)
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                     "%s lies on %s, which is memory and no drive: name a file on the drive "
                                     "that is to be measured",
                                     path, kinds[i].name);
    return STRIA_OK;
}
