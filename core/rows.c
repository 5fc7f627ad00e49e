#include "core/rows.h"

#include "core/assert.h"
#include "core/space.h"

void stria_rows_init(struct stria_rows *rows, uint32_t drive_count)
{
    STRIA_ASSERT(drive_count <= STRIA_DRIVES_MAX);
    *rows = (struct stria_rows){.drive_count = drive_count};
}

static bool any_absent(const struct stria_rows *rows)
{
    for (uint32_t drive = 0; drive < rows->drive_count; drive++)
        if (!rows->states[drive])
            return true;
    return false;
}

static bool none_there(const struct stria_rows *rows)
{
    for (uint32_t drive = 0; drive < rows->drive_count; drive++)
        if (rows->states[drive])
            return false;
    return true;
}

void stria_rows_add(struct stria_rows *rows, uint32_t drive, const uint8_t *states, uint64_t count)
{
    STRIA_ASSERT(drive < rows->drive_count && !rows->states[drive]);
    if (none_there(rows) || count < rows->count)
        rows->count = count;
    rows->states[drive] = states;
}

static bool is_usable(const struct stria_rows *rows, uint64_t row)
{
    for (uint32_t drive = 0; drive < rows->drive_count; drive++)
        if (rows->states[drive] && rows->states[drive][row] == STRIA_EXTENT_USED)
            return false;
    return true;
}

static bool is_whole(const struct stria_rows *rows, uint64_t row)
{
    for (uint32_t drive = 0; drive < rows->drive_count; drive++)
        if (rows->states[drive] && rows->states[drive][row] != STRIA_EXTENT_FREE)
            return false;
    return true;
}

/* The first row of the longest run of rows that fit; rows->count when none does. */
static uint64_t longest_run(const struct stria_rows *rows, bool (*fits)(const struct stria_rows *, uint64_t))
{
    uint64_t best_row = rows->count;
    uint64_t best_length = 0;
    uint64_t length = 0;
    for (uint64_t row = 0; row < rows->count; row++) {
        length = fits(rows, row) ? length + 1 : 0;
        if (length > best_length) {
            best_row = row + 1 - length;
            best_length = length;
        }
    }
    return best_row;
}

uint64_t stria_rows_best(const struct stria_rows *rows)
{
    const uint64_t row = longest_run(rows, is_whole);
    return row < rows->count ? row : longest_run(rows, is_usable);
}

uint64_t stria_rows_next(const struct stria_rows *rows, uint64_t row, uint64_t end)
{
    while (row < end && !is_usable(rows, row))
        row++;
    return row;
}

uint64_t stria_rows_room(const struct stria_rows *rows, uint64_t free_extents)
{
    uint64_t usable = 0;
    for (uint64_t row = 0; row < rows->count; row++)
        usable += is_usable(rows, row);
    const uint64_t extents = usable * rows->drive_count;
    return extents < free_extents ? extents : free_extents;
}

uint64_t stria_rows_room_of(const struct stria_rows *rows, uint32_t drive, uint64_t free_extents)
{
    if (any_absent(rows))
        return stria_rows_room(rows, free_extents);
    uint64_t count = 0;
    for (uint64_t row = 0; row < rows->count; row++)
        count += rows->states[drive][row] == STRIA_EXTENT_FREE && is_usable(rows, row);
    return count;
}
