#define XXH_INLINE_ALL
#include "tests/sim/hash.h"

#include <xxhash.h>

uint64_t sim_hash(uint64_t seed, const void *data, size_t bytes)
{
    return XXH3_64bits_withSeed(data, bytes, seed);
}

uint64_t sim_hash_seed(uint64_t recording, uint64_t sequence)
{
    uint8_t bytes[16];
    for (int index = 0; index < 8; index++) {
        bytes[index] = (uint8_t)(recording >> 8 * index);
        bytes[8 + index] = (uint8_t)(sequence >> 8 * index);
    }
    return sim_hash(0, bytes, sizeof(bytes));
}
