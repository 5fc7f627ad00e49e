/* The one hash of Stria: XXH3-64, of payloads and of metadata. */
#ifndef STRIA_CORE_DIGEST_H
#define STRIA_CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* The seed for the payload of one chunk, so that the right bytes in the wrong place do not pass:
 * XXH3-64, unseeded, of the 16 bytes recording ‖ sequence, both little-endian. */
uint64_t stria_digest_seed(uint64_t recording, uint64_t sequence);

/* XXH3-64 of data under a seed. data may be null when bytes is 0. */
uint64_t stria_digest_seeded(uint64_t seed, const void *data, size_t bytes);

#endif
