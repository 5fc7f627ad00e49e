/* Memory that is given back all at once. */
#ifndef STRIA_RESULTS_ARENA_H
#define STRIA_RESULTS_ARENA_H

#include <stddef.h>

/* All zero is an empty one. */
struct stria_arena {
    struct stria_arena_block *blocks;
};

/* count elements of so many bytes each, zeroed; never null: a program without memory for a result ends. Zero
 * elements are a pointer that is not to be followed. */
void *stria_arena_take(struct stria_arena *arena, size_t count, size_t bytes);

/* A copy of a text; null for null. */
char *stria_arena_text(struct stria_arena *arena, const char *text);

/* The text that a format makes. */
char *stria_arena_format(struct stria_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees all that was taken. */
void stria_arena_clear(struct stria_arena *arena);

#endif
