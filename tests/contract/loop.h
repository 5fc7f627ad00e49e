/* A loop device over a file: a block device for whoever may make one. */
#ifndef STRIA_TESTS_CONTRACT_LOOP_H
#define STRIA_TESTS_CONTRACT_LOOP_H

#include <stdint.h>

/* Attaches the file to a free loop device with that block size, writes the device's path and returns the
 * file descriptor that keeps it; when that and all other users are closed, the device is free again.
 * Negative errno where it cannot be done (no root, no loop driver). */
int loop_attach(const char *file, uint32_t block_bytes, char path[64]);

#endif
