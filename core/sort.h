/* Sorting in place, without allocation or recursion, in n log n steps whatever the data. */
#ifndef STRIA_CORE_SORT_H
#define STRIA_CORE_SORT_H

#include <stdbool.h>
#include <stddef.h>

#define STRIA_SORT_ITEM_BYTES_MAX 256u

/* Sorts count items of item_bytes (at most STRIA_SORT_ITEM_BYTES_MAX) each. before is true when a belongs
 * before b, false for equals, which may change places. One pass when the items are in order already. */
void stria_sort(void *items, size_t count, size_t item_bytes, bool (*before)(const void *a, const void *b));

#endif
