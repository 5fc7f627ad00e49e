#include "core/window.h"

#include "core/assert.h"

void stria_window_init(struct stria_window *window, uint64_t *ends, uint64_t capacity)
{
    STRIA_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    *window = (struct stria_window){.ends = ends, .capacity = capacity};
}

bool stria_window_full(const struct stria_window *window)
{
    return window->next - window->first == window->capacity;
}

static uint64_t *cell(const struct stria_window *window, uint64_t sequence)
{
    return &window->ends[sequence & (window->capacity - 1)];
}

uint64_t stria_window_seal(struct stria_window *window, uint64_t end_bytes)
{
    STRIA_ASSERT(!stria_window_full(window) && end_bytes >> 63 == 0);
    *cell(window, window->next) = end_bytes << 1;
    return window->next++;
}

bool stria_window_settle(struct stria_window *window, uint64_t sequence)
{
    STRIA_ASSERT(sequence < window->next);
    if (sequence < window->first)
        return false;
    *cell(window, sequence) |= 1;
    if (sequence != window->first)
        return false;
    while (window->first < window->next && (*cell(window, window->first) & 1)) {
        window->watermark_bytes = *cell(window, window->first) >> 1;
        window->first++;
    }
    return true;
}
