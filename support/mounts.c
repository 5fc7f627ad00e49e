#include "support/mounts.h"

#include "support/tree.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

/* /proc writes blanks, tabs, line ends and backslashes in paths as three octal digits. */
static void unescape(char *text)
{
    char *out = text;
    for (; *text; text++, out++) {
        unsigned code;
        if (text[0] == '\\' && sscanf(text + 1, "%3o", &code) == 1 && code < 256 && strlen(text) > 3) {
            *out = (char)code;
            text += 3;
        } else {
            *out = *text;
        }
    }
    *out = '\0';
}

/* One line: "41 26 7:0 / /mnt rw,relatime shared:1 - ext4 /dev/loop0 rw". */
static bool read_mount(const char *line, struct stria_mount *mount)
{
    unsigned device_major, device_minor;
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*d %*d %u:%u %*s %4095s", &device_major, &device_minor, mount->place) != 3 ||
        sscanf(rest, " - %63s", mount->type) != 1 || sscanf(rest, " - %*s %4095s", mount->source) != 1)
        return false;
    unescape(mount->place);
    unescape(mount->source);
    mount->device = makedev(device_major, device_minor);
    return true;
}

struct mount_visit {
    bool (*visit)(const struct stria_mount *mount, void *user);
    void *user;
    struct stria_mount mount;
};

static bool visit_mount(char *line, void *user)
{
    struct mount_visit *each = user;
    return !read_mount(line, &each->mount) || each->visit(&each->mount, each->user);
}

void stria_mounts_each(const char *root, bool (*visit)(const struct stria_mount *mount, void *user),
                       void *user)
{
    struct mount_visit each = {.visit = visit, .user = user};
    stria_tree_lines(root, "/proc/self/mountinfo", visit_mount, &each);
}

struct swap_visit {
    bool (*visit)(const char *path, void *user);
    void *user;
};

static bool visit_swap(char *line, void *user)
{
    struct swap_visit *each = user;
    line[strcspn(line, " \t")] = '\0';
    unescape(line);
    /* The first line is a heading. */
    return line[0] != '/' || each->visit(line, each->user);
}

void stria_swaps_each(const char *root, bool (*visit)(const char *path, void *user), void *user)
{
    struct swap_visit each = {.visit = visit, .user = user};
    stria_tree_lines(root, "/proc/swaps", visit_swap, &each);
}
