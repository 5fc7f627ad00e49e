/* What is on an open array, and the keeping of its catalogue. */
#include "core/rows.h"
#include "core/space.h"
#include "engine/array_internal.h"
#include "engine/gang.h"
#include "support/clock.h"
#include "support/pages.h"
#include "support/uuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same bytes of a log, to the drives that want them, and a flush. */
struct log_write {
    const struct stria_catalogue *log;
    uint32_t index, entry_count; /* cells of the log */
    uint32_t drives;             /* a bit for each drive index */
};

#define ALL_DRIVES UINT32_MAX

static size_t log_bytes(const struct stria_catalogue *log)
{
    return (size_t)log->entries_max * STRIA_CATALOGUE_ENTRY_BYTES;
}

int stria_array_no_drive_left(const struct stria_array *array, struct stria_trouble *trouble)
{
    char reasons[sizeof(array->complaint)] = "";
    for (uint32_t index = 0; index < array->member_count; index++) {
        const size_t used = strlen(reasons);
        if (array->members[index].config)
            snprintf(reasons + used, sizeof(reasons) - used, "%s%s", used > 0 ? "; " : "",
                     array->members[index].complaint);
    }
    return stria_trouble_set(trouble, STRIA_ERR_GONE, "array %s: no drive is left: %s", array->name, reasons);
}

static void drop_failed(struct stria_array *array, const struct stria_gang_job *jobs, const char *what)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (!jobs[index].drive || jobs[index].code == STRIA_OK)
            continue;
        char reason[128];
        snprintf(reason, sizeof(reason), "%s failed (%s)", what, stria_code_text(jobs[index].code));
        array->members[index].abandoned = jobs[index].code == STRIA_ERR_TIMEOUT;
        stria_array_drop(array, index, reason);
    }
}

static void write_log(struct stria_array *array, struct log_write write)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_member *member = &array->members[index];
        if (!member->drive || !(write.drives >> index & 1))
            continue;
        struct stria_catalogue_pages pages =
            stria_catalogue_pages(write.log, &member->super.geometry, write.index, write.entry_count);
        jobs[index] = (struct stria_gang_job){
            .drive = member->drive,
            .op = STRIA_IO_WRITE,
            .offset = pages.drive_offset_bytes,
            .length = pages.length_bytes,
            .data = write.log->image + pages.image_offset_bytes,
        };
    }
    stria_gang_run(jobs, array->member_count, &array->bell, array->config->read_deadline_ns);
    drop_failed(array, jobs, "writing the catalogue");
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (jobs[index].drive)
            jobs[index] = (struct stria_gang_job){.drive = array->members[index].drive, .op = STRIA_IO_FLUSH};
    }
    stria_gang_run(jobs, array->member_count, &array->bell, array->config->read_deadline_ns);
    drop_failed(array, jobs, "flushing the catalogue");
}

/* All of a log to the half that does not count; its HEAD, which makes it count, only when all else is there.
 */
static void write_whole_log(struct stria_array *array, const struct stria_catalogue *log, uint32_t drives)
{
    uint8_t head[STRIA_CATALOGUE_ENTRY_BYTES];
    memcpy(head, log->image, sizeof(head));
    memset(log->image, 0, sizeof(head));
    write_log(array, (struct log_write){log, 0, log->entries_max, drives});
    memcpy(log->image, head, sizeof(head));
    write_log(array, (struct log_write){log, 0, 1, drives});
}

void stria_array_discard_log(const struct stria_array *array, uint8_t *log)
{
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].abandoned)
            return;
    stria_pages_unmap(log, array->log_bytes);
}

/* The array's log lies in memory of its own, so that no drive's going takes it along. */
static int adopt_log(struct stria_array *array, const uint8_t *image, struct stria_trouble *trouble)
{
    array->log_bytes = log_bytes(&array->catalogue);
    array->log = stria_pages_map(array->log_bytes);
    if (!array->log)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the catalogue");
    memcpy(array->log, image, array->log_bytes);
    array->catalogue.image = array->log;
    return STRIA_OK;
}

/* Brings every drive's replica up to the merged log, none of them through a state in which it knows less. */
static int renew_replicas(struct stria_array *array, const struct stria_catalogue *replicas,
                          struct stria_trouble *trouble)
{
    uint32_t by_other_half = 0, whole = 0, in_place = 0;
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (!array->members[index].drive)
            continue;
        const enum stria_catalogue_renewal renewal =
            stria_catalogue_renewal(&array->catalogue, &replicas[index]);
        by_other_half |= (uint32_t)(renewal == STRIA_RENEWAL_BY_OTHER_HALF) << index;
        whole |= (uint32_t)(renewal == STRIA_RENEWAL_WHOLE) << index;
        in_place |= (uint32_t)(renewal == STRIA_RENEWAL_IN_PLACE) << index;
    }
    if (by_other_half != 0) {
        uint8_t *half = stria_pages_map(array->log_bytes);
        if (!half)
            return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the catalogue");
        struct stria_catalogue copy;
        stria_catalogue_copy(&array->catalogue, array->catalogue.epoch - 1, stria_clock_wall_ns(), half,
                             &copy);
        write_whole_log(array, &copy, by_other_half);
        stria_array_discard_log(array, half);
    }
    if (in_place != 0)
        write_log(array, (struct log_write){&array->catalogue, 0, array->catalogue.entries_max, in_place});
    if ((whole | by_other_half) != 0)
        write_whole_log(array, &array->catalogue, whole | by_other_half);
    return STRIA_OK;
}

static void drop_misfits(struct stria_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive &&
            !stria_catalogue_fits(&array->catalogue, &array->members[index].super.geometry))
            stria_array_drop(array, index, "its catalogue has less room than the array's log needs");
}

/* Merges into memory, which holds the array's log from then on. */
static int merge_replicas(struct stria_array *array, const struct stria_catalogue *replicas, void *memory,
                          struct stria_trouble *trouble)
{
    const struct stria_catalogue_meeting meeting = {
        .drive_absent = stria_array_present(array) < array->member_count,
        .wall_ns = stria_clock_wall_ns(),
        .memory = memory,
    };
    const int code = stria_catalogue_merge(replicas, array->member_count, &meeting, &array->catalogue);
    if (code == STRIA_ERR_NOT_FOUND && stria_array_present(array) == 0)
        return stria_array_no_drive_left(array, trouble);
    if (code == STRIA_ERR_NOT_FOUND)
        return stria_trouble_set(trouble, STRIA_ERR_DAMAGED,
                                 "array %s: the catalogue of every drive that is there is damaged, so its "
                                 "recordings are not known: "
                                 "connect the other drives, or restore one from a copy",
                                 array->name);
    if (code == STRIA_ERR_FULL)
        stria_array_only_read(array, "its drives recorded apart from each other, and their catalogues have "
                                     "no room for all that they know together, so it is only read: "
                                     "connect fewer of them and remove recordings with 'stria rm', or "
                                     "export what is wanted");
    return STRIA_OK;
}

int stria_array_merge_catalogues(struct stria_array *array, struct stria_trouble *trouble)
{
    struct stria_catalogue replicas[STRIA_DRIVES_MAX];
    for (uint32_t index = 0; index < array->member_count; index++) {
        replicas[index] = array->members[index].catalogue;
        if (!array->members[index].drive)
            replicas[index].image = NULL;
    }
    const size_t bytes = stria_catalogue_merge_bytes(replicas, array->member_count);
    uint8_t *memory = stria_pages_map(bytes);
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the catalogue");
    int code = merge_replicas(array, replicas, memory, trouble);
    if (code == STRIA_OK)
        code = adopt_log(array, memory, trouble);
    stria_pages_unmap(memory, bytes);
    if (code != STRIA_OK)
        return code;
    if (array->writable) {
        drop_misfits(array);
        code = renew_replicas(array, replicas, trouble);
    }
    if (code == STRIA_OK && stria_array_present(array) == 0)
        code = stria_array_no_drive_left(array, trouble);
    return code;
}

/* Moves the live entries to the other half of every drive, or says why there is no room for what is wanted.
 */
static int compact(struct stria_array *array, uint64_t remove, uint32_t spare, struct stria_trouble *trouble)
{
    const bool drive_absent = stria_array_present(array) < array->member_count;
    struct stria_catalogue_compaction how = {
        .next_recording = array->inventory.next_recording,
        .wall_ns = stria_clock_wall_ns(),
        .remove = remove,
        .spare = spare,
        .drive_absent = drive_absent,
    };
    uint8_t *half = stria_pages_map(array->log_bytes);
    how.scratch = malloc(stria_catalogue_compact_scratch_bytes(&array->catalogue) + 1);
    struct stria_catalogue compacted;
    int code = STRIA_ERR_NO_MEMORY;
    if (half && how.scratch)
        code = stria_catalogue_compact(&array->catalogue, &how, half, &compacted);
    free(how.scratch);
    if (code != STRIA_OK)
        stria_pages_unmap(half, array->log_bytes);
    if (code == STRIA_ERR_NO_MEMORY)
        return stria_trouble_set(trouble, code, "out of memory for the catalogue");
    if (code != STRIA_OK)
        return stria_trouble_set(
            trouble, STRIA_ERR_ARRAY_FULL,
            "array %s holds as many recordings as its catalogue can list: remove some with 'stria rm'%s",
            array->name,
            drive_absent ? ", and connect the drives that are missing: until they know of removals, these "
                           "take room too"
                         : "");
    stria_array_discard_log(array, array->log);
    array->log = half;
    array->catalogue = compacted;
    write_whole_log(array, &array->catalogue, ALL_DRIVES);
    return stria_array_present(array) > 0 ? STRIA_OK : stria_array_no_drive_left(array, trouble);
}

int stria_array_reserve(struct stria_array *array, uint32_t entries, struct stria_trouble *trouble)
{
    if (array->catalogue.entries_max - array->catalogue.count >= entries)
        return STRIA_OK;
    return compact(array, 0, entries, trouble);
}

int stria_array_forget(struct stria_array *array, uint64_t recording, struct stria_trouble *trouble)
{
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_REMOVED, .recording = recording, .wall_ns = stria_clock_wall_ns()};
    const int index = stria_catalogue_append(&array->catalogue, &entry);
    if (index < 0)
        return compact(array, recording, 0, trouble);
    write_log(array, (struct log_write){&array->catalogue, (uint32_t)index, 1, ALL_DRIVES});
    return stria_array_present(array) > 0 ? STRIA_OK : stria_array_no_drive_left(array, trouble);
}

int stria_array_close_interrupted(struct stria_array *array, struct stria_trouble *trouble)
{
    uint32_t count = stria_inventory_open_ended(&array->inventory, &array->inventory_input);
    if (!array->writable || count == 0)
        return STRIA_OK;
    /* Their ends may take what is spare. Without room for them they stay as they are found, until recordings
     * are removed. */
    int code = stria_array_reserve(array, count + STRIA_CATALOGUE_SPARE, trouble);
    if (code == STRIA_ERR_ARRAY_FULL)
        code = stria_array_reserve(array, count, trouble);
    if (code != STRIA_OK)
        return code == STRIA_ERR_ARRAY_FULL ? STRIA_OK : code;
    uint32_t first = array->catalogue.count;
    code = stria_inventory_close(&array->inventory, &array->inventory_input, &array->catalogue,
                                 stria_clock_wall_ns());
    if (code != STRIA_OK)
        return STRIA_OK;
    /* A drive that failed while room was made may leave less to say than was counted. */
    count = array->catalogue.count - first;
    if (count > 0)
        write_log(array, (struct log_write){&array->catalogue, first, count, ALL_DRIVES});
    if (stria_array_present(array) == 0)
        return stria_array_no_drive_left(array, trouble);
    return stria_array_take_stock(array, trouble);
}

/* So many positions, from the first on, can be written. */
static uint64_t positions_writable(const struct stria_member *member)
{
    const struct stria_geometry *geometry = &member->super.geometry;
    const uint64_t writable = member->drive->traits.writable_bytes;
    return writable == 0 ? geometry->extent_count
                         : (writable - geometry->data_offset) / geometry->chunk_bytes;
}

static bool mark_used(struct stria_array *array, uint32_t index)
{
    struct stria_member *member = &array->members[index];
    uint64_t count = member->super.geometry.extent_count;
    uint8_t *bitmap = malloc((count + 7) / 8);
    if (!bitmap)
        return false;
    array->used_extents[index] =
        stria_inventory_used(&array->inventory, &array->inventory_input, index, bitmap);
    array->free_extents[index] = 0;
    const uint64_t writable = positions_writable(member);
    for (uint64_t position = 0; position < count; position++) {
        bool used = bitmap[position / 8] >> (position % 8) & 1;
        bool bad = member->extent_state[position] == STRIA_EXTENT_BAD || position >= writable;
        member->extent_state[position] = used  ? STRIA_EXTENT_USED
                                         : bad ? STRIA_EXTENT_BAD
                                               : STRIA_EXTENT_FREE;
        array->free_extents[index] += !used && !bad;
    }
    free(bitmap);
    return true;
}

/* Once all extents are marked. */
static void count_room(struct stria_array *array)
{
    struct stria_rows rows;
    uint64_t free_extents = 0;
    stria_rows_init(&rows, array->member_count);
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_member *member = &array->members[index];
        array->room_extents[index] = array->free_extents[index];
        if (!member->drive)
            continue;
        stria_rows_add(&rows, index, member->extent_state, member->super.geometry.extent_count);
        free_extents += array->free_extents[index];
    }
    array->rows_room_extents = UINT64_MAX;
    if (!stria_placement_fixed(array->policy))
        return;
    array->rows_room_extents = stria_rows_room(&rows, free_extents);
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive)
            array->room_extents[index] = stria_rows_room_of(&rows, index, array->free_extents[index]);
}

uint64_t stria_array_room(const struct stria_array *array)
{
    uint64_t free_extents = 0;
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive)
            free_extents += array->free_extents[index];
    return free_extents < array->rows_room_extents ? free_extents : array->rows_room_extents;
}

int stria_array_take_stock(struct stria_array *array, struct stria_trouble *trouble)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_member *member = &array->members[index];
        array->inventory_drives[index] = (struct stria_inventory_drive){
            .present = member->drive != NULL,
            .ledger = member->ledger,
            .geometry = &member->super.geometry,
            .binding = stria_superblock_binding(&member->super),
            .checkpoint_valid = member->checkpoint_valid,
            .checkpoint = member->checkpoint,
        };
    }
    array->inventory_input = (struct stria_inventory_input){.catalogue = &array->catalogue,
                                                            .drives = array->inventory_drives,
                                                            .drive_count = array->member_count};
    uint32_t capacity = stria_inventory_recordings_max(&array->catalogue);
    struct stria_recording *table = calloc(capacity > 0 ? capacity : 1, sizeof(*table));
    uint8_t *scratch = malloc(STRIA_INVENTORY_SCRATCH_BYTES);
    free(array->inventory.recordings);
    array->inventory.recordings = NULL;
    int code = STRIA_ERR_NO_MEMORY;
    if (table && scratch)
        code = stria_inventory_build(&array->inventory, &array->inventory_input, table, capacity, scratch);
    free(scratch);
    array->inventory.recordings = table;
    for (uint32_t index = 0; code == STRIA_OK && index < array->member_count; index++)
        if (array->members[index].drive && !mark_used(array, index))
            code = STRIA_ERR_NO_MEMORY;
    if (code == STRIA_OK) {
        count_room(array);
        return STRIA_OK;
    }
    /* Nobody may write to an array without knowing what is on it. */
    array->writable = false;
    array->inventory.recording_count = 0;
    return stria_trouble_set(trouble, code, "out of memory while listing array %s", array->name);
}

int stria_array_keeper(const struct stria_array *array, uint32_t known)
{
    if (known < array->member_count)
        return (int)known;
    if (array->member_count - stria_array_present(array) != 1 || array->inventory.entries_damaged > 0)
        return -1;
    int absent = 0;
    while (array->members[absent].drive)
        absent++;
    return absent;
}

void stria_array_describe(const struct stria_array *array, struct stria_array_info *info)
{
    *info = (struct stria_array_info){
        .drive_count = array->member_count,
        .drives_missing = array->member_count - stria_array_present(array),
        .chunk_bytes = array->chunk_bytes,
        .block_bytes = array->block_bytes,
        .raid0 = array->policy == STRIA_POLICY_RAID0,
        .recording_count = array->inventory.recording_count,
    };
    memcpy(info->name, array->name, sizeof(info->name));
    memcpy(info->complaint, array->complaint, sizeof(info->complaint));
    stria_uuid_text(array->uuid, info->uuid);
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (!array->members[index].drive)
            continue;
        info->extents += array->members[index].super.geometry.extent_count;
    }
    info->extents_free = stria_array_room(array);
}

int stria_array_drive(const struct stria_array *array, uint32_t index, struct stria_drive_info *info)
{
    if (index >= array->member_count)
        return STRIA_ERR_NOT_FOUND;
    const struct stria_member *member = &array->members[index];
    memset(info, 0, sizeof(*info));
    snprintf(info->complaint, sizeof(info->complaint), "%s", member->complaint);
    if (member->config) {
        memcpy(info->name, member->config->name, sizeof(info->name));
        snprintf(info->path, sizeof(info->path), "%s", member->config->path);
    } else {
        snprintf(info->name, sizeof(info->name), "#%u", index);
    }
    if (!member->drive)
        return STRIA_OK;
    const struct stria_geometry *geometry = &member->super.geometry;
    info->present = true;
    memcpy(info->serial, member->drive->traits.serial, sizeof(info->serial));
    info->drive_bytes = geometry->drive_bytes;
    info->bytes = array->used_extents[index] * geometry->chunk_bytes;
    info->free_bytes = array->room_extents[index] * geometry->chunk_bytes;
    info->data_offset_bytes = geometry->data_offset;
    return STRIA_OK;
}

void stria_recording_describe(const struct stria_recording *recording, struct stria_recording_info *info)
{
    *info = (struct stria_recording_info){
        .id = recording->id,
        .complete = recording->complete && recording->ended_flags & STRIA_ENDED_CLEAN,
        .raid0 = recording->policy == STRIA_POLICY_RAID0,
        .length_bytes = recording->length_bytes,
        .bytes = recording->stored_bytes,
        .dropped_bytes = recording->dropped_bytes,
        .started_unix_ns = recording->started_unix_ns,
        .duration_ns = recording->duration_ns,
        .base_row = recording->base_row,
    };
    info->plain_raid0 =
        info->raid0 && recording->complete && !(recording->ended_flags & STRIA_ENDED_NOT_RAID0);
    memcpy(info->name, recording->name, sizeof(info->name));
}

int stria_array_recording(const struct stria_array *array, uint32_t index, struct stria_recording_info *info)
{
    if (index >= array->inventory.recording_count)
        return STRIA_ERR_NOT_FOUND;
    stria_recording_describe(&array->inventory.recordings[index], info);
    return STRIA_OK;
}

int stria_array_find(const struct stria_array *array, const char *name, struct stria_recording_info *info)
{
    const struct stria_recording *recording = stria_inventory_find(&array->inventory, name);
    if (!recording)
        return STRIA_ERR_NOT_FOUND;
    stria_recording_describe(recording, info);
    return STRIA_OK;
}
