/* The memory ring: the slots' bytes, in memory that is there before recording starts. */
#ifndef STRIA_ENGINE_RING_H
#define STRIA_ENGINE_RING_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stria_ring {
    uint8_t *base;
    size_t bytes;
    bool huge;   /* on explicit huge pages */
    bool locked; /* cannot be paged out; false where it is the caller's, who knows */
    bool owned;  /* ours to unmap; false: the caller's memory */
};

/* Gets memory of at least this size: huge pages where there are some, else ordinary ones; each page touched;
 * locked where RLIMIT_MEMLOCK allows. STRIA_ERR_NO_MEMORY with a sentence that names the size. */
int stria_ring_create(struct stria_ring *ring, size_t bytes, struct stria_trouble *trouble);

/* Uses the caller's memory, touching each page. It is neither locked nor unlocked: locks do not nest, so
 * undoing ours would undo the caller's. */
void stria_ring_adopt(struct stria_ring *ring, void *memory, size_t bytes);

void stria_ring_destroy(struct stria_ring *ring);

#endif
