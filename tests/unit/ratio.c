#include "core/ratio.h"

#include "core/random.h"

#include <criterion/criterion.h>

Test(ratio, rounds_down)
{
    cr_assert_eq(stria_ratio_scale(10, 1, 3), 3u);
    cr_assert_eq(stria_ratio_bytes_per_s(1, 2 * STRIA_SECOND_NS), 0u);
    cr_assert_eq(stria_ratio_bytes_per_s(3, 2 * STRIA_SECOND_NS), 1u);
}

Test(ratio, products_beyond_64_bits_are_exact)
{
    cr_assert_eq(stria_ratio_scale(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
    cr_assert_eq(stria_ratio_scale(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX), UINT64_MAX - 1);
    /* 3 TiB in 1000 s: bytes times nanoseconds needs 72 bits. */
    cr_assert_eq(stria_ratio_bytes_per_s(UINT64_C(3) << 40, 1000 * STRIA_SECOND_NS), UINT64_C(3298534883));
}

Test(ratio, a_quotient_that_does_not_fit_is_the_largest_number)
{
    cr_assert_eq(stria_ratio_scale(UINT64_MAX, 2, 1), UINT64_MAX);
    cr_assert_eq(stria_ratio_bytes_per_s(UINT64_MAX, 1), UINT64_MAX);
}

Test(ratio, agrees_with_the_compilers_own_wide_division)
{
    struct stria_random random;
    stria_random_seed(&random, 1);
    for (int round = 0; round < 100000; round++) {
        const uint64_t value = stria_random_next(&random) >> stria_random_below(&random, 64);
        const uint64_t numerator = stria_random_next(&random) >> stria_random_below(&random, 64);
        const uint64_t denominator = (stria_random_next(&random) >> stria_random_below(&random, 64)) | 1;
        const stria_u128 expected = (stria_u128)value * numerator / denominator;
        cr_assert_eq(stria_ratio_scale(value, numerator, denominator),
                     expected > UINT64_MAX ? UINT64_MAX : (uint64_t)expected);
    }
}
