/* Accesses to registers that are mapped into memory: one aligned 32-bit load or store each, as the
 * specification wants them for everything that is no wider, and as every interconnect carries them. For
 * implementations of stria_nvme_platform.read32 and write32. Values are in the byte order of the bus, which
 * is little-endian. */
#ifndef STRIA_NVME_MMIO_H
#define STRIA_NVME_MMIO_H

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the NVMe driver shares structures with the controller: it is for little-endian machines"
#endif

/* base is 4-byte aligned, offset a multiple of 4. */
static inline uint32_t stria_nvme_mmio_read32(const volatile void *base, uint32_t offset)
{
    return *(const volatile uint32_t *)((const volatile char *)base + offset);
}

static inline void stria_nvme_mmio_write32(volatile void *base, uint32_t offset, uint32_t value)
{
    *(volatile uint32_t *)((volatile char *)base + offset) = value;
}

#endif
