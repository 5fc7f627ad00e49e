#include "backends/uring.h"
#include "support/plain.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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
    snprintf(out, size, name[0] ? "process %d (%s)" : "process %d", pid, name);
    stria_plain(out);
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

static void file_print(char *out, size_t size, const struct stat *status)
{
    snprintf(out, size, "%02x:%02x:%llu", major(status->st_dev), minor(status->st_dev),
             (unsigned long long)status->st_ino);
}

static bool lock_find(const struct stat *status, char *out, size_t size)
{
    FILE *locks = fopen("/proc/locks", "re");
    if (!locks)
        return false;
    char line[256], file[64];
    file_print(file, sizeof(file), status);
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
        snprintf(out, size, "another process");
}

/* Whether a descriptor, of which the kernel tells in the file at path, has such a lock. Lines look like
 * "lock:	1: OFDLCK ADVISORY  READ  -1 fd:01:13517 4611686018427387904 4611686018427387907". */
static bool has_lock(int folder, const char *path, const char *file, uint64_t offset)
{
    const int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    FILE *info = fd < 0 ? NULL : fdopen(fd, "r");
    char line[256], about[64];
    uint64_t first, last;
    bool found = false;
    if (!info && fd >= 0)
        close(fd);
    while (info && !found && fgets(line, sizeof(line), info))
        found = sscanf(line, "lock: %*d: OFDLCK %*s %*s %*d %63s %" SCNu64 " %" SCNu64, about, &first,
                       &last) == 3 &&
                strcmp(about, file) == 0 && first <= offset && offset <= last;
    if (info)
        fclose(info);
    return found;
}

static bool process_has_lock(const char *pid, const char *file, uint64_t offset)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%.16s/fdinfo", pid);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (folder && !found && (entry = readdir(folder)))
        found = entry->d_name[0] != '.' && has_lock(dirfd(folder), entry->d_name, file, offset);
    if (folder)
        closedir(folder);
    return found;
}

/* Such locks belong to no process in the kernel's own list, so the processes are looked through. */
void uring_lock_holder_print(char *out, size_t size, const struct stat *status, uint64_t offset)
{
    char file[64];
    file_print(file, sizeof(file), status);
    snprintf(out, size, "another process");
    DIR *processes = opendir("/proc");
    const struct dirent *entry;
    while (processes && (entry = readdir(processes))) {
        const int pid = (int)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || !process_has_lock(entry->d_name, file, offset))
            continue;
        process_print(pid, out, size);
        break;
    }
    if (processes)
        closedir(processes);
}
