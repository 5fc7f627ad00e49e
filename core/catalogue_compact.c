#include "core/assert.h"
#include "core/bits.h"
#include "core/catalogue.h"
#include "core/catalogue_cell.h"
#include "core/code.h"
#include "core/sort.h"

#include <string.h>

static bool before(const void *a, const void *b)
{
    return stria_load_u64(a) < stria_load_u64(b);
}

/* Lists the removed recordings at the very end of the target's image, sorted. Each needs 8 bytes there and
 * saves the 128 of its REMOVED entry, so that the list and the live entries cannot meet. */
static uint8_t *removed_list(const struct stria_catalogue *source, uint8_t *image_end,
                             uint32_t *removed_count)
{
    uint8_t *list = image_end;
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(source, &index, &entry);) {
        if (entry.kind != STRIA_CATALOGUE_REMOVED)
            continue;
        list -= 8;
        stria_store_u64(list, entry.recording);
        ++*removed_count;
    }
    stria_sort(list, *removed_count, 8, before);
    return list;
}

static bool removed(const uint8_t *list, uint32_t removed_count, uint64_t recording)
{
    uint32_t low = 0, high = removed_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (stria_load_u64(list + 8 * (size_t)middle) < recording)
            low = middle + 1;
        else
            high = middle;
    }
    return low < removed_count && stria_load_u64(list + 8 * (size_t)low) == recording;
}

static void live_copy(const struct stria_catalogue *source, struct stria_catalogue *target,
                      const uint8_t *removed_ids, uint32_t removed_count)
{
    for (uint32_t index = 1; index < source->count; index++) {
        struct stria_catalogue_entry entry;
        const uint8_t *cell = stria_catalogue_cell_at(source, index);
        const enum stria_catalogue_cell_verdict verdict =
            stria_catalogue_cell_decode(cell, &entry, source->seed, index);
        if (verdict != STRIA_CATALOGUE_CELL_VALID && verdict != STRIA_CATALOGUE_CELL_STRANGE)
            continue;
        if (removed(removed_ids, removed_count, entry.recording))
            continue;
        const int appended = stria_catalogue_append_cell(target, cell);
        STRIA_ASSERT(appended > 0);
        STRIA_ASSERT(removed_count == 0 || stria_catalogue_cell_at(target, target->count) <= removed_ids);
    }
}

int stria_catalogue_compact(const struct stria_catalogue *source, struct stria_catalogue *target,
                            uint8_t *image, uint64_t next_recording, uint64_t wall_ns)
{
    STRIA_ASSERT(image != source->image && source->epoch != UINT64_MAX);
    *target = (struct stria_catalogue){.image = NULL};
    target->image = image;
    memcpy(target->array_uuid, source->array_uuid, STRIA_UUID_BYTES);
    const struct stria_catalogue_head head = {
        .epoch = source->epoch + 1,
        .next_recording = source->next_recording > next_recording ? source->next_recording : next_recording,
        .format = STRIA_CATALOGUE_FORMAT,
        .entries_max = source->entries_max,
    };
    stria_catalogue_begin(target, &head, wall_ns);

    uint8_t *const image_end = stria_catalogue_cell_at(target, target->entries_max);
    uint32_t removed_count = 0;
    uint8_t *const removed_ids = removed_list(source, image_end, &removed_count);
    live_copy(source, target, removed_ids, removed_count);
    memset(removed_ids, 0, (size_t)(image_end - removed_ids));
    return target->entries_max - target->count < STRIA_CATALOGUE_SPARE ? STRIA_ERR_FULL : STRIA_OK;
}
