#include "survey/drive.h"

#include "support/path.h"
#include "support/tree.h"
#include "survey/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR_BYTES 512

struct stria_survey_figure stria_figure_of(int64_t value)
{
    return (struct stria_survey_figure){.known = true, .value = value};
}

struct stria_survey_figure stria_figure_read(const char *root, const char *folder, const char *attribute)
{
    int64_t value;
    return stria_tree_number(root, &value, "%s/%s", folder, attribute) ? stria_figure_of(value)
                                                                       : (struct stria_survey_figure){0};
}

/* "mq-deadline kyber [none]": the one in brackets; a single word without them is in use too. */
static void take_scheduler(char *text, char out[STRIA_SURVEY_NODE_BYTES])
{
    char *begin = strchr(text, '[');
    if (begin)
        text = begin + 1;
    text[strcspn(text, "] ")] = '\0';
    snprintf(out, STRIA_SURVEY_NODE_BYTES, "%.*s", (int)STRIA_SURVEY_NODE_BYTES - 1, text);
}

static void read_queue(const char *root, const char *folder, struct stria_survey_drive *drive)
{
    char text[256];
    drive->lba_bytes = stria_figure_read(root, folder, "queue/logical_block_size");
    drive->physical_bytes = stria_figure_read(root, folder, "queue/physical_block_size");
    drive->optimal_bytes = stria_figure_read(root, folder, "queue/optimal_io_size");
    drive->rotational = stria_figure_read(root, folder, "queue/rotational");
    drive->nr_requests = stria_figure_read(root, folder, "queue/nr_requests");
    drive->read_only = stria_figure_read(root, folder, "ro");
    const struct stria_survey_figure discard = stria_figure_read(root, folder, "queue/discard_max_bytes");
    if (discard.known)
        drive->discard = stria_figure_of(discard.value > 0);
    if (stria_tree_line(root, text, sizeof(text), "%s/queue/scheduler", folder))
        take_scheduler(text, drive->scheduler);
    if (!stria_tree_line(root, text, sizeof(text), "%s/queue/write_cache", folder))
        return;
    drive->volatile_cache = stria_figure_of(strcmp(text, "write back") == 0);
    if (drive->volatile_cache.value)
        drive->volatile_cache_present = stria_figure_of(1);
}

/* What udev knows of drives that have no file for it. */
struct udev_search {
    const char *key;
    char *out;
};

static bool match_udev(char *line, void *user)
{
    struct udev_search *search = user;
    const size_t length = strlen(search->key);
    if (strncmp(line, search->key, length) != 0)
        return true;
    snprintf(search->out, STRIA_SURVEY_TEXT_BYTES, "%.*s", (int)STRIA_SURVEY_TEXT_BYTES - 1, line + length);
    return false;
}

static void read_udev(const char *root, const char *folder, const char *key, char *out)
{
    char number[32], path[64];
    struct udev_search search = {.key = key, .out = out};
    if (out[0] || !stria_tree_line(root, number, sizeof(number), "%s/dev", folder) ||
        snprintf(path, sizeof(path), "/run/udev/data/b%s", number) >= (int)sizeof(path))
        return;
    stria_tree_lines(root, path, match_udev, &search);
}

static void read_text(const char *root, const char *folder, const char *attribute, char *out)
{
    if (!out[0])
        stria_tree_line(root, out, STRIA_SURVEY_TEXT_BYTES, "%s/%s", folder, attribute);
}

static void read_identity(const char *root, const char *disk, struct stria_survey_drive *drive)
{
    read_text(root, disk, "device/model", drive->model);
    read_text(root, disk, "device/serial", drive->serial);
    read_text(root, disk, "serial", drive->serial);
    read_udev(root, disk, "E:ID_SERIAL_SHORT=", drive->serial);
    read_text(root, disk, "device/firmware_rev", drive->firmware);
    read_text(root, disk, "device/rev", drive->firmware);
    if (drive->transport == STRIA_SURVEY_LOOP)
        read_text(root, disk, "loop/backing_file", drive->backing);
}

/* All that is about the disk beneath. */
static void read_disk(const char *root, const struct stria_node *node, struct stria_survey_drive *drive)
{
    snprintf(drive->node, sizeof(drive->node), "%s", node->name);
    snprintf(drive->disk, sizeof(drive->disk), "%s", node->disk_name);
    snprintf(drive->controller, sizeof(drive->controller), "%s", node->controller);
    read_queue(root, node->disk, drive);
    stria_parts_link(root, node, drive);
    if (node->controller[0])
        stria_parts_nvme(root, drive);
    read_identity(root, node->disk, drive);
    stria_parts_heat(root, drive->disk, drive->controller, &drive->now);
}

static void read_block(const char *root, const struct stria_answers_place *place,
                       struct stria_survey_drive *drive)
{
    struct stria_node node;
    stria_survey_node_at(root, place, &node);
    drive->exists = true;
    if (!node.folder[0])
        return;
    drive->transport = stria_survey_node_transport(&node);
    read_disk(root, &node, drive);
    const struct stria_survey_figure sectors = stria_figure_read(root, node.folder, "size");
    if (sectors.known && sectors.value >= 0 && sectors.value <= INT64_MAX / SECTOR_BYTES)
        drive->size_bytes = stria_figure_of(sectors.value * SECTOR_BYTES);
    const struct stria_survey_figure start =
        node.partition ? stria_figure_read(root, node.folder, "start") : (struct stria_survey_figure){0};
    if (start.known && start.value >= 0 && start.value <= INT64_MAX / SECTOR_BYTES)
        drive->partition_offset_bytes = stria_figure_of(start.value * SECTOR_BYTES);
    stria_parts_users(root, &node, place->resolved, drive);
}

/* The disk beneath a file system: by the number of the mount, or for those whose number is anonymous by
 * its source. */
static void read_below(const char *root, const char *number, const char *source,
                       struct stria_survey_drive *drive)
{
    struct stria_node node;
    struct stria_answers_place place;
    stria_survey_node_numbered(root, number, &node);
    if (!node.folder[0] && source[0] == '/') {
        stria_answers_place(root, source, &place);
        if (place.kind == STRIA_ANSWERS_BLOCK)
            stria_survey_node_at(root, &place, &node);
    }
    if (node.folder[0])
        read_disk(root, &node, drive);
}

/* at is the file, or the folder in which it will be made. */
static void read_file(const char *root, const struct stria_answers_place *at,
                      struct stria_survey_drive *drive)
{
    char number[32], source[PATH_MAX];
    uint64_t bytes, free_bytes;
    drive->transport = STRIA_SURVEY_FILE;
    drive->exists = at->kind == STRIA_ANSWERS_FILE;
    if (stria_parts_mount(root, at->resolved, &drive->file_system, number, source))
        read_below(root, number, source, drive);
    if (stria_answers_free(root, at->resolved, &bytes, &free_bytes) && bytes <= INT64_MAX &&
        free_bytes <= bytes) {
        drive->file_system.bytes = stria_figure_of((int64_t)bytes);
        drive->file_system.free_bytes = stria_figure_of((int64_t)free_bytes);
    }
    if (!drive->exists)
        return;
    drive->size_bytes = stria_figure_of((int64_t)at->bytes);
    drive->allocated_bytes = stria_figure_of((int64_t)at->allocated_bytes);
    stria_parts_users(root, NULL, at->resolved, drive);
}

static int read_missing(const char *root, const char *path, struct stria_survey_drive *drive,
                        struct stria_trouble *trouble)
{
    char folder[PATH_MAX];
    struct stria_answers_place at;
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        snprintf(folder, sizeof(folder), ".");
    else
        slash[slash == folder ? 1 : 0] = '\0';
    stria_answers_place(root, folder, &at);
    if (at.kind == STRIA_ANSWERS_FOLDER)
        read_file(root, &at, drive);
    /* In a file system of devices nothing is made by us: a drive is missing. */
    if (strncmp(path, "/dev/", 5) == 0 &&
        (at.kind != STRIA_ANSWERS_FOLDER || strcmp(drive->file_system.type, "devtmpfs") == 0))
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "%s is not there: plug it in, or correct the path", path);
    if (at.kind != STRIA_ANSWERS_FOLDER)
        return stria_trouble_set(
            trouble, STRIA_ERR_NOT_FOUND,
            "%s cannot be there, for there is no folder %s: make it, or correct the path", path, folder);
    return STRIA_OK;
}

static int read_place(const char *root, const char *path, struct stria_survey_drive *drive,
                      struct stria_trouble *trouble)
{
    struct stria_answers_place place;
    stria_answers_place(root, path, &place);
    snprintf(drive->resolved, sizeof(drive->resolved), "%s", place.resolved);
    switch (place.kind) {
    case STRIA_ANSWERS_NOTHING:
        return read_missing(root, path, drive, trouble);
    case STRIA_ANSWERS_BLOCK:
        read_block(root, &place, drive);
        return STRIA_OK;
    case STRIA_ANSWERS_FILE:
        read_file(root, &place, drive);
        return STRIA_OK;
    default:
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s is neither a block device nor a file: name one of them, such as "
                                 "/dev/nvme0n1",
                                 path);
    }
}

int stria_survey_read(const char *root, const char *path, struct stria_survey_drive *drive,
                      struct stria_trouble *trouble)
{
    char plain[STRIA_SURVEY_PATH_BYTES];
    memset(drive, 0, sizeof(*drive));
    if (snprintf(drive->path, sizeof(drive->path), "%s", path) >= (int)sizeof(drive->path))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "the path of a drive is too long: %.60s…", path);
    stria_survey_node_plain_path(path, plain);
    if (!stria_path_is_prefixed(plain))
        return read_place(root, plain, drive, trouble);
    drive->transport = STRIA_SURVEY_STAND_IN;
    return STRIA_OK;
}

void stria_survey_sample(const char *root, const struct stria_survey_drive *drive,
                         struct stria_survey_sample *sample)
{
    stria_parts_heat(root, drive->disk, drive->controller, sample);
}

struct each_disk {
    const char *root;
    bool (*visit)(const char *path, void *user);
    void *user;
};

static bool visit_disk(const char *name, void *user)
{
    struct each_disk *each = user;
    int64_t sectors, hidden;
    char path[PATH_MAX];
    if (strncmp(name, "ram", 3) == 0 || strncmp(name, "zram", 4) == 0 || strncmp(name, "sr", 2) == 0 ||
        strncmp(name, "fd", 2) == 0 ||
        !stria_tree_number(each->root, &sectors, "/sys/class/block/%s/size", name) || sectors <= 0 ||
        (stria_tree_number(each->root, &hidden, "/sys/class/block/%s/hidden", name) && hidden) ||
        stria_tree_exists(each->root, "/sys/class/block/%s/partition", name) ||
        snprintf(path, sizeof(path), "/dev/%s", name) >= (int)sizeof(path))
        return true;
    return each->visit(path, each->user);
}

void stria_survey_each(const char *root, bool (*visit)(const char *path, void *user), void *user)
{
    struct each_disk each = {.root = root, .visit = visit, .user = user};
    stria_tree_each(root, "/sys/class/block", visit_disk, &each);
}

const struct stria_survey_format *stria_survey_best_format(const struct stria_survey_drive *drive)
{
    if (!drive->format_count)
        return NULL;
    const struct stria_survey_format *best = &drive->formats[drive->format_used];
    for (uint32_t i = 0; i < drive->format_count; i++) {
        const struct stria_survey_format *one = &drive->formats[i];
        if (one->lba_bytes >= 4096 && !one->metadata_bytes &&
            (best->lba_bytes < 4096 || best->metadata_bytes || one->rank < best->rank))
            best = one;
    }
    return best;
}

const char *stria_survey_transport_text(enum stria_survey_transport transport)
{
    static const char *const texts[] = {
        [STRIA_SURVEY_UNKNOWN] = "unknown",   [STRIA_SURVEY_NVME] = "nvme",     [STRIA_SURVEY_SATA] = "sata",
        [STRIA_SURVEY_SCSI] = "scsi",         [STRIA_SURVEY_VIRTIO] = "virtio", [STRIA_SURVEY_LOOP] = "loop",
        [STRIA_SURVEY_LAYERED] = "layered",   [STRIA_SURVEY_MEMORY] = "memory", [STRIA_SURVEY_FILE] = "file",
        [STRIA_SURVEY_STAND_IN] = "stand-in",
    };
    return texts[transport];
}

const char *stria_survey_use_text(enum stria_survey_use use)
{
    static const char *const texts[] = {
        [STRIA_SURVEY_MOUNT] = "mount",
        [STRIA_SURVEY_SWAP] = "swap",
        [STRIA_SURVEY_HOLDER] = "holder",
        [STRIA_SURVEY_ARRAY] = "array",
    };
    return texts[use];
}
