/* Everything of xxHash is compiled into this file: the freestanding core links no library. */
#define XXH_INLINE_ALL
#include "core/digest.h"

#include "core/bits.h"
#ifdef STRIA_DIGEST_WIDE
#include "core/digest_wide.h"
#endif

#include <xxhash.h>

/* Up to 240 bytes XXH3 uses no vectors. */
#define WIDE_BYTES_MIN 241u

uint64_t stria_digest_seed(uint64_t recording, uint64_t sequence)
{
    uint8_t bytes[16];
    stria_store_u64(bytes, recording);
    stria_store_u64(bytes + 8, sequence);
    return XXH3_64bits(bytes, sizeof(bytes));
}

uint64_t stria_digest_seeded(uint64_t seed, const void *data, size_t bytes)
{
#ifdef STRIA_DIGEST_WIDE
    if (bytes >= WIDE_BYTES_MIN && __builtin_cpu_supports("avx512f"))
        return stria_digest_seeded_avx512(seed, data, bytes);
    if (bytes >= WIDE_BYTES_MIN && __builtin_cpu_supports("avx2"))
        return stria_digest_seeded_avx2(seed, data, bytes);
#endif
    return XXH3_64bits_withSeed(data, bytes, seed);
}
