/* What the kernel tells about block devices in /sys: pure look-ups, nothing is opened or changed. */
#ifndef STRIA_BACKENDS_SYSFS_H
#define STRIA_BACKENDS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define STRIA_SYSFS_NAME_BYTES 64u

/* The kernel's name of a device, such as "nvme0n1p2"; false if there is no such block device. */
bool stria_sysfs_name(dev_t device, char out[STRIA_SYSFS_NAME_BYTES]);

/* The first line of an attribute in the device's own folder ("queue/write_cache"), without surrounding
 * blanks; false if there is none or it is empty. */
bool stria_sysfs_read(dev_t device, const char *attribute, char *out, size_t size);

/* True for a partition; *whole is then the disk that it is on. */
bool stria_sysfs_is_partition(dev_t device, dev_t *whole);

/* The serial number of the drive, also through one of its partitions; false if the system knows none (loop
 * devices, some virtual disks). */
bool stria_sysfs_serial(dev_t device, char *out, size_t size);

/* A world-wide name such as "eui.0025385b71b0c2d1", likewise. */
bool stria_sysfs_wwid(dev_t device, char *out, size_t size);

enum stria_sysfs_relation {
    STRIA_SYSFS_PARTITIONS, /* of a whole disk */
    STRIA_SYSFS_HOLDERS,    /* md, dm, bcache and the like that are built upon this one */
    STRIA_SYSFS_SLAVES      /* what this one is built upon */
};

/* Calls visit for each related device until it returns false. Returns how many were visited. */
unsigned stria_sysfs_each(dev_t device, enum stria_sysfs_relation relation,
                          bool (*visit)(dev_t related, const char *name, void *user), void *user);

/* Calls visit for each block device of the system, partitions left out, until it returns false. */
unsigned stria_sysfs_each_disk(bool (*visit)(dev_t disk, const char *name, void *user), void *user);

#endif
