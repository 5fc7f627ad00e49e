#include "core/assert.h"
#include "core/catalogue.h"
#include "core/catalogue_cell.h"
#include "core/catalogue_unite.h"
#include "core/code.h"

#include <string.h>

size_t stria_catalogue_compact_scratch_bytes(const struct stria_catalogue *source)
{
    return stria_catalogue_unite_scratch_bytes(source, 1);
}

int stria_catalogue_compact(const struct stria_catalogue *source,
                            const struct stria_catalogue_compaction *how, uint8_t *image,
                            struct stria_catalogue *target)
{
    STRIA_ASSERT(image != source->image);
    *target = (struct stria_catalogue){.image = image};
    memcpy(target->array_uuid, source->array_uuid, STRIA_UUID_BYTES);
    struct stria_catalogue_union all = {
        .sources = source,
        .source_count = 1,
        .head = {.epoch = source->epoch + 1,
                 .next_recording = stria_catalogue_head_next(source),
                 .format = STRIA_CATALOGUE_FORMAT,
                 .entries_max = source->entries_max},
        .wall_ns = how->wall_ns,
        .remove = how->remove,
        .drive_absent = how->drive_absent,
    };
    if (!how->drive_absent) {
        all.head.next_recording = source->next_recording;
        if (how->next_recording > all.head.next_recording)
            all.head.next_recording = how->next_recording;
    }
    stria_catalogue_unite(&all, how->scratch, target);
    /* The last epoch cannot be followed by another, and is not taken for a log. */
    if (target->epoch == UINT64_MAX || target->entries_max - target->count < how->spare)
        return STRIA_ERR_FULL;
    return STRIA_OK;
}
