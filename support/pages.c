#define _GNU_SOURCE
#include "support/pages.h"

#include <stdint.h>
#include <sys/mman.h>

static size_t mapped_bytes(size_t bytes)
{
    const size_t huge = STRIA_HUGE_PAGE_BYTES;
    return bytes < huge / 2 ? bytes : (bytes + huge - 1) & ~(huge - 1);
}

static void *map(size_t bytes)
{
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

/* Maps one huge page more and gives back what lies before and behind the aligned part. */
static void *map_aligned(size_t bytes)
{
    uint8_t *base = map(bytes + STRIA_HUGE_PAGE_BYTES);
    if (!base)
        return NULL;
    const size_t head = -(uintptr_t)base & (STRIA_HUGE_PAGE_BYTES - 1);
    if (head > 0)
        munmap(base, head);
    munmap(base + head + bytes, STRIA_HUGE_PAGE_BYTES - head);
    madvise(base + head, bytes, MADV_HUGEPAGE);
    return base + head;
}

void *stria_pages_map(size_t bytes)
{
    const size_t size = mapped_bytes(bytes);
    if (size < bytes || size > SIZE_MAX - STRIA_HUGE_PAGE_BYTES)
        return NULL;
    return size < STRIA_HUGE_PAGE_BYTES ? map(size) : map_aligned(size);
}

void stria_pages_unmap(void *base, size_t bytes)
{
    if (base)
        munmap(base, mapped_bytes(bytes));
}
