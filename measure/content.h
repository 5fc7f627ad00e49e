/* What a bench writes: bytes that cannot be compressed and are nowhere the same, made cheaply for speed; or
 * the synthetic stream, which describes itself, to be compared when it is read back. */
#ifndef STRIA_MEASURE_CONTENT_H
#define STRIA_MEASURE_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stria_content {
    bool known;    /* the synthetic stream of this seed; false: noise that is only marked anew each time */
    uint64_t seed; /* of the stream, or of the noise */
};

/* Blocks of STRIA_SYNTHETIC_BLOCK_BYTES that were compared, by what was found. */
struct stria_content_counts {
    uint64_t ok;
    uint64_t corrupt;   /* neither what was written nor anything below */
    uint64_t missing;   /* all zeroes: never written */
    uint64_t misplaced; /* a block of the stream that belongs to another place */
    uint64_t stale;     /* this place's block as an earlier write left it */
};

/* Noise for memory that will be written from; once, before the clock runs. */
void stria_content_prepare(const struct stria_content *content, void *memory, size_t bytes);

/* Makes prepared memory what is to be written at this offset. For a known stream offset and bytes are
 * multiples of its block size; turn, which is to be another each time, makes noise differ from all before. */
void stria_content_make(const struct stria_content *content, void *data, size_t bytes, uint64_t offset,
                        uint64_t turn);

/* Compares what was read with the stream of this seed and adds what it finds. Whole blocks. */
void stria_content_compare(const void *data, size_t bytes, uint64_t offset, uint64_t seed,
                           struct stria_content_counts *counts);

/* Adds counts up. */
void stria_content_counts_add(struct stria_content_counts *into, const struct stria_content_counts *from);

/* How fast one thread makes it in memory as large as what it will be written from; measured for some tens of
 * milliseconds. */
uint64_t stria_content_bytes_per_s(const struct stria_content *content, void *memory, size_t bytes,
                                   size_t block_bytes);

#endif
