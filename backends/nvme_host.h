/* What a process adds to the NVMe driver's platform, and a drive upon both. backends/vfio.h makes such a host
 * for a controller of this machine; the tests make one of a controller in software. */
#ifndef STRIA_BACKENDS_NVME_HOST_H
#define STRIA_BACKENDS_NVME_HOST_H

#include "backends/backend.h"
#include "nvme/platform.h"

struct stria_nvme_host {
    struct stria_nvme_platform platform; /* its context is the host's own */

    /* Memory for the driver's queues, mapped, zeroed and aligned to a power of two; null if there is none. It
     * lives as long as the host. */
    void *(*dma_take)(struct stria_nvme_host *host, uint64_t bytes, uint64_t align_bytes);

    /* Makes memory reachable for the controller until it is unmapped by the number that *mapping gets. Where
     * mappings overlap, a byte has the bus address of any. */
    int (*map)(struct stria_nvme_host *host, void *base, uint64_t bytes, uint32_t *mapping);
    void (*unmap)(struct stria_nvme_host *host, uint32_t mapping);

    /* True once the system wants the drive back, because it is being removed; null: nobody tells. */
    bool (*revoked)(struct stria_nvme_host *host);

    /* Becomes readable when revoked() turns true; −1 where there is nothing to wait for. */
    int event_fd;

    void (*close)(struct stria_nvme_host *host);
};

/* Starts the controller and makes a drive of it, which owns the host from then on; on failure the host is
 * closed. namespace_id zero is the first one. */
int stria_nvme_open_on(struct stria_nvme_host *host, uint32_t namespace_id,
                       const struct stria_drive_options *options, struct stria_drive **drive,
                       struct stria_trouble *trouble);

#endif
