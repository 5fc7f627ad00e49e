#include "core/fill.h"

#include "core/random.h"

#include <criterion/criterion.h>

#define CAPACITY_BYTES ((uint64_t)1000003 * 512)

static uint64_t sum_of_segments(const struct stria_fill *fill)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STRIA_FILL_SEGMENTS; i++)
        sum += fill->segment_used_bytes[i];
    return sum;
}

Test(fill, data_written_once_is_counted_exactly_in_any_order)
{
    struct stria_fill fill = {0};
    const uint64_t piece_bytes = 65536;
    const uint64_t pieces = CAPACITY_BYTES / piece_bytes;
    for (uint64_t i = 0; i < pieces; i++) {
        const uint64_t place = i * 7919 % pieces;
        cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, place * piece_bytes, piece_bytes), piece_bytes);
        cr_assert_eq(fill.used_bytes, (i + 1) * piece_bytes);
    }
    cr_assert_eq(sum_of_segments(&fill), fill.used_bytes);
}

Test(fill, writing_a_full_drive_again_adds_nothing)
{
    struct stria_fill fill = {0};
    cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, 0, CAPACITY_BYTES), CAPACITY_BYTES);
    cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, 12345, 678901), 0);
    cr_assert_eq(fill.used_bytes, CAPACITY_BYTES);
}

Test(fill, a_trim_frees_whole_segments_exactly)
{
    struct stria_fill fill = {0};
    stria_fill_write(&fill, CAPACITY_BYTES, 0, CAPACITY_BYTES);
    const uint64_t segment_bytes = stria_fill_segment_bytes(CAPACITY_BYTES);
    cr_assert_eq(stria_fill_trim(&fill, CAPACITY_BYTES, 3 * segment_bytes, 5 * segment_bytes),
                 5 * segment_bytes);
    cr_assert_eq(stria_fill_trim(&fill, CAPACITY_BYTES, 3 * segment_bytes, 5 * segment_bytes), 0);
    cr_assert_eq(stria_fill_trim(&fill, CAPACITY_BYTES, 0, UINT64_MAX), CAPACITY_BYTES - 5 * segment_bytes);
    cr_assert_eq(fill.used_bytes, 0);
}

Test(fill, what_lies_past_the_capacity_is_left_out)
{
    struct stria_fill fill = {0};
    cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, CAPACITY_BYTES - 100, 4096), 100);
    cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, CAPACITY_BYTES, 4096), 0);
    cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, UINT64_MAX, UINT64_MAX), 0);
    cr_assert_eq(fill.used_bytes, 100);
}

Test(fill, a_drive_smaller_than_its_number_of_segments_works)
{
    struct stria_fill fill = {0};
    cr_assert_eq(stria_fill_write(&fill, 3, 0, 10), 3);
    cr_assert_eq(stria_fill_trim(&fill, 3, 1, 1), 1);
    cr_assert_eq(fill.used_bytes, 2);
}

Test(fill, whatever_is_written_and_trimmed_the_sum_holds_and_no_segment_overflows)
{
    struct stria_fill fill = {0};
    struct stria_random random;
    stria_random_seed(&random, 1);
    const uint64_t segment_bytes = stria_fill_segment_bytes(CAPACITY_BYTES);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t offset = stria_random_below(&random, CAPACITY_BYTES);
        const uint64_t bytes = stria_random_between(&random, 1, 3 * segment_bytes);
        const uint64_t before = fill.used_bytes;
        if (stria_random_below(&random, 2))
            cr_assert_eq(stria_fill_write(&fill, CAPACITY_BYTES, offset, bytes), fill.used_bytes - before);
        else
            cr_assert_eq(stria_fill_trim(&fill, CAPACITY_BYTES, offset, bytes), before - fill.used_bytes);
        if (i % 500 == 0)
            cr_assert_eq(sum_of_segments(&fill), fill.used_bytes);
    }
    for (unsigned i = 0; i < STRIA_FILL_SEGMENTS; i++)
        cr_assert_leq(fill.segment_used_bytes[i], segment_bytes);
}
