/* A seeded generator for everything that is random and must be repeatable: xoshiro256** by Blackman and
 * Vigna, its state filled by splitmix64. Not for secrets. */
#ifndef STRIA_CORE_RANDOM_H
#define STRIA_CORE_RANDOM_H

#include <stdint.h>

struct stria_random {
    uint64_t state[4]; /* never all zero */
};

/* The same seed gives the same numbers for ever; every seed is a good one, zero too. */
void stria_random_seed(struct stria_random *random, uint64_t seed);

/* Uniform over all 64-bit values. */
uint64_t stria_random_next(struct stria_random *random);

/* Uniform over 0 … bound − 1, without bias. bound > 0. */
uint64_t stria_random_below(struct stria_random *random, uint64_t bound);

/* Uniform over low … high, both included. low <= high. */
uint64_t stria_random_between(struct stria_random *random, uint64_t low, uint64_t high);

#endif
