/* NVMe passthrough: how its drives are named (support/path.h has the prefix). The backend itself is
 * stria_backend_uring_cmd. */
#ifndef STRIA_BACKENDS_URING_CMD_H
#define STRIA_BACKENDS_URING_CMD_H

#include "support/path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character device of a namespace by the kernel's name of its block device: "nvme0n1" is
 * "/dev/ng0n1". False for what is no whole namespace, or too long. */
bool stria_passthrough_character_path(const char *block_name, char *out, size_t size);

/* Which of a namespace's LBA formats is in use, by what it says of itself (stria_nvme_format_in_use). */
uint32_t stria_passthrough_format(uint8_t flbas, uint8_t nlbaf);

#endif
