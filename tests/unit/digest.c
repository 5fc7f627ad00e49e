#include "core/digest.h"

#include "core/digest_wide.h"
#include "tests/unit/random.h"

#include <criterion/criterion.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The expected values were computed by tests/format/xxh3.py, which shares no code with xxHash. */
Test(digest, is_xxh3_64_with_a_seed)
{
    uint8_t ramp[4096];
    for (unsigned i = 0; i < sizeof(ramp); i++)
        ramp[i] = (uint8_t)i;
    cr_assert_eq(stria_digest_seeded(0, NULL, 0), UINT64_C(0x2d06800538d394c2));
    cr_assert_eq(stria_digest_seeded(0, "a", 1), UINT64_C(0xe6c632b61e964e1f));
    cr_assert_eq(stria_digest_seeded(1, "stria", 5), UINT64_C(0xb7ddc019013f4943));
    cr_assert_eq(stria_digest_seeded(UINT64_C(0x123456789abcdef0), ramp, sizeof(ramp)),
                 UINT64_C(0x2bacf2471700117d));
}

Test(digest, seed_is_the_hash_of_recording_then_sequence)
{
    cr_assert_eq(stria_digest_seed(7, 9), UINT64_C(0xb47fa3e6404f220b));
    cr_assert_eq(stria_digest_seed(9, 7), UINT64_C(0x13ee2d353cba1f9d));
}

Test(digest, the_same_bytes_in_another_place_differ)
{
    static uint8_t payload[65536];
    struct stria_random random = random_of(1);
    random_fill(&random, payload, sizeof(payload));
    const uint64_t here = stria_digest_seeded(stria_digest_seed(1, 0), payload, sizeof(payload));
    for (uint64_t sequence = 1; sequence < 200; sequence++) {
        const uint64_t there = stria_digest_seeded(stria_digest_seed(1, sequence), payload, sizeof(payload));
        const uint64_t elsewhere =
            stria_digest_seeded(stria_digest_seed(1 + sequence, 0), payload, sizeof(payload));
        cr_assert_neq(there, here);
        cr_assert_neq(elsewhere, here);
    }
}

Test(digest, does_not_depend_on_the_alignment_of_the_bytes)
{
    uint8_t room[4096 + 64];
    struct stria_random random = random_of(2);
    uint8_t payload[4096];
    random_fill(&random, payload, sizeof(payload));
    const uint64_t expected = stria_digest_seeded(5, payload, sizeof(payload));
    for (unsigned shift = 0; shift < 64; shift++) {
        memcpy(room + shift, payload, sizeof(payload));
        cr_assert_eq(stria_digest_seeded(5, room + shift, sizeof(payload)), expected);
    }
}

/* This file is compiled for any processor. */
static void expect_xxh3(uint64_t (*digest)(uint64_t seed, const void *data, size_t bytes))
{
    static uint8_t payload[9000];
    struct stria_random random = random_of(3);
    random_fill(&random, payload, sizeof(payload));
    for (size_t bytes = 0; bytes <= sizeof(payload); bytes += bytes < 2200 ? 1 : 97)
        cr_assert_eq(digest(bytes * 31, payload, bytes), XXH3_64bits_withSeed(payload, bytes, bytes * 31),
                     "of %zu bytes", bytes);
}

Test(digest, is_the_same_however_wide_the_vectors_are)
{
    expect_xxh3(stria_digest_seeded);
}

#ifdef __x86_64__
/* The hosted core chooses the widest that the processor has; so each is looked at by itself. */
Test(digest, is_the_same_with_avx2)
{
    if (!__builtin_cpu_supports("avx2"))
        cr_skip_test("this processor has none");
    expect_xxh3(stria_digest_seeded_avx2);
}

Test(digest, is_the_same_with_avx_512)
{
    if (!__builtin_cpu_supports("avx512f"))
        cr_skip_test("this processor has none");
    expect_xxh3(stria_digest_seeded_avx512);
}
#endif
