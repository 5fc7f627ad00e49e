#include "nvme/queue.h"

#include "core/assert.h"
#include "nvme/registers.h"

#include <string.h>

static void clean(const struct stria_nvme_platform *platform, const void *memory, uint64_t bytes)
{
    if (platform->cache_clean)
        platform->cache_clean(platform->context, memory, bytes);
}

void stria_nvme_queue_reset(struct stria_nvme_queue *queue)
{
    STRIA_ASSERT(queue->entries >= 2);
    queue->sq_tail = 0;
    queue->sq_rung = 0;
    queue->sq_head = 0;
    queue->cq_head = 0;
    queue->phase = STRIA_NVME_PHASE;
    /* A phase bit left over from an earlier use would be taken for a completion. */
    memset(queue->commands, 0, queue->entries * sizeof(*queue->commands));
    memset(queue->completions, 0, queue->entries * sizeof(*queue->completions));
    clean(queue->platform, queue->commands, queue->entries * sizeof(*queue->commands));
    clean(queue->platform, queue->completions, queue->entries * sizeof(*queue->completions));
    queue->platform->write_barrier(queue->platform->context);
}

uint32_t stria_nvme_queue_room(const struct stria_nvme_queue *queue)
{
    return (queue->sq_head + queue->entries - queue->sq_tail - 1) % queue->entries;
}

void stria_nvme_queue_put(struct stria_nvme_queue *queue, const struct stria_nvme_command *command)
{
    STRIA_ASSERT(stria_nvme_queue_room(queue) > 0);
    struct stria_nvme_command *entry = &queue->commands[queue->sq_tail];
    *entry = *command;
    clean(queue->platform, entry, sizeof(*entry));
    queue->sq_tail = (queue->sq_tail + 1) % queue->entries;
}

void stria_nvme_queue_ring(struct stria_nvme_queue *queue)
{
    if (queue->sq_rung == queue->sq_tail)
        return;
    queue->platform->write_barrier(queue->platform->context);
    stria_nvme_write32(queue->platform, queue->sq_doorbell, queue->sq_tail);
    queue->sq_rung = queue->sq_tail;
}

bool stria_nvme_queue_take(struct stria_nvme_queue *queue, struct stria_nvme_completion *completion)
{
    const struct stria_nvme_platform *platform = queue->platform;
    struct stria_nvme_completion *entry = &queue->completions[queue->cq_head];
    if (platform->cache_invalidate)
        platform->cache_invalidate(platform->context, entry, sizeof(*entry));
    const volatile struct stria_nvme_completion *shared = entry;
    completion->id_and_status = shared->id_and_status;
    if ((completion->id_and_status & STRIA_NVME_PHASE) != queue->phase)
        return false;
    /* The rest of the entry, and what was read, are there only once the phase has turned. */
    platform->read_barrier(platform->context);
    completion->result = shared->result;
    completion->dword1 = shared->dword1;
    completion->sq = shared->sq;
    if (++queue->cq_head == queue->entries) {
        queue->cq_head = 0;
        queue->phase ^= STRIA_NVME_PHASE;
    }
    const uint32_t head = completion->sq & 0xffff;
    if (head < queue->entries)
        queue->sq_head = head;
    return true;
}

void stria_nvme_queue_return(struct stria_nvme_queue *queue)
{
    stria_nvme_write32(queue->platform, queue->cq_doorbell, queue->cq_head);
}
