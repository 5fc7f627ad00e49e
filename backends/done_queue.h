/* Completions that wait to be polled, in order. For backends and wrappers that finish requests
 * themselves. One thread. */
#ifndef STRIA_BACKENDS_DONE_QUEUE_H
#define STRIA_BACKENDS_DONE_QUEUE_H

#include "backends/backend.h"

struct stria_done_queue {
    uint32_t first; /* index of the oldest */
    uint32_t count;
    struct stria_done entries[STRIA_DEPTH_MAX];
};

/* False, and nothing changed, when all STRIA_DEPTH_MAX places are taken. */
bool stria_done_queue_put(struct stria_done_queue *queue, const struct stria_done *done);

/* Moves the oldest into done[0..max); returns how many. */
unsigned stria_done_queue_take(struct stria_done_queue *queue, struct stria_done *done, unsigned max);

#endif
