/* A small sound array of two drives, and what is true of it: made through core alone, the same in every run.
 *
 * Recordings: "first" under raid0 with a short tail; "removed", whose extents were partly used again; "gaps"
 * with a gap, a chunk known to be lost, one written twice and one whose extent is not there; "cut", which has
 * no end. The catalogue was compacted before "cut" began. */
#ifndef STRIA_TESTS_FUZZ_IMAGE_MAKE_H
#define STRIA_TESTS_FUZZ_IMAGE_MAKE_H

#include "core/geometry.h"
#include "core/ledger.h"
#include "core/superblock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_DRIVES      2u
#define IMAGE_CHUNK       STRIA_CHUNK_BYTES_MIN
#define IMAGE_DRIVE_BYTES ((uint64_t)1216 << 10)
#define IMAGE_CHUNKS_MAX  32u

/* One chunk that was stored. */
struct image_chunk {
    uint64_t recording, sequence, stream_offset;
    uint32_t length_bytes;
    uint32_t drive;
    uint64_t position;
    bool whole; /* of a recording that ended, so that it must be found as long as its drive is whole */
    const uint8_t *payload;
};

struct image {
    uint8_t *drives[IMAGE_DRIVES]; /* IMAGE_DRIVE_BYTES each */
    uint8_t *stale[IMAGE_DRIVES];  /* as they were before "removed" was removed */
    struct stria_superblock supers[IMAGE_DRIVES];
    struct image_chunk chunks[IMAGE_CHUNKS_MAX];
    unsigned chunk_count;
    uint64_t epoch; /* of the catalogue */
};

/* Makes it, once. */
const struct image *image_made(void);

#endif
