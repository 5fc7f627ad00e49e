/* gcc takes a load of 16 bytes for one that wants an alignment of 16, and under -mstrict-align makes 16 loads
 * of it. The instruction wants what its elements want, bytes here: none, also where memory is device memory.
 */
#ifndef STRIA_FIRMWARE_ARM_NEON_H
#define STRIA_FIRMWARE_ARM_NEON_H

#ifdef __ARM_NEON
#include_next <arm_neon.h>

static inline uint8x16_t stria_vector_load(const uint8_t *in)
{
    uint8x16_t out;
    __asm__("ld1 {%0.16b}, [%1]" : "=w"(out) : "r"(in), "m"(*(const uint8_t(*)[16])in));
    return out;
}
#define vld1q_u8(in) stria_vector_load((const uint8_t *)(in))
#endif

#endif
