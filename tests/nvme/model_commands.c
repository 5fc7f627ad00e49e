#include "core/bits.h"
#include "tests/nvme/model.h"

#include <stdlib.h>
#include <string.h>

#define PATTERN_TRIMMED 0x00
#define INVALID_QUEUE   0x101u
#define INVALID_SIZE    0x102u
#define INVALID_CQ      0x100u

/* Walks over the pages that a command's PRP fields name, as the controller does. */
struct prp_walk {
    struct model *model;
    uint64_t page_bytes;
    uint64_t list, list_left; /* entries of the list page from here, the last of which leads on if it must */
    uint64_t entries_left;    /* pages of data still to be named */
};

static bool next_page(struct prp_walk *walk, uint64_t *address)
{
    if (walk->list_left == 1 && walk->entries_left > 1) {
        uint64_t chained;
        if (!model_fetch(walk->model, walk->list, &chained, sizeof(chained)))
            return false;
        walk->list = chained;
        walk->list_left = walk->page_bytes / 8;
    }
    if (!model_fetch(walk->model, walk->list, address, sizeof(*address)))
        return false;
    walk->list += 8;
    walk->list_left--;
    walk->entries_left--;
    return true;
}

static bool move_piece(struct model *model, uint64_t address, uint8_t *blocks, uint64_t bytes, bool to_memory)
{
    return to_memory ? model_store(model, address, blocks, bytes)
                     : model_fetch(model, address, blocks, bytes);
}

uint32_t model_transfer(struct model *model, const struct stria_nvme_command *command, uint8_t *blocks,
                        uint64_t bytes, bool to_memory)
{
    const uint64_t page = model_page_bytes(model);
    if (command->prp1 % 4 != 0) {
        model_violate(model, "PRP1 %#llx is not aligned to 4", (unsigned long long)command->prp1);
        return STRIA_NVME_INVALID_FIELD;
    }
    uint64_t piece = page - command->prp1 % page;
    piece = piece < bytes ? piece : bytes;
    if (!move_piece(model, command->prp1, blocks, piece, to_memory))
        return STRIA_NVME_TRANSFER_ERROR;
    const uint64_t rest = bytes - piece;
    struct prp_walk walk = {
        .model = model,
        .page_bytes = page,
        .list = command->prp2,
        .list_left = (page - command->prp2 % page) / 8,
        .entries_left = (rest + page - 1) / page,
    };
    const bool listed = walk.entries_left > 1;
    if (listed && command->prp2 % 8 != 0)
        model_violate(model, "the PRP list at %#llx is not aligned to 8", (unsigned long long)command->prp2);
    for (uint64_t done = piece; done < bytes; done += piece) {
        uint64_t address = command->prp2;
        if (listed && !next_page(&walk, &address))
            return STRIA_NVME_TRANSFER_ERROR;
        if (address % page != 0) {
            model_violate(model, "a PRP entry %#llx is not a page", (unsigned long long)address);
            return STRIA_NVME_INVALID_FIELD;
        }
        piece = bytes - done < page ? bytes - done : page;
        if (!move_piece(model, address, blocks + done, piece, to_memory))
            return STRIA_NVME_TRANSFER_ERROR;
    }
    return STRIA_NVME_SUCCESS;
}

static void put_text(uint8_t *out, const char *text, unsigned length)
{
    memset(out, ' ', length);
    memcpy(out, text, strlen(text));
}

static void identify_controller(const struct model *model, uint8_t page[4096])
{
    put_text(page + 4, "  MODEL0001", 20);
    put_text(page + 24, "Stria software controller", 40);
    put_text(page + 64, "1.0", 8);
    page[77] = model->options.mdts;
    stria_store_u32(page + 516, 16);
    stria_store_u16(page + 520, model->options.keeps ? 0 : 1u << 2);
    page[525] = !model->options.write_through;
    stria_store_u16(page + 528, 7);
}

static void identify_namespace(const struct model *model, uint8_t page[4096])
{
    uint32_t shift = 0;
    while (1u << shift < model->options.block_bytes)
        shift++;
    stria_store_u64(page, model->options.block_count);
    stria_store_u64(page + 8, model->options.block_count);
    page[26] = 1; /* the second format is in use */
    stria_store_u32(page + 128, 12u << 16 | 8);
    stria_store_u32(page + 132, shift << 16);
}

static uint32_t identify(struct model *model, const struct stria_nvme_command *command)
{
    uint8_t page[4096] = {0};
    const uint32_t what = command->dword10 & 0xff;
    if (what == STRIA_NVME_IDENTIFY_CONTROLLER)
        identify_controller(model, page);
    else if (what == STRIA_NVME_IDENTIFY_NAMESPACE && command->namespace_id == model->options.namespace_id)
        identify_namespace(model, page);
    else if (what == STRIA_NVME_IDENTIFY_LIST && !model->options.no_list)
        stria_store_u32(page, model->options.namespace_id);
    else if (what != STRIA_NVME_IDENTIFY_NAMESPACE)
        return STRIA_NVME_INVALID_FIELD;
    return model_transfer(model, command, page, sizeof(page), true);
}

static uint32_t smart_log(struct model *model, const struct stria_nvme_command *command)
{
    uint8_t page[512] = {0};
    if ((command->dword10 & 0xff) != 2 || command->dword10 >> 16 != 127)
        return STRIA_NVME_INVALID_FIELD;
    page[0] = 4;
    stria_store_u16(page + 1, 313);
    page[3] = 98;
    page[5] = 7;
    stria_store_u64(page + 48, model->writes);
    stria_store_u64(page + 128, 4711);
    return model_transfer(model, command, page, sizeof(page), true);
}

static uint32_t create_queue(struct model *model, const struct stria_nvme_command *command, bool sq)
{
    const uint32_t number = command->dword10 & 0xffff, entries = (command->dword10 >> 16) + 1;
    struct model_queue *queue = &model->queues[1];
    if (number != 1)
        return INVALID_QUEUE;
    if (entries < 2 || entries > model->options.entries_max)
        return INVALID_SIZE;
    if (command->prp1 % model_page_bytes(model) != 0 || !(command->dword11 & 1))
        return STRIA_NVME_INVALID_FIELD;
    if (sq && (!queue->cq_there || command->dword11 >> 16 != 1))
        return INVALID_CQ;
    if (sq) {
        queue->sq_there = true;
        queue->sq_address = command->prp1;
        queue->sq_entries = entries;
        queue->sq_head = queue->sq_tail = 0;
    } else {
        queue->cq_there = true;
        queue->cq_address = command->prp1;
        queue->cq_entries = entries;
        queue->cq_head = queue->cq_tail = 0;
        queue->phase = STRIA_NVME_PHASE;
    }
    return STRIA_NVME_SUCCESS;
}

static uint32_t delete_queue(struct model *model, const struct stria_nvme_command *command, bool sq)
{
    struct model_queue *queue = &model->queues[1];
    if ((command->dword10 & 0xffff) != 1 || (sq ? !queue->sq_there : !queue->cq_there || queue->sq_there))
        return INVALID_QUEUE;
    if (sq) {
        queue->sq_there = false;
        for (uint32_t i = 0; i < model->command_count; i++)
            if (model->commands[i].queue == 1)
                model->commands[i].due_ns = MODEL_NEVER;
    } else {
        queue->cq_there = false;
    }
    return STRIA_NVME_SUCCESS;
}

static void abort_command(struct model *model, struct model_command *command)
{
    model->aborts++;
    command->result = 1;
    for (uint32_t i = 0; i < model->command_count && !model->options.never_aborts; i++) {
        struct model_command *other = &model->commands[i];
        if (other->queue != 1 || other->done || other->entry.id != command->entry.dword10 >> 16 ||
            other->lost)
            continue;
        other->done = true;
        other->due_ns = model->now_ns;
        other->status = STRIA_NVME_ABORT_REQUESTED;
        command->result = 0;
    }
}

static void execute_admin(struct model *model, struct model_command *command)
{
    const struct stria_nvme_command *entry = &command->entry;
    switch (entry->opcode) {
    case 0x00:
    case 0x04:
        command->status = delete_queue(model, entry, entry->opcode == 0x00);
        break;
    case 0x01:
    case 0x05:
        command->status = create_queue(model, entry, entry->opcode == 0x01);
        break;
    case 0x02:
        command->status = smart_log(model, entry);
        break;
    case 0x06:
        command->status = identify(model, entry);
        break;
    case 0x08:
        abort_command(model, command);
        break;
    case 0x09:
        command->status = (entry->dword10 & 0xff) == 7 ? STRIA_NVME_SUCCESS : STRIA_NVME_INVALID_FIELD;
        break;
    default:
        command->status = STRIA_NVME_INVALID_OPCODE;
    }
}

static void settle_blocks(struct model *model, uint64_t at, uint64_t bytes)
{
    memcpy(model->medium + at, model->cache + at, bytes);
}

static uint32_t read_or_write(struct model *model, const struct stria_nvme_command *entry)
{
    const uint64_t block = (uint64_t)entry->dword11 << 32 | entry->dword10;
    const uint64_t count = (entry->dword12 & 0xffff) + 1ull;
    const uint64_t bytes = count * model->options.block_bytes, at = block * model->options.block_bytes;
    if (block >= model->options.block_count || count > model->options.block_count - block)
        return STRIA_NVME_LBA_OUT_OF_RANGE;
    if (model->options.mdts && bytes > (4096ull << model->options.page_min) << model->options.mdts) {
        model_violate(model, "a transfer of %llu bytes is larger than MDTS allows",
                      (unsigned long long)bytes);
        return STRIA_NVME_INVALID_FIELD;
    }
    if (bytes > model->transfer_bytes)
        model->transfer_bytes = bytes;
    if (entry->opcode == 0x02) {
        model->reads++;
        return model_transfer(model, entry, model->cache + at, bytes, true);
    }
    model->writes++;
    const uint32_t status = model_transfer(model, entry, model->cache + at, bytes, false);
    if (model->options.write_through || entry->dword12 & 1u << 30)
        settle_blocks(model, at, bytes);
    return status;
}

static uint32_t deallocate(struct model *model, const struct stria_nvme_command *entry)
{
    struct stria_nvme_range range;
    if (model->options.keeps)
        return STRIA_NVME_INVALID_OPCODE;
    if ((entry->dword10 & 0xff) != 0 || !(entry->dword11 & 4) ||
        !model_fetch(model, entry->prp1, &range, sizeof(range)))
        return STRIA_NVME_INVALID_FIELD;
    if (range.block > model->options.block_count ||
        range.block_count > model->options.block_count - range.block)
        return STRIA_NVME_LBA_OUT_OF_RANGE;
    model->trims++;
    const uint64_t at = range.block * model->options.block_bytes;
    memset(model->cache + at, PATTERN_TRIMMED, (uint64_t)range.block_count * model->options.block_bytes);
    return STRIA_NVME_SUCCESS;
}

static uint32_t execute_io(struct model *model, const struct stria_nvme_command *entry)
{
    if (entry->namespace_id != model->options.namespace_id)
        return STRIA_NVME_INVALID_NAMESPACE;
    switch (entry->opcode) {
    case 0x00:
        model->flushes++;
        settle_blocks(model, 0, model->options.block_count * model->options.block_bytes);
        return STRIA_NVME_SUCCESS;
    case 0x01:
    case 0x02:
        return read_or_write(model, entry);
    case 0x09:
        return deallocate(model, entry);
    default:
        return STRIA_NVME_INVALID_OPCODE;
    }
}

void model_execute(struct model *model, struct model_command *command)
{
    command->status = STRIA_NVME_SUCCESS;
    if (command->queue == 0)
        execute_admin(model, command);
    else if (command->transient)
        command->status = STRIA_NVME_NAMESPACE_NOT_READY;
    else if (command->media)
        command->status =
            command->entry.opcode == 0x02 ? STRIA_NVME_UNRECOVERED_READ : STRIA_NVME_WRITE_FAULT;
    else
        command->status = execute_io(model, &command->entry);
}
