#include "firmware/arena.h"

#include "core/bits.h"
#include "firmware/console.h"
#include "firmware/layout.h"

#include <string.h>

static size_t used;

void *stria_arena_take(size_t bytes, size_t align_bytes, const char *purpose)
{
    const size_t size = (size_t)(stria_arena_end - stria_arena_start);
    const size_t start = stria_align_up(used, align_bytes);
    if (start > size || bytes > size - start) {
        stria_console_say(
            "stria: no memory for %s: %lu KiB of %lu MiB are left: ask for less, or build with a larger "
            "STRIA_FIRMWARE_ARENA_MIB",
            purpose, (unsigned long)((size - used) >> 10), (unsigned long)(size >> 20));
        return NULL;
    }
    used = start + bytes;
    return memset(stria_arena_start + start, 0, bytes);
}

size_t stria_arena_used_bytes(void)
{
    return used;
}

void stria_arena_return(size_t used_bytes)
{
    used = used_bytes;
}
