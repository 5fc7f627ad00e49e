/* What the NVMe driver needs from the machine it runs on: a handful of functions for one controller. The
 * driver has no other way out: it allocates nothing, knows no operating system, and never waits by itself.
 *
 * All functions are called by the one thread that uses the drive. */
#ifndef STRIA_NVME_PLATFORM_H
#define STRIA_NVME_PLATFORM_H

#include <stdint.h>

struct stria_nvme_platform {
    void *context; /* the platform's own, passed to every function */

    /* One aligned 32-bit access to the controller's registers (BAR 0), offset in bytes. Never split, merged
     * or repeated by the compiler: nvme/mmio.h has the accesses for registers that are mapped into memory. A
     * controller that is gone reads as all ones. */
    uint32_t (*read32)(void *context, uint32_t offset);
    void (*write32)(void *context, uint32_t offset, uint32_t value);

    /* The bus address at which the controller finds this memory, and how many bytes from there lie one
     * behind the other on the bus (at least one). STRIA_OK, or STRIA_ERR_INVALID for memory that the
     * controller cannot reach. Called once or a few times for every request. */
    int (*bus_address)(void *context, const void *memory, uint64_t *address, uint64_t *run_bytes);

    /* What was stored in memory before is visible to the controller before any later write32. */
    void (*write_barrier)(void *context);

    /* What is loaded from memory after is no older than what was loaded before. */
    void (*read_barrier)(void *context);

    /* For SoCs on which the controller does not see the caches; both null where it does. clean: the bytes in
     * memory become those in the cache, complete with the next write_barrier. invalidate: the cache forgets
     * the bytes, whether or not it had changed them, and what is loaded later comes from memory. The driver
     * passes ranges of its own memory in whole lines, and the caller's data as they are: those have to begin
     * and end on a cache line. */
    void (*cache_clean)(void *context, const void *memory, uint64_t bytes);
    void (*cache_invalidate)(void *context, void *memory, uint64_t bytes);

    /* Monotonic, from any zero. */
    uint64_t (*time_ns)(void *context);

    /* Called between two looks at a controller that takes its time, while something waits for it to start,
     * recover or stop. May sleep for up to a millisecond. Null: look again at once. */
    void (*pause)(void *context);
};

#endif
