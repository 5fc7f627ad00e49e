#include "firmware/mmu.h"

#include "core/code.h"
#include "firmware/layout.h"
#include "firmware/processor.h"

/* Translation tables with 4 KiB granules over 48 bits, ARM DDI 0487, chapter D8: a table of level 0 for 512
 * GiB an entry, of level 1 for 1 GiB, of level 2 for blocks of 2 MiB. */
#define ENTRIES     512u
#define TABLES      24u /* one root, and for each 512 GiB and each GiB that is touched in part one more */
#define BLOCK_SHIFT 21u
#define BLOCK_BYTES ((uint64_t)1 << BLOCK_SHIFT)
#define VA_BITS     48u

#define ENTRY_TABLE    3u
#define ENTRY_BLOCK    1u
#define ENTRY_ADDRESS  UINT64_C(0x0000fffffffff000)
#define ENTRY_ACCESSED (1u << 10)
#define ENTRY_INNER    (3u << 8)
#define ENTRY_READONLY (2u << 6)
#define ENTRY_NO_EXEC  (UINT64_C(3) << 53)
#define ENTRY_MEMORY   (0u << 2) /* index into MAIR */
#define ENTRY_DEVICE   (1u << 2)

#define MAIR_VALUE UINT64_C(0x04ff) /* 0: write-back, allocating; 1: device, nGnRE */

/* 4 KiB granules, walks cached and shareable, no upper half. Address size from ID_AA64MMFR0_EL1. */
#define TCR_T0SZ      (64u - VA_BITS)
#define TCR_WALKS     (1u << 8 | 1u << 10 | 3u << 12)
#define TCR_NO_UPPER  (1u << 23)
#define TCR_IPS_SHIFT 32u

#define SCTLR_MMU  (1u << 0)
#define SCTLR_DATA (1u << 2)
#define SCTLR_CODE (1u << 12)
#define SCTLR_WXN  (1u << 19)

static uint64_t __attribute__((aligned(4096))) tables[TABLES][ENTRIES];
static uint32_t tables_used = 1;

static uint64_t *table_below(uint64_t *entry)
{
    if ((*entry & 3) == ENTRY_TABLE)
        return (uint64_t *)(uintptr_t)(*entry & ENTRY_ADDRESS);
    if (tables_used == TABLES)
        return NULL;
    uint64_t *table = tables[tables_used++];
    *entry = (uint64_t)(uintptr_t)table | ENTRY_TABLE;
    return table;
}

static uint64_t attributes(enum stria_mmu_kind kind)
{
    switch (kind) {
    case STRIA_MMU_CODE:
        return ENTRY_MEMORY | ENTRY_INNER | ENTRY_READONLY;
    case STRIA_MMU_MEMORY:
        return ENTRY_MEMORY | ENTRY_INNER | ENTRY_NO_EXEC;
    case STRIA_MMU_DEVICE:
        break;
    }
    return ENTRY_DEVICE | ENTRY_NO_EXEC;
}

int stria_mmu_map(uint64_t start, uint64_t bytes, enum stria_mmu_kind kind)
{
    if (start >> VA_BITS || bytes > ((uint64_t)1 << VA_BITS) - start)
        return STRIA_ERR_INVALID;
    const uint64_t end = start + bytes;
    for (uint64_t at = start & ~(BLOCK_BYTES - 1); at < end; at += BLOCK_BYTES) {
        uint64_t *level1 = table_below(&tables[0][at >> 39 & (ENTRIES - 1)]);
        uint64_t *level2 = level1 ? table_below(&level1[at >> 30 & (ENTRIES - 1)]) : NULL;
        if (!level2)
            return STRIA_ERR_NO_MEMORY;
        level2[at >> BLOCK_SHIFT & (ENTRIES - 1)] = at | attributes(kind) | ENTRY_ACCESSED | ENTRY_BLOCK;
    }
    return STRIA_OK;
}

/* What the boot loader left in the caches of memory that was written since, past them, must not be read now.
 */
static void forget_stale_lines(void)
{
    const uintptr_t end = (uintptr_t)stria_exception_stack_end;
    const size_t line = stria_cache_line_bytes();
    for (uintptr_t address = (uintptr_t)stria_code_end; address < end; address += line)
        __asm__ volatile("dc ivac, %0" ::"r"(address) : "memory");
}

void stria_mmu_enable(void)
{
    forget_stale_lines();
    uint64_t features, control;
    __asm__ volatile("mrs %0, id_aa64mmfr0_el1" : "=r"(features));
    /* 52 bits (6) want another granule; 48 (5) is what the tables have. */
    const uint64_t size = (features & 0xf) < 5 ? features & 0xf : 5;
    const uint64_t tcr = TCR_T0SZ | TCR_WALKS | TCR_NO_UPPER | size << TCR_IPS_SHIFT;
    stria_barrier_full();
    __asm__ volatile("msr mair_el1, %0\n\t"
                     "msr tcr_el1, %1\n\t"
                     "msr ttbr0_el1, %2\n\t"
                     "isb\n\t"
                     "tlbi vmalle1\n\t"
                     "ic iallu\n\t"
                     "dsb sy\n\t"
                     "isb" ::"r"(MAIR_VALUE),
                     "r"(tcr), "r"(tables[0])
                     : "memory");
    __asm__ volatile("mrs %0, sctlr_el1" : "=r"(control));
    control |= SCTLR_MMU | SCTLR_DATA | SCTLR_CODE | SCTLR_WXN;
    __asm__ volatile("msr sctlr_el1, %0\n\tisb" ::"r"(control) : "memory");
}
