/* Making an array: what init writes to its drives, and in which order (docs/format.md, "Order of writes").
 * Pure; the caller draws identities, tells the time, and carries the requests out. */
#ifndef STRIA_CORE_CREATION_H
#define STRIA_CORE_CREATION_H

#include "core/catalogue.h"
#include "core/superblock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_CREATION_BLANK_BYTES                                                                           \
    ((uint64_t)4 << 20) /* a drive is blanked in pieces of at most this size                                 \
                         */

/* What all drives of the new array have in common. */
struct stria_creation_config {
    uint32_t drive_count;
    uint32_t chunk_bytes;
    uint32_t block_bytes; /* largest logical block among the drives */
    uint32_t policy;      /* enum stria_policy */
    uint64_t wall_ns;     /* calendar time (Unix, UTC) */
    char name[STRIA_NAME_BYTES];
    uint8_t array_uuid[STRIA_UUID_BYTES];
};

/* Lays out drive number index, of drive_bytes, under this name and identity. Codes as stria_geometry_plan().
 */
int stria_creation_plan(struct stria_superblock *super, const struct stria_creation_config *config,
                        uint32_t index, uint64_t drive_bytes, const char drive_name[STRIA_NAME_BYTES],
                        const uint8_t drive_uuid[STRIA_UUID_BYTES]);

/* Size of the new catalogue's image: the smallest half among these drives. */
size_t stria_creation_log_bytes(const struct stria_superblock *supers, uint32_t drive_count);

/* What one drive is to do in a step. */
enum stria_creation_op {
    STRIA_CREATION_NOTHING,
    STRIA_CREATION_BLANK,      /* write zeroes; length_bytes up to STRIA_CREATION_BLANK_BYTES */
    STRIA_CREATION_LOG,        /* write the image that stria_catalogue_format() made */
    STRIA_CREATION_SUPERBLOCK, /* write the drive's encoded superblock */
    STRIA_CREATION_FLUSH
};

struct stria_creation_request {
    enum stria_creation_op op;
    uint64_t offset;       /* on the drive */
    uint64_t length_bytes; /* a multiple of the block size; zero for a flush */
};

/* Where the work stands. Begin with all zero. */
struct stria_creation {
    uint32_t stage;
    uint64_t blanked_bytes;
};

/* The next step: one request for each drive, all of which must have ended well before the step behind it is
 * asked for. False when the array is made. */
bool stria_creation_next(struct stria_creation *creation, const struct stria_superblock *supers,
                         uint32_t drive_count, struct stria_creation_request requests[STRIA_DRIVES_MAX]);

#endif
