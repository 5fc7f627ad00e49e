#include "core/synthetic.h"

#include <string.h>

#define HEADER_BYTES 32u

/* Independent generators side by side, so that the compiler makes vector instructions of them. */
#define LANES 16u
#define ROWS  (STRIA_SYNTHETIC_BLOCK_BYTES / sizeof(uint64_t) / LANES)

static const char magic[8] = {'S', 'T', 'R', 'I', 'A', 'S', 'Y', 'N'};

struct header {
    char magic[8];
    uint64_t number, stream_offset, seed; /* little-endian */
};
_Static_assert(sizeof(struct header) == HEADER_BYTES, "the header is part of the stream's definition");

/* To and from little-endian, as an operation on the number, so that the rows below stay vectors. */
static inline uint64_t little(uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(value);
#else
    return value;
#endif
}

/* SplitMix64's finaliser (Steele, Lea and Flood): neighbouring inputs give unrelated outputs. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* Xorshift64 (Marsaglia) in each lane: shifts and exclusive ors, which every vector unit has. */
static inline __attribute__((always_inline)) void make_rows(uint64_t out[ROWS * LANES], uint64_t state[LANES])
{
    for (unsigned row = 0; row < ROWS; row++) {
        for (unsigned lane = 0; lane < LANES; lane++) {
            uint64_t x = state[lane];
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            state[lane] = x;
            out[row * LANES + lane] = little(x);
        }
    }
}

#if defined(__x86_64__) && __STDC_HOSTED__
/* The same loop for wider registers, about twice as fast. */
__attribute__((target("avx2"))) static void make_rows_avx2(uint64_t out[ROWS * LANES], uint64_t state[LANES])
{
    make_rows(out, state);
}
#endif

static void make_all_rows(uint64_t out[ROWS * LANES], uint64_t state[LANES])
{
#if defined(__x86_64__) && __STDC_HOSTED__
    if (__builtin_cpu_supports("avx2")) {
        make_rows_avx2(out, state);
        return;
    }
#endif
    make_rows(out, state);
}

static void make_block(uint64_t out[ROWS * LANES], uint64_t number, uint64_t seed)
{
    uint64_t state[LANES];
    const uint64_t start = mix(seed) ^ mix(number + 0x9e3779b97f4a7c15u);
    for (unsigned lane = 0; lane < LANES; lane++)
        state[lane] = mix(start + lane * 0x9e3779b97f4a7c15u) | 1;
    make_all_rows(out, state);
    struct header header = {.number = little(number),
                            .stream_offset = little(number * STRIA_SYNTHETIC_BLOCK_BYTES),
                            .seed = little(seed)};
    memcpy(header.magic, magic, sizeof(magic));
    memcpy(out, &header, sizeof(header));
}

void stria_synthetic_fill(void *buffer, size_t bytes, uint64_t stream_offset, uint64_t seed)
{
    uint64_t number = stream_offset / STRIA_SYNTHETIC_BLOCK_BYTES;
    char *out = buffer;
    for (; bytes >= STRIA_SYNTHETIC_BLOCK_BYTES; bytes -= STRIA_SYNTHETIC_BLOCK_BYTES) {
        make_block((uint64_t *)(void *)out, number++, seed);
        out += STRIA_SYNTHETIC_BLOCK_BYTES;
    }
    if (bytes) {
        uint64_t block[ROWS * LANES];
        make_block(block, number, seed);
        memcpy(out, block, bytes);
    }
}

bool stria_synthetic_identify(const void *block, uint64_t *number, uint64_t *seed)
{
    struct header header;
    memcpy(&header, block, sizeof(header));
    *number = little(header.number);
    *seed = little(header.seed);
    return memcmp(header.magic, magic, sizeof(magic)) == 0 &&
           little(header.stream_offset) == *number * STRIA_SYNTHETIC_BLOCK_BYTES;
}

static enum stria_synthetic_verdict check_header(const char *data, uint64_t number, bool seed_known,
                                                 uint64_t *seed)
{
    struct header header;
    memcpy(&header, data, sizeof(header));
    if (memcmp(header.magic, magic, sizeof(magic)) != 0)
        return STRIA_SYNTHETIC_ALIEN;
    if (little(header.number) != number ||
        little(header.stream_offset) != number * STRIA_SYNTHETIC_BLOCK_BYTES)
        return STRIA_SYNTHETIC_MISPLACED;
    if (seed_known && little(header.seed) != *seed)
        return STRIA_SYNTHETIC_MIXED;
    *seed = little(header.seed);
    return STRIA_SYNTHETIC_OK;
}

static size_t first_difference(const char *a, const char *b, size_t bytes)
{
    size_t i = 0;
    while (i < bytes && a[i] == b[i])
        i++;
    return i;
}

enum stria_synthetic_verdict stria_synthetic_check(const void *buffer, size_t bytes, uint64_t stream_offset,
                                                   size_t *first_bad)
{
    uint64_t block[ROWS * LANES], seed = 0;
    for (size_t at = 0; at < bytes; at += STRIA_SYNTHETIC_BLOCK_BYTES) {
        const char *data = (const char *)buffer + at;
        size_t length = bytes - at < sizeof(block) ? bytes - at : sizeof(block);
        const uint64_t number = (stream_offset + at) / STRIA_SYNTHETIC_BLOCK_BYTES;
        enum stria_synthetic_verdict verdict = STRIA_SYNTHETIC_OK;
        *first_bad = at;
        if (length >= HEADER_BYTES)
            verdict = check_header(data, number, at > 0, &seed);
        else if (at == 0 && length > HEADER_BYTES - sizeof(seed))
            length = HEADER_BYTES - sizeof(seed); /* cut within the seed, which is not known otherwise */
        if (verdict != STRIA_SYNTHETIC_OK)
            return verdict;
        make_block(block, number, seed);
        if (memcmp(data, block, length) == 0)
            continue;
        *first_bad = at + first_difference(data, (const char *)block, length);
        return STRIA_SYNTHETIC_DAMAGED;
    }
    return STRIA_SYNTHETIC_OK;
}
