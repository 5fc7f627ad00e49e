/* The processor: registers of devices, barriers, caches, time. The only place with instructions that C lacks,
 * but for start.S, mmu.c and semihosting.c. */
#ifndef STRIA_FIRMWARE_PROCESSOR_H
#define STRIA_FIRMWARE_PROCESSOR_H

#include <stddef.h>
#include <stdint.h>

/* Registers of devices are read and written by one access of their width, in program order. */
static inline uint32_t stria_read_u32(uintptr_t address)
{
    return *(const volatile uint32_t *)address;
}

static inline void stria_write_u32(uintptr_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static inline uint64_t stria_read_u64(uintptr_t address)
{
    return *(const volatile uint64_t *)address;
}

static inline void stria_write_u64(uintptr_t address, uint64_t value)
{
    *(volatile uint64_t *)address = value;
}

/* All that was written to memory is seen by devices before anything written behind this. */
static inline void stria_barrier_write(void)
{
    __asm__ volatile("dsb st" ::: "memory");
}

/* Nothing behind this is read before what was read in front of it. */
static inline void stria_barrier_read(void)
{
    __asm__ volatile("dsb ld" ::: "memory");
}

static inline void stria_barrier_full(void)
{
    __asm__ volatile("dsb sy\n\tisb" ::: "memory");
}

/* For devices that do not see the caches. Clean: what the processor wrote is in memory. Invalidate: what a
 * device wrote to memory is what the processor reads next; whole lines, so nobody else's bytes may share
 * them. Ranges may be of any size; an empty one does nothing. */
void stria_cache_clean(const void *start, size_t bytes);
void stria_cache_invalidate(void *start, size_t bytes);

/* Bytes of the smallest data cache line. */
size_t stria_cache_line_bytes(void);

/* Monotonic, from the generic timer; counts from when the machine was switched on. */
uint64_t stria_clock_ns(void);

#endif
