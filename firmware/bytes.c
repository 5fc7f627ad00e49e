/* The four functions that a freestanding compiler may call. Device memory, which all memory is while the MMU
 * is off, wants aligned accesses: whole words where both sides allow it, bytes else. */
#include <stdint.h>
#include <string.h>

#define WORD sizeof(uint64_t)

typedef uint64_t __attribute__((may_alias)) word;

static int words_fit(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & (WORD - 1)) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if (words_fit(to, from)) {
        for (; bytes >= 4 * WORD; bytes -= 4 * WORD, out += 4 * WORD, in += 4 * WORD) {
            const word *source = (const word *)(const void *)in;
            word *target = (word *)(void *)out;
            target[0] = source[0];
            target[1] = source[1];
            target[2] = source[2];
            target[3] = source[3];
        }
        for (; bytes >= WORD; bytes -= WORD, out += WORD, in += WORD)
            *(word *)(void *)out = *(const word *)(const void *)in;
    }
    while (bytes-- > 0)
        *out++ = *in++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    if ((uintptr_t)to - (uintptr_t)from >= bytes)
        return memcpy(to, from, bytes);
    uint8_t *out = to;
    const uint8_t *in = from;
    while (bytes-- > 0)
        out[bytes] = in[bytes];
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;
    const uint64_t pattern = (uint8_t)value * UINT64_C(0x0101010101010101);
    for (; bytes > 0 && ((uintptr_t)out & (WORD - 1)) != 0; bytes--)
        *out++ = (uint8_t)value;
    for (; bytes >= 4 * WORD; bytes -= 4 * WORD, out += 4 * WORD) {
        word *target = (word *)(void *)out;
        target[0] = pattern;
        target[1] = pattern;
        target[2] = pattern;
        target[3] = pattern;
    }
    while (bytes-- > 0)
        *out++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *left = a, *right = b;
    if (words_fit(a, b))
        for (; bytes >= WORD && *(const word *)(const void *)left == *(const word *)(const void *)right;
             bytes -= WORD, left += WORD, right += WORD)
            ;
    for (; bytes > 0; bytes--, left++, right++)
        if (*left != *right)
            return *left < *right ? -1 : 1;
    return 0;
}
