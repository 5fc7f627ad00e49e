#include "firmware/processor.h"

#define NS_PER_S UINT64_C(1000000000)

size_t stria_cache_line_bytes(void)
{
    uint64_t type;
    __asm__ volatile("mrs %0, ctr_el0" : "=r"(type));
    return (size_t)4 << (type >> 16 & 0xf);
}

void stria_cache_clean(const void *start, size_t bytes)
{
    const size_t line = stria_cache_line_bytes();
    const uintptr_t end = (uintptr_t)start + bytes;
    for (uintptr_t address = (uintptr_t)start & ~(line - 1); address < end; address += line)
        __asm__ volatile("dc cvac, %0" ::"r"(address) : "memory");
    __asm__ volatile("dsb sy" ::: "memory");
}

void stria_cache_invalidate(void *start, size_t bytes)
{
    const size_t line = stria_cache_line_bytes();
    const uintptr_t end = (uintptr_t)start + bytes;
    __asm__ volatile("dsb sy" ::: "memory");
    /* Clean and invalidate: a line at the edge that somebody else wrote to loses nothing. */
    for (uintptr_t address = (uintptr_t)start & ~(line - 1); address < end; address += line)
        __asm__ volatile("dc civac, %0" ::"r"(address) : "memory");
    __asm__ volatile("dsb sy" ::: "memory");
}

uint64_t stria_clock_ns(void)
{
    uint64_t ticks, frequency;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tmrs %1, cntfrq_el0"
                     : "=r"(ticks), "=r"(frequency)::"memory");
    return ticks / frequency * NS_PER_S + ticks % frequency * NS_PER_S / frequency;
}
