/* The array.ini of one array, read and checked. */
#ifndef STRIA_CONFIG_ARRAY_H
#define STRIA_CONFIG_ARRAY_H

#include "core/code.h"
#include "core/limits.h"
#include "core/policy.h"
#include "support/path.h"
#include "support/problems.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_CONFIG_PATH_BYTES  4096u /* with the terminating zero */
#define STRIA_CONFIG_FAULT_BYTES 1024u

/* One [drive.NAME] section. */
struct stria_drive_config {
    char name[STRIA_NAME_BYTES];
    /* A device, a file, or what a backend claims by a prefix ("memory:1GiB"), never "passthrough:". A
     * relative path of a file has been put behind the folder of array.ini. */
    char path[STRIA_CONFIG_PATH_BYTES];
    bool passthrough;    /* reach an NVMe drive by commands of its own, past the kernel's block layer */
    uint64_t size_bytes; /* of a file that init creates; zero: not given */
    /* The drive model to imitate: a profile's name, or the path of one, which ends in .ini and starts where
     * path does; empty: none, a real drive. */
    char profile[STRIA_CONFIG_PATH_BYTES];
    double capacity_scale;                /* of the profile's sizes; more than 0, at most 1 */
    double rate_scale;                    /* of the profile's rates; more than 0, at most 100 */
    char fault[STRIA_CONFIG_FAULT_BYTES]; /* for testing: faults to inject; empty: none */
    uint64_t fault_seed;                  /* for testing: of random faults */
    unsigned line;                        /* of its section in array.ini, for messages */
};

/* Takes a path that asks for passthrough for what it means: "passthrough:PATH" is PATH, reached by
 * passthrough, and so is the drive /dev/nvme0n1 where the path is that of its character device, /dev/ng0n1.
 * So whatever guards a file or a block device guards it too. */
void stria_drive_config_plain(struct stria_drive_config *drive);

struct stria_array_config {
    char file[STRIA_CONFIG_PATH_BYTES]; /* as named by the caller, for messages */
    char name[STRIA_NAME_BYTES];
    bool name_initial; /* the text has no name: it does not say that it means no other array */
    enum stria_policy policy;
    uint32_t chunk_bytes;  /* a power of two, STRIA_CHUNK_BYTES_MIN to STRIA_CHUNK_BYTES_MAX */
    bool chunk_initial;    /* the text has no chunk: an array that exists has what it has */
    uint64_t buffer_bytes; /* memory ring: STRIA_SLOTS_MIN to STRIA_SLOTS_MAX chunks, rounded down to whole
                              chunks */
    uint64_t commit_interval_ns; /* 1 ms to 60 s */
    uint64_t write_deadline_ns;  /* while recording; 100 ms to 10 min */
    uint64_t read_deadline_ns;   /* at all other times; 100 ms to 10 min */
    bool discard;                /* trim the free extents before a recording */
    uint32_t depth;              /* requests in flight on each drive, 1 to STRIA_DEPTH_MAX */
    uint32_t drive_count;        /* 1 to STRIA_DRIVES_MAX */
    struct stria_drive_config drives[STRIA_DRIVES_MAX]; /* in the order of the file */
};

/* A text longer than this is no array.ini. */
#define STRIA_CONFIG_FILE_BYTES_MAX (1u << 20)

/* Reads and checks the file at path. Every problem is added as a sentence that begins with file:line and
 * says what is allowed; the file and the drives are only looked at, never changed. STRIA_OK, or the code of
 * the first kind of failure (STRIA_ERR_INVALID for what is written in it); *config is then undefined. The
 * struct is large: allocate it. */
int stria_array_config_read(const char *path, struct stria_array_config *config,
                            struct stria_problems *problems);

/* The same for a text in memory that goes by the name of path. */
int stria_array_config_parse(const char *path, const char *text, size_t bytes,
                             struct stria_array_config *config, struct stria_problems *problems);

#endif
