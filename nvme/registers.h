/* The controller's registers, by the names of the NVM Express base specification 2.0, section 3.1. */
#ifndef STRIA_NVME_REGISTERS_H
#define STRIA_NVME_REGISTERS_H

#include "nvme/platform.h"

#include <stdint.h>

enum stria_nvme_register {
    STRIA_NVME_CAP = 0x00,  /* 64 bits: what the controller can do */
    STRIA_NVME_VS = 0x08,   /* the version it was made for: major, minor, tertiary */
    STRIA_NVME_CC = 0x14,   /* configuration: what it is told to do */
    STRIA_NVME_CSTS = 0x1c, /* status: what it does */
    STRIA_NVME_AQA = 0x24,  /* admin queue sizes */
    STRIA_NVME_ASQ = 0x28,  /* 64 bits: bus address of the admin submission queue */
    STRIA_NVME_ACQ = 0x30,  /* 64 bits: of the admin completion queue */
    STRIA_NVME_CRTO = 0x68, /* ready timeouts, where CAP.CRMS says so */
    STRIA_NVME_DOORBELLS = 0x1000
};

/* What a read gives when nobody answers. No register below can have this value. */
#define STRIA_NVME_ALL_ONES 0xffffffffu

#define STRIA_NVME_CC_EN        (1u << 0)
#define STRIA_NVME_CC_MPS_SHIFT 7
#define STRIA_NVME_CC_SHN_MASK  (3u << 14)
#define STRIA_NVME_CC_SHN       (1u << 14) /* normal shutdown */
#define STRIA_NVME_CC_IOSQES    (6u << 16) /* submission entries of 2^6 bytes */
#define STRIA_NVME_CC_IOCQES    (4u << 20) /* completion entries of 2^4 bytes */

#define STRIA_NVME_CSTS_RDY           (1u << 0)
#define STRIA_NVME_CSTS_CFS           (1u << 1) /* fatal: only a reset helps */
#define STRIA_NVME_CSTS_SHST_MASK     (3u << 2)
#define STRIA_NVME_CSTS_SHST_COMPLETE (2u << 2)

/* Fields of CAP. */
static inline uint32_t stria_nvme_cap_entries_max(uint64_t cap)
{
    return (uint32_t)(cap & 0xffff) + 1; /* MQES is zero-based */
}

/* CAP.TO, the worst time from CC.EN to CSTS.RDY, in units of 500 ms. */
static inline uint64_t stria_nvme_cap_ready_ns(uint64_t cap)
{
    return (cap >> 24 & 0xff) * 500000000ull;
}

/* Bytes from one doorbell to the next: 2^(2 + DSTRD). */
static inline uint32_t stria_nvme_cap_stride_bytes(uint64_t cap)
{
    return 4u << (cap >> 32 & 0xf);
}

static inline uint32_t stria_nvme_cap_has_nvm_commands(uint64_t cap)
{
    return cap >> 37 & 1;
}

/* The smallest memory page: 2^(12 + MPSMIN) bytes. */
static inline uint32_t stria_nvme_cap_page_shift(uint64_t cap)
{
    return 12u + (uint32_t)(cap >> 48 & 0xf);
}

/* CAP.CRMS.CRWMS: CRTO holds a ready timeout that CAP.TO may be too small for. */
static inline uint32_t stria_nvme_cap_has_ready_timeouts(uint64_t cap)
{
    return cap >> 59 & 1;
}

/* The two doorbells of a queue pair. */
static inline uint32_t stria_nvme_doorbell_sq(uint64_t cap, uint32_t queue)
{
    return STRIA_NVME_DOORBELLS + 2 * queue * stria_nvme_cap_stride_bytes(cap);
}

static inline uint32_t stria_nvme_doorbell_cq(uint64_t cap, uint32_t queue)
{
    return STRIA_NVME_DOORBELLS + (2 * queue + 1) * stria_nvme_cap_stride_bytes(cap);
}

static inline uint32_t stria_nvme_read32(const struct stria_nvme_platform *platform, uint32_t offset)
{
    return platform->read32(platform->context, offset);
}

static inline void stria_nvme_write32(const struct stria_nvme_platform *platform, uint32_t offset,
                                      uint32_t value)
{
    platform->write32(platform->context, offset, value);
}

/* Wide registers go as two halves, the lower one first: not every interconnect carries 64 bits at once. */
static inline uint64_t stria_nvme_read64(const struct stria_nvme_platform *platform, uint32_t offset)
{
    const uint32_t low = stria_nvme_read32(platform, offset);
    return (uint64_t)stria_nvme_read32(platform, offset + 4) << 32 | low;
}

static inline void stria_nvme_write64(const struct stria_nvme_platform *platform, uint32_t offset,
                                      uint64_t value)
{
    stria_nvme_write32(platform, offset, (uint32_t)value);
    stria_nvme_write32(platform, offset + 4, (uint32_t)(value >> 32));
}

#endif
