#include "backends/uring.h"

#include <stdio.h>
#include <stdlib.h>
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

/* The process of a line of /proc/locks if it is about that file, else 0. Lines look like
 * "1: FLOCK  ADVISORY  WRITE 708 fd:01:13517 0 EOF". */
static int lock_owner(char *line, const char *file)
{
    char *rest = NULL, *fields[6];
    for (unsigned i = 0; i < 6; i++)
        if (!(fields[i] = strtok_r(i ? NULL : line, " ", &rest)))
            return 0;
    const bool about = strcmp(fields[1], "FLOCK") == 0 && strcmp(fields[5], file) == 0;
    return about ? (int)strtol(fields[4], NULL, 10) : 0;
}

static bool lock_find(const struct stat *status, char *out, size_t size)
{
    FILE *locks = fopen("/proc/locks", "re");
    if (!locks)
        return false;
    char line[256], file[64];
    snprintf(file, sizeof(file), "%02x:%02x:%llu", major(status->st_dev), minor(status->st_dev),
             (unsigned long long)status->st_ino);
    int pid = 0;
    while (pid <= 0 && fgets(line, sizeof(line), locks))
        pid = lock_owner(line, file);
    fclose(locks);
    if (pid > 0)
        process_print(pid, out, size);
    return pid > 0;
}

void uring_holder_print(char *out, size_t size, const struct stat *status)
{
    if (!lock_find(status, out, size))
        snprintf(out, size, "another process uses it");
}
