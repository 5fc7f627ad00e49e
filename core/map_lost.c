#include "core/map_lost.h"

#include "core/bits.h"
#include "core/code.h"
#include "core/sort.h"

static bool has(const struct stria_catalogue_lost *lost, uint64_t sequence)
{
    const uint64_t bit = sequence - lost->base_sequence;
    return bit < STRIA_LOST_SEQUENCES && (lost->bitmap[bit / 8] >> bit % 8 & 1);
}

static bool before(const void *a, const void *b)
{
    const struct stria_catalogue_lost *left = a, *right = b;
    if (left->base_sequence != right->base_sequence)
        return left->base_sequence < right->base_sequence;
    if (left->cause != right->cause)
        return left->cause < right->cause;
    return left->drive < right->drive;
}

/* Entries of the same base follow each other: a later one loses what an earlier one has named. */
static void name_once(struct stria_map *map)
{
    uint8_t named[STRIA_LOST_SEQUENCES / 8] = {0};
    size_t kept = 0;
    for (size_t i = 0; i < map->lost_count; i++) {
        struct stria_catalogue_lost lost = map->lost[i];
        const bool first = kept == 0 || map->lost[kept - 1].base_sequence != lost.base_sequence;
        for (unsigned byte = 0; byte < sizeof(named); byte++) {
            if (first)
                named[byte] = 0;
            lost.bitmap[byte] &= (uint8_t)~named[byte];
            named[byte] |= lost.bitmap[byte];
        }
        if (!stria_all_zero(lost.bitmap, sizeof(lost.bitmap)))
            map->lost[kept++] = lost;
    }
    map->lost_count = kept;
}

int stria_map_lost_build(struct stria_map *map, const struct stria_catalogue *catalogue, uint64_t recording,
                         size_t capacity)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);) {
        if (entry.kind != STRIA_CATALOGUE_LOST || entry.recording != recording)
            continue;
        if (map->lost_count == capacity)
            return STRIA_ERR_NO_MEMORY;
        map->lost[map->lost_count++] = entry.lost;
    }
    stria_sort(map->lost, map->lost_count, sizeof(map->lost[0]), before);
    name_once(map);
    return STRIA_OK;
}

/* The first entry that may speak of a sequence or of a later one. */
static size_t place_of(const struct stria_map *map, uint64_t sequence)
{
    const uint64_t base = stria_align_down(sequence, STRIA_LOST_SEQUENCES);
    size_t low = 0, high = map->lost_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->lost[middle].base_sequence < base)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t count_within(const struct stria_catalogue_lost *lost, uint64_t first, uint64_t end)
{
    uint64_t count = 0;
    for (uint64_t bit = 0; bit < STRIA_LOST_SEQUENCES; bit++) {
        const uint64_t sequence = lost->base_sequence + bit;
        count += sequence >= first && sequence < end && has(lost, sequence);
    }
    return count;
}

uint64_t stria_map_lost_count(const struct stria_map *map, uint64_t first, uint64_t end)
{
    uint64_t count = 0;
    for (size_t i = place_of(map, first); i < map->lost_count && map->lost[i].base_sequence < end; i++)
        count += count_within(&map->lost[i], first, end);
    return count;
}

const struct stria_catalogue_lost *stria_map_lost_find(const struct stria_map *map, uint64_t sequence)
{
    for (size_t i = place_of(map, sequence); i < map->lost_count; i++) {
        if (map->lost[i].base_sequence > sequence)
            break;
        if (has(&map->lost[i], sequence))
            return &map->lost[i];
    }
    return NULL;
}

uint64_t stria_map_lost_next(const struct stria_map *map, uint64_t first, uint64_t end)
{
    uint64_t best = end;
    for (size_t i = place_of(map, first); i < map->lost_count && map->lost[i].base_sequence < best; i++) {
        const struct stria_catalogue_lost *lost = &map->lost[i];
        uint64_t sequence = lost->base_sequence > first ? lost->base_sequence : first;
        while (sequence < best && sequence - lost->base_sequence < STRIA_LOST_SEQUENCES &&
               !has(lost, sequence))
            sequence++;
        if (sequence < best && has(lost, sequence))
            best = sequence;
    }
    return best;
}
