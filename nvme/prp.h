/* Physical region pages: how a command says where its data lie. */
#ifndef STRIA_NVME_PRP_H
#define STRIA_NVME_PRP_H

#include "nvme/command.h"
#include "nvme/platform.h"

#include <stdint.h>

/* The most bytes that one list page covers wherever in a page the data begin: the list has an entry for each
 * page but the first. */
static inline uint64_t stria_nvme_prp_bytes_max(uint32_t page_bytes)
{
    return (uint64_t)page_bytes / sizeof(uint64_t) * page_bytes;
}

/* Writes the PRP fields of command for data, and list, which is one page of page_bytes, where more than two
 * pages are touched; *listed then says how many entries it has, else zero. Requires that data is aligned to 4
 * and bytes are 1 to stria_nvme_prp_bytes_max(). STRIA_ERR_INVALID for memory that the controller cannot
 * reach, or that is not whole pages on the bus. */
int stria_nvme_prp_build(const struct stria_nvme_platform *platform, uint32_t page_bytes, const void *data,
                         uint64_t bytes, uint64_t *list, struct stria_nvme_command *command,
                         uint32_t *listed);

#endif
