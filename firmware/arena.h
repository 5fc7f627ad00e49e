/* The image's memory beside its own variables: one piece, given out from its start on, and taken back from
 * its end. */
#ifndef STRIA_FIRMWARE_ARENA_H
#define STRIA_FIRMWARE_ARENA_H

#include <stddef.h>

/* Zeroed memory, aligned to a power of two. Null when there is not that much, which was said then, with what
 * it was wanted for. */
void *stria_arena_take(size_t bytes, size_t align_bytes, const char *purpose);

/* Bytes given out. */
size_t stria_arena_used_bytes(void);

/* Takes back all that was given out since so many were. */
void stria_arena_return(size_t used_bytes);

#endif
