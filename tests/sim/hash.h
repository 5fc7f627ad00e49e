/* The hashes of docs/format.md, computed without the core: a core that hashes wrongly is not to be checked by
 * itself. */
#ifndef STRIA_TESTS_SIM_HASH_H
#define STRIA_TESTS_SIM_HASH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3-64 of data under a seed. */
uint64_t sim_hash(uint64_t seed, const void *data, size_t bytes);

/* The seed for the payload of one chunk. */
uint64_t sim_hash_seed(uint64_t recording, uint64_t sequence);

#endif
