#include "survey/answers.h"

#include "backends/content.h"
#include "support/tree.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINKS_MAX 16u

static int open_device(const char *name)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof(path), "/dev/%s", name) >= (int)sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

bool stria_answers_controller(const char *root, const char *controller, struct nvme_id_ctrl *answer)
{
    if (root[0])
        return stria_tree_bytes(root, answer, sizeof(*answer), "/nvme/%s/id-ctrl.bin", controller);
    int fd = open_device(controller);
    if (fd < 0)
        return false;
    const bool answered = nvme_identify_ctrl(fd, answer) == 0;
    close(fd);
    return answered;
}

bool stria_answers_namespace(const char *root, const char *disk, struct nvme_id_ns *answer)
{
    if (root[0])
        return stria_tree_bytes(root, answer, sizeof(*answer), "/nvme/%s/id-ns.bin", disk);
    int fd = open_device(disk);
    if (fd < 0)
        return false;
    uint32_t number;
    const bool answered = nvme_get_nsid(fd, &number) == 0 && nvme_identify_ns(fd, number, answer) == 0;
    close(fd);
    return answered;
}

bool stria_answers_smart(const char *root, const char *controller, struct nvme_smart_log *answer)
{
    if (root[0])
        return stria_tree_bytes(root, answer, sizeof(*answer), "/nvme/%s/smart-log.bin", controller);
    int fd = open_device(controller);
    if (fd < 0)
        return false;
    /* Asynchronous events are left to whoever waits for them. */
    const bool answered = nvme_get_log_smart(fd, NVME_NSID_ALL, true, answer) == 0;
    close(fd);
    return answered;
}

bool stria_answers_volatile_cache(const char *root, const char *controller, bool *on)
{
    int64_t recorded;
    uint32_t feature = 0;
    if (root[0]) {
        const bool known = stria_tree_number(root, &recorded, "/nvme/%s/volatile-cache", controller);
        *on = known && recorded & 1;
        return known;
    }
    int fd = open_device(controller);
    if (fd < 0)
        return false;
    const bool answered = nvme_get_features_volatile_wc(fd, NVME_GET_FEATURES_SEL_CURRENT, &feature) == 0;
    close(fd);
    *on = answered && feature & 1;
    return answered;
}

static void find_live(const char *path, struct stria_answers_place *place)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return;
    if (!realpath(path, place->resolved))
        place->resolved[0] = '\0';
    place->kind = S_ISBLK(status.st_mode)   ? STRIA_ANSWERS_BLOCK
                  : S_ISREG(status.st_mode) ? STRIA_ANSWERS_FILE
                  : S_ISDIR(status.st_mode) ? STRIA_ANSWERS_FOLDER
                                            : STRIA_ANSWERS_OTHER;
    if (place->kind == STRIA_ANSWERS_BLOCK)
        snprintf(place->number, sizeof(place->number), "%u:%u", major(status.st_rdev), minor(status.st_rdev));
    place->bytes = (uint64_t)status.st_size;
    place->allocated_bytes = (uint64_t)status.st_blocks * 512;
}

/* Follows the links in the recorded /dev, where the node itself need not be. */
static void follow_links(const char *root, const char *path, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s", path);
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        char link[PATH_MAX], next[PATH_MAX];
        if (snprintf(link, sizeof(link), "%s%s", root, out) >= (int)sizeof(link))
            return;
        const ssize_t length = readlink(link, next, sizeof(next) - 1);
        if (length <= 0)
            return;
        next[length] = '\0';
        char *slash = strrchr(out, '/');
        if (next[0] == '/' || !slash)
            snprintf(out, PATH_MAX, "%s", next);
        else
            snprintf(slash + 1, PATH_MAX - (size_t)(slash + 1 - out), "%s", next);
    }
}

static void find_recorded(const char *root, const char *path, struct stria_answers_place *place)
{
    char line[160];
    follow_links(root, path, place->resolved);
    const char *slash = strrchr(place->resolved, '/');
    if (strncmp(place->resolved, "/dev/", 5) == 0 &&
        stria_tree_exists(root, "/sys/class/block/%s", slash + 1)) {
        place->kind = STRIA_ANSWERS_BLOCK;
        /* Whatever the links were like, its node lies here. */
        memmove(place->resolved + 5, slash + 1, strlen(slash + 1) + 1);
        return;
    }
    if (!stria_tree_line(root, line, sizeof(line), "/files%s.stat", place->resolved))
        place->resolved[0] = '\0';
    else if (sscanf(line, "file %" SCNu64 " %" SCNu64, &place->bytes, &place->allocated_bytes) == 2)
        place->kind = STRIA_ANSWERS_FILE;
    else if (strncmp(line, "folder", 6) == 0)
        place->kind = STRIA_ANSWERS_FOLDER;
    else
        place->kind = STRIA_ANSWERS_OTHER;
}

void stria_answers_place(const char *root, const char *path, struct stria_answers_place *place)
{
    memset(place, 0, sizeof(*place));
    if (root[0])
        find_recorded(root, path, place);
    else
        find_live(path, place);
}

bool stria_answers_free(const char *root, const char *path, uint64_t *bytes, uint64_t *free_bytes)
{
    char line[160];
    if (root[0]) {
        const char *rest =
            stria_tree_line(root, line, sizeof(line), "/files%s.stat", path) ? strstr(line, " of ") : NULL;
        return rest && sscanf(rest, " of %" SCNu64 " %" SCNu64, bytes, free_bytes) == 2;
    }
    struct statvfs status;
    if (statvfs(path, &status) != 0)
        return false;
    *bytes = (uint64_t)status.f_blocks * status.f_frsize;
    *free_bytes = (uint64_t)status.f_bavail * status.f_frsize;
    return true;
}

bool stria_answers_superblock(const char *root, const char *path, const char *node, uint64_t bytes,
                              struct stria_superblock *super)
{
    if (root[0]) {
        uint8_t page[STRIA_PAGE_BYTES];
        struct stria_superblock_unknown unknown;
        return stria_tree_bytes(root, page, sizeof(page), "/superblock/%s.bin", node) &&
               stria_superblock_decode(page, super, &unknown) == STRIA_SUPERBLOCK_VALID;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    const bool found = stria_content_superblock(fd, bytes, super);
    close(fd);
    return found;
}
