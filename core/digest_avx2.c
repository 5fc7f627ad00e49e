/* Compiled for AVX2, whatever the rest is compiled for. */
#define XXH_INLINE_ALL
#include "core/digest_wide.h"

#include <xxhash.h>

uint64_t stria_digest_seeded_avx2(uint64_t seed, const void *data, size_t bytes)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}
