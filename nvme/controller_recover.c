#include "nvme/controller_internal.h"
#include "nvme/registers.h"

#include <stddef.h>

void stria_nvme_fail(struct stria_nvme_controller *controller, enum stria_nvme_trouble why, int code)
{
    controller->state = STRIA_NVME_FAILED;
    controller->trouble = why;
    controller->code = code;
    if (controller->health) {
        controller->health = NULL;
        controller->health_code = code;
    }
    /* Best effort: it shall not touch memory that is somebody else's by then. */
    if (why != STRIA_NVME_GONE)
        stria_nvme_write32(controller->platform, STRIA_NVME_CC, 0);
}

void stria_nvme_reset(struct stria_nvme_controller *controller, enum stria_nvme_trouble why)
{
    if (++controller->resets_in_a_row > STRIA_NVME_RESETS_MAX) {
        stria_nvme_fail(controller, why, why == STRIA_NVME_FATAL ? STRIA_ERR_IO : STRIA_ERR_TIMEOUT);
        return;
    }
    controller->resets++;
    stria_nvme_disable(controller);
}

void stria_nvme_requeue(struct stria_nvme_controller *controller)
{
    for (uint32_t i = 0; i < controller->depth; i++) {
        struct stria_nvme_slot *slot = &controller->slots[i];
        if (slot->state != STRIA_NVME_SLOT_ISSUED)
            continue;
        if (slot->tries >= STRIA_NVME_TRIES_MAX) {
            stria_nvme_finish_slot(controller, i, STRIA_ERR_TIMEOUT);
            continue;
        }
        slot->state = STRIA_NVME_SLOT_WAITING;
        controller->waiting_count++;
        controller->retries++;
    }
}

/* The oldest overdue command that was not asked to be aborted yet is; one that was, and still did not end, is
 * beyond help but for a reset. */
static void check_commands(struct stria_nvme_controller *controller, uint64_t now_ns)
{
    const uint64_t limit_ns = controller->config.command_ns;
    uint32_t overdue = STRIA_NVME_DEPTH_MAX;
    for (uint32_t i = 0; i < controller->depth; i++) {
        const struct stria_nvme_slot *slot = &controller->slots[i];
        if (slot->state != STRIA_NVME_SLOT_ISSUED || now_ns - slot->issued_ns < limit_ns)
            continue;
        if (now_ns - slot->issued_ns >= 2 * limit_ns) {
            stria_nvme_reset(controller, STRIA_NVME_SILENT);
            return;
        }
        if (!slot->abort_asked &&
            (overdue == STRIA_NVME_DEPTH_MAX || slot->order < controller->slots[overdue].order))
            overdue = i;
    }
    if (overdue == STRIA_NVME_DEPTH_MAX || controller->asked.busy)
        return;
    struct stria_nvme_slot *slot = &controller->slots[overdue];
    slot->abort_asked = true;
    controller->abort_slot = overdue;
    controller->abort_id = slot->command.id;
    controller->aborts++;
    stria_nvme_admin_ask(controller, stria_nvme_abort(1, slot->command.id));
}

void stria_nvme_abort_answer(struct stria_nvme_controller *controller, bool aborted)
{
    const struct stria_nvme_slot *slot = &controller->slots[controller->abort_slot];
    const bool still_there =
        slot->state == STRIA_NVME_SLOT_ISSUED && slot->command.id == controller->abort_id;
    controller->abort_slot = STRIA_NVME_DEPTH_MAX;
    if (!aborted && still_there)
        stria_nvme_reset(controller, STRIA_NVME_SILENT);
}

void stria_nvme_check(struct stria_nvme_controller *controller)
{
    const enum stria_nvme_state state = controller->state;
    if (state != STRIA_NVME_READY && state != STRIA_NVME_SETTING_UP && state != STRIA_NVME_DELETING)
        return;
    const uint64_t now_ns = stria_nvme_now_ns(controller);
    if (now_ns < controller->check_ns)
        return;
    controller->check_ns = now_ns + STRIA_NVME_CHECK_NS;
    const uint32_t status = stria_nvme_read32(controller->platform, STRIA_NVME_CSTS);
    if (status == STRIA_NVME_ALL_ONES)
        stria_nvme_fail(controller, STRIA_NVME_GONE, STRIA_ERR_GONE);
    else if (status & STRIA_NVME_CSTS_CFS)
        stria_nvme_reset(controller, STRIA_NVME_FATAL);
    else if (!(status & STRIA_NVME_CSTS_RDY) /* somebody else has reset it */ ||
             (controller->asked.busy &&
              now_ns - controller->asked.issued_ns >= controller->config.command_ns))
        stria_nvme_reset(controller, STRIA_NVME_SILENT);
    else if (state == STRIA_NVME_READY)
        check_commands(controller, now_ns);
}
