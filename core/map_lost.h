/* What a recording's LOST entries say about single sequences: a part of the map. */
#ifndef STRIA_CORE_MAP_LOST_H
#define STRIA_CORE_MAP_LOST_H

#include "core/map.h"

#include <stdbool.h>

/* Takes the LOST entries of a recording from the catalogue into map->lost, sorted, each sequence named once
 * at most. STRIA_ERR_NO_MEMORY when there are more than capacity. */
int stria_map_lost_build(struct stria_map *map, const struct stria_catalogue *catalogue, uint64_t recording,
                         size_t capacity);

/* How many sequences from first to end − 1 are lost. */
uint64_t stria_map_lost_count(const struct stria_map *map, uint64_t first, uint64_t end);

/* The entry that names a sequence; null when none does. */
const struct stria_catalogue_lost *stria_map_lost_find(const struct stria_map *map, uint64_t sequence);

/* The lowest lost sequence from first to end − 1; end when there is none. */
uint64_t stria_map_lost_next(const struct stria_map *map, uint64_t first, uint64_t end);

#endif
