#include "core/code.h"
#include "tests/nvme/model.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u

static struct model_range *range_of_cpu(struct model *model, const void *memory)
{
    const uint8_t *at = memory;
    for (uint32_t i = 0; i < model->range_count; i++)
        if (model->ranges[i].cpu && at >= model->ranges[i].cpu &&
            at < model->ranges[i].cpu + model->ranges[i].bytes)
            return &model->ranges[i];
    return NULL;
}

/* Scattered memory has a hole behind each page on the bus. */
static uint64_t offset_to_bus(const struct model *model, uint64_t offset)
{
    const uint64_t page = model_page_bytes(model);
    return model->options.scattered ? offset / page * 2 * page + offset % page : offset;
}

static struct model_range *range_of_bus(struct model *model, uint64_t address, uint64_t bytes,
                                        uint64_t *offset)
{
    const uint64_t page = model_page_bytes(model);
    for (uint32_t i = 0; i < model->range_count; i++) {
        struct model_range *range = &model->ranges[i];
        if (address < range->address)
            continue;
        uint64_t at = address - range->address;
        if (model->options.scattered && !range->control) {
            if (at / page % 2 == 1 || at % page + bytes > page)
                continue;
            at = at / page / 2 * page + at % page;
        }
        if (at < range->bytes && bytes <= range->bytes - at) {
            *offset = at;
            return range;
        }
    }
    return NULL;
}

void model_map(struct model *model, void *memory, uint64_t bytes, bool control)
{
    const uint64_t page = model_page_bytes(model);
    uint32_t place = 0;
    while (place < model->range_count && model->ranges[place].cpu)
        place++;
    if (place == MODEL_RANGES_MAX)
        abort();
    if (place == model->range_count)
        model->range_count++;
    struct model_range *range = &model->ranges[place];
    *range = (struct model_range){.cpu = memory, .bytes = bytes, .control = control};
    range->bus = malloc(bytes);
    range->seen = malloc(bytes);
    if (!range->bus || !range->seen)
        abort();
    memcpy(range->bus, memory, bytes);
    memcpy(range->seen, memory, bytes);
    /* Where memory begins within a page is what the controller sees, too. */
    range->address = model->next_address + (uintptr_t)memory % page;
    model->next_address += (2 * bytes / page + 4) * page;
}

void model_unmap(struct model *model, void *memory)
{
    for (uint32_t i = 0; i < model->range_count; i++) {
        if (model->ranges[i].cpu != memory)
            continue;
        free(model->ranges[i].bus);
        free(model->ranges[i].seen);
        for (uint32_t store = 0; store < model->late_count; store++)
            if (model->late[store].range == &model->ranges[i])
                model->late[store].bytes = 0;
        model->ranges[i] = (struct model_range){0};
        return;
    }
}

static int bus_address(void *context, const void *memory, uint64_t *address, uint64_t *run_bytes)
{
    struct model *model = context;
    const struct model_range *range = range_of_cpu(model, memory);
    if (!range)
        return STRIA_ERR_INVALID;
    const uint64_t offset = (uint64_t)((const uint8_t *)memory - range->cpu);
    const uint64_t page = model_page_bytes(model);
    const bool scattered = model->options.scattered && !range->control;
    *address = range->address + (scattered ? offset_to_bus(model, offset) : offset);
    *run_bytes = scattered ? page - offset % page : range->bytes - offset;
    return STRIA_OK;
}

/* Both views become the CPU's. */
static void push_line(struct model_range *range, uint64_t line)
{
    const uint64_t bytes = range->bytes - line < MODEL_LINE_BYTES ? range->bytes - line : MODEL_LINE_BYTES;
    memcpy(range->bus + line, range->cpu + line, bytes);
    memcpy(range->seen + line, range->cpu + line, bytes);
}

static bool is_dirty(const struct model_range *range, uint64_t line)
{
    const uint64_t bytes = range->bytes - line < MODEL_LINE_BYTES ? range->bytes - line : MODEL_LINE_BYTES;
    return memcmp(range->cpu + line, range->seen + line, bytes) != 0;
}

static void push_dirty(struct model_range *range, uint64_t at, uint64_t bytes)
{
    for (uint64_t line = at / MODEL_LINE_BYTES * MODEL_LINE_BYTES; line < at + bytes;
         line += MODEL_LINE_BYTES)
        if (is_dirty(range, line))
            push_line(range, line);
}

/* A cache may write a dirty line back whenever it likes. */
void model_evict(struct model *model)
{
    if (model->options.memory != MODEL_CACHED || model->range_count == 0)
        return;
    for (unsigned i = 0; i < 16; i++) {
        struct model_range *range = &model->ranges[model_draw(model, model->range_count)];
        if (range->bytes < MODEL_LINE_BYTES)
            continue;
        const uint64_t line = model_draw(model, range->bytes / MODEL_LINE_BYTES) * MODEL_LINE_BYTES;
        if (is_dirty(range, line))
            push_line(range, line);
    }
}

/* What is cleaned was stored to just before, with whatever values. */
static void push_all(struct model_range *range, uint64_t at, uint64_t bytes)
{
    for (uint64_t line = at / MODEL_LINE_BYTES * MODEL_LINE_BYTES; line < at + bytes;
         line += MODEL_LINE_BYTES)
        push_line(range, line);
}

static void write_barrier(void *context)
{
    struct model *model = context;
    for (uint32_t i = 0; i < model->cleaned_count; i++)
        push_all(model->cleaned[i].range, model->cleaned[i].at, model->cleaned[i].bytes);
    model->cleaned_count = 0;
    if (model->options.memory == MODEL_WEAK)
        for (uint32_t i = 0; i < model->range_count; i++)
            if (model->ranges[i].control)
                push_dirty(&model->ranges[i], 0, model->ranges[i].bytes);
}

void model_show_stores(struct model *model)
{
    for (uint32_t i = 0; i < model->late_count; i++) {
        const struct model_late_store *late = &model->late[i];
        if (late->bytes == 0)
            continue;
        memcpy(late->range->cpu + late->at, late->range->bus + late->at, late->bytes);
        memcpy(late->range->seen + late->at, late->range->bus + late->at, late->bytes);
    }
    model->late_count = 0;
}

static void read_barrier(void *context)
{
    model_show_stores(context);
}

static void cache_clean(void *context, const void *memory, uint64_t bytes)
{
    struct model *model = context;
    struct model_range *range = range_of_cpu(model, memory);
    if (!range) {
        model_violate(model, "the driver cleans memory that is not mapped");
        return;
    }
    if (model->cleaned_count == sizeof(model->cleaned) / sizeof(model->cleaned[0]))
        write_barrier(model);
    model->cleaned[model->cleaned_count].range = range;
    model->cleaned[model->cleaned_count].at = (uint64_t)((const uint8_t *)memory - range->cpu);
    model->cleaned[model->cleaned_count++].bytes = bytes;
}

/* Whole lines are forgotten, with whatever was changed in them. */
static void cache_invalidate(void *context, void *memory, uint64_t bytes)
{
    struct model *model = context;
    struct model_range *range = range_of_cpu(model, memory);
    if (!range) {
        model_violate(model, "the driver invalidates memory that is not mapped");
        return;
    }
    const uint64_t at = (uint64_t)((uint8_t *)memory - range->cpu);
    const uint64_t first = at / MODEL_LINE_BYTES * MODEL_LINE_BYTES;
    uint64_t end = (at + bytes + MODEL_LINE_BYTES - 1) / MODEL_LINE_BYTES * MODEL_LINE_BYTES;
    end = end < range->bytes ? end : range->bytes;
    memcpy(range->cpu + first, range->bus + first, end - first);
    memcpy(range->seen + first, range->bus + first, end - first);
}

void model_memory_platform(struct model *model)
{
    model->platform.bus_address = bus_address;
    model->platform.write_barrier = write_barrier;
    model->platform.read_barrier = read_barrier;
    if (model->options.memory != MODEL_CACHED)
        return;
    model->platform.cache_clean = cache_clean;
    model->platform.cache_invalidate = cache_invalidate;
}

bool model_fetch(struct model *model, uint64_t address, void *out, uint64_t bytes)
{
    uint64_t at;
    struct model_range *range = range_of_bus(model, address, bytes, &at);
    if (!range) {
        model_violate(model, "the controller is sent to read %llu bytes at %#llx, where there is no memory",
                      (unsigned long long)bytes, (unsigned long long)address);
        return false;
    }
    /* Only the driver's own stores are subject to order: those to data lie far back in time. */
    if (model->options.memory == MODEL_ORDERED || (model->options.memory == MODEL_WEAK && !range->control))
        push_dirty(range, at, bytes);
    memcpy(out, range->bus + at, bytes);
    return true;
}

static void show(struct model_range *range, uint64_t at, uint64_t bytes)
{
    memcpy(range->cpu + at, range->bus + at, bytes);
    memcpy(range->seen + at, range->bus + at, bytes);
}

static void show_late(struct model *model, struct model_range *range, uint64_t at, uint64_t bytes)
{
    if (model->late_count < sizeof(model->late) / sizeof(model->late[0]))
        model->late[model->late_count++] = (struct model_late_store){range, at, bytes};
    else
        show(range, at, bytes);
}

bool model_store(struct model *model, uint64_t address, const void *in, uint64_t bytes)
{
    uint64_t at;
    struct model_range *range = range_of_bus(model, address, bytes, &at);
    if (!range) {
        model_violate(model, "the controller is sent to write %llu bytes at %#llx, where there is no memory",
                      (unsigned long long)bytes, (unsigned long long)address);
        return false;
    }
    memcpy(range->bus + at, in, bytes);
    switch (model->options.memory) {
    case MODEL_ORDERED:
        show(range, at, bytes);
        break;
    case MODEL_WEAK:
        show_late(model, range, at, bytes);
        break;
    case MODEL_CACHED:
        /* A dirty line that is written back now destroys what has just arrived. */
        if (model_chance(model, 500))
            push_dirty(range, at, bytes);
        break;
    }
    return true;
}

/* Under weak order, the phase may be seen long before the rest of the entry. */
void model_store_completion(struct model *model, uint64_t address, const struct stria_nvme_completion *entry)
{
    const uint64_t rest = offsetof(struct stria_nvme_completion, id_and_status);
    if (!model_store(model, address, entry, rest))
        return;
    uint64_t at;
    struct model_range *range = range_of_bus(model, address, sizeof(*entry), &at);
    if (!range)
        return;
    memcpy(range->bus + at + rest, &entry->id_and_status, sizeof(entry->id_and_status));
    if (model->options.memory != MODEL_CACHED)
        show(range, at + rest, sizeof(entry->id_and_status));
}
