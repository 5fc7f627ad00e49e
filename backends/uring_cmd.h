/* NVMe passthrough: how its drives are named. The backend itself is stria_backend_uring_cmd. */
#ifndef STRIA_BACKENDS_URING_CMD_H
#define STRIA_BACKENDS_URING_CMD_H

#include <stdbool.h>
#include <stddef.h>

/* Before the path of a block device: reach it by passthrough. */
#define STRIA_PASSTHROUGH_PREFIX "passthrough:"

/* The character device of a namespace by the kernel's name of its block device: "nvme0n1" is
 * "/dev/ng0n1". False for what is no whole namespace, or too long. */
bool stria_passthrough_character_path(const char *block_name, char *out, size_t size);

#endif
