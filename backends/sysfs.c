#include "backends/sysfs.h"

#include "support/tree.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool read_device_number(const char *folder, dev_t *device)
{
    char text[32];
    unsigned number_major, number_minor;
    if (!stria_tree_line("", text, sizeof(text), "%s/dev", folder) ||
        sscanf(text, "%u:%u", &number_major, &number_minor) != 2)
        return false;
    *device = makedev(number_major, number_minor);
    return true;
}

/* The device's real folder: /sys/devices/…/block/sda/sda1. */
static bool find_folder(dev_t device, char out[PATH_MAX])
{
    char link[64];
    snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(device), minor(device));
    return realpath(link, out) != NULL;
}

bool stria_sysfs_name(dev_t device, char out[STRIA_SYSFS_NAME_BYTES])
{
    char folder[PATH_MAX];
    if (!find_folder(device, folder))
        return false;
    snprintf(out, STRIA_SYSFS_NAME_BYTES, "%s", strrchr(folder, '/') + 1);
    return true;
}

bool stria_sysfs_read(dev_t device, const char *attribute, char *out, size_t size)
{
    return stria_tree_line("", out, size, "/sys/dev/block/%u:%u/%s", major(device), minor(device), attribute);
}

bool stria_sysfs_is_partition(dev_t device, dev_t *whole)
{
    char folder[PATH_MAX], number[16];
    if (!stria_sysfs_read(device, "partition", number, sizeof(number)) || !find_folder(device, folder))
        return false;
    *strrchr(folder, '/') = '\0';
    return read_device_number(folder, whole);
}

static dev_t whole_of(dev_t device)
{
    dev_t whole = device;
    stria_sysfs_is_partition(device, &whole);
    return whole;
}

/* What udev knows of drives that have no file for it (SATA, SAS). */
static bool read_udev(dev_t device, const char *key, char *out, size_t size)
{
    char path[64], line[512];
    snprintf(path, sizeof(path), "/run/udev/data/b%u:%u", major(device), minor(device));
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool found = false;
    const size_t length = strlen(key);
    while (!found && fgets(line, sizeof(line), file))
        found = strncmp(line, key, length) == 0;
    fclose(file);
    if (found)
        snprintf(out, size, "%.*s", (int)strcspn(line + length, "\n"), line + length);
    return found && out[0];
}

bool stria_sysfs_serial(dev_t device, char *out, size_t size)
{
    const dev_t whole = whole_of(device);
    return stria_sysfs_read(whole, "device/serial", out, size) ||
           stria_sysfs_read(whole, "serial", out, size) || read_udev(whole, "E:ID_SERIAL_SHORT=", out, size);
}

bool stria_sysfs_wwid(dev_t device, char *out, size_t size)
{
    const dev_t whole = whole_of(device);
    return stria_sysfs_read(whole, "wwid", out, size) || stria_sysfs_read(whole, "device/wwid", out, size);
}

/* Visits the devices whose folders are in a folder; those without the marker file are left out. */
static unsigned visit_folder(const char *folder, const char *marker,
                             bool (*visit)(dev_t device, const char *name, void *user), void *user)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return 0;
    unsigned visited = 0;
    bool more = true;
    for (struct dirent *entry; more && (entry = readdir(entries));) {
        char path[PATH_MAX], marked[PATH_MAX];
        dev_t device;
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= (int)sizeof(path) ||
            snprintf(marked, sizeof(marked), "%s/%s", path, marker) >= (int)sizeof(marked) ||
            access(marked, F_OK) != 0 || !read_device_number(path, &device))
            continue;
        visited++;
        more = visit(device, entry->d_name, user);
    }
    closedir(entries);
    return visited;
}

unsigned stria_sysfs_each(dev_t device, enum stria_sysfs_relation relation,
                          bool (*visit)(dev_t related, const char *name, void *user), void *user)
{
    static const struct {
        const char *folder, *marker;
    } places[] = {
        [STRIA_SYSFS_PARTITIONS] = {"", "partition"},
        [STRIA_SYSFS_HOLDERS] = {"/holders", "dev"},
        [STRIA_SYSFS_SLAVES] = {"/slaves", "dev"},
    };
    char folder[PATH_MAX], path[PATH_MAX];
    if (!find_folder(device, folder) ||
        snprintf(path, sizeof(path), "%s%s", folder, places[relation].folder) >= (int)sizeof(path))
        return 0;
    return visit_folder(path, places[relation].marker, visit, user);
}

unsigned stria_sysfs_each_disk(bool (*visit)(dev_t disk, const char *name, void *user), void *user)
{
    return visit_folder("/sys/block", "dev", visit, user);
}
