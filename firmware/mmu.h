/* The memory map: one to one, code read-only, memory cached, registers of devices neither cached nor
 * reordered. */
#ifndef STRIA_FIRMWARE_MMU_H
#define STRIA_FIRMWARE_MMU_H

#include <stdint.h>

enum stria_mmu_kind {
    STRIA_MMU_CODE,   /* cached, executable, read-only */
    STRIA_MMU_MEMORY, /* cached, not executable */
    STRIA_MMU_DEVICE  /* registers */
};

/* Adds a range to the map, rounded out to 2 MiB; before the MMU is on. STRIA_ERR_NO_MEMORY when the map's
 * tables do not suffice, STRIA_ERR_INVALID beyond 48 bits. A range that is there already gets the new kind.
 */
int stria_mmu_map(uint64_t start, uint64_t bytes, enum stria_mmu_kind kind);

/* Switches on translation and caches. What is not in the map is from now on an exception. */
void stria_mmu_enable(void);

#endif
