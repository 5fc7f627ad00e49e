#include "nvme/drive.h"

#include "core/assert.h"

#include <stddef.h>

#define NONE        STRIA_NVME_REQUESTS_MAX
#define ANSWERS_MAX 32u

static void push(struct stria_nvme_drive *drive, struct stria_nvme_list *list, uint16_t index)
{
    drive->cuts[index].next = NONE;
    if (list->first == NONE)
        list->first = index;
    else
        drive->cuts[list->last].next = index;
    list->last = index;
}

static uint16_t pop(struct stria_nvme_drive *drive, struct stria_nvme_list *list)
{
    const uint16_t index = list->first;
    list->first = drive->cuts[index].next;
    return index;
}

void stria_nvme_drive_start(struct stria_nvme_drive *drive, const struct stria_nvme_platform *platform,
                            const struct stria_nvme_config *config)
{
    drive->drive_bytes = 0;
    drive->block_bytes = 0;
    drive->busy_count = 0;
    drive->free.first = drive->cutting.first = drive->done.first = NONE;
    for (uint16_t i = 0; i < STRIA_NVME_REQUESTS_MAX; i++)
        push(drive, &drive->free, i);
    stria_nvme_controller_start(&drive->controller, platform, config);
}

/* What goes with the next command, at most to where a multiple of the largest transfer lies on the drive: so
 * that all but the first and last pieces begin where the drive likes it. */
static uint64_t piece_bytes(const struct stria_nvme_drive *drive, const struct stria_nvme_cut *cut)
{
    const struct stria_nvme_request *request = &cut->request;
    const uint64_t left = request->bytes - cut->cut_bytes;
    uint64_t most = drive->controller.transfer_bytes_max;
    if (request->op == STRIA_NVME_TRIM)
        most = (uint64_t)UINT32_MAX / 2 * drive->block_bytes;
    else
        most -= (request->offset + cut->cut_bytes) % most;
    return left < most ? left : most;
}

static int hand_on(struct stria_nvme_drive *drive, uint16_t index)
{
    struct stria_nvme_cut *cut = &drive->cuts[index];
    const struct stria_nvme_request *request = &cut->request;
    const uint64_t bytes = piece_bytes(drive, cut);
    const struct stria_nvme_io io = {
        .op = request->op,
        .durable = request->durable,
        .block = (request->offset + cut->cut_bytes) / drive->block_bytes,
        .block_count = bytes / drive->block_bytes,
        .data = request->data ? (char *)request->data + cut->cut_bytes : NULL,
        .tag = index,
    };
    int code = stria_nvme_controller_submit(&drive->controller, &io);
    if (code == STRIA_OK) {
        cut->pieces++;
        cut->cut_bytes += bytes;
        cut->whole = cut->cut_bytes == request->bytes;
    }
    return code;
}

/* Hands pieces on, request by request, until the controller has enough. */
static void cut_on(struct stria_nvme_drive *drive)
{
    int code = STRIA_OK;
    while (code == STRIA_OK && drive->cutting.first != NONE) {
        const uint16_t index = drive->cutting.first;
        struct stria_nvme_cut *cut = &drive->cuts[index];
        while (code == STRIA_OK && !cut->whole && cut->code == STRIA_OK)
            code = hand_on(drive, index);
        if (code == STRIA_ERR_INVALID) {
            cut->code = code;
            code = STRIA_OK;
        }
        if (!cut->whole && cut->code == STRIA_OK)
            break;
        pop(drive, &drive->cutting);
        cut->cutting = false;
        if (cut->pieces == 0)
            push(drive, &drive->done, index);
    }
    stria_nvme_controller_ring(&drive->controller);
}

static bool in_range(const struct stria_nvme_drive *drive, const struct stria_nvme_request *request)
{
    if (request->op == STRIA_NVME_FLUSH)
        return true;
    if (request->offset % drive->block_bytes != 0 || request->bytes % drive->block_bytes != 0 ||
        request->bytes == 0 || request->bytes > drive->drive_bytes ||
        request->offset > drive->drive_bytes - request->bytes)
        return false;
    return request->op == STRIA_NVME_TRIM ||
           ((request->op == STRIA_NVME_READ || request->op == STRIA_NVME_WRITE) && request->data &&
            (uintptr_t)request->data % STRIA_NVME_DATA_ALIGN == 0 &&
            request->bytes <= STRIA_NVME_REQUEST_BYTES);
}

/* A drive that cannot deallocate has nothing to do for a trim. */
static bool is_nothing(const struct stria_nvme_drive *drive, const struct stria_nvme_request *request)
{
    return request->op == STRIA_NVME_TRIM && !drive->controller.identity.deallocates;
}

int stria_nvme_drive_submit(struct stria_nvme_drive *drive, const struct stria_nvme_request *request)
{
    const struct stria_nvme_controller *controller = &drive->controller;
    if (controller->code < 0)
        return controller->code;
    if (controller->stop_by_ns)
        return STRIA_ERR_CLOSED;
    if (drive->block_bytes == 0)
        return STRIA_ERR_AGAIN;
    if (!in_range(drive, request))
        return STRIA_ERR_INVALID;
    if (drive->free.first == NONE)
        return STRIA_ERR_FULL;
    const uint16_t index = pop(drive, &drive->free);
    const bool nothing = is_nothing(drive, request);
    drive->cuts[index] = (struct stria_nvme_cut){.request = *request, .cutting = !nothing};
    push(drive, nothing ? &drive->done : &drive->cutting, index);
    drive->busy_count++;
    cut_on(drive);
    return STRIA_OK;
}

static void take_pieces(struct stria_nvme_drive *drive, const struct stria_nvme_answer *answers,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t index = (uint16_t)answers[i].tag;
        struct stria_nvme_cut *cut = &drive->cuts[index];
        STRIA_ASSERT(cut->pieces > 0);
        cut->pieces--;
        if (answers[i].code < 0 && cut->code == STRIA_OK)
            cut->code = answers[i].code;
        if (cut->pieces == 0 && !cut->cutting)
            push(drive, &drive->done, index);
    }
}

/* What became known of the drive when it was ready for the first time. */
static void learn(struct stria_nvme_drive *drive)
{
    const struct stria_nvme_controller *controller = &drive->controller;
    if (drive->block_bytes != 0 || !controller->identified)
        return;
    drive->block_bytes = controller->identity.block_bytes;
    drive->drive_bytes = controller->identity.block_count * controller->identity.block_bytes;
}

/* Steps the controller, takes all its answers and hands on what waits. */
static int step(struct stria_nvme_drive *drive)
{
    struct stria_nvme_answer answers[ANSWERS_MAX];
    int count;
    do {
        count = stria_nvme_controller_poll(&drive->controller, answers, ANSWERS_MAX);
        if (count < 0)
            return count;
        learn(drive);
        take_pieces(drive, answers, (uint32_t)count);
        cut_on(drive);
    } while (count == (int)ANSWERS_MAX);
    return STRIA_OK;
}

int stria_nvme_drive_poll(struct stria_nvme_drive *drive, struct stria_nvme_done *done, uint32_t max)
{
    int code = step(drive);
    if (code < 0)
        return code;
    uint32_t count = 0;
    while (count < max && drive->done.first != NONE) {
        const uint16_t index = pop(drive, &drive->done);
        const struct stria_nvme_cut *cut = &drive->cuts[index];
        const bool transfers = cut->request.op == STRIA_NVME_READ || cut->request.op == STRIA_NVME_WRITE;
        done[count++] = (struct stria_nvme_done){
            .tag = cut->request.tag,
            .code = cut->code,
            .bytes = cut->code == STRIA_OK && transfers ? cut->request.bytes : 0,
        };
        push(drive, &drive->free, index);
        drive->busy_count--;
    }
    return (int)count;
}

void stria_nvme_drive_stop(struct stria_nvme_drive *drive)
{
    stria_nvme_controller_stop(&drive->controller);
}

int stria_nvme_drive_settle(struct stria_nvme_drive *drive)
{
    int code = stria_nvme_controller_settle(&drive->controller);
    learn(drive);
    return code;
}

int stria_nvme_drive_run(struct stria_nvme_drive *drive, const struct stria_nvme_request *request)
{
    struct stria_nvme_done done;
    int code = stria_nvme_drive_submit(drive, request);
    int count = 0;
    while (code == STRIA_OK && count == 0) {
        count = stria_nvme_drive_poll(drive, &done, 1);
        code = count < 0 ? count : STRIA_OK;
    }
    return code < 0 ? code : done.code;
}
