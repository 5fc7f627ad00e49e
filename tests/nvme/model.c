#include "tests/nvme/model.h"

#include "nvme/registers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_NS   500u /* of a register */
#define CLOCK_NS  100u
#define PAUSE_NS  500000u
#define FETCH_MAX 4u /* commands fetched at once, so that the queue is seen half full */

struct model_options model_defaults(void)
{
    return (struct model_options){
        .entries_max = 64,
        .ready_units = 20,
        .ready_ns = 3000000,
        .mdts = 5,
        .block_bytes = 512,
        .block_count = 16384,
        .namespace_id = 1,
        .latency_ns = 200000,
        .patience_ns = 1000000000,
        .memory = MODEL_CACHED,
        .seed = 1,
    };
}

uint32_t model_page_bytes(const struct model *model)
{
    return 4096u << model->options.page_min;
}

uint64_t model_draw(struct model *model, uint64_t below)
{
    model->random ^= model->random << 13;
    model->random ^= model->random >> 7;
    model->random ^= model->random << 17;
    return model->random % below;
}

bool model_chance(struct model *model, uint32_t per_mille)
{
    return per_mille > 0 && model_draw(model, 1000) < per_mille;
}

void model_violate(struct model *model, const char *format, ...)
{
    if (model->violation[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->violation, sizeof(model->violation), format, arguments);
    va_end(arguments);
}

static void drop_commands(struct model *model)
{
    model->command_count = 0;
    memset(model->queues, 0, sizeof(model->queues));
}

/* CSTS.RDY follows CC.EN; until it has fallen, the controller may still do what it was told before. */
static void follow_enable(struct model *model)
{
    const bool enabled = model->configuration & STRIA_NVME_CC_EN;
    if (model->now_ns < model->change_ns || enabled == (bool)(model->status & STRIA_NVME_CSTS_RDY))
        return;
    model->status &= ~(STRIA_NVME_CSTS_RDY | STRIA_NVME_CSTS_CFS | STRIA_NVME_CSTS_SHST_MASK);
    drop_commands(model);
    model_show_stores(model);
    if (!enabled)
        return;
    const uint64_t page = model_page_bytes(model);
    const bool sane = model->asq % page == 0 && model->acq % page == 0 &&
                      (model->configuration >> STRIA_NVME_CC_MPS_SHIFT & 0xf) == model->options.page_min &&
                      (model->configuration >> 4 & 7) == 0;
    if (!sane) {
        model_violate(model, "the controller is enabled with a configuration that it cannot have");
        model->status |= STRIA_NVME_CSTS_CFS;
        return;
    }
    model->enables++;
    model->status |= STRIA_NVME_CSTS_RDY;
    model->queues[0] = (struct model_queue){
        .sq_there = true,
        .cq_there = true,
        .sq_address = model->asq,
        .cq_address = model->acq,
        .sq_entries = (model->queue_sizes & 0xfff) + 1,
        .cq_entries = (model->queue_sizes >> 16 & 0xfff) + 1,
        .phase = STRIA_NVME_PHASE,
    };
}

static void draw_faults(struct model *model, struct model_command *command)
{
    const struct model_faults *faults = &model->options.faults;
    command->due_ns = model->now_ns + 1000 + model_draw(model, model->options.latency_ns);
    if (command->queue == 0)
        return;
    command->lost = model_chance(model, faults->lost);
    command->twice = model_chance(model, faults->twice);
    command->stray = model_chance(model, faults->stray);
    command->transient = model_chance(model, faults->transient);
    command->media = model_chance(model, faults->media) && command->entry.opcode != 0;
    if (model_chance(model, faults->late))
        command->due_ns = model->now_ns + model_draw(model, 3 * model->options.patience_ns);
    if (model_chance(model, faults->hung))
        command->due_ns = MODEL_NEVER;
    if (model_chance(model, faults->fatal))
        model->status |= STRIA_NVME_CSTS_CFS;
}

static void fetch(struct model *model, uint32_t number)
{
    struct model_queue *queue = &model->queues[number];
    for (uint32_t i = 0; i < FETCH_MAX && queue->sq_there && queue->sq_head != queue->sq_tail; i++) {
        if (model->command_count == MODEL_COMMANDS_MAX)
            return;
        struct model_command *command = &model->commands[model->command_count];
        *command = (struct model_command){.queue = number};
        if (!model_fetch(model, queue->sq_address + queue->sq_head * sizeof(command->entry), &command->entry,
                         sizeof(command->entry)))
            return;
        queue->sq_head = (queue->sq_head + 1) % queue->sq_entries;
        for (uint32_t other = 0; other < model->command_count; other++)
            if (model->commands[other].queue == number &&
                model->commands[other].entry.id == command->entry.id)
                model_violate(model, "two commands in flight have the id %u", command->entry.id);
        model->command_count++;
        draw_faults(model, command);
    }
}

static bool cq_has_room(const struct model_queue *queue)
{
    return queue->cq_there && (queue->cq_tail + 1) % queue->cq_entries != queue->cq_head;
}

static void post(struct model *model, uint32_t number, uint32_t id, uint32_t status, uint32_t result)
{
    struct model_queue *queue = &model->queues[number];
    const struct stria_nvme_completion entry = {
        .result = result,
        .sq = number << 16 | queue->sq_head,
        .id_and_status = id | queue->phase | status << 17,
    };
    model_store_completion(model, queue->cq_address + queue->cq_tail * sizeof(entry), &entry);
    if (++queue->cq_tail == queue->cq_entries) {
        queue->cq_tail = 0;
        queue->phase ^= STRIA_NVME_PHASE;
    }
}

static void complete(struct model *model, const struct model_command *command)
{
    const uint32_t id = command->entry.id;
    if (command->stray && cq_has_room(&model->queues[command->queue]))
        post(model, command->queue, (id ^ 0x5a00) & 0xffff, STRIA_NVME_SUCCESS, 0);
    if (!command->lost)
        post(model, command->queue, id, command->status, command->result);
    if (!command->twice || model->command_count == MODEL_COMMANDS_MAX)
        return;
    /* Again, and maybe long after the first. */
    struct model_command *again = &model->commands[model->command_count++];
    *again = *command;
    again->done = true;
    again->twice = again->stray = again->lost = false;
    again->due_ns = model->now_ns + model_draw(model, 4 * model->options.latency_ns);
}

/* Those due are carried out in the order of their dues, so in any order as seen from the queue. */
static void carry_out(struct model *model)
{
    for (uint32_t i = 0; i < model->command_count;) {
        struct model_command *command = &model->commands[i];
        if (command->due_ns > model->now_ns || !cq_has_room(&model->queues[command->queue])) {
            i++;
            continue;
        }
        const struct model_command copy = *command;
        *command = model->commands[--model->command_count];
        struct model_command current = copy;
        if (!current.done)
            model_execute(model, &current);
        /* What creates the queues' memory may drop all commands. */
        complete(model, &current);
        i = 0;
    }
}

void model_step(struct model *model)
{
    if (model->gone)
        return;
    model_evict(model);
    if (!(model->status & STRIA_NVME_CSTS_CFS) && model->status & STRIA_NVME_CSTS_RDY) {
        fetch(model, 0);
        fetch(model, 1);
        carry_out(model);
    }
    if (model->now_ns >= model->shutdown_ns) {
        model->status = (model->status & ~STRIA_NVME_CSTS_SHST_MASK) | STRIA_NVME_CSTS_SHST_COMPLETE;
        model->shutdown_ns = MODEL_NEVER;
        model->orderly = !model->queues[1].sq_there && !model->queues[1].cq_there;
        memcpy(model->medium, model->cache, model->options.block_count * model->options.block_bytes);
    }
    follow_enable(model);
}

void model_advance(struct model *model, uint64_t ns)
{
    model->now_ns += ns;
    model_step(model);
}

static uint64_t capabilities(const struct model *model)
{
    const struct model_options *options = &model->options;
    return (uint64_t)(options->entries_max - 1) | 1ull << 16 | (uint64_t)options->ready_units << 24 |
           (uint64_t)options->stride << 32 | 1ull << 37 | (uint64_t)options->page_min << 48 |
           (uint64_t)(options->page_min + 2) << 52;
}

static uint32_t read32(void *context, uint32_t offset)
{
    struct model *model = context;
    model_advance(model, READ_NS);
    if (model->gone)
        return STRIA_NVME_ALL_ONES;
    switch (offset) {
    case STRIA_NVME_CAP:
        return (uint32_t)capabilities(model);
    case STRIA_NVME_CAP + 4:
        return (uint32_t)(capabilities(model) >> 32);
    case STRIA_NVME_VS:
        return 0x10400;
    case STRIA_NVME_CC:
        return model->configuration;
    case STRIA_NVME_CSTS:
        return model->status;
    default:
        model_violate(model, "the register at %#x is read", offset);
        return 0;
    }
}

static void configure(struct model *model, uint32_t value)
{
    const uint32_t changed = value ^ model->configuration;
    if (changed & STRIA_NVME_CC_EN) {
        const bool ready = model->status & STRIA_NVME_CSTS_RDY;
        if (value & STRIA_NVME_CC_EN && ready)
            model_violate(model, "the controller is enabled before it was disabled for good");
        model->change_ns = model->now_ns + model->options.ready_ns;
    }
    if (value & STRIA_NVME_CC_SHN_MASK && !(model->configuration & STRIA_NVME_CC_SHN_MASK))
        model->shutdown_ns = model->now_ns + model->options.ready_ns;
    model->configuration = value;
}

static void set_half(uint64_t *wide, bool high, uint32_t value)
{
    *wide = high ? (*wide & 0xffffffffu) | (uint64_t)value << 32 : (*wide & ~0xffffffffull) | value;
}

static void ring_sq(struct model *model, struct model_queue *queue, uint32_t tail)
{
    if (!queue->sq_there || tail >= queue->sq_entries) {
        model_violate(model, "a submission doorbell gets %u, which its queue does not have", tail);
        return;
    }
    const uint32_t entries = queue->sq_entries;
    const uint32_t fresh = (tail + entries - queue->sq_tail) % entries;
    const uint32_t waiting = (queue->sq_tail + entries - queue->sq_head) % entries;
    if (fresh + waiting > entries - 1)
        model_violate(model, "%u commands are put where %u wait in a queue of %u", fresh, waiting, entries);
    if (fresh == 0)
        model_violate(model, "a submission doorbell gets what it has: a full queue looks like an empty one");
    queue->sq_tail = tail;
}

static void ring_cq(struct model *model, struct model_queue *queue, uint32_t head)
{
    if (!queue->cq_there || head >= queue->cq_entries) {
        model_violate(model, "a completion doorbell gets %u, which its queue does not have", head);
        return;
    }
    const uint32_t entries = queue->cq_entries;
    const uint32_t posted = (queue->cq_tail + entries - queue->cq_head) % entries;
    if ((head + entries - queue->cq_head) % entries > posted)
        model_violate(model, "more completions are taken than were posted");
    queue->cq_head = head;
}

static void ring(struct model *model, uint32_t offset, uint32_t value)
{
    /* Nobody listens while it is not enabled, and after a reset the driver may not know that yet. */
    if (!(model->status & STRIA_NVME_CSTS_RDY))
        return;
    const uint32_t stride = 4u << model->options.stride;
    const uint32_t doorbell = (offset - STRIA_NVME_DOORBELLS) / stride;
    if ((offset - STRIA_NVME_DOORBELLS) % stride != 0 || doorbell >= 4)
        model_violate(model, "there is no doorbell at %#x", offset);
    else if (doorbell % 2 == 0)
        ring_sq(model, &model->queues[doorbell / 2], value);
    else
        ring_cq(model, &model->queues[doorbell / 2], value);
}

static void write32(void *context, uint32_t offset, uint32_t value)
{
    struct model *model = context;
    model_advance(model, CLOCK_NS);
    if (model->gone)
        return;
    if (offset >= STRIA_NVME_DOORBELLS)
        ring(model, offset, value);
    else if (offset == STRIA_NVME_CC)
        configure(model, value);
    else if (offset == STRIA_NVME_AQA)
        model->queue_sizes = value;
    else if (offset == STRIA_NVME_ASQ || offset == STRIA_NVME_ASQ + 4)
        set_half(&model->asq, offset != STRIA_NVME_ASQ, value);
    else if (offset == STRIA_NVME_ACQ || offset == STRIA_NVME_ACQ + 4)
        set_half(&model->acq, offset != STRIA_NVME_ACQ, value);
    else
        model_violate(model, "the register at %#x is written", offset);
}

static uint64_t time_ns(void *context)
{
    struct model *model = context;
    model_advance(model, CLOCK_NS);
    return model->now_ns;
}

static void pause(void *context)
{
    model_advance(context, PAUSE_NS);
}

void model_open(struct model *model, const struct model_options *options)
{
    memset(model, 0, sizeof(*model));
    model->options = *options;
    model->random = options->seed * 0x9e3779b97f4a7c15ull + 1;
    model->next_address = 0x100000000ull;
    model->shutdown_ns = MODEL_NEVER;
    model->now_ns = 1000000000;
    model->cache = calloc(options->block_count, options->block_bytes);
    model->medium = calloc(options->block_count, options->block_bytes);
    if (!model->cache || !model->medium)
        abort();
    model->platform = (struct stria_nvme_platform){
        .context = model,
        .read32 = read32,
        .write32 = write32,
        .time_ns = time_ns,
        .pause = pause,
    };
    model_memory_platform(model);
}

void model_close(struct model *model)
{
    for (uint32_t i = 0; i < model->range_count; i++) {
        free(model->ranges[i].bus);
        free(model->ranges[i].seen);
    }
    free(model->cache);
    free(model->medium);
}

void model_power_cut(struct model *model)
{
    const uint64_t block = model->options.block_bytes;
    for (uint64_t i = 0; i < model->options.block_count; i++) {
        if (model_chance(model, 500))
            memcpy(model->medium + i * block, model->cache + i * block, block);
        memcpy(model->cache + i * block, model->medium + i * block, block);
    }
    model->status = 0;
    model->configuration = 0;
    drop_commands(model);
}
