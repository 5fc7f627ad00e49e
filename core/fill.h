/* How full a modelled drive is, and where. The drive is cut into equal segments; each counts the bytes in it
 * that hold data. Exact for data written once in any order. Writing a place again that lies in a segment
 * which is not full counts as new, and a trim that covers part of a segment takes the data from it first:
 * either way the count is off by at most one segment for each such place. */
#ifndef STRIA_CORE_FILL_H
#define STRIA_CORE_FILL_H

#include <stdint.h>

#define STRIA_FILL_SEGMENTS 1024u

struct stria_fill {
    uint64_t used_bytes; /* sum over the segments */
    uint64_t segment_used_bytes[STRIA_FILL_SEGMENTS];
};

/* The size of every segment but the last, which may be smaller or have nothing. capacity_bytes > 0. */
uint64_t stria_fill_segment_bytes(uint64_t capacity_bytes);

/* Notes that a range holds data. Returns how many bytes of it did not before. What lies past
 * capacity_bytes is left out. */
uint64_t stria_fill_write(struct stria_fill *fill, uint64_t capacity_bytes, uint64_t offset, uint64_t bytes);

/* Notes that a range holds data no more. Returns how many bytes of it did before. */
uint64_t stria_fill_trim(struct stria_fill *fill, uint64_t capacity_bytes, uint64_t offset, uint64_t bytes);

#endif
