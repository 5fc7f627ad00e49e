#include "backends/uring.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

static bool mount_find(dev_t device, char *out, size_t size)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return false;
    char line[4096], place[1024];
    unsigned device_major, device_minor;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file))
        found = sscanf(line, "%*d %*d %u:%u %*s %1023s", &device_major, &device_minor, place) == 3 &&
                device_major == major(device) && device_minor == minor(device);
    fclose(file);
    if (found)
        snprintf(out, size, "it is mounted on %s", place);
    return found;
}

/* md and dm devices, bcache and the like, that are built upon this one. */
static bool kernel_holder_find(dev_t device, char *out, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(device), minor(device));
    DIR *folder = opendir(path);
    if (!folder)
        return false;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            snprintf(out, size, "it is part of /dev/%s", entry->d_name);
            found = true;
        }
    closedir(folder);
    return found;
}

static void process_print(int pid, char *out, size_t size)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fgets(name, sizeof(name), file))
            name[strcspn(name, "\n")] = 0;
        fclose(file);
    }
    snprintf(out, size, name[0] ? "process %d (%s) uses it" : "process %d uses it", pid, name);
}

/* Who holds the lock of a file: /proc/locks has lines such as
 * "1: FLOCK  ADVISORY  WRITE 708 fd:01:13517 0 EOF". */
static bool lock_find(const struct stat *status, char *out, size_t size)
{
    FILE *file = fopen("/proc/locks", "re");
    if (!file)
        return false;
    char line[256];
    unsigned device_major, device_minor;
    unsigned long long inode;
    int pid;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file))
        found = sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &device_major, &device_minor, &inode) ==
                    4 &&
                pid > 0 && inode == status->st_ino && device_major == major(status->st_dev) &&
                device_minor == minor(status->st_dev);
    fclose(file);
    if (found)
        process_print(pid, out, size);
    return found;
}

char *uring_holder_print(char *out, size_t size, const struct stat *status)
{
    const bool found = S_ISBLK(status->st_mode) ? mount_find(status->st_rdev, out, size) ||
                                                      kernel_holder_find(status->st_rdev, out, size)
                                                : lock_find(status, out, size);
    if (!found)
        snprintf(out, size, "another process uses it");
    return out;
}
