#include "core/random.h"

#include "core/assert.h"

static uint64_t splitmix(uint64_t *counter)
{
    *counter += 0x9e3779b97f4a7c15u;
    uint64_t mixed = *counter;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

static uint64_t rotate_left(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

void stria_random_seed(struct stria_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = splitmix(&seed);
}

uint64_t stria_random_next(struct stria_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t stria_random_below(struct stria_random *random, uint64_t bound)
{
    STRIA_ASSERT(bound > 0);
    /* The values from here up are a whole multiple of bound: none of its remainders is favoured. */
    const uint64_t first_fair = -bound % bound;
    uint64_t value;
    do {
        value = stria_random_next(random);
    } while (value < first_fair);
    return value % bound;
}

uint64_t stria_random_between(struct stria_random *random, uint64_t low, uint64_t high)
{
    STRIA_ASSERT(low <= high);
    if (high - low == UINT64_MAX)
        return stria_random_next(random);
    return low + stria_random_below(random, high - low + 1);
}
