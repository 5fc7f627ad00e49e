/* What a verifier reads of each drive, and where a payload that is in the wrong place may belong. */
#include "core/sort.h"
#include "core/verifier_internal.h"

/* A misdirected write lands near; swapped drives have each other's payload at the same position. */
#define NEIGHBOURS 8u
#define ACROSS     3u

static bool lower(const void *a, const void *b)
{
    const struct stria_verifier_item *left = a, *right = b;
    return left->position < right->position;
}

uint64_t stria_verifier_items(const struct stria_verifier_recording *recordings, uint32_t recording_count,
                              uint32_t drive, struct stria_verifier_item *items)
{
    uint64_t count = 0;
    for (uint32_t recording = 0; recording < recording_count; recording++) {
        const struct stria_map *map = recordings[recording].map;
        for (size_t index = 0; index < map->extent_count; index++) {
            const struct stria_map_extent *extent = &map->extents[index];
            bool alternative = index > 0 && extent[-1].sequence == extent->sequence;
            if (extent->drive != drive || alternative)
                continue;
            if (items)
                items[count] = (struct stria_verifier_item){
                    .position = extent->position, .recording = recording, .extent = (uint32_t)index};
            count++;
        }
    }
    if (items)
        stria_sort(items, count, sizeof(*items), lower);
    return count;
}

/* The first item at or behind a position. */
static uint64_t item_from(const struct lane *lane, uint64_t position)
{
    uint64_t low = 0, high = lane->config.item_count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (lane->config.items[middle].position < position)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take(const struct stria_verifier *verifier, const struct lane *lane, uint64_t item,
                 struct stria_verifier_candidate *candidate)
{
    candidate->extent = NULL;
    if (item >= lane->config.item_count)
        return;
    candidate->recording = lane->config.items[item].recording;
    candidate->index = lane->config.items[item].extent;
    candidate->extent = &verifier->config.recordings[candidate->recording].map->extents[candidate->index];
}

bool stria_verifier_candidate(const struct stria_verifier *verifier, const struct pull *pull, uint32_t number,
                              struct stria_verifier_candidate *candidate)
{
    const struct lane *lane = &verifier->lanes[pull->drive];
    if (number < NEIGHBOURS) {
        uint64_t distance = number / 2 + 1;
        take(verifier, lane, number % 2 ? pull->item - distance : pull->item + distance, candidate);
        return true;
    }
    number -= NEIGHBOURS;
    if (number >= ACROSS * verifier->config.drive_count)
        return false;
    candidate->extent = NULL;
    const struct lane *other = &verifier->lanes[number / ACROSS];
    if (other != lane && other->config.item_count > 0)
        take(verifier, other, item_from(other, lane->config.items[pull->item].position) + number % ACROSS - 1,
             candidate);
    return true;
}
