/* Random numbers for property tests: the same in every run, on every machine. */
#ifndef STRIA_TESTS_UNIT_RANDOM_H
#define STRIA_TESTS_UNIT_RANDOM_H

#include "core/random.h"

#include <stddef.h>
#include <stdint.h>

static inline struct stria_random random_of(uint64_t seed)
{
    struct stria_random random;
    stria_random_seed(&random, seed);
    return random;
}

static inline void random_fill(struct stria_random *random, void *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out)[i] = (uint8_t)stria_random_next(random);
}

#endif
