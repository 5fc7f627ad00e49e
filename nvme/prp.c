#include "nvme/prp.h"

#include "core/assert.h"
#include "core/code.h"

/* Walks over data page by page of the bus; contiguous runs are asked for once. */
struct walk {
    const struct stria_nvme_platform *platform;
    const char *data;
    uint64_t left;
    uint64_t address, run_bytes;
};

/* The bus address of the next piece, which ends at a page's end or the data's. */
static int step(struct walk *walk, uint32_t page_bytes, uint64_t *address)
{
    if (walk->run_bytes == 0) {
        int code = walk->platform->bus_address(walk->platform->context, walk->data, &walk->address,
                                               &walk->run_bytes);
        if (code < 0)
            return code;
    }
    const uint64_t page_left = page_bytes - walk->address % page_bytes;
    const uint64_t piece = page_left < walk->left ? page_left : walk->left;
    if (walk->run_bytes < piece)
        return STRIA_ERR_INVALID;
    *address = walk->address;
    walk->data += piece;
    walk->left -= piece;
    walk->address += piece;
    walk->run_bytes -= piece;
    return STRIA_OK;
}

int stria_nvme_prp_build(const struct stria_nvme_platform *platform, uint32_t page_bytes, const void *data,
                         uint64_t bytes, uint64_t *list, struct stria_nvme_command *command, uint32_t *listed)
{
    STRIA_ASSERT(bytes > 0 && bytes <= stria_nvme_prp_bytes_max(page_bytes) && (uintptr_t)data % 4 == 0);
    struct walk walk = {.platform = platform, .data = data, .left = bytes};
    *listed = 0;
    command->prp2 = 0;
    int code = step(&walk, page_bytes, &command->prp1);
    while (code == STRIA_OK && walk.left > 0) {
        code = step(&walk, page_bytes, &list[*listed]);
        if (code == STRIA_OK && list[*listed] % page_bytes != 0)
            code = STRIA_ERR_INVALID;
        ++*listed;
    }
    if (code < 0 || *listed == 0)
        return code;
    /* Two pages need no list. */
    if (*listed == 1) {
        command->prp2 = list[0];
        *listed = 0;
        return STRIA_OK;
    }
    uint64_t run_bytes;
    code = platform->bus_address(platform->context, list, &command->prp2, &run_bytes);
    if (code == STRIA_OK && run_bytes < *listed * sizeof(*list))
        code = STRIA_ERR_INVALID;
    return code;
}
