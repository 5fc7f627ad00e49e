/* Giving extents back to the drives that know TRIM. */
#ifndef STRIA_ENGINE_TRIM_H
#define STRIA_ENGINE_TRIM_H

#include "core/space.h"
#include "engine/array_internal.h"

/* Extents of an array's drives. All zero is the empty set. */
struct stria_extent_set {
    bool *in[STRIA_DRIVES_MAX]; /* by position; null: none of this drive */
};

/* The extents in the given state, on the drives that are there and know TRIM. Memory that cannot be had
 * leaves a drive out. */
void stria_extent_set_fill(struct stria_extent_set *set, const struct stria_array *array,
                           enum stria_extent_state state);

/* Takes out what is not in the given state any more. */
void stria_extent_set_keep(struct stria_extent_set *set, const struct stria_array *array,
                           enum stria_extent_state state);

void stria_extent_set_clear(struct stria_extent_set *set);

/* Trims them run by run, the drives side by side. A trim that fails costs nothing but speed; a drive on which
 * one never ends is dropped. */
void stria_array_trim(struct stria_array *array, const struct stria_extent_set *set);

#endif
