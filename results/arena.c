#include "results/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stria_arena_block {
    struct stria_arena_block *next;
    alignas(max_align_t) char bytes[];
};

void *stria_arena_take(struct stria_arena *arena, size_t count, size_t bytes)
{
    if (bytes && count > (SIZE_MAX - sizeof(struct stria_arena_block)) / bytes)
        abort();
    struct stria_arena_block *block = calloc(1, sizeof(*block) + count * bytes);
    if (!block)
        abort();
    block->next = arena->blocks;
    arena->blocks = block;
    return block->bytes;
}

char *stria_arena_text(struct stria_arena *arena, const char *text)
{
    if (!text)
        return NULL;
    const size_t bytes = strlen(text) + 1;
    return memcpy(stria_arena_take(arena, bytes, 1), text, bytes);
}

char *stria_arena_format(struct stria_arena *arena, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    if (length < 0)
        abort();
    char *text = stria_arena_take(arena, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void stria_arena_clear(struct stria_arena *arena)
{
    while (arena->blocks) {
        struct stria_arena_block *next = arena->blocks->next;
        free(arena->blocks);
        arena->blocks = next;
    }
}
