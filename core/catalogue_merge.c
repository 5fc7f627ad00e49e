#include "core/assert.h"
#include "core/catalogue.h"
#include "core/catalogue_cell.h"
#include "core/code.h"

#include <string.h>

static bool whole(const struct stria_catalogue *catalogue, uint32_t index,
                  struct stria_catalogue_entry *entry)
{
    const enum stria_catalogue_cell_verdict verdict =
        stria_catalogue_cell_decode(stria_catalogue_cell_at(catalogue, index), entry, catalogue->seed, index);
    return verdict == STRIA_CATALOGUE_CELL_VALID || verdict == STRIA_CATALOGUE_CELL_STRANGE;
}

static bool known(const struct stria_catalogue *catalogue, const uint8_t *cell)
{
    for (uint32_t index = 1; index < catalogue->count; index++) {
        struct stria_catalogue_entry entry;
        if (stria_catalogue_cell_same(stria_catalogue_cell_at(catalogue, index), cell) &&
            whole(catalogue, index, &entry))
            return true;
    }
    return false;
}

static int append_unless_known(struct stria_catalogue *into, const uint8_t *cell)
{
    if (known(into, cell))
        return STRIA_OK;
    const int appended = stria_catalogue_append_cell(into, cell);
    return appended < 0 ? appended : STRIA_OK;
}

static void adopt(struct stria_catalogue *into, uint32_t index, const uint8_t *cell, uint64_t recording)
{
    memcpy(stria_catalogue_cell_at(into, index), cell, STRIA_CATALOGUE_ENTRY_BYTES);
    if (index < into->count) {
        into->damaged_count--;
    } else {
        into->damaged_count += index - into->count;
        into->count = index + 1;
    }
    stria_catalogue_recording_seen(into, recording);
}

/* Both logs are of the same epoch: what is in the same cell should be the same. */
static int complement(struct stria_catalogue *into, const struct stria_catalogue *from)
{
    for (uint32_t index = 1; index < from->count; index++) {
        struct stria_catalogue_entry theirs, ours;
        const uint8_t *cell = stria_catalogue_cell_at(from, index);
        if (!whole(from, index, &theirs))
            continue;
        if (index < into->entries_max && !(index < into->count && whole(into, index, &ours))) {
            adopt(into, index, cell, theirs.recording);
            continue;
        }
        if (index < into->entries_max &&
            memcmp(stria_catalogue_cell_at(into, index), cell, STRIA_CATALOGUE_ENTRY_BYTES) == 0)
            continue;
        const int code = append_unless_known(into, cell);
        if (code)
            return code;
    }
    return STRIA_OK;
}

/* An older log counts only for recordings that did not exist yet when the newer one was begun: it may still
 * hold others that have been removed since. */
static int adopt_unheard(struct stria_catalogue *into, const struct stria_catalogue *from,
                         uint64_t first_unheard)
{
    for (uint32_t index = 1; index < from->count; index++) {
        struct stria_catalogue_entry entry;
        if (!whole(from, index, &entry) || entry.recording < first_unheard)
            continue;
        const int code = append_unless_known(into, stria_catalogue_cell_at(from, index));
        if (code)
            return code;
    }
    return STRIA_OK;
}

static uint32_t newest(const struct stria_catalogue *replicas, uint32_t replica_count)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < replica_count; i++)
        if (replicas[i].image && (!replicas[found].image || replicas[i].epoch > replicas[found].epoch))
            found = i;
    return found;
}

int stria_catalogue_merge(struct stria_catalogue *replicas, uint32_t replica_count, uint32_t *chosen)
{
    STRIA_ASSERT(replica_count > 0);
    *chosen = newest(replicas, replica_count);
    struct stria_catalogue *into = &replicas[*chosen];
    if (!into->image)
        return STRIA_ERR_NOT_FOUND;
    struct stria_catalogue_entry head;
    const bool head_read = stria_catalogue_read(into, 0, &head);
    STRIA_ASSERT(head_read && head.kind == STRIA_CATALOGUE_HEAD);

    int code = STRIA_OK;
    for (uint32_t i = 0; i < replica_count && !code; i++)
        if (i != *chosen && replicas[i].image && replicas[i].epoch == into->epoch)
            code = complement(into, &replicas[i]);
    for (uint32_t i = 0; i < replica_count && !code; i++)
        if (replicas[i].image && replicas[i].epoch < into->epoch)
            code = adopt_unheard(into, &replicas[i], head.head.next_recording);
    return code;
}
