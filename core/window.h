/* The sealed chunks between the durable watermark and the newest, in sequence order.
 *
 * Each is pending until it is settled: durable on a drive, or durably known to be lost. The watermark
 * is the stream offset at which the contiguous settled prefix ends. */
#ifndef STRIA_CORE_WINDOW_H
#define STRIA_CORE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct stria_window {
    uint64_t *ends; /* by sequence modulo capacity: end in the stream << 1 | settled; the caller's memory */
    uint64_t capacity;        /* a power of two */
    uint64_t first;           /* the oldest sequence that is not settled */
    uint64_t next;            /* the sequence that the next chunk gets */
    uint64_t watermark_bytes; /* stream offset below which everything is settled */
};

void stria_window_init(struct stria_window *window, uint64_t *ends, uint64_t capacity);

/* True when no further chunk can be sealed until an older one is settled. */
bool stria_window_full(const struct stria_window *window);

/* Seals the next chunk, which ends at stream offset end_bytes (below 2^63), and returns its sequence. */
uint64_t stria_window_seal(struct stria_window *window, uint64_t end_bytes);

/* Settles a sealed sequence (twice does no harm). True if the watermark moved. */
bool stria_window_settle(struct stria_window *window, uint64_t sequence);

#endif
