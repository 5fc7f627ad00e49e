/* Compiled for AVX-512, whatever the rest is compiled for. */
#define XXH_INLINE_ALL
/* As fast as it hashes, xxHash's own distance of at most 512 bytes asks for the bytes too late: 67 instead of
 * 83 GB/s where they lie in the third cache. */
#define XXH_PREFETCH_DIST 2048
#include "core/digest_wide.h"

#include <xxhash.h>

uint64_t stria_digest_seeded_avx512(uint64_t seed, const void *data, size_t bytes)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}
