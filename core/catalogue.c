#include "core/catalogue.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/catalogue_cell.h"
#include "core/code.h"

#include <string.h>

#define CELLS_PER_PAGE (STRIA_PAGE_BYTES / STRIA_CATALOGUE_ENTRY_BYTES)
#define CELLS_MIN      ((uint32_t)(STRIA_CATALOGUE_HALF_MIN / STRIA_CATALOGUE_ENTRY_BYTES))

void stria_catalogue_recording_seen(struct stria_catalogue *catalogue, uint64_t recording)
{
    if (recording != UINT64_MAX && recording >= catalogue->next_recording)
        catalogue->next_recording = recording + 1;
}

bool stria_catalogue_cell_whole(const struct stria_catalogue *catalogue, uint32_t index,
                                struct stria_catalogue_entry *entry)
{
    const enum stria_catalogue_cell_verdict verdict =
        stria_catalogue_cell_decode(stria_catalogue_cell_at(catalogue, index), entry, catalogue->seed, index);
    return verdict == STRIA_CATALOGUE_CELL_VALID || verdict == STRIA_CATALOGUE_CELL_STRANGE;
}

uint64_t stria_catalogue_head_next(const struct stria_catalogue *catalogue)
{
    struct stria_catalogue_entry head;
    const bool read = stria_catalogue_read(catalogue, 0, &head);
    STRIA_ASSERT(read && head.kind == STRIA_CATALOGUE_HEAD);
    return head.head.next_recording;
}

void stria_catalogue_begin(struct stria_catalogue *catalogue, const struct stria_catalogue_head *head,
                           uint64_t wall_ns)
{
    memset(catalogue->image, 0, (size_t)head->entries_max * STRIA_CATALOGUE_ENTRY_BYTES);
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_HEAD, .wall_ns = wall_ns, .head = *head};
    catalogue->seed = stria_catalogue_cell_seed(catalogue->array_uuid, head->epoch);
    stria_catalogue_cell_encode(catalogue->image, &entry, catalogue->seed);
    catalogue->entries_max = head->entries_max;
    catalogue->count = 1;
    catalogue->epoch = head->epoch;
    catalogue->next_recording = head->next_recording;
    catalogue->damaged_count = 0;
}

void stria_catalogue_format(struct stria_catalogue *catalogue, uint8_t *image, size_t half_bytes,
                            const uint8_t array_uuid[STRIA_UUID_BYTES], uint64_t wall_ns)
{
    STRIA_ASSERT(half_bytes % STRIA_PAGE_BYTES == 0 && half_bytes >= STRIA_CATALOGUE_HALF_MIN &&
                 half_bytes <= STRIA_CATALOGUE_HALF_MAX);
    *catalogue = (struct stria_catalogue){.image = NULL};
    catalogue->image = image;
    memcpy(catalogue->array_uuid, array_uuid, STRIA_UUID_BYTES);
    const struct stria_catalogue_head head = {
        .epoch = 1,
        .next_recording = 1,
        .format = STRIA_CATALOGUE_FORMAT,
        .entries_max = (uint32_t)(half_bytes / STRIA_CATALOGUE_ENTRY_BYTES),
    };
    stria_catalogue_begin(catalogue, &head, wall_ns);
}

/* Counts the cells in use and what they mention. */
static void survey(struct stria_catalogue *catalogue)
{
    uint32_t sound = 0;
    for (uint32_t index = 0; index < catalogue->entries_max; index++) {
        struct stria_catalogue_entry entry;
        const enum stria_catalogue_cell_verdict verdict = stria_catalogue_cell_decode(
            stria_catalogue_cell_at(catalogue, index), &entry, catalogue->seed, index);
        if (verdict == STRIA_CATALOGUE_CELL_EMPTY)
            continue;
        catalogue->count = index + 1;
        if (verdict == STRIA_CATALOGUE_CELL_DAMAGED)
            continue;
        sound++;
        stria_catalogue_recording_seen(catalogue, entry.recording);
    }
    catalogue->damaged_count = catalogue->count - sound;
}

static bool head_plausible(const struct stria_catalogue_head *head, uint32_t half, size_t half_bytes)
{
    return (head->epoch & 1) == half && head->epoch != UINT64_MAX && head->entries_max >= CELLS_MIN &&
           head->entries_max % CELLS_PER_PAGE == 0 &&
           head->entries_max <= half_bytes / STRIA_CATALOGUE_ENTRY_BYTES;
}

int stria_catalogue_load(struct stria_catalogue *catalogue, uint8_t *halves[2], size_t half_bytes,
                         const uint8_t array_uuid[STRIA_UUID_BYTES])
{
    *catalogue = (struct stria_catalogue){.image = NULL};
    memcpy(catalogue->array_uuid, array_uuid, STRIA_UUID_BYTES);
    if (half_bytes < STRIA_CATALOGUE_HALF_MIN)
        return STRIA_ERR_FORMAT;
    struct stria_catalogue_head newest = {0};
    for (uint32_t half = 0; half < 2; half++) {
        struct stria_catalogue_entry entry;
        if (stria_catalogue_cell_decode_head(halves[half], &entry, array_uuid) &&
            entry.head.epoch > newest.epoch && head_plausible(&entry.head, half, half_bytes))
            newest = entry.head;
    }
    if (newest.epoch == 0)
        return STRIA_ERR_FORMAT;
    if (newest.format > STRIA_CATALOGUE_FORMAT)
        return STRIA_ERR_VERSION;
    catalogue->image = halves[newest.epoch & 1];
    catalogue->entries_max = newest.entries_max;
    catalogue->epoch = newest.epoch;
    catalogue->next_recording = newest.next_recording;
    catalogue->seed = stria_catalogue_cell_seed(array_uuid, newest.epoch);
    survey(catalogue);
    return STRIA_OK;
}

int stria_catalogue_append_cell(struct stria_catalogue *catalogue,
                                const uint8_t cell[STRIA_CATALOGUE_ENTRY_BYTES])
{
    if (catalogue->count == catalogue->entries_max)
        return STRIA_ERR_FULL;
    const uint32_t index = catalogue->count++;
    stria_catalogue_cell_move(stria_catalogue_cell_at(catalogue, index), cell, catalogue->seed, index);
    struct stria_catalogue_entry entry;
    if (stria_catalogue_cell_decode(stria_catalogue_cell_at(catalogue, index), &entry, catalogue->seed,
                                    index) != STRIA_CATALOGUE_CELL_DAMAGED)
        stria_catalogue_recording_seen(catalogue, entry.recording);
    return (int)index;
}

int stria_catalogue_append(struct stria_catalogue *catalogue, const struct stria_catalogue_entry *entry)
{
    STRIA_ASSERT(entry->recording != 0 && entry->kind != STRIA_CATALOGUE_HEAD);
    /* Only damaged media can use up all ids. */
    if (entry->recording == UINT64_MAX)
        return STRIA_ERR_FULL;
    struct stria_catalogue_entry read_back;
    uint8_t cell[STRIA_CATALOGUE_ENTRY_BYTES];
    struct stria_catalogue_entry first = *entry;
    first.ordinal = 0;
    stria_catalogue_cell_encode(cell, &first, catalogue->seed);
    STRIA_ASSERT(stria_catalogue_cell_decode(cell, &read_back, catalogue->seed, 0) ==
                 STRIA_CATALOGUE_CELL_VALID);
    return stria_catalogue_append_cell(catalogue, cell);
}

bool stria_catalogue_read(const struct stria_catalogue *catalogue, uint32_t index,
                          struct stria_catalogue_entry *entry)
{
    STRIA_ASSERT(index < catalogue->count);
    return stria_catalogue_cell_decode(stria_catalogue_cell_at(catalogue, index), entry, catalogue->seed,
                                       index) == STRIA_CATALOGUE_CELL_VALID;
}

bool stria_catalogue_next(const struct stria_catalogue *catalogue, uint32_t *index,
                          struct stria_catalogue_entry *entry)
{
    while (*index < catalogue->count)
        if (stria_catalogue_read(catalogue, (*index)++, entry))
            return true;
    return false;
}

bool stria_catalogue_fits(const struct stria_catalogue *catalogue, const struct stria_geometry *geometry)
{
    return (uint64_t)catalogue->entries_max * STRIA_CATALOGUE_ENTRY_BYTES <= geometry->catalogue_bytes / 2;
}

struct stria_catalogue_pages stria_catalogue_pages(const struct stria_catalogue *catalogue,
                                                   const struct stria_geometry *geometry, uint32_t index,
                                                   uint32_t entry_count)
{
    STRIA_ASSERT(entry_count > 0 && entry_count <= catalogue->entries_max &&
                 index <= catalogue->entries_max - entry_count);
    const uint64_t from = stria_align_down((uint64_t)index * STRIA_CATALOGUE_ENTRY_BYTES, STRIA_PAGE_BYTES);
    const uint64_t to =
        stria_align_up(((uint64_t)index + entry_count) * STRIA_CATALOGUE_ENTRY_BYTES, STRIA_PAGE_BYTES);
    STRIA_ASSERT(stria_catalogue_fits(catalogue, geometry));
    return (struct stria_catalogue_pages){
        .image_offset_bytes = (size_t)from,
        .drive_offset_bytes = stria_geometry_catalogue_half_offset(geometry, catalogue->epoch) + from,
        .length_bytes = (size_t)(to - from),
    };
}

uint32_t stria_catalogue_raid0_flags(bool on_drives, bool in_rows)
{
    if (on_drives && in_rows)
        return 0;
    return STRIA_ENDED_NOT_RAID0 | (on_drives ? STRIA_ENDED_OFF_ROWS : 0);
}
