#include "survey/node.h"

#include "support/path.h"
#include "support/tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A limit on layers above each other, so that no tree can make us go on for ever. */
#define LAYERS_MAX 16u

const char *stria_survey_node_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void stria_survey_node_plain_path(const char *path, char out[STRIA_SURVEY_PATH_BYTES])
{
    static const char character[] = "/dev/ng";
    path = stria_path_plain(path);
    const char *number = path + sizeof(character) - 1;
    if (strncmp(path, character, sizeof(character) - 1) == 0 && isdigit((unsigned char)*number))
        snprintf(out, STRIA_SURVEY_PATH_BYTES, "/dev/nvme%s", number);
    else
        snprintf(out, STRIA_SURVEY_PATH_BYTES, "%s", path);
}

static bool is_controller(const char *name)
{
    return strncmp(name, "nvme", 4) == 0 && name[4] && name[4 + strspn(name + 4, "0123456789")] == '\0';
}

static bool take_controller(const char *name, void *user)
{
    struct stria_node *node = user;
    if (!is_controller(name))
        return true;
    snprintf(node->controller, sizeof(node->controller), "%s", name);
    return false;
}

/* A disk is below its controller, or with native multipath below a subsystem in which its controllers are. */
static void find_controller(const char *root, struct stria_node *node)
{
    char parent[PATH_MAX];
    if (strncmp(node->disk_name, "nvme", 4) != 0)
        return;
    snprintf(parent, sizeof(parent), "%s", node->disk);
    *strrchr(parent, '/') = '\0';
    if (is_controller(stria_survey_node_base(parent)))
        take_controller(stria_survey_node_base(parent), node);
    else
        stria_tree_each(root, parent, take_controller, node);
    if (node->controller[0] &&
        !stria_tree_resolve(root, node->device, "/sys/class/nvme/%s", node->controller) &&
        !stria_tree_resolve(root, node->device, "%s/%s", parent, node->controller))
        snprintf(node->device, sizeof(node->device), "%s", node->disk);
}

struct only_entry {
    char name[STRIA_SURVEY_NODE_BYTES];
    unsigned count;
};

static bool take_entry(const char *name, void *user)
{
    struct only_entry *only = user;
    snprintf(only->name, sizeof(only->name), "%s", name);
    return ++only->count < 2;
}

/* The one device that this one is laid upon; false if there is none, or several. */
static bool step_down(const char *root, char folder[PATH_MAX])
{
    char slaves[PATH_MAX];
    struct only_entry only = {0};
    if (snprintf(slaves, sizeof(slaves), "%s/slaves", folder) >= (int)sizeof(slaves))
        return false;
    stria_tree_each(root, slaves, take_entry, &only);
    return only.count == 1 && stria_tree_resolve(root, folder, "%s/%s", slaves, only.name);
}

static void find_disk(const char *root, struct stria_node *node)
{
    snprintf(node->disk, sizeof(node->disk), "%s", node->folder);
    for (unsigned layer = 0; layer < LAYERS_MAX; layer++) {
        if (stria_tree_exists(root, "%s/partition", node->disk))
            *strrchr(node->disk, '/') = '\0';
        if (!step_down(root, node->disk))
            break;
    }
    snprintf(node->disk_name, sizeof(node->disk_name), "%.*s", (int)sizeof(node->disk_name) - 1,
             stria_survey_node_base(node->disk));
    snprintf(node->device, sizeof(node->device), "%s", node->disk);
    find_controller(root, node);
}

/* Takes the rest from node->folder. */
static void fill_in(const char *root, bool found, struct stria_node *node)
{
    if (!found || strncmp(node->folder, "/sys/", 5) != 0) {
        memset(node, 0, sizeof(*node));
        return;
    }
    snprintf(node->name, sizeof(node->name), "%.*s", (int)sizeof(node->name) - 1,
             stria_survey_node_base(node->folder));
    node->partition = stria_tree_exists(root, "%s/partition", node->folder);
    find_disk(root, node);
}

void stria_survey_node_numbered(const char *root, const char *number, struct stria_node *node)
{
    memset(node, 0, sizeof(*node));
    fill_in(root, stria_tree_resolve(root, node->folder, "/sys/dev/block/%s", number), node);
}

void stria_survey_node_named(const char *root, const char *name, struct stria_node *node)
{
    memset(node, 0, sizeof(*node));
    fill_in(root, stria_tree_resolve(root, node->folder, "/sys/class/block/%s", name), node);
}

void stria_survey_node_at(const char *root, const struct stria_answers_place *place, struct stria_node *node)
{
    if (place->number[0])
        stria_survey_node_numbered(root, place->number, node);
    else
        stria_survey_node_named(root, stria_survey_node_base(place->resolved), node);
}

enum stria_survey_transport stria_survey_node_transport(const struct stria_node *node)
{
    static const struct {
        const char *prefix;
        enum stria_survey_transport transport;
    } names[] = {
        {"nvme", STRIA_SURVEY_NVME},   {"loop", STRIA_SURVEY_LOOP},      {"md", STRIA_SURVEY_LAYERED},
        {"dm-", STRIA_SURVEY_LAYERED}, {"bcache", STRIA_SURVEY_LAYERED}, {"vd", STRIA_SURVEY_VIRTIO},
        {"ram", STRIA_SURVEY_MEMORY},  {"zram", STRIA_SURVEY_MEMORY},
    };
    const char *name = node->disk_name;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(name, names[i].prefix, strlen(names[i].prefix)) == 0)
            return names[i].transport;
    const char *ata = strstr(node->disk, "/ata");
    if (ata && isdigit((unsigned char)ata[4]))
        return STRIA_SURVEY_SATA;
    return strncmp(name, "sd", 2) == 0 || strncmp(name, "sr", 2) == 0 ? STRIA_SURVEY_SCSI
                                                                      : STRIA_SURVEY_UNKNOWN;
}
