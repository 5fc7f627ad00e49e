/* Finds what was probably meant. */
#ifndef STRIA_SUPPORT_NEAREST_H
#define STRIA_SUPPORT_NEAREST_H

#include <stddef.h>

struct stria_nearest {
    const char *word; /* what was written */
    const char *best; /* the nearest candidate so far, or null if none is near enough to be suggested */
    size_t distance;  /* of best, in letters inserted, left out, changed or swapped */
};

/* Begins a search. */
struct stria_nearest stria_nearest_to(const char *word);

/* Offers one candidate, which must stay in place while best is used. */
void stria_nearest_offer(struct stria_nearest *nearest, const char *candidate);

#endif
