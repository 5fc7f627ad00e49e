#include "support/tree.h"
#include "survey/parts.h"

#include <stdio.h>
#include <string.h>

/* PCI Express has no wider link; 63 and 255 are how "unknown" looks. */
#define WIDTH_MAX 32

struct stria_survey_figure stria_link_bytes_per_s(struct stria_survey_figure mts,
                                                  struct stria_survey_figure width)
{
    if (!mts.known || !width.known)
        return (struct stria_survey_figure){0};
    const int64_t bits_per_s = mts.value * 1000000 * width.value;
    if (mts.value <= 5000)
        return stria_figure_of(bits_per_s / 10);
    return stria_figure_of(mts.value <= 32000 ? bits_per_s / 8 * 128 / 130 : bits_per_s / 8 * 242 / 256);
}

/* "16.0 GT/s PCIe", "2.5 GT/s", "6.0 Gbps"; anything else is unknown. */
static struct stria_survey_figure parse_speed(const char *text, const char *unit)
{
    unsigned whole, tenths;
    int used = 0;
    if (text[0] == '-' || sscanf(text, "%3u.%1u %n", &whole, &tenths, &used) != 2 || used == 0 ||
        strncmp(text + used, unit, strlen(unit)) != 0 || whole + tenths == 0)
        return (struct stria_survey_figure){0};
    return stria_figure_of((int64_t)whole * 1000 + tenths * 100);
}

static struct stria_survey_figure read_speed(const char *root, const char *folder, const char *attribute)
{
    char text[64];
    if (!stria_tree_line(root, text, sizeof(text), "%s/%s", folder, attribute))
        return (struct stria_survey_figure){0};
    return parse_speed(text, "GT/s");
}

static struct stria_survey_figure read_width(const char *root, const char *folder, const char *attribute)
{
    const struct stria_survey_figure width = stria_figure_read(root, folder, attribute);
    return width.value > 0 && width.value <= WIDTH_MAX ? width : (struct stria_survey_figure){0};
}

static void read_link(const char *root, const char *folder, struct stria_survey_link *link)
{
    link->mts = read_speed(root, folder, "current_link_speed");
    link->width = read_width(root, folder, "current_link_width");
    link->capable_mts = read_speed(root, folder, "max_link_speed");
    link->capable_width = read_width(root, folder, "max_link_width");
    link->bytes_per_s = stria_link_bytes_per_s(link->mts, link->width);
    link->capable_bytes_per_s = stria_link_bytes_per_s(link->capable_mts, link->capable_width);
}

/* True for the name of a PCI function, such as "0000:01:00.0" or "10000:e1:00.0". */
static bool is_function(const char *name, size_t length)
{
    unsigned domain, bus, device, function;
    int used = 0;
    return sscanf(name, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) == 4 &&
           (size_t)used == length;
}

static void add_bridge(const char *root, const char *folder, struct stria_survey_drive *drive)
{
    if (drive->bridge_count == STRIA_SURVEY_BRIDGES_MAX) {
        memmove(drive->bridges, drive->bridges + 1, sizeof(drive->bridges) - sizeof(drive->bridges[0]));
        drive->bridge_count--;
    }
    struct stria_survey_bridge *bridge = &drive->bridges[drive->bridge_count++];
    memset(bridge, 0, sizeof(*bridge));
    snprintf(bridge->address, sizeof(bridge->address), "%.*s", (int)sizeof(bridge->address) - 1,
             stria_survey_node_base(folder));
    read_link(root, folder, &bridge->link);
}

/* Walks the folder's path from the processor to the drive. */
static void read_pci(const char *root, const char *device, struct stria_survey_drive *drive)
{
    char folder[PATH_MAX], last[PATH_MAX] = "";
    snprintf(folder, sizeof(folder), "%s", device);
    for (char *name = folder; *name;) {
        char *end = name + strcspn(name, "/");
        const char mark = *end;
        *end = '\0';
        if (is_function(name, (size_t)(end - name))) {
            add_bridge(root, folder, drive);
            snprintf(last, sizeof(last), "%s", folder);
        }
        *end = mark;
        name = end + (mark ? 1 : 0);
    }
    if (!last[0])
        return;
    drive->numa_node = stria_figure_read(root, last, "numa_node");
    if (drive->numa_node.value < 0)
        drive->numa_node = (struct stria_survey_figure){0};
    stria_tree_line(root, drive->local_cpus, sizeof(drive->local_cpus), "%s/local_cpulist", last);
}

static void read_sata(const char *root, const char *device, struct stria_survey_link *link)
{
    char text[64];
    unsigned port;
    const char *ata = strstr(device, "/ata");
    memset(link, 0, sizeof(*link));
    if (!ata || sscanf(ata, "/ata%u/", &port) != 1)
        return;
    if (stria_tree_line(root, text, sizeof(text), "/sys/class/ata_link/link%u/sata_spd", port))
        link->mts = parse_speed(text, "Gbps");
    if (stria_tree_line(root, text, sizeof(text), "/sys/class/ata_link/link%u/hw_sata_spd_limit", port))
        link->capable_mts = parse_speed(text, "Gbps");
    /* One lane, 8b/10b whatever the speed. */
    const struct stria_survey_figure lane = stria_figure_of(1), none = {0};
    link->width = link->mts.known ? lane : none;
    link->bytes_per_s = link->mts.known ? stria_figure_of(link->mts.value * 100000) : none;
    link->capable_width = link->capable_mts.known ? lane : none;
    link->capable_bytes_per_s =
        link->capable_mts.known ? stria_figure_of(link->capable_mts.value * 100000) : none;
}

void stria_parts_link(const char *root, const struct stria_node *node, struct stria_survey_drive *drive)
{
    const enum stria_survey_transport transport = stria_survey_node_transport(node);
    read_pci(root, node->device, drive);
    if (transport == STRIA_SURVEY_NVME && drive->bridge_count)
        drive->link = drive->bridges[drive->bridge_count - 1].link;
    else if (transport == STRIA_SURVEY_SATA)
        read_sata(root, node->disk, &drive->link);
}
