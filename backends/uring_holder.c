#include "backends/uring.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

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

void uring_holder_print(char *out, size_t size, const struct stat *status)
{
    if (!lock_find(status, out, size))
        snprintf(out, size, "another process uses it");
}
