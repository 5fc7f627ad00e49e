#include "measure/content.h"

#include "core/synthetic.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  STRIA_SYNTHETIC_BLOCK_BYTES
#define BLOCKS 16u
#define BYTES  ((size_t)BLOCKS * BLOCK)

static unsigned char *stream(uint64_t offset, uint64_t seed)
{
    const struct stria_content content = {.known = true, .seed = seed};
    unsigned char *data = aligned_alloc(4096, BYTES);
    stria_content_make(&content, data, BYTES, offset, 0);
    return data;
}

static struct stria_content_counts compared(const unsigned char *data, uint64_t offset, uint64_t seed)
{
    struct stria_content_counts counts = {0};
    stria_content_compare(data, BYTES, offset, seed, &counts);
    cr_assert_eq(counts.ok + counts.corrupt + counts.missing + counts.misplaced + counts.stale, BLOCKS);
    return counts;
}

Test(content, what_was_written_is_ok_at_its_place)
{
    unsigned char *data = stream(64 * BLOCK, 5);
    cr_assert_eq(compared(data, 64 * BLOCK, 5).ok, BLOCKS);
    free(data);
}

Test(content, each_kind_of_damage_has_its_name)
{
    unsigned char *data = stream(0, 5), *older = stream(0, 4);
    memset(data + 1 * BLOCK, 0, BLOCK);
    memcpy(data + 2 * BLOCK, older + 2 * BLOCK, BLOCK);
    memcpy(data + 3 * BLOCK, data + 9 * BLOCK, BLOCK);
    data[4 * BLOCK + 100] ^= 1;
    data[5 * BLOCK] ^= 1;
    struct stria_content_counts counts = compared(data, 0, 5);
    cr_assert_eq(counts.missing, 1);
    cr_assert_eq(counts.stale, 1);
    cr_assert_eq(counts.misplaced, 1);
    cr_assert_eq(counts.corrupt, 2);
    cr_assert_eq(counts.ok, BLOCKS - 5);
    free(data);
    free(older);
}

Test(content, a_right_header_over_wrong_bytes_is_corrupt_and_neither_stale_nor_misplaced)
{
    unsigned char *data = stream(0, 5), *older = stream(0, 4);
    memcpy(data, older, 64);
    memcpy(data + BLOCK, data + 9 * BLOCK, 64);
    struct stria_content_counts counts = compared(data, 0, 5);
    cr_assert_eq(counts.corrupt, 2);
    cr_assert_eq(counts.stale + counts.misplaced, 0);
    free(data);
    free(older);
}

Test(content, noise_is_never_the_same_twice_and_cannot_be_compressed)
{
    const struct stria_content content = {.seed = 1};
    unsigned char *data = aligned_alloc(4096, BYTES), *before = malloc(BYTES);
    stria_content_prepare(&content, data, BYTES);
    stria_content_make(&content, data, BYTES, 0, 0);
    for (uint64_t turn = 1; turn < 4; turn++) {
        memcpy(before, data, BYTES);
        /* Even the same place, written again, is not what a drive has seen before. */
        stria_content_make(&content, data, BYTES, 0, turn);
        for (unsigned block = 0; block < BLOCKS; block++)
            cr_assert_neq(memcmp(data + block * BLOCK, before + block * BLOCK, BLOCK), 0);
    }
    size_t counts[256] = {0};
    for (size_t i = 0; i < BYTES; i++)
        counts[data[i]]++;
    for (unsigned value = 1; value < 256; value++)
        cr_assert(counts[value] > BYTES / 256 / 2 && counts[value] < BYTES / 256 * 2);
    free(data);
    free(before);
}
