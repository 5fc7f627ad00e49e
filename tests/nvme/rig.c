#include "tests/nvme/rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define DMA_ALIGN STRIA_NVME_PAGE_BYTES_MAX
#define IDLE_NS   20000u
#define WAITS_MAX 2000000u /* longer than any drive here needs */

static void start(struct rig *rig, uint32_t depth)
{
    uint64_t bytes = 0;
    uint32_t align;
    cr_assert(stria_nvme_dma_bytes(&rig->model.platform, depth, &bytes, &align) == STRIA_OK);
    if (!rig->dma) {
        rig->dma = aligned_alloc(DMA_ALIGN, (bytes + DMA_ALIGN - 1) / DMA_ALIGN * DMA_ALIGN);
        memset(rig->dma, 0xa5, bytes);
        model_map(&rig->model, rig->dma, bytes, true);
    }
    const struct stria_nvme_config config = {
        .depth = depth,
        .command_ns = rig->model.options.patience_ns,
        .dma = rig->dma,
        .dma_bytes = bytes,
    };
    stria_nvme_drive_start(&rig->drive, &rig->model.platform, &config);
}

void rig_begin(struct rig *rig, const struct model_options *options, uint32_t depth)
{
    model_open(&rig->model, options);
    rig->dma = NULL;
    rig->data = aligned_alloc(DMA_ALIGN, RIG_DATA_BYTES);
    memset(rig->data, 0, RIG_DATA_BYTES);
    model_map(&rig->model, rig->data, RIG_DATA_BYTES, false);
    start(rig, depth);
}

static void settle(struct rig *rig)
{
    int code = stria_nvme_drive_settle(&rig->drive);
    cr_assert(rig->model.violation[0] == 0, "%s", rig->model.violation);
    cr_assert(code == STRIA_OK, "the drive %s", stria_nvme_trouble_text(rig->drive.controller.trouble));
}

void rig_open(struct rig *rig, const struct model_options *options, uint32_t depth)
{
    rig_begin(rig, options, depth);
    settle(rig);
}

void rig_restart(struct rig *rig, uint32_t depth)
{
    start(rig, depth);
    settle(rig);
}

void rig_drop(struct rig *rig)
{
    cr_expect(rig->model.violation[0] == 0, "%s", rig->model.violation);
    model_close(&rig->model);
    free(rig->dma);
    free(rig->data);
}

void rig_close(struct rig *rig)
{
    stria_nvme_drive_stop(&rig->drive);
    cr_expect(stria_nvme_drive_settle(&rig->drive) == STRIA_OK, "the drive %s",
              stria_nvme_trouble_text(rig->drive.controller.trouble));
    cr_expect(rig->drive.controller.state == STRIA_NVME_STOPPED);
    cr_expect(rig->model.orderly, "not shut down in order");
    rig_drop(rig);
}

int rig_submit(struct rig *rig, enum stria_nvme_op op, uint64_t offset, uint64_t bytes, uint64_t at,
               uint64_t tag)
{
    const bool transfers = op == STRIA_NVME_READ || op == STRIA_NVME_WRITE;
    const struct stria_nvme_request request = {
        .op = op,
        .offset = offset,
        .bytes = bytes,
        .data = transfers ? rig->data + at : NULL,
        .tag = tag,
    };
    return stria_nvme_drive_submit(&rig->drive, &request);
}

int rig_wait(struct rig *rig, struct stria_nvme_done *done)
{
    struct stria_nvme_done own;
    for (unsigned i = 0; i < WAITS_MAX; i++) {
        const int count = stria_nvme_drive_poll(&rig->drive, done ? done : &own, 1);
        cr_assert(rig->model.violation[0] == 0, "%s", rig->model.violation);
        if (count < 0)
            return count;
        if (count == 1)
            return (done ? done : &own)->code;
        model_advance(&rig->model, IDLE_NS);
    }
    cr_assert_fail("a request never ends");
    return STRIA_ERR_TIMEOUT;
}

int rig_run(struct rig *rig, enum stria_nvme_op op, uint64_t offset, uint64_t bytes, uint64_t at)
{
    int code = rig_submit(rig, op, offset, bytes, at, 1);
    return code < 0 ? code : rig_wait(rig, NULL);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void rig_fill(uint8_t *memory, uint64_t bytes, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (uint64_t i = 0; i < bytes; i += 8) {
        const uint64_t word = next(&state);
        memcpy(memory + i, &word, 8);
    }
}

bool rig_is(const uint8_t *memory, uint64_t bytes, uint64_t seed)
{
    uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
    for (uint64_t i = 0; i < bytes; i += 8) {
        const uint64_t word = next(&state);
        if (memcmp(memory + i, &word, 8) != 0)
            return false;
    }
    return true;
}
