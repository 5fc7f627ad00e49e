#include "core/ratio.h"

#include "core/assert.h"

uint64_t stria_ratio_divide(stria_u128 dividend, uint64_t divisor)
{
    STRIA_ASSERT(divisor > 0);
    uint64_t remainder = (uint64_t)(dividend >> 64);
    uint64_t low = (uint64_t)dividend;
    if (remainder == 0)
        return low / divisor;
    if (remainder >= divisor)
        return UINT64_MAX;
    /* Long division bit by bit: the compiler's own 128-bit division is a library call, which core does not
     * make. */
    uint64_t quotient = 0;
    for (int bit = 63; bit >= 0; bit--) {
        const uint64_t carry = remainder >> 63;
        remainder = remainder << 1 | (low >> bit & 1);
        if (carry || remainder >= divisor) {
            remainder -= divisor;
            quotient |= (uint64_t)1 << bit;
        }
    }
    return quotient;
}

uint64_t stria_ratio_scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
    return stria_ratio_divide((stria_u128)value * numerator, denominator);
}

uint64_t stria_ratio_bytes_per_s(uint64_t bytes, uint64_t duration_ns)
{
    return stria_ratio_scale(bytes, STRIA_SECOND_NS, duration_ns);
}
