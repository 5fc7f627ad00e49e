#include "core/assert.h"
#include "nvme/controller_internal.h"
#include "nvme/registers.h"

#include <string.h>

#define ADMIN_ENTRIES 16u

const char *stria_nvme_trouble_text(enum stria_nvme_trouble trouble)
{
    switch (trouble) {
    case STRIA_NVME_WELL:
        return "is well";
    case STRIA_NVME_GONE:
        return "is gone: its registers read as all ones";
    case STRIA_NVME_NEVER_READY:
        return "does not start or stop within the time that it claims to need";
    case STRIA_NVME_SILENT:
        return "leaves commands unanswered, also after resets";
    case STRIA_NVME_FATAL:
        return "reports a fatal error, also after resets";
    case STRIA_NVME_ADMIN_REFUSED:
        return "refuses a command without which it cannot be used";
    case STRIA_NVME_PAGES:
        return "needs memory pages of more than 64 KiB, or has no NVM commands";
    case STRIA_NVME_NO_NAMESPACE:
        return "has no such namespace";
    case STRIA_NVME_BLOCKS:
        return "has blocks of another size than 512 to 4096 bytes, or with metadata";
    case STRIA_NVME_OTHER_DRIVE:
        return "is another drive since it was reset";
    case STRIA_NVME_MEMORY:
        return "cannot reach the memory for its queues";
    }
    return "has an unknown trouble";
}

static uint32_t pages_of(uint64_t bytes, uint32_t page_bytes)
{
    return (uint32_t)((bytes + page_bytes - 1) / page_bytes);
}

static uint32_t sq_pages(uint32_t entries, uint32_t page_bytes)
{
    return pages_of((uint64_t)entries * sizeof(struct stria_nvme_command), page_bytes);
}

static uint32_t cq_pages(uint32_t entries, uint32_t page_bytes)
{
    return pages_of((uint64_t)entries * sizeof(struct stria_nvme_completion), page_bytes);
}

static uint64_t dma_bytes(uint32_t page_bytes, uint32_t depth)
{
    return (3ull + sq_pages(depth + 1, page_bytes) + cq_pages(depth + 1, page_bytes) + depth) * page_bytes;
}

static int check_cap(uint64_t cap, enum stria_nvme_trouble *trouble)
{
    *trouble = STRIA_NVME_WELL;
    if ((uint32_t)cap == STRIA_NVME_ALL_ONES) {
        *trouble = STRIA_NVME_GONE;
        return STRIA_ERR_GONE;
    }
    if (1u << stria_nvme_cap_page_shift(cap) > STRIA_NVME_PAGE_BYTES_MAX ||
        !stria_nvme_cap_has_nvm_commands(cap) || stria_nvme_cap_entries_max(cap) < 2) {
        *trouble = STRIA_NVME_PAGES;
        return STRIA_ERR_UNSUPPORTED;
    }
    return STRIA_OK;
}

int stria_nvme_dma_bytes(const struct stria_nvme_platform *platform, uint32_t depth, uint64_t *bytes,
                         uint32_t *align_bytes)
{
    enum stria_nvme_trouble trouble;
    const uint64_t cap = stria_nvme_read64(platform, STRIA_NVME_CAP);
    int code = check_cap(cap, &trouble);
    if (code < 0)
        return code;
    *align_bytes = 1u << stria_nvme_cap_page_shift(cap);
    *bytes = dma_bytes(*align_bytes, depth);
    return STRIA_OK;
}

/* Takes pages from the front of config.dma; null where the bus has a seam in them. */
static void *take_pages(struct stria_nvme_controller *controller, uint64_t *used, uint32_t pages)
{
    char *memory = (char *)controller->config.dma + *used;
    const uint64_t bytes = (uint64_t)pages * controller->page_bytes;
    uint64_t address, run_bytes;
    *used += bytes;
    if (controller->platform->bus_address(controller->platform->context, memory, &address, &run_bytes) < 0 ||
        run_bytes < bytes || address % controller->page_bytes != 0)
        return NULL;
    return memory;
}

static bool lay_out_queue(struct stria_nvme_controller *controller, struct stria_nvme_queue *queue,
                          uint32_t number, uint32_t entries, uint64_t *used)
{
    *queue = (struct stria_nvme_queue){
        .platform = controller->platform,
        .entries = entries,
        .sq_doorbell = stria_nvme_doorbell_sq(controller->cap, number),
        .cq_doorbell = stria_nvme_doorbell_cq(controller->cap, number),
    };
    queue->commands = take_pages(controller, used, sq_pages(entries, controller->page_bytes));
    queue->completions = take_pages(controller, used, cq_pages(entries, controller->page_bytes));
    return queue->commands && queue->completions;
}

static bool lay_out(struct stria_nvme_controller *controller)
{
    const struct stria_nvme_config *config = &controller->config;
    const uint32_t entries_max = stria_nvme_cap_entries_max(controller->cap);
    uint64_t used = 0;
    controller->depth = config->depth < entries_max ? config->depth : entries_max - 1;
    if (!config->dma || config->dma_bytes < dma_bytes(controller->page_bytes, controller->depth))
        return false;
    const uint32_t admin_entries = entries_max < ADMIN_ENTRIES ? entries_max : ADMIN_ENTRIES;
    if (!lay_out_queue(controller, &controller->admin, 0, admin_entries, &used) ||
        !lay_out_queue(controller, &controller->io, 1, controller->depth + 1, &used))
        return false;
    controller->page = take_pages(controller, &used, 1);
    if (!controller->page)
        return false;
    uint64_t run_bytes;
    for (uint32_t i = 0; i < controller->depth; i++) {
        controller->slots[i].list = take_pages(controller, &used, 1);
        if (!controller->slots[i].list)
            return false;
        controller->free[controller->free_count++] = (uint8_t)(controller->depth - 1 - i);
    }
    return controller->platform->bus_address(controller->platform->context, controller->page,
                                             &controller->page_address, &run_bytes) == STRIA_OK;
}

void stria_nvme_controller_start(struct stria_nvme_controller *controller,
                                 const struct stria_nvme_platform *platform,
                                 const struct stria_nvme_config *config)
{
    STRIA_ASSERT(config->depth >= 1 && config->depth <= STRIA_NVME_DEPTH_MAX);
    STRIA_ASSERT(!platform->cache_clean == !platform->cache_invalidate);
    memset(controller, 0, sizeof(*controller));
    controller->platform = platform;
    controller->config = *config;
    controller->abort_slot = STRIA_NVME_DEPTH_MAX;
    if (controller->config.command_ns == 0)
        controller->config.command_ns = STRIA_NVME_COMMAND_NS;
    if (controller->config.stop_ns == 0)
        controller->config.stop_ns = STRIA_NVME_STOP_NS;
    controller->cap = stria_nvme_read64(platform, STRIA_NVME_CAP);
    enum stria_nvme_trouble trouble;
    int code = check_cap(controller->cap, &trouble);
    if (code < 0) {
        stria_nvme_fail(controller, trouble, code);
        return;
    }
    controller->page_bytes = 1u << stria_nvme_cap_page_shift(controller->cap);
    if (lay_out(controller))
        stria_nvme_disable(controller);
    else
        stria_nvme_fail(controller, STRIA_NVME_MEMORY, STRIA_ERR_INVALID);
}
