/* What the kernel answers to calls rather than in files of /sys and /proc. This is the seam at which a
 * recorded tree stands in for a machine: there, answers are files.
 *
 *     ROOT/nvme/nvme0/id-ctrl.bin       4096 bytes, Identify Controller
 *     ROOT/nvme/nvme0n1/id-ns.bin       4096 bytes, Identify Namespace
 *     ROOT/nvme/nvme0/smart-log.bin     512 bytes, SMART / Health Information
 *     ROOT/nvme/nvme0/volatile-cache    a number, feature 06h
 *     ROOT/superblock/NODE.bin          4096 bytes, the superblock of a member of an array
 *     ROOT/files/PATH.stat              for a file or folder at PATH: what stat and statvfs tell, see below
 *     ROOT/later/                       what had changed in /proc and /sys one second later */
#ifndef STRIA_SURVEY_ANSWERS_H
#define STRIA_SURVEY_ANSWERS_H

#include "core/superblock.h"

#include <libnvme.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Each returns false where there is no answer: no such drive, or no right to ask it. */
bool stria_answers_controller(const char *root, const char *controller, struct nvme_id_ctrl *answer);
bool stria_answers_namespace(const char *root, const char *disk, struct nvme_id_ns *answer);
bool stria_answers_smart(const char *root, const char *controller, struct nvme_smart_log *answer);
bool stria_answers_volatile_cache(const char *root, const char *controller, bool *on);

enum stria_answers_kind {
    STRIA_ANSWERS_NOTHING,
    STRIA_ANSWERS_BLOCK,
    STRIA_ANSWERS_FILE,
    STRIA_ANSWERS_FOLDER,
    STRIA_ANSWERS_OTHER
};

struct stria_answers_place {
    enum stria_answers_kind kind;
    char resolved[PATH_MAX];         /* the path without symbolic links; empty if there is nothing */
    char number[32];                 /* of a block device, "259:0"; empty in a recorded tree */
    uint64_t bytes, allocated_bytes; /* of a file */
};

/* What is at a path. In a recorded tree a block device is a name that /sys/class/block has, /dev/disk may
 * lead to it by symbolic links, and files and folders are recorded as one line of text:
 * "file BYTES ALLOCATED_BYTES" or "folder", and the file system's size and what is free of it,
 * "of BYTES FREE_BYTES". */
void stria_answers_place(const char *root, const char *path, struct stria_answers_place *place);

/* The size of the file system at a path, and what of it is free to users other than root. */
bool stria_answers_free(const char *root, const char *path, uint64_t *bytes, uint64_t *free_bytes);

/* The superblock of an array that lies on a device (its kernel name) or file of so many bytes, of its two
 * copies the one that counts. */
bool stria_answers_superblock(const char *root, const char *path, const char *node, uint64_t bytes,
                              struct stria_superblock *super);

#endif
