#include "measure/content.h"

#include "core/ratio.h"
#include "core/synthetic.h"
#include "support/clock.h"

#include <string.h>

/* What is marked anew: small enough that a drive which looks for blocks it has seen before finds none. */
#define MARK_EVERY_BYTES 4096u

#define MEASURE_NS 30000000ull

void stria_content_prepare(const struct stria_content *content, void *memory, size_t bytes)
{
    stria_synthetic_fill(memory, bytes, 0, content->seed);
}

static void mark(char *data, size_t bytes, uint64_t offset, uint64_t turn)
{
    for (size_t at = 0; at < bytes; at += MARK_EVERY_BYTES) {
        const uint64_t words[2] = {offset + at, turn};
        memcpy(data + at, words, sizeof(words));
    }
}

void stria_content_make(const struct stria_content *content, void *data, size_t bytes, uint64_t offset,
                        uint64_t turn)
{
    if (content->known)
        stria_synthetic_fill(data, bytes, offset, content->seed);
    else
        mark(data, bytes, offset, turn);
}

static bool all_zero(const unsigned char *block)
{
    return block[0] == 0 && memcmp(block, block + 1, STRIA_SYNTHETIC_BLOCK_BYTES - 1) == 0;
}

static uint64_t *verdict_on(const unsigned char *block, uint64_t offset, uint64_t seed,
                            struct stria_content_counts *counts)
{
    uint64_t number, found_seed;
    size_t bad;
    if (all_zero(block))
        return &counts->missing;
    if (!stria_synthetic_identify(block, &number, &found_seed))
        return &counts->corrupt;
    /* A header alone is no proof: the block must be whole where it says that it belongs. */
    if (stria_synthetic_check(block, STRIA_SYNTHETIC_BLOCK_BYTES, number * STRIA_SYNTHETIC_BLOCK_BYTES,
                              &bad) != STRIA_SYNTHETIC_OK)
        return &counts->corrupt;
    if (number != offset / STRIA_SYNTHETIC_BLOCK_BYTES)
        return &counts->misplaced;
    return found_seed == seed ? &counts->ok : &counts->stale;
}

void stria_content_compare(const void *data, size_t bytes, uint64_t offset, uint64_t seed,
                           struct stria_content_counts *counts)
{
    const unsigned char *block = data;
    for (size_t at = 0; at + STRIA_SYNTHETIC_BLOCK_BYTES <= bytes; at += STRIA_SYNTHETIC_BLOCK_BYTES)
        ++*verdict_on(block + at, offset + at, seed, counts);
}

void stria_content_counts_add(struct stria_content_counts *into, const struct stria_content_counts *from)
{
    into->ok += from->ok;
    into->corrupt += from->corrupt;
    into->missing += from->missing;
    into->misplaced += from->misplaced;
    into->stale += from->stale;
}

uint64_t stria_content_bytes_per_s(const struct stria_content *content, void *memory, size_t bytes,
                                   size_t block_bytes)
{
    const uint64_t start_ns = stria_clock_ns();
    uint64_t made = 0, turn = 0, now_ns;
    do {
        for (size_t at = 0; at + block_bytes <= bytes; at += block_bytes) {
            stria_content_make(content, (char *)memory + at, block_bytes, made, turn++);
            made += block_bytes;
        }
        now_ns = stria_clock_ns();
    } while (now_ns - start_ns < MEASURE_NS);
    return stria_ratio_bytes_per_s(made, now_ns - start_ns);
}
