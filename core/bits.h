/* Little-endian loads and stores at any alignment, right on a host of either endianness, and the small
 * integer helpers that every module would otherwise write for itself. */
#ifndef STRIA_CORE_BITS_H
#define STRIA_CORE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t stria_load_u16(const uint8_t *in)
{
    return (uint16_t)(in[0] | in[1] << 8);
}

static inline uint32_t stria_load_u32(const uint8_t *in)
{
    return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static inline uint64_t stria_load_u64(const uint8_t *in)
{
    return stria_load_u32(in) | (uint64_t)stria_load_u32(in + 4) << 32;
}

static inline void stria_store_u16(uint8_t *out, uint16_t value)
{
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}

static inline void stria_store_u32(uint8_t *out, uint32_t value)
{
    stria_store_u16(out, (uint16_t)value);
    stria_store_u16(out + 2, (uint16_t)(value >> 16));
}

static inline void stria_store_u64(uint8_t *out, uint64_t value)
{
    stria_store_u32(out, (uint32_t)value);
    stria_store_u32(out + 4, (uint32_t)(value >> 32));
}

/* True for 1, 2, 4, …; false for zero. */
static inline bool stria_is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* unit is a power of two. The sum must not pass 2^64 − 1. */
static inline uint64_t stria_align_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) & ~(unit - 1);
}

static inline uint64_t stria_align_down(uint64_t value, uint64_t unit)
{
    return value & ~(unit - 1);
}

/* True when every one of bytes is zero; so also for none. */
static inline bool stria_all_zero(const uint8_t *in, size_t bytes)
{
    uint8_t seen = 0;
    for (size_t i = 0; i < bytes; i++)
        seen |= in[i];
    return seen == 0;
}

#endif
