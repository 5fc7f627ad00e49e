/* One drive as it is now: what it is, how it is attached, in which condition, and who uses it.
 *
 * Everything is read through root: "" for this machine, or a folder with a recorded tree: copies of /sys and
 * /proc, and, in nvme/, files/ and superblock/, what the kernel would answer to calls (survey/answers.h).
 * Nothing is changed, and no data of the drive are read but the superblock of an array. Without root's rights
 * some figures of NVMe drives stay unknown. */
#ifndef STRIA_SURVEY_DRIVE_H
#define STRIA_SURVEY_DRIVE_H

#include "core/superblock.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_SURVEY_PATH_BYTES  4096u
#define STRIA_SURVEY_TEXT_BYTES  128u
#define STRIA_SURVEY_NODE_BYTES  64u
#define STRIA_SURVEY_FORMATS_MAX 64u
#define STRIA_SURVEY_USERS_MAX   32u
#define STRIA_SURVEY_BRIDGES_MAX 12u

/* A figure that may be unknown; its value is then 0. Counters that do not fit are as large as can be. */
struct stria_survey_figure {
    bool known;
    int64_t value;
};

enum stria_survey_transport {
    STRIA_SURVEY_UNKNOWN,
    STRIA_SURVEY_NVME,
    STRIA_SURVEY_SATA,
    STRIA_SURVEY_SCSI, /* SAS, USB and what else calls itself sd */
    STRIA_SURVEY_VIRTIO,
    STRIA_SURVEY_LOOP,
    STRIA_SURVEY_LAYERED, /* built upon others: md, dm */
    STRIA_SURVEY_MEMORY,  /* ram, zram */
    STRIA_SURVEY_FILE,
    STRIA_SURVEY_STAND_IN /* what a backend makes ("memory:1GiB"): there is nothing to survey */
};

/* One PCI link, or the chain of SATA. Rates are those of the wire: no drive is faster than bytes_per_s. */
struct stria_survey_link {
    struct stria_survey_figure mts, width;                 /* now: million transfers a second, and lanes */
    struct stria_survey_figure capable_mts, capable_width; /* the most that this end is built for */
    struct stria_survey_figure bytes_per_s;                /* now, after line coding */
    struct stria_survey_figure capable_bytes_per_s;
};

/* A PCI function between the drive and the processor. */
struct stria_survey_bridge {
    char address[STRIA_SURVEY_NODE_BYTES]; /* such as "0000:00:01.0" */
    struct stria_survey_link link;         /* the one that the drive's bytes take and it is at an end of */
};

struct stria_survey_format {
    uint32_t lba_bytes;
    uint32_t metadata_bytes; /* a format with any is of no use to us */
    uint8_t rank;            /* the drive's own word: 0 best, 1 better, 2 good, 3 degraded */
};

enum stria_survey_use {
    STRIA_SURVEY_MOUNT,  /* what: where */
    STRIA_SURVEY_SWAP,   /* what: the device or file */
    STRIA_SURVEY_HOLDER, /* what: the device built upon it */
    STRIA_SURVEY_ARRAY   /* what: the array by our superblock, "rig (drive left, 1 of 4)" */
};

struct stria_survey_user {
    enum stria_survey_use use;
    char what[256];                     /* cut if longer */
    char part[STRIA_SURVEY_NODE_BYTES]; /* the partition that it is about; empty: the whole */
};

/* What the drive itself tells of its heat; throttle_count grows whenever it has slowed itself down. */
struct stria_survey_sample {
    struct stria_survey_figure temperature_c;
    struct stria_survey_figure critical_warning; /* bits, as in the SMART log of NVMe */
    struct stria_survey_figure warning_minutes;  /* ever spent above the warning temperature */
    struct stria_survey_figure critical_minutes; /* ever spent above the critical temperature */
    struct stria_survey_figure throttle_count;   /* transitions into light and heavy throttling, ever */
    struct stria_survey_figure throttle_s;       /* time spent in them, ever */
};

/* A file system under a file drive. */
struct stria_survey_file_system {
    char type[64];                                /* such as "ext4"; empty: unknown, or not a file */
    char place[STRIA_SURVEY_TEXT_BYTES];          /* where it is mounted, cut if longer */
    struct stria_survey_figure bytes, free_bytes; /* free: to users other than root */
};

/* A large struct: allocate it. */
struct stria_survey_drive {
    char path[STRIA_SURVEY_PATH_BYTES];     /* as given */
    char resolved[STRIA_SURVEY_PATH_BYTES]; /* without symbolic links; empty: there is nothing */
    enum stria_survey_transport transport;
    bool exists;                        /* false: a file that is not made yet */
    char node[STRIA_SURVEY_NODE_BYTES]; /* kernel name of the device ("nvme0n1p2"); of a file: what its
                                           file system is on; empty: unknown */
    char disk[STRIA_SURVEY_NODE_BYTES]; /* the whole disk of node ("nvme0n1"); empty: unknown. For a file,
                                           all that follows down to discard is about this disk */
    char controller[STRIA_SURVEY_NODE_BYTES]; /* of an NVMe disk ("nvme0"), else empty */
    char backing[STRIA_SURVEY_TEXT_BYTES];    /* the file or device of a loop device, cut if longer */

    char model[STRIA_SURVEY_TEXT_BYTES]; /* texts are empty where unknown */
    char serial[STRIA_SURVEY_TEXT_BYTES];
    char firmware[STRIA_SURVEY_TEXT_BYTES];
    struct stria_survey_figure size_bytes; /* of what path names: disk, partition or file */

    struct stria_survey_figure lba_bytes; /* logical block size in use */
    uint32_t format_count;                /* 0: unknown */
    uint32_t format_used;                 /* index into formats */
    struct stria_survey_format formats[STRIA_SURVEY_FORMATS_MAX];

    struct stria_survey_link link;
    uint32_t bridge_count;                                        /* 0: not a PCI device, or unknown */
    struct stria_survey_bridge bridges[STRIA_SURVEY_BRIDGES_MAX]; /* from the processor to the drive itself */
    struct stria_survey_figure numa_node;                         /* unknown also where there is but one */
    char local_cpus[STRIA_SURVEY_TEXT_BYTES];                     /* such as "0-7,16-23" */

    struct stria_survey_sample now;
    struct stria_survey_figure warning_c, critical_c; /* thresholds of the temperature */
    struct stria_survey_figure percentage_used;       /* of the rated endurance; may pass 100 */
    struct stria_survey_figure spare_percent, spare_threshold_percent;
    struct stria_survey_figure media_errors;
    struct stria_survey_figure power_on_hours;
    struct stria_survey_figure written_bytes; /* by hosts, over its life */

    struct stria_survey_figure volatile_cache; /* 1: there is one and it is on; 0: there is none, or off */
    struct stria_survey_figure volatile_cache_present; /* 1 or 0 */
    struct stria_survey_figure read_only;              /* 1 or 0 */
    struct stria_survey_figure rotational;
    char scheduler[STRIA_SURVEY_NODE_BYTES]; /* the one in use */
    struct stria_survey_figure nr_requests;
    struct stria_survey_figure physical_bytes; /* physical block size */
    struct stria_survey_figure optimal_bytes;  /* optimal transfer; 0: the drive has no opinion */
    struct stria_survey_figure discard;        /* 1: TRIM can be sent */

    struct stria_survey_figure partition_offset_bytes; /* unknown for a whole disk and for a file */

    struct stria_survey_file_system file_system;
    struct stria_survey_figure allocated_bytes; /* of a file; less than size_bytes: it is sparse */

    uint32_t user_count;
    uint32_t users_more; /* those that found no room */
    struct stria_survey_user users[STRIA_SURVEY_USERS_MAX];
    bool member; /* super is valid: this drive belongs to an array */
    struct stria_superblock super;
};

/* Surveys the block device, partition or file at path. What cannot be found out is flagged as unknown, and is
 * no failure. STRIA_ERR_NOT_FOUND when neither it nor, for a file, its folder is there, STRIA_ERR_INVALID for
 * what cannot be a drive; the sentence then tells. A path that a backend claims by a prefix is
 * STRIA_SURVEY_STAND_IN; one for NVMe passthrough ("passthrough:/dev/nvme0n1", "/dev/ng0n1") is that of its
 * block device. */
int stria_survey_read(const char *root, const char *path, struct stria_survey_drive *drive,
                      struct stria_trouble *trouble);

/* Reads the heat of a surveyed drive again: one small request to it, cheap enough for once a second. All
 * unknown when it tells nothing, or is gone. Any thread. */
void stria_survey_sample(const char *root, const struct stria_survey_drive *drive,
                         struct stria_survey_sample *sample);

/* Calls visit for the path ("/dev/nvme0n1") of each disk that could be a drive: those of no size and those in
 * memory left out. Until it returns false. */
void stria_survey_each(const char *root, bool (*visit)(const char *path, void *user), void *user);

/* The best format without metadata among those offered: the largest of 4096 bytes and more, or the one in
 * use. Null when formats are unknown. */
const struct stria_survey_format *stria_survey_best_format(const struct stria_survey_drive *drive);

/* "nvme", "sata" and so on. */
const char *stria_survey_transport_text(enum stria_survey_transport transport);

/* "mount", "swap", "holder", "array". */
const char *stria_survey_use_text(enum stria_survey_use use);

#endif
