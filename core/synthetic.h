/* A sensor made up: a stream that cannot be compressed and describes itself, so that any 4 KiB of it that
 * lie on a multiple of 4 KiB can be checked with nothing else known.
 *
 * Each block begins with a header of 32 bytes, little-endian: the text "STRIASYN", the block's number, its
 * offset in the stream, the stream's seed. Behind it come pseudo-random numbers that follow from seed and
 * number alone. */
#ifndef STRIA_CORE_SYNTHETIC_H
#define STRIA_CORE_SYNTHETIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_SYNTHETIC_BLOCK_BYTES 4096u

/* Fills buffer (aligned to 8) with the stream of this seed from stream_offset on. stream_offset is a multiple
 * of the block size; bytes may end within a block. */
void stria_synthetic_fill(void *buffer, size_t bytes, uint64_t stream_offset, uint64_t seed);

/* What the header of one whole block says of itself, right or wrong; false if it is no header of such a
 * stream. */
bool stria_synthetic_identify(const void *block, uint64_t *number, uint64_t *seed);

enum stria_synthetic_verdict {
    STRIA_SYNTHETIC_OK,
    STRIA_SYNTHETIC_ALIEN,     /* no block of any synthetic stream */
    STRIA_SYNTHETIC_MISPLACED, /* a good header, but of another place in the stream */
    STRIA_SYNTHETIC_MIXED,     /* of another seed than the block before it */
    STRIA_SYNTHETIC_DAMAGED    /* the right header, but other bytes behind it */
};

/* Checks what lies at stream_offset, a multiple of the block size. *first_bad is the offset in buffer of the
 * first byte that is wrong (of the block's start if its header is). */
enum stria_synthetic_verdict stria_synthetic_check(const void *buffer, size_t bytes, uint64_t stream_offset,
                                                   size_t *first_bad);

#endif
