#include "core/synthetic.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 64u
#define BYTES  ((size_t)BLOCKS * STRIA_SYNTHETIC_BLOCK_BYTES)

static unsigned char *stream(uint64_t offset, uint64_t seed)
{
    unsigned char *data = aligned_alloc(4096, BYTES);
    stria_synthetic_fill(data, BYTES, offset, seed);
    return data;
}

static void assert_bad(const unsigned char *data, uint64_t offset, enum stria_synthetic_verdict verdict,
                       size_t at)
{
    size_t bad = SIZE_MAX;
    cr_assert_eq(stria_synthetic_check(data, BYTES, offset, &bad), verdict);
    cr_assert_eq(bad, at);
}

Test(synthetic, what_was_made_is_good_from_any_block_on)
{
    size_t bad;
    unsigned char *data = stream(1ull << 40, 7);
    for (unsigned block = 0; block < BLOCKS; block++) {
        const size_t at = (size_t)block * STRIA_SYNTHETIC_BLOCK_BYTES;
        cr_assert_eq(stria_synthetic_check(data + at, BYTES - at, (1ull << 40) + at, &bad),
                     STRIA_SYNTHETIC_OK);
    }
    free(data);
}

Test(synthetic, the_stream_is_the_same_however_it_is_cut)
{
    unsigned char *whole = stream(0, 3), piece[3 * STRIA_SYNTHETIC_BLOCK_BYTES];
    stria_synthetic_fill(piece, sizeof(piece), 5 * STRIA_SYNTHETIC_BLOCK_BYTES, 3);
    cr_assert_arr_eq(piece, whole + 5 * STRIA_SYNTHETIC_BLOCK_BYTES, sizeof(piece));
    memset(piece, 0, sizeof(piece));
    stria_synthetic_fill(piece, 5000, 0, 3);
    cr_assert_arr_eq(piece, whole, 5000);
    cr_assert_eq(piece[5000], 0);
    free(whole);
}

Test(synthetic, a_tail_of_any_length_can_be_checked)
{
    unsigned char *data = stream(0, 1);
    size_t bad;
    for (size_t bytes = 0; bytes < 2 * STRIA_SYNTHETIC_BLOCK_BYTES; bytes += 7)
        cr_assert_eq(stria_synthetic_check(data, bytes, 0, &bad), STRIA_SYNTHETIC_OK, "%zu bytes", bytes);
    data[STRIA_SYNTHETIC_BLOCK_BYTES + 9] ^= 1;
    cr_assert_neq(stria_synthetic_check(data, STRIA_SYNTHETIC_BLOCK_BYTES + 10, 0, &bad), STRIA_SYNTHETIC_OK);
    free(data);
}

Test(synthetic, every_flipped_bit_is_found_where_it_is)
{
    unsigned char *data = stream(0, 9);
    for (size_t at = 32; at < BYTES; at += 997) {
        if (at % STRIA_SYNTHETIC_BLOCK_BYTES < 32)
            continue;
        data[at] ^= 0x10;
        assert_bad(data, 0, STRIA_SYNTHETIC_DAMAGED, at);
        data[at] ^= 0x10;
    }
    free(data);
}

Test(synthetic, swapped_lost_and_foreign_blocks_are_told_apart)
{
    const size_t block = STRIA_SYNTHETIC_BLOCK_BYTES;
    unsigned char *data = stream(0, 9), *other = stream(0, 10);
    memcpy(data + 3 * block, other + 3 * block, block);
    assert_bad(data, 0, STRIA_SYNTHETIC_MIXED, 3 * block);
    memcpy(data + 3 * block, data + 4 * block, block);
    assert_bad(data, 0, STRIA_SYNTHETIC_MISPLACED, 3 * block);
    memset(data + 3 * block, 0, block);
    assert_bad(data, 0, STRIA_SYNTHETIC_ALIEN, 3 * block);
    assert_bad(other, block, STRIA_SYNTHETIC_MISPLACED, 0);
    free(data);
    free(other);
}

Test(synthetic, streams_cannot_be_compressed)
{
    /* Every byte value comes about as often as the others, and no 8 bytes come twice. */
    unsigned char *data = stream(0, 0);
    size_t counts[256] = {0}, repeats = 0;
    for (size_t i = 0; i < BYTES; i++)
        counts[data[i]]++;
    for (size_t block = 0; block < BLOCKS; block++)
        for (size_t i = 40; i + 8 <= STRIA_SYNTHETIC_BLOCK_BYTES; i += 8)
            repeats += memcmp(data + block * STRIA_SYNTHETIC_BLOCK_BYTES + i,
                              data + block * STRIA_SYNTHETIC_BLOCK_BYTES + i - 8, 8) == 0;
    cr_assert_eq(repeats, 0);
    for (unsigned value = 1; value < 256; value++)
        cr_assert(counts[value] > BYTES / 256 * 3 / 4 && counts[value] < BYTES / 256 * 5 / 4, "%u: %zu times",
                  value, counts[value]);
    free(data);
}

Test(synthetic, a_block_says_which_it_is_and_of_what_stream)
{
    unsigned char *data = stream(1ull << 40, 9);
    uint64_t number, seed;
    cr_assert(stria_synthetic_identify(data + STRIA_SYNTHETIC_BLOCK_BYTES, &number, &seed));
    cr_assert_eq(number, (1ull << 40) / STRIA_SYNTHETIC_BLOCK_BYTES + 1);
    cr_assert_eq(seed, 9);
    memset(data, 0, STRIA_SYNTHETIC_BLOCK_BYTES);
    cr_assert_not(stria_synthetic_identify(data, &number, &seed));
    free(data);
}
