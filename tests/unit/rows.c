#include "core/rows.h"

#include "core/space.h"

#include <criterion/criterion.h>
#include <string.h>

#define FREE STRIA_EXTENT_FREE
#define USED STRIA_EXTENT_USED
#define BAD  STRIA_EXTENT_BAD

static const uint8_t small[] = {FREE, USED, FREE, BAD, FREE, FREE};
static const uint8_t large[] = {FREE, FREE, FREE, FREE, FREE, USED, FREE, FREE, FREE, FREE};

static struct stria_rows rows_of(uint32_t drive_count)
{
    struct stria_rows rows;
    stria_rows_init(&rows, drive_count);
    stria_rows_add(&rows, 1, large, sizeof(large));
    stria_rows_add(&rows, 0, small, sizeof(small));
    return rows;
}

Test(rows, are_as_many_as_the_smallest_drive_has_extents)
{
    struct stria_rows rows;
    stria_rows_init(&rows, 3);
    cr_expect_eq(rows.count, 0);
    cr_expect_eq(stria_rows_best(&rows), 0);
    cr_expect_eq(stria_rows_room(&rows, 0), 0);
    stria_rows_add(&rows, 2, large, sizeof(large));
    cr_expect_eq(rows.count, sizeof(large));
    cr_expect_eq(rows_of(2).count, sizeof(small));
}

Test(rows, are_usable_where_no_drive_holds_a_chunk)
{
    const struct stria_rows rows = rows_of(2);
    static const uint64_t next[] = {0, 2, 2, 3, 4, 6, 6};
    for (uint64_t row = 0; row < sizeof(next) / sizeof(next[0]); row++)
        cr_expect_eq(stria_rows_next(&rows, row, 6), next[row], "from %d", (int)row);
    cr_expect_eq(stria_rows_next(&rows, 1, 2), 2, "none before the end");
}

Test(rows, begin_with_the_longest_run_in_which_nothing_goes_elsewhere)
{
    uint8_t states[8] = {FREE, BAD, FREE, FREE, BAD, FREE, FREE, USED};
    struct stria_rows rows;
    stria_rows_init(&rows, 1);
    stria_rows_add(&rows, 0, states, sizeof(states));
    cr_expect_eq(stria_rows_best(&rows), 2, "the first of two of the same length");
    states[2] = USED;
    cr_expect_eq(stria_rows_best(&rows), 5);
    memset(states, BAD, 3);
    memset(states + 3, USED, 2);
    memset(states + 5, BAD, 2);
    cr_expect_eq(stria_rows_best(&rows), 0, "no row is whole");
    memset(states, USED, sizeof(states));
    cr_expect_eq(stria_rows_best(&rows), rows.count, "no row is usable");
}

Test(rows, have_room_for_what_lies_in_them_and_not_beyond)
{
    const struct stria_rows rows = rows_of(2);
    cr_expect_eq(stria_rows_room(&rows, 13), 8,
                 "four usable rows of two drives, the bad one's chunk elsewhere");
    cr_expect_eq(stria_rows_room(&rows, 7), 7, "no more than is free");
    cr_expect_eq(stria_rows_room_of(&rows, 0, 4), 3);
    cr_expect_eq(stria_rows_room_of(&rows, 1, 9), 4);
}

Test(rows, have_room_elsewhere_for_the_chunks_of_an_absent_drive)
{
    const struct stria_rows rows = rows_of(3);
    cr_expect_eq(stria_rows_room(&rows, 13), 12);
    cr_expect_eq(stria_rows_room_of(&rows, 0, 4), 4);
    cr_expect_eq(stria_rows_room_of(&rows, 1, 9), 9);
}
