/* Where a block device is in /sys: its own folder, its disk's, its controller's. */
#ifndef STRIA_SURVEY_NODE_H
#define STRIA_SURVEY_NODE_H

#include "survey/answers.h"
#include "survey/drive.h"

struct stria_node {
    char folder[PATH_MAX]; /* "/sys/devices/…/nvme0n1/nvme0n1p2"; empty: there is none */
    char disk[PATH_MAX];   /* of the whole disk beneath; the same if it is one */
    char
        device[PATH_MAX]; /* of what the disk hangs on, with a PCI function on its way; may be that of disk */
    char name[STRIA_SURVEY_NODE_BYTES], disk_name[STRIA_SURVEY_NODE_BYTES];
    char controller[STRIA_SURVEY_NODE_BYTES]; /* of an NVMe disk; empty for others */
    bool partition;
};

/* The node of a block device; all empty if /sys knows none. */
void stria_survey_node_at(const char *root, const struct stria_answers_place *place, struct stria_node *node);

/* The node that a kernel's number ("259:0") stands for. */
void stria_survey_node_numbered(const char *root, const char *number, struct stria_node *node);

/* By its kernel name. */
void stria_survey_node_named(const char *root, const char *name, struct stria_node *node);

/* What a disk of this name and place in /sys is. */
enum stria_survey_transport stria_survey_node_transport(const struct stria_node *node);

/* The last part of a path. */
const char *stria_survey_node_base(const char *path);

/* What a backend's name for a drive is the name of: a path without "passthrough:" before it, the block device
 * of an NVMe namespace's character device (/dev/ng0n1), or the path itself. */
void stria_survey_node_plain_path(const char *path, char out[STRIA_SURVEY_PATH_BYTES]);

#endif
