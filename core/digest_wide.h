/* The same hash by wider vectors, where the processor has them. Part of the hosted core only: a bare-metal
 * program is compiled for its processor as a whole. */
#ifndef STRIA_CORE_DIGEST_WIDE_H
#define STRIA_CORE_DIGEST_WIDE_H

#include <stddef.h>
#include <stdint.h>

/* stria_digest_seeded() with AVX2, and with AVX-512 Foundation; only where the processor has it. */
uint64_t stria_digest_seeded_avx2(uint64_t seed, const void *data, size_t bytes);
uint64_t stria_digest_seeded_avx512(uint64_t seed, const void *data, size_t bytes);

#endif
