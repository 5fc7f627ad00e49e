/* The backends that stria_backends[] is made of. A new one gets a line here, one in backend.c and one in
 * CMakeLists.txt. */
#ifndef STRIA_BACKENDS_LIST_H
#define STRIA_BACKENDS_LIST_H

#include "backends/backend.h"

/* "null:SIZE" takes every write and forgets it, reads zeroes. */
extern const struct stria_backend stria_backend_null;

/* "memory:SIZE" is forgotten when it is closed; "memory:NAME:SIZE" lives as long as the process, so that
 * whoever opens the name again finds the same bytes. */
extern const struct stria_backend stria_backend_memory;

/* "nvme-tcp://HOST:PORT/NQN": a drive of another host, with "passthrough:" before it too. */
extern const struct stria_backend stria_backend_fabrics;

/* "passthrough:PATH": NVMe commands past the block layer; PATH is the block device. */
extern const struct stria_backend stria_backend_uring_cmd;

/* "vfio:0000:01:00.0": an NVMe controller through VFIO, by our own driver. */
extern const struct stria_backend stria_backend_nvme;

/* Files and block devices by io_uring: claims every path without a prefix. */
extern const struct stria_backend stria_backend_uring;

#endif
