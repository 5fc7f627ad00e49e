/* The indices of a queue from one thread to one other; the entries are an array of STRIA_DEPTH_MAX that
 * lies beside it. The giver fills entry stria_handover_free() and gives it; the taker looks at entry
 * stria_handover_next() and takes it. */
#ifndef STRIA_BACKENDS_HANDOVER_H
#define STRIA_BACKENDS_HANDOVER_H

#include "core/limits.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

_Static_assert((STRIA_DEPTH_MAX & (STRIA_DEPTH_MAX - 1)) == 0, "indices wrap around with uint32_t");

struct stria_handover {
    _Atomic uint32_t taken; /* how many, ever; written by the taker only */
    _Atomic uint32_t given; /* how many, ever; written by the giver only */
};

/* Entries that wait to be taken. For either side; the other may be changing it. */
static inline uint32_t stria_handover_count(struct stria_handover *handover)
{
    return atomic_load(&handover->given) - atomic_load(&handover->taken);
}

/* Giver: the entry to fill next. There must be one: count < STRIA_DEPTH_MAX. */
static inline uint32_t stria_handover_free(struct stria_handover *handover)
{
    return atomic_load_explicit(&handover->given, memory_order_relaxed) % STRIA_DEPTH_MAX;
}

static inline void stria_handover_give(struct stria_handover *handover)
{
    atomic_store(&handover->given, atomic_load_explicit(&handover->given, memory_order_relaxed) + 1);
}

/* Taker: the oldest entry. There must be one: count > 0. */
static inline uint32_t stria_handover_next(struct stria_handover *handover)
{
    return atomic_load_explicit(&handover->taken, memory_order_relaxed) % STRIA_DEPTH_MAX;
}

static inline void stria_handover_take(struct stria_handover *handover)
{
    atomic_store(&handover->taken, atomic_load_explicit(&handover->taken, memory_order_relaxed) + 1);
}

#endif
