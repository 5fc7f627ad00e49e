#include "core/assert.h"
#include "core/bits.h"
#include "nvme/controller_internal.h"
#include "nvme/prp.h"
#include "nvme/registers.h"

#include <string.h>

/* A command's id: the slot's number below, above it the turn, which keeps an old completion from being taken
 * for the answer to a newer command. No slot has the number 255, so that no id is the reserved 0xffff. */
#define ID_SLOT(id) ((id)&0xffu)
#define ID_TURN(id) ((id) >> 8 & 0xffu)

void stria_nvme_admin_ask(struct stria_nvme_controller *controller, struct stria_nvme_command command)
{
    STRIA_ASSERT(!controller->asked.busy);
    controller->asked.id = (uint16_t)((controller->asked.id + 1) & 0x7fff);
    controller->asked.issued_ns = stria_nvme_now_ns(controller);
    controller->asked.busy = true;
    command.id = controller->asked.id;
    stria_nvme_queue_put(&controller->admin, &command);
    stria_nvme_queue_ring(&controller->admin);
}

static void take_health(struct stria_nvme_controller *controller, uint32_t status)
{
    const struct stria_nvme_platform *platform = controller->platform;
    bool again;
    controller->health_code = stria_nvme_status_code(status, &again);
    if (platform->cache_invalidate)
        platform->cache_invalidate(platform->context, controller->page, STRIA_NVME_IDENTIFY_BYTES);
    if (controller->health_code == STRIA_OK)
        stria_nvme_health_decode(controller->health, controller->page);
    controller->health = NULL;
}

void stria_nvme_admin_take(struct stria_nvme_controller *controller)
{
    struct stria_nvme_completion completion;
    if (!controller->asked.busy || !stria_nvme_queue_take(&controller->admin, &completion))
        return;
    stria_nvme_queue_return(&controller->admin);
    if ((completion.id_and_status & 0xffff) != controller->asked.id) {
        controller->strays++;
        return;
    }
    const uint32_t status = completion.id_and_status >> 17;
    controller->asked.busy = false;
    if (controller->state == STRIA_NVME_SETTING_UP)
        stria_nvme_setup_answer(controller, status);
    else if (controller->state == STRIA_NVME_DELETING)
        stria_nvme_delete_answer(controller);
    else if (controller->abort_slot < STRIA_NVME_DEPTH_MAX)
        stria_nvme_abort_answer(controller, status == STRIA_NVME_SUCCESS && !(completion.result & 1));
    else if (controller->health)
        take_health(controller, status);
}

static void issue(struct stria_nvme_controller *controller, uint32_t index)
{
    struct stria_nvme_slot *slot = &controller->slots[index];
    slot->turn++;
    slot->tries++;
    slot->abort_asked = false;
    slot->state = STRIA_NVME_SLOT_ISSUED;
    slot->command.id = (uint16_t)(slot->turn << 8 | index);
    slot->issued_ns = stria_nvme_now_ns(controller);
    stria_nvme_queue_put(&controller->io, &slot->command);
}

static uint32_t oldest_waiting(const struct stria_nvme_controller *controller)
{
    uint32_t oldest = STRIA_NVME_DEPTH_MAX;
    for (uint32_t i = 0; i < controller->depth; i++)
        if (controller->slots[i].state == STRIA_NVME_SLOT_WAITING &&
            (oldest == STRIA_NVME_DEPTH_MAX || controller->slots[i].order < controller->slots[oldest].order))
            oldest = i;
    return oldest;
}

void stria_nvme_issue_waiting(struct stria_nvme_controller *controller)
{
    if (controller->state != STRIA_NVME_READY)
        return;
    while (controller->waiting_count > 0 && stria_nvme_queue_room(&controller->io) > 0) {
        issue(controller, oldest_waiting(controller));
        controller->waiting_count--;
    }
    stria_nvme_queue_ring(&controller->io);
}

void stria_nvme_finish_slot(struct stria_nvme_controller *controller, uint32_t index, int code)
{
    struct stria_nvme_slot *slot = &controller->slots[index];
    const struct stria_nvme_platform *platform = controller->platform;
    if (slot->reads && platform->cache_invalidate)
        platform->cache_invalidate(platform->context, slot->data, slot->bytes);
    slot->code = code;
    slot->state = STRIA_NVME_SLOT_FINISHED;
    const uint32_t last = (controller->finished_first + controller->finished_count) % STRIA_NVME_DEPTH_MAX;
    controller->finished[last] = (uint8_t)index;
    controller->finished_count++;
}

static void answer(struct stria_nvme_controller *controller, const struct stria_nvme_completion *completion)
{
    const uint32_t index = ID_SLOT(completion->id_and_status);
    struct stria_nvme_slot *slot = &controller->slots[index];
    if (index >= controller->depth || slot->state != STRIA_NVME_SLOT_ISSUED ||
        slot->turn != ID_TURN(completion->id_and_status)) {
        controller->strays++;
        return;
    }
    bool again;
    int code = stria_nvme_status_code(completion->id_and_status >> 17, &again);
    if (code == STRIA_OK)
        controller->resets_in_a_row = 0;
    if (again && slot->tries < STRIA_NVME_TRIES_MAX) {
        slot->state = STRIA_NVME_SLOT_WAITING;
        controller->waiting_count++;
        controller->retries++;
        return;
    }
    stria_nvme_finish_slot(controller, index, code);
}

static void take_answers(struct stria_nvme_controller *controller)
{
    struct stria_nvme_completion completion;
    uint32_t taken = 0;
    while (taken < controller->io.entries && stria_nvme_queue_take(&controller->io, &completion)) {
        answer(controller, &completion);
        taken++;
    }
    if (taken)
        stria_nvme_queue_return(&controller->io);
}

static uint32_t hand_out(struct stria_nvme_controller *controller, struct stria_nvme_answer *answers,
                         uint32_t max)
{
    uint32_t count = 0;
    while (count < max && controller->finished_count > 0) {
        const uint8_t index = controller->finished[controller->finished_first];
        struct stria_nvme_slot *slot = &controller->slots[index];
        answers[count++] = (struct stria_nvme_answer){.tag = slot->tag, .code = slot->code};
        slot->state = STRIA_NVME_SLOT_FREE;
        controller->free[controller->free_count++] = index;
        controller->finished_first = (controller->finished_first + 1) % STRIA_NVME_DEPTH_MAX;
        controller->finished_count--;
    }
    return count;
}

/* Stopping comes to an end, if need be without the controller's doing. */
static void check_stop(struct stria_nvme_controller *controller)
{
    if (!stria_nvme_stopping(controller) || stria_nvme_now_ns(controller) < controller->stop_by_ns)
        return;
    if (controller->state == STRIA_NVME_DELETING || controller->state == STRIA_NVME_SHUTTING_DOWN)
        stria_nvme_disable(controller);
    else if (controller->state == STRIA_NVME_DISABLING)
        stria_nvme_fail(controller, STRIA_NVME_NEVER_READY, STRIA_ERR_TIMEOUT);
}

int stria_nvme_controller_poll(struct stria_nvme_controller *controller, struct stria_nvme_answer *answers,
                               uint32_t max)
{
    if (controller->state == STRIA_NVME_READY)
        take_answers(controller);
    stria_nvme_admin_take(controller);
    stria_nvme_step_state(controller);
    stria_nvme_check(controller);
    check_stop(controller);
    if (controller->waiting_count > 0)
        stria_nvme_issue_waiting(controller);
    if (controller->state == STRIA_NVME_FAILED)
        return controller->code;
    return (int)hand_out(controller, answers, max);
}

static bool in_range(const struct stria_nvme_controller *controller, const struct stria_nvme_io *io)
{
    const struct stria_nvme_identity *identity = &controller->identity;
    if (io->op == STRIA_NVME_FLUSH)
        return true;
    if (io->block_count == 0 || io->block_count > identity->block_count ||
        io->block > identity->block_count - io->block_count)
        return false;
    if (io->op == STRIA_NVME_TRIM)
        return io->block_count <= UINT32_MAX && identity->deallocates;
    return io->block_count <= controller->transfer_bytes_max / identity->block_bytes && io->data &&
           (uintptr_t)io->data % 4 == 0;
}

/* The slot's page holds a PRP list or a range; either has to be seen by the controller. */
static void clean_page(struct stria_nvme_controller *controller, const struct stria_nvme_slot *slot,
                       uint64_t bytes)
{
    const struct stria_nvme_platform *platform = controller->platform;
    if (platform->cache_clean && bytes > 0)
        platform->cache_clean(platform->context, slot->list, bytes);
}

static int prepare_trim(struct stria_nvme_controller *controller, struct stria_nvme_slot *slot,
                        const struct stria_nvme_io *io)
{
    const struct stria_nvme_range range = {.block = io->block, .block_count = (uint32_t)io->block_count};
    uint64_t address, run_bytes;
    memcpy(slot->list, &range, sizeof(range));
    clean_page(controller, slot, sizeof(range));
    int code =
        controller->platform->bus_address(controller->platform->context, slot->list, &address, &run_bytes);
    slot->command = stria_nvme_deallocate(controller->identity.namespace_id, address);
    return code;
}

static int prepare_transfer(struct stria_nvme_controller *controller, struct stria_nvme_slot *slot,
                            const struct stria_nvme_io *io)
{
    const struct stria_nvme_platform *platform = controller->platform;
    const uint32_t namespace_id = controller->identity.namespace_id;
    const uint32_t count = (uint32_t)io->block_count;
    uint32_t listed;
    slot->data = io->data;
    slot->bytes = io->block_count * controller->identity.block_bytes;
    slot->reads = io->op == STRIA_NVME_READ;
    slot->command = slot->reads ? stria_nvme_read(namespace_id, io->block, count)
                                : stria_nvme_write(namespace_id, io->block, count, io->durable);
    int code = stria_nvme_prp_build(platform, controller->page_bytes, slot->data, slot->bytes, slot->list,
                                    &slot->command, &listed);
    if (code < 0)
        return code;
    clean_page(controller, slot, listed * sizeof(*slot->list));
    /* Before a read, so that no line that is still dirty is written back over what arrives. */
    if (platform->cache_clean && slot->reads)
        platform->cache_invalidate(platform->context, slot->data, slot->bytes);
    else if (platform->cache_clean)
        platform->cache_clean(platform->context, slot->data, slot->bytes);
    return STRIA_OK;
}

static int prepare(struct stria_nvme_controller *controller, struct stria_nvme_slot *slot,
                   const struct stria_nvme_io *io)
{
    slot->data = NULL;
    slot->bytes = 0;
    slot->reads = false;
    slot->tag = io->tag;
    slot->tries = 0;
    if (io->op == STRIA_NVME_TRIM)
        return prepare_trim(controller, slot, io);
    if (io->op != STRIA_NVME_FLUSH)
        return prepare_transfer(controller, slot, io);
    slot->command = stria_nvme_flush(controller->identity.namespace_id);
    return STRIA_OK;
}

int stria_nvme_controller_submit(struct stria_nvme_controller *controller, const struct stria_nvme_io *io)
{
    if (controller->code < 0)
        return controller->code;
    if (stria_nvme_stopping(controller))
        return STRIA_ERR_CLOSED;
    if (!controller->identified)
        return STRIA_ERR_AGAIN;
    if (!in_range(controller, io))
        return STRIA_ERR_INVALID;
    if (controller->free_count == 0)
        return STRIA_ERR_FULL;
    const uint32_t index = controller->free[controller->free_count - 1];
    struct stria_nvme_slot *slot = &controller->slots[index];
    int code = prepare(controller, slot, io);
    if (code < 0)
        return code;
    controller->free_count--;
    slot->order = ++controller->order;
    slot->state = STRIA_NVME_SLOT_WAITING;
    if (controller->state == STRIA_NVME_READY && controller->waiting_count == 0 &&
        stria_nvme_queue_room(&controller->io) > 0)
        issue(controller, index);
    else
        controller->waiting_count++;
    return STRIA_OK;
}

void stria_nvme_controller_ring(struct stria_nvme_controller *controller)
{
    if (controller->state == STRIA_NVME_READY)
        stria_nvme_queue_ring(&controller->io);
}

void stria_nvme_controller_stop(struct stria_nvme_controller *controller)
{
    if (controller->state == STRIA_NVME_FAILED || controller->state == STRIA_NVME_STOPPED ||
        stria_nvme_stopping(controller))
        return;
    const bool orderly = controller->state == STRIA_NVME_READY && !controller->asked.busy;
    controller->stop_by_ns = stria_nvme_now_ns(controller) + controller->config.stop_ns;
    controller->waiting_count = 0;
    if (orderly)
        stria_nvme_delete_begin(controller);
    else if (controller->state != STRIA_NVME_DISABLING)
        stria_nvme_disable(controller);
}

static void pause(const struct stria_nvme_controller *controller)
{
    if (controller->platform->pause)
        controller->platform->pause(controller->platform->context);
}

int stria_nvme_controller_settle(struct stria_nvme_controller *controller)
{
    while (controller->state != STRIA_NVME_FAILED && controller->state != STRIA_NVME_STOPPED &&
           (controller->state != STRIA_NVME_READY || stria_nvme_stopping(controller))) {
        stria_nvme_controller_poll(controller, NULL, 0);
        pause(controller);
    }
    return controller->code;
}

int stria_nvme_controller_health(struct stria_nvme_controller *controller, struct stria_nvme_health *health)
{
    while (controller->state == STRIA_NVME_READY && controller->asked.busy)
        stria_nvme_controller_poll(controller, NULL, 0);
    if (controller->state != STRIA_NVME_READY || stria_nvme_stopping(controller))
        return controller->code < 0 ? controller->code : STRIA_ERR_AGAIN;
    controller->health = health;
    stria_nvme_admin_ask(controller, stria_nvme_smart_log(controller->page_address));
    while (controller->health) {
        stria_nvme_controller_poll(controller, NULL, 0);
        pause(controller);
    }
    return controller->health_code;
}
