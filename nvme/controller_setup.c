#include "core/assert.h"
#include "core/bits.h"
#include "nvme/controller_internal.h"
#include "nvme/prp.h"
#include "nvme/registers.h"

#include <string.h>

#define IO_QUEUE        1u
#define BLOCK_BYTES_MIN 512u
#define BLOCK_BYTES_MAX 4096u
#define BLOCKS_MAX      65536u /* in one read or write: NLB has 16 bits */

/* What is asked for one after the other once the controller is enabled. */
enum setup_step {
    IDENTIFY_CONTROLLER,
    IDENTIFY_LIST,
    IDENTIFY_NAMESPACE,
    SET_QUEUE_COUNT,
    CREATE_CQ,
    CREATE_SQ,
    SETUP_DONE
};

enum delete_step { DELETE_SQ, DELETE_CQ, DELETE_DONE };

static uint64_t ready_ns(struct stria_nvme_controller *controller)
{
    uint64_t ready_ns = stria_nvme_cap_ready_ns(controller->cap);
    if (stria_nvme_cap_has_ready_timeouts(controller->cap)) {
        const uint64_t with_media_ns =
            (stria_nvme_read32(controller->platform, STRIA_NVME_CRTO) & 0xffff) * 500000000ull;
        if (with_media_ns > ready_ns)
            ready_ns = with_media_ns;
    }
    return ready_ns ? ready_ns : 500000000ull;
}

void stria_nvme_disable(struct stria_nvme_controller *controller)
{
    const uint32_t configuration = stria_nvme_read32(controller->platform, STRIA_NVME_CC);
    if (configuration == STRIA_NVME_ALL_ONES) {
        stria_nvme_fail(controller, STRIA_NVME_GONE, STRIA_ERR_GONE);
        return;
    }
    stria_nvme_write32(controller->platform, STRIA_NVME_CC,
                       configuration & ~(STRIA_NVME_CC_EN | STRIA_NVME_CC_SHN_MASK));
    controller->state = STRIA_NVME_DISABLING;
    controller->deadline_ns = stria_nvme_now_ns(controller) + ready_ns(controller);
    controller->asked.busy = false;
    controller->abort_slot = STRIA_NVME_DEPTH_MAX;
    if (controller->health) {
        controller->health = NULL;
        controller->health_code = STRIA_ERR_AGAIN;
    }
}

static uint64_t bus_of(struct stria_nvme_controller *controller, const void *memory)
{
    uint64_t address = 0, run_bytes;
    int code = controller->platform->bus_address(controller->platform->context, memory, &address, &run_bytes);
    STRIA_ASSERT(code == STRIA_OK); /* all of config.dma was looked at when it was laid out */
    return address;
}

static void enable(struct stria_nvme_controller *controller)
{
    const struct stria_nvme_platform *platform = controller->platform;
    const uint32_t entries = controller->admin.entries;
    stria_nvme_queue_reset(&controller->admin);
    stria_nvme_write32(platform, STRIA_NVME_AQA, (entries - 1) << 16 | (entries - 1));
    stria_nvme_write64(platform, STRIA_NVME_ASQ, bus_of(controller, controller->admin.commands));
    stria_nvme_write64(platform, STRIA_NVME_ACQ, bus_of(controller, controller->admin.completions));
    const uint32_t page_size = stria_nvme_cap_page_shift(controller->cap) - 12;
    stria_nvme_write32(platform, STRIA_NVME_CC,
                       STRIA_NVME_CC_IOSQES | STRIA_NVME_CC_IOCQES | page_size << STRIA_NVME_CC_MPS_SHIFT |
                           STRIA_NVME_CC_EN);
    controller->state = STRIA_NVME_ENABLING;
    controller->deadline_ns = stria_nvme_now_ns(controller) + ready_ns(controller);
}

/* Asks for what the step needs, or is ready after the last. */
static void setup_step(struct stria_nvme_controller *controller)
{
    const uint64_t page = controller->page_address;
    const uint32_t namespace_id = controller->config.namespace_id;
    if (controller->step == IDENTIFY_LIST && namespace_id != 0)
        controller->step = IDENTIFY_NAMESPACE;
    switch ((enum setup_step)controller->step) {
    case IDENTIFY_CONTROLLER:
        stria_nvme_admin_ask(controller, stria_nvme_identify(STRIA_NVME_IDENTIFY_CONTROLLER, 0, page));
        break;
    case IDENTIFY_LIST:
        stria_nvme_admin_ask(controller, stria_nvme_identify(STRIA_NVME_IDENTIFY_LIST, 0, page));
        break;
    case IDENTIFY_NAMESPACE:
        stria_nvme_admin_ask(controller,
                             stria_nvme_identify(STRIA_NVME_IDENTIFY_NAMESPACE, namespace_id, page));
        break;
    case SET_QUEUE_COUNT:
        stria_nvme_admin_ask(controller, stria_nvme_set_queue_count());
        break;
    case CREATE_CQ:
        stria_nvme_queue_reset(&controller->io);
        stria_nvme_admin_ask(controller,
                             stria_nvme_create_cq(IO_QUEUE, controller->io.entries,
                                                  bus_of(controller, controller->io.completions)));
        break;
    case CREATE_SQ:
        stria_nvme_admin_ask(controller, stria_nvme_create_sq(IO_QUEUE, controller->io.entries,
                                                              bus_of(controller, controller->io.commands)));
        break;
    case SETUP_DONE:
        controller->state = STRIA_NVME_READY;
        controller->identified = true;
        controller->check_ns = stria_nvme_now_ns(controller) + STRIA_NVME_CHECK_NS;
        stria_nvme_issue_waiting(controller);
        break;
    }
}

/* After a reset, the same drive has to be there. */
static bool take_controller(struct stria_nvme_controller *controller)
{
    struct stria_nvme_identity identity = controller->identity;
    stria_nvme_identity_controller(&identity, controller->page);
    const bool same = memcmp(identity.serial, controller->identity.serial, sizeof(identity.serial)) == 0 &&
                      memcmp(identity.model, controller->identity.model, sizeof(identity.model)) == 0;
    if (controller->identified && !same) {
        stria_nvme_fail(controller, STRIA_NVME_OTHER_DRIVE, STRIA_ERR_GONE);
        return false;
    }
    controller->identity = identity;
    return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* MDTS counts pages of CAP.MPSMIN, which is the size our own pages have. */
static void find_transfer_max(struct stria_nvme_controller *controller)
{
    const struct stria_nvme_identity *identity = &controller->identity;
    uint64_t bytes =
        least(stria_nvme_prp_bytes_max(controller->page_bytes), (uint64_t)BLOCKS_MAX * identity->block_bytes);
    if (identity->transfer_pages_max)
        bytes = least(bytes, (uint64_t)identity->transfer_pages_max * controller->page_bytes);
    controller->transfer_bytes_max = bytes;
}

static bool take_namespace(struct stria_nvme_controller *controller)
{
    struct stria_nvme_identity identity = controller->identity;
    stria_nvme_identity_namespace(&identity, controller->page);
    identity.namespace_id = controller->config.namespace_id;
    if (identity.block_count == 0)
        stria_nvme_fail(controller, STRIA_NVME_NO_NAMESPACE, STRIA_ERR_NOT_FOUND);
    else if (identity.block_bytes < BLOCK_BYTES_MIN || identity.block_bytes > BLOCK_BYTES_MAX ||
             identity.metadata_bytes != 0)
        stria_nvme_fail(controller, STRIA_NVME_BLOCKS, STRIA_ERR_UNSUPPORTED);
    else if (controller->identified && (identity.block_count != controller->identity.block_count ||
                                        identity.block_bytes != controller->identity.block_bytes))
        stria_nvme_fail(controller, STRIA_NVME_OTHER_DRIVE, STRIA_ERR_GONE);
    else
        controller->identity = identity;
    if (controller->state == STRIA_NVME_FAILED)
        return false;
    find_transfer_max(controller);
    return true;
}

static bool take_list(struct stria_nvme_controller *controller, uint32_t status)
{
    /* Controllers from before version 1.1 have no list. */
    controller->config.namespace_id = status == STRIA_NVME_SUCCESS ? stria_load_u32(controller->page) : 1;
    if (controller->config.namespace_id != 0)
        return true;
    stria_nvme_fail(controller, STRIA_NVME_NO_NAMESPACE, STRIA_ERR_NOT_FOUND);
    return false;
}

void stria_nvme_setup_answer(struct stria_nvme_controller *controller, uint32_t status)
{
    const bool unknown =
        STRIA_NVME_STATUS_TYPE(status) == 0 && (STRIA_NVME_STATUS_CODE(status) == STRIA_NVME_INVALID_FIELD ||
                                                STRIA_NVME_STATUS_CODE(status) == STRIA_NVME_INVALID_OPCODE);
    if (status != STRIA_NVME_SUCCESS && !(unknown && controller->step == IDENTIFY_LIST)) {
        controller->status = status;
        stria_nvme_fail(controller, STRIA_NVME_ADMIN_REFUSED, STRIA_ERR_IO);
        return;
    }
    if (controller->platform->cache_invalidate)
        controller->platform->cache_invalidate(controller->platform->context, controller->page,
                                               STRIA_NVME_IDENTIFY_BYTES);
    bool go_on = true;
    if (controller->step == IDENTIFY_CONTROLLER)
        go_on = take_controller(controller);
    else if (controller->step == IDENTIFY_LIST)
        go_on = take_list(controller, status);
    else if (controller->step == IDENTIFY_NAMESPACE)
        go_on = take_namespace(controller);
    if (!go_on)
        return;
    controller->step++;
    setup_step(controller);
}

void stria_nvme_delete_begin(struct stria_nvme_controller *controller)
{
    controller->state = STRIA_NVME_DELETING;
    controller->step = DELETE_SQ;
    stria_nvme_admin_ask(controller, stria_nvme_delete_sq(IO_QUEUE));
}

/* Whatever the answer: the next thing to do is the same. */
void stria_nvme_delete_answer(struct stria_nvme_controller *controller)
{
    if (++controller->step == DELETE_CQ) {
        stria_nvme_admin_ask(controller, stria_nvme_delete_cq(IO_QUEUE));
        return;
    }
    const uint32_t configuration = stria_nvme_read32(controller->platform, STRIA_NVME_CC);
    stria_nvme_write32(controller->platform, STRIA_NVME_CC, configuration | STRIA_NVME_CC_SHN);
    controller->state = STRIA_NVME_SHUTTING_DOWN;
}

static void step_disabling(struct stria_nvme_controller *controller, uint32_t status)
{
    if (status & STRIA_NVME_CSTS_RDY) {
        if (stria_nvme_now_ns(controller) > controller->deadline_ns)
            stria_nvme_fail(controller, STRIA_NVME_NEVER_READY, STRIA_ERR_TIMEOUT);
    } else if (stria_nvme_stopping(controller)) {
        controller->state = STRIA_NVME_STOPPED;
    } else {
        stria_nvme_requeue(controller);
        enable(controller);
    }
}

static void step_enabling(struct stria_nvme_controller *controller, uint32_t status)
{
    if (status & STRIA_NVME_CSTS_CFS) {
        stria_nvme_reset(controller, STRIA_NVME_FATAL);
    } else if (status & STRIA_NVME_CSTS_RDY) {
        controller->state = STRIA_NVME_SETTING_UP;
        controller->check_ns = 0;
        controller->step = IDENTIFY_CONTROLLER;
        setup_step(controller);
    } else if (stria_nvme_now_ns(controller) > controller->deadline_ns) {
        stria_nvme_fail(controller, STRIA_NVME_NEVER_READY, STRIA_ERR_TIMEOUT);
    }
}

void stria_nvme_step_state(struct stria_nvme_controller *controller)
{
    const enum stria_nvme_state state = controller->state;
    if (state != STRIA_NVME_DISABLING && state != STRIA_NVME_ENABLING && state != STRIA_NVME_SHUTTING_DOWN)
        return;
    const uint32_t status = stria_nvme_read32(controller->platform, STRIA_NVME_CSTS);
    if (status == STRIA_NVME_ALL_ONES)
        stria_nvme_fail(controller, STRIA_NVME_GONE, STRIA_ERR_GONE);
    else if (state == STRIA_NVME_DISABLING)
        step_disabling(controller, status);
    else if (state == STRIA_NVME_ENABLING)
        step_enabling(controller, status);
    else if ((status & STRIA_NVME_CSTS_SHST_MASK) == STRIA_NVME_CSTS_SHST_COMPLETE)
        stria_nvme_disable(controller);
}
