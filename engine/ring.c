#define _GNU_SOURCE
#include "engine/ring.h"

#include "support/pages.h"
#include "support/units.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#define PAGE_BYTES ((size_t)4096)

static void *map_huge(size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

static void touch(uint8_t *base, size_t bytes)
{
    for (size_t offset = 0; offset < bytes; offset += PAGE_BYTES)
        *(volatile uint8_t *)(base + offset) = base[offset];
}

/* Without this check an impossible size ends in the kernel killing somebody while pages are touched. */
static bool exceeds_memory(size_t bytes)
{
    struct sysinfo info;
    return sysinfo(&info) == 0 && bytes > (uint64_t)info.totalram * info.mem_unit;
}

int stria_ring_create(struct stria_ring *ring, size_t bytes, struct stria_trouble *trouble)
{
    *ring = (struct stria_ring){.owned = true};
    ring->bytes = (bytes + STRIA_HUGE_PAGE_BYTES - 1) & ~(STRIA_HUGE_PAGE_BYTES - 1);
    if (!exceeds_memory(ring->bytes)) {
        ring->base = map_huge(ring->bytes);
        ring->huge = ring->base != NULL;
        if (!ring->base)
            ring->base = stria_pages_map(ring->bytes);
    }
    if (!ring->base)
        return stria_trouble_set(
            trouble, STRIA_ERR_NO_MEMORY,
            "a buffer of %zu MiB does not fit into this machine's memory: give [array] a smaller buffer",
            bytes >> 20);
    if (!ring->huge)
        touch(ring->base, ring->bytes);
    ring->locked = mlock(ring->base, ring->bytes) == 0 || ring->huge;
    return STRIA_OK;
}

void stria_ring_adopt(struct stria_ring *ring, void *memory, size_t bytes)
{
    *ring = (struct stria_ring){.base = memory, .bytes = bytes};
    touch(ring->base, ring->bytes);
}

void stria_ring_destroy(struct stria_ring *ring)
{
    if (ring->owned)
        stria_pages_unmap(ring->base, ring->bytes);
    memset(ring, 0, sizeof(*ring));
}
