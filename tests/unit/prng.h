/* A small deterministic source of numbers for tests (SplitMix64 by Steele, Lea and Flood): the same seed, the
 * same run. */
#ifndef STRIA_TESTS_UNIT_PRNG_H
#define STRIA_TESTS_UNIT_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state; /* any seed */
};

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t z = prng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A number below limit > 0. */
static inline uint64_t prng_below(struct prng *prng, uint64_t limit)
{
    return prng_next(prng) % limit;
}

#endif
