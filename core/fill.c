#include "core/fill.h"

#include "core/assert.h"

uint64_t stria_fill_segment_bytes(uint64_t capacity_bytes)
{
    return (capacity_bytes - 1) / STRIA_FILL_SEGMENTS + 1;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Walks the segments that a range touches and moves each one's count by as much as the range and the
 * count allow: up for data written, down for data trimmed. */
static uint64_t move(struct stria_fill *fill, uint64_t capacity_bytes, uint64_t offset, uint64_t bytes,
                     int up)
{
    STRIA_ASSERT(capacity_bytes > 0);
    if (offset >= capacity_bytes)
        return 0;
    const uint64_t segment_bytes = stria_fill_segment_bytes(capacity_bytes);
    const uint64_t end = bytes < capacity_bytes - offset ? offset + bytes : capacity_bytes;
    uint64_t moved_bytes = 0;
    while (offset < end) {
        const uint64_t segment = offset / segment_bytes;
        const uint64_t segment_start = segment * segment_bytes;
        const uint64_t segment_end = segment_start + smaller(segment_bytes, capacity_bytes - segment_start);
        uint64_t *used = &fill->segment_used_bytes[segment];
        const uint64_t piece = smaller(end, segment_end) - offset;
        const uint64_t change = smaller(piece, up ? segment_end - segment_start - *used : *used);
        *used = up ? *used + change : *used - change;
        moved_bytes += change;
        offset += piece;
    }
    return moved_bytes;
}

uint64_t stria_fill_write(struct stria_fill *fill, uint64_t capacity_bytes, uint64_t offset, uint64_t bytes)
{
    const uint64_t added = move(fill, capacity_bytes, offset, bytes, 1);
    fill->used_bytes += added;
    return added;
}

uint64_t stria_fill_trim(struct stria_fill *fill, uint64_t capacity_bytes, uint64_t offset, uint64_t bytes)
{
    const uint64_t freed = move(fill, capacity_bytes, offset, bytes, 0);
    fill->used_bytes -= freed;
    return freed;
}
