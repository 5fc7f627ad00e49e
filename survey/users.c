#include "support/mounts.h"
#include "support/tree.h"
#include "survey/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

static void add_user(struct stria_survey_drive *drive, enum stria_survey_use use, const char *what,
                     const char *part)
{
    for (uint32_t i = 0; i < drive->user_count; i++)
        if (drive->users[i].use == use &&
            strncmp(drive->users[i].what, what, sizeof(drive->users[i].what) - 1) == 0)
            return;
    if (drive->user_count == STRIA_SURVEY_USERS_MAX) {
        drive->users_more++;
        return;
    }
    struct stria_survey_user *user = &drive->users[drive->user_count++];
    user->use = use;
    snprintf(user->what, sizeof(user->what), "%.*s", (int)sizeof(user->what) - 1, what);
    snprintf(user->part, sizeof(user->part), "%s", part);
}

/* One device of those that belong to the drive: itself, and its partitions. */
struct user_search {
    const char *root;
    struct stria_survey_drive *drive;
    const char *resolved; /* of a file; null for a device */
    const char *folder;   /* in /sys; null for a file */
    const char *name;
    const char *part; /* name for a partition of the drive, else empty */
    dev_t number;
};

static bool is_this(const struct user_search *search, const char *path)
{
    struct stria_answers_place place;
    stria_answers_place(search->root, path, &place);
    if (search->resolved)
        return strcmp(place.resolved, search->resolved) == 0;
    return place.kind == STRIA_ANSWERS_BLOCK &&
           strcmp(stria_survey_node_base(place.resolved), search->name) == 0;
}

static bool match_mount(const struct stria_mount *mount, void *user)
{
    struct user_search *search = user;
    if ((search->number && mount->device == search->number) ||
        (mount->source[0] == '/' && is_this(search, mount->source)))
        add_user(search->drive, STRIA_SURVEY_MOUNT, mount->place, search->part);
    return true;
}

static bool match_swap(const char *path, void *user)
{
    struct user_search *search = user;
    if (is_this(search, path))
        add_user(search->drive, STRIA_SURVEY_SWAP, path, search->part);
    return true;
}

static bool take_holder(const char *name, void *user)
{
    struct user_search *search = user;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "/dev/%s", name);
    add_user(search->drive, STRIA_SURVEY_HOLDER, path, search->part);
    return true;
}

static bool match_loop(const char *name, void *user)
{
    struct user_search *search = user;
    char backing[PATH_MAX];
    if (strncmp(name, "loop", 4) == 0 &&
        stria_tree_line(search->root, backing, sizeof(backing), "/sys/class/block/%s/loop/backing_file",
                        name) &&
        is_this(search, backing))
        take_holder(name, search);
    return true;
}

static void search_one(struct user_search *search)
{
    char path[PATH_MAX], number[32];
    unsigned number_major, number_minor;
    search->number = 0;
    if (search->folder) {
        if (stria_tree_line(search->root, number, sizeof(number), "%s/dev", search->folder) &&
            sscanf(number, "%u:%u", &number_major, &number_minor) == 2)
            search->number = makedev(number_major, number_minor);
        stria_mounts_each(search->root, match_mount, search);
        if (snprintf(path, sizeof(path), "%s/holders", search->folder) < (int)sizeof(path))
            stria_tree_each(search->root, path, take_holder, search);
    }
    stria_swaps_each(search->root, match_swap, search);
    stria_tree_each(search->root, "/sys/class/block", match_loop, search);
}

static bool search_partition(const char *name, void *user)
{
    struct user_search *whole = user;
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof(folder), "%s/%s", whole->folder, name) >= (int)sizeof(folder) ||
        !stria_tree_exists(whole->root, "%s/partition", folder))
        return true;
    struct user_search search = *whole;
    search.folder = folder;
    search.name = search.part = name;
    search_one(&search);
    return true;
}

static void search_membership(const char *root, const struct stria_node *node, const char *resolved,
                              struct stria_survey_drive *drive)
{
    char what[256];
    if (!drive->size_bytes.known ||
        !stria_answers_superblock(root, resolved, node ? node->name : stria_survey_node_base(resolved),
                                  (uint64_t)drive->size_bytes.value, &drive->super))
        return;
    drive->member = true;
    snprintf(what, sizeof(what), "%s (drive %s, %u of %u)", drive->super.array_name, drive->super.drive_name,
             drive->super.drive_index + 1, drive->super.drive_count);
    add_user(drive, STRIA_SURVEY_ARRAY, what, "");
}

void stria_parts_users(const char *root, const struct stria_node *node, const char *resolved,
                       struct stria_survey_drive *drive)
{
    struct user_search search = {.root = root, .drive = drive, .part = ""};
    if (node) {
        search.folder = node->folder;
        search.name = node->name;
    } else {
        search.resolved = resolved;
    }
    search_one(&search);
    if (node && !node->partition)
        stria_tree_each(root, node->folder, search_partition, &search);
    search_membership(root, node, resolved, drive);
}

struct place_search {
    const char *resolved;
    size_t matched; /* length of the longest place so far that the path lies below */
    struct stria_survey_file_system *system;
    char *number, *source;
};

/* Of two mounts on one place the later one is seen. */
static bool match_place(const struct stria_mount *mount, void *user)
{
    struct place_search *search = user;
    const size_t length = strlen(mount->place);
    const bool top = strcmp(mount->place, "/") == 0;
    const char after = length <= strlen(search->resolved) ? search->resolved[length] : 'x';
    if (length < search->matched || strncmp(mount->place, search->resolved, length) != 0 ||
        (!top && after != '/' && after != '\0'))
        return true;
    search->matched = length;
    snprintf(search->system->type, sizeof(search->system->type), "%s", mount->type);
    snprintf(search->system->place, sizeof(search->system->place), "%.*s",
             (int)sizeof(search->system->place) - 1, mount->place);
    snprintf(search->number, 32, "%u:%u", major(mount->device), minor(mount->device));
    snprintf(search->source, PATH_MAX, "%s", mount->source);
    return true;
}

bool stria_parts_mount(const char *root, const char *resolved, struct stria_survey_file_system *system,
                       char number[32], char source[PATH_MAX])
{
    struct place_search search = {.resolved = resolved, .system = system, .number = number, .source = source};
    stria_mounts_each(root, match_place, &search);
    return search.matched > 0;
}
