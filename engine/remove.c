/* Removing recordings. */
#include "engine/array_internal.h"
#include "engine/held.h"
#include "engine/trim.h"

int stria_array_remove(struct stria_array *array, const char *name, struct stria_trouble *trouble)
{
    const struct stria_recording *recording = stria_inventory_find(&array->inventory, name);
    if (!recording)
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "array %s has no recording named %.64s: 'stria ls' lists them", array->name,
                                 name);
    if (!array->writable)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION, "array %s is open for reading only",
                                 array->name);
    if (array->busy)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY, "array %s is recording", array->name);
    if (array->readers)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "array %s is being read: close the readers before removing", array->name);
    struct stria_recording_info removed;
    stria_recording_describe(recording, &removed);
    int code = stria_held_alone(array, &removed, trouble);
    if (code != STRIA_OK)
        return code;
    struct stria_extent_set freed;
    stria_extent_set_fill(&freed, array, STRIA_EXTENT_USED);
    code = stria_array_forget(array, removed.id, trouble);
    stria_held_release(array, removed.id);
    if (code == STRIA_OK)
        code = stria_array_take_stock(array, trouble);
    if (code == STRIA_OK) {
        stria_extent_set_keep(&freed, array, STRIA_EXTENT_FREE);
        stria_array_trim(array, &freed);
    }
    stria_extent_set_clear(&freed);
    return code;
}
