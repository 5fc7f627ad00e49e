#include "backends/done_queue.h"

bool stria_done_queue_put(struct stria_done_queue *queue, const struct stria_done *done)
{
    if (queue->count == STRIA_DEPTH_MAX)
        return false;
    queue->entries[(queue->first + queue->count) % STRIA_DEPTH_MAX] = *done;
    queue->count++;
    return true;
}

unsigned stria_done_queue_take(struct stria_done_queue *queue, struct stria_done *done, unsigned max)
{
    unsigned taken = 0;
    while (taken < max && queue->count) {
        done[taken++] = queue->entries[queue->first];
        queue->first = (queue->first + 1) % STRIA_DEPTH_MAX;
        queue->count--;
    }
    return taken;
}
