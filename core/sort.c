#include "core/sort.h"

#include "core/assert.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct heap {
    uint8_t *items;
    size_t item_bytes;
    bool (*before)(const void *a, const void *b);
};

static uint8_t *item_at(const struct heap *heap, size_t index)
{
    return heap->items + index * heap->item_bytes;
}

/* Lets the item at root sink until none of its children belongs behind it. */
static void sift_down(const struct heap *heap, size_t root, size_t count)
{
    uint8_t sinking[STRIA_SORT_ITEM_BYTES_MAX];
    memcpy(sinking, item_at(heap, root), heap->item_bytes);
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && heap->before(item_at(heap, child), item_at(heap, child + 1)))
            child++;
        if (!heap->before(sinking, item_at(heap, child)))
            break;
        memcpy(item_at(heap, root), item_at(heap, child), heap->item_bytes);
        root = child;
    }
    memcpy(item_at(heap, root), sinking, heap->item_bytes);
}

static bool in_order(const struct heap *heap, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (heap->before(item_at(heap, i), item_at(heap, i - 1)))
            return false;
    return true;
}

static void swap(const struct heap *heap, size_t a, size_t b)
{
    uint8_t kept[STRIA_SORT_ITEM_BYTES_MAX];
    memcpy(kept, item_at(heap, a), heap->item_bytes);
    memcpy(item_at(heap, a), item_at(heap, b), heap->item_bytes);
    memcpy(item_at(heap, b), kept, heap->item_bytes);
}

void stria_sort(void *items, size_t count, size_t item_bytes, bool (*before)(const void *a, const void *b))
{
    STRIA_ASSERT(item_bytes > 0 && item_bytes <= STRIA_SORT_ITEM_BYTES_MAX);
    const struct heap heap = {.items = items, .item_bytes = item_bytes, .before = before};
    if (count < 2 || in_order(&heap, count))
        return;
    for (size_t root = count / 2; root > 0; root--)
        sift_down(&heap, root - 1, count);
    for (size_t last = count - 1; last > 0; last--) {
        swap(&heap, 0, last);
        sift_down(&heap, 0, last);
    }
}
