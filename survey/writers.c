#include "survey/writers.h"

#include "support/clock.h"
#include "support/tree.h"
#include "survey/parts.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR_BYTES 512

/* The seventh number of a disk's statistics is of sectors written. */
static struct stria_survey_figure written_to(const char *root, const char *later, const char *disk)
{
    char text[512];
    unsigned long long sectors;
    if (!disk[0] ||
        (!(later[0] &&
           stria_tree_line(root, text, sizeof(text), "%s/sys/class/block/%s/stat", later, disk)) &&
         !stria_tree_line(root, text, sizeof(text), "/sys/class/block/%s/stat", disk)) ||
        sscanf(text, "%*s %*s %*s %*s %*s %*s %llu", &sectors) != 1 || sectors > INT64_MAX / SECTOR_BYTES)
        return (struct stria_survey_figure){0};
    return stria_figure_of((int64_t)sectors * SECTOR_BYTES);
}

static bool take_written(char *line, void *user)
{
    static const char key[] = "write_bytes:";
    struct stria_survey_figure *written = user;
    int64_t value;
    if (strncmp(line, key, sizeof(key) - 1) == 0 && stria_tree_parse(line + sizeof(key) - 1, &value))
        *written = stria_figure_of(value);
    return true;
}

static struct stria_survey_figure written_by(const char *root, const char *later, int pid)
{
    struct stria_survey_figure written = {0};
    char path[64];
    snprintf(path, sizeof(path), "%s/proc/%d/io", later, pid);
    stria_tree_lines(root, path, take_written, &written);
    if (!written.known && later[0])
        return written_by(root, "", pid);
    return written;
}

static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return length > 1 && strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* Is this open file the drive, a part of it, or on one of its file systems? */
static bool is_on(const char *path, const struct stria_survey_drive *drive)
{
    char node[STRIA_SURVEY_NODE_BYTES + 8];
    if (drive->transport == STRIA_SURVEY_FILE)
        return strcmp(path, drive->resolved) == 0;
    snprintf(node, sizeof(node), "/dev/%s", drive->node);
    if (drive->node[0] && strncmp(path, node, strlen(node)) == 0) {
        /* A partition is "nvme0n1p2" or "sda2". */
        const char *rest = path + strlen(node);
        rest += *rest == 'p';
        if (rest[strspn(rest, "0123456789")] == '\0')
            return true;
    }
    for (uint32_t i = 0; i < drive->user_count; i++)
        if (drive->users[i].use == STRIA_SURVEY_MOUNT && is_below(path, drive->users[i].what))
            return true;
    return false;
}

struct process_visit {
    struct stria_writers *writers;
    int pid;
};

static void add_process(struct stria_writers *writers, int pid, uint32_t drive, const char *file)
{
    for (uint32_t i = 0; i < writers->process_count; i++)
        if (writers->processes[i].pid == pid && writers->processes[i].drive == drive)
            return;
    if (writers->process_count == STRIA_WRITERS_MAX) {
        writers->processes_more++;
        return;
    }
    struct stria_writer_process *process = &writers->processes[writers->process_count++];
    *process = (struct stria_writer_process){.drive = drive, .pid = pid};
    snprintf(process->file, sizeof(process->file), "%.*s", (int)sizeof(process->file) - 1, file);
    stria_tree_line(writers->root, process->name, sizeof(process->name), "/proc/%d/comm", pid);
}

static bool take_flags(char *line, void *user)
{
    if (strncmp(line, "flags:", 6) == 0)
        *(unsigned long *)user = strtoul(line + 6, NULL, 8);
    return true;
}

static bool is_for_writing(const char *root, int pid, const char *fd)
{
    char path[PATH_MAX];
    unsigned long flags = O_RDONLY;
    snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.16s", pid, fd);
    stria_tree_lines(root, path, take_flags, &flags);
    return (flags & O_ACCMODE) != O_RDONLY;
}

static bool take_fd(const char *fd, void *user)
{
    const struct process_visit *visit = user;
    struct stria_writers *writers = visit->writers;
    char link[PATH_MAX], target[PATH_MAX];
    snprintf(link, sizeof(link), "%s/proc/%d/fd/%.16s", writers->root, visit->pid, fd);
    const ssize_t length = readlink(link, target, sizeof(target) - 1);
    if (length <= 0 || target[0] != '/')
        return true;
    target[length] = '\0';
    for (uint32_t i = 0; i < writers->drive_count; i++)
        if (is_on(target, writers->drives[i]) && is_for_writing(writers->root, visit->pid, fd))
            add_process(writers, visit->pid, i, target);
    return true;
}

static bool take_process(const char *name, void *user)
{
    struct stria_writers *writers = user;
    char folder[64];
    struct process_visit visit = {.writers = writers, .pid = atoi(name)};
    if (!isdigit((unsigned char)name[0]) || visit.pid <= 0 || (!writers->root[0] && visit.pid == getpid()))
        return true;
    snprintf(folder, sizeof(folder), "/proc/%d/fd", visit.pid);
    stria_tree_each(writers->root, folder, take_fd, &visit);
    return true;
}

void stria_writers_begin(struct stria_writers *writers)
{
    stria_tree_each(writers->root, "/proc", take_process, writers);
    writers->interval_ns = stria_clock_ns();
    for (uint32_t i = 0; i < writers->process_count; i++)
        writers->processes[i].before = written_by(writers->root, "", writers->processes[i].pid);
    for (uint32_t i = 0; i < writers->drive_count; i++)
        writers->disk_before[i] = written_to(writers->root, "", writers->drives[i]->disk);
}

void stria_writers_end(struct stria_writers *writers)
{
    const char *later = writers->root[0] ? "/later" : "";
    writers->interval_ns = writers->root[0] ? STRIA_NS_PER_S : stria_clock_ns() - writers->interval_ns;
    for (uint32_t i = 0; i < writers->process_count; i++)
        writers->processes[i].after = written_by(writers->root, later, writers->processes[i].pid);
    for (uint32_t i = 0; i < writers->drive_count; i++)
        writers->disk_after[i] = written_to(writers->root, later, writers->drives[i]->disk);
}
