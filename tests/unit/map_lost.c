#include "core/map_lost.h"

#include "core/code.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

#define BASE ((uint64_t)STRIA_LOST_SEQUENCES)

static struct help_region region;
static struct stria_catalogue catalogue;
static struct stria_catalogue_lost memory[64];
static struct stria_map map;

static void begin(void)
{
    help_format(&catalogue, &region);
    map = (struct stria_map){.lost = memory};
}

TestSuite(map_lost, .init = begin);

/* An entry that names the sequences from first to last, which have one base. */
static void lost(uint64_t recording, uint64_t first, uint64_t last, uint32_t cause, uint32_t drive)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_LOST,
        .recording = recording,
        .lost = {.cause = cause, .drive = drive, .base_sequence = first / BASE * BASE},
    };
    cr_assert_eq(first / BASE, last / BASE);
    for (uint64_t bit = first % BASE; bit <= last % BASE; bit++)
        entry.lost.bitmap[bit / 8] |= (uint8_t)(1u << bit % 8);
    cr_assert_gt(stria_catalogue_append(&catalogue, &entry), 0);
}

static void build(uint64_t recording)
{
    cr_assert_eq(stria_map_lost_build(&map, &catalogue, recording, 64), STRIA_OK);
}

Test(map_lost, nothing_is_lost_where_nothing_says_so)
{
    lost(2, 0, 5, STRIA_GAP_DRIVE, 1);
    build(1);
    cr_expect_eq(map.lost_count, 0);
    cr_expect_eq(stria_map_lost_count(&map, 0, UINT64_MAX), 0);
    cr_expect_null(stria_map_lost_find(&map, 0));
    cr_expect_eq(stria_map_lost_next(&map, 3, 77), 77);
}

Test(map_lost, the_first_and_the_last_of_an_entry_are_lost_and_their_neighbours_are_not)
{
    lost(1, BASE, BASE, STRIA_GAP_DRIVE, 1);
    lost(1, 3 * BASE - 1, 3 * BASE - 1, STRIA_GAP_DRIVE, 2);
    build(1);
    cr_expect_null(stria_map_lost_find(&map, BASE - 1));
    cr_expect_eq(stria_map_lost_find(&map, BASE)->drive, 1);
    cr_expect_null(stria_map_lost_find(&map, BASE + 1));
    cr_expect_eq(stria_map_lost_find(&map, 3 * BASE - 1)->drive, 2);
    cr_expect_null(stria_map_lost_find(&map, 3 * BASE));
    cr_expect_eq(stria_map_lost_next(&map, 0, UINT64_MAX), BASE);
    cr_expect_eq(stria_map_lost_next(&map, BASE + 1, UINT64_MAX), 3 * BASE - 1);
    cr_expect_eq(stria_map_lost_next(&map, BASE + 1, 3 * BASE - 1), 3 * BASE - 1, "the end does not count");
    cr_expect_eq(stria_map_lost_next(&map, 3 * BASE, 4 * BASE), 4 * BASE);
    cr_expect_eq(stria_map_lost_count(&map, BASE, 3 * BASE - 1), 1);
    cr_expect_eq(stria_map_lost_count(&map, BASE, 3 * BASE), 2);
    cr_expect_eq(stria_map_lost_count(&map, BASE + 1, 3 * BASE - 1), 0);
}

Test(map_lost, what_several_say_of_a_sequence_is_said_once_and_by_the_same_whatever_their_order)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        begin();
        for (unsigned i = 0; i < 2; i++)
            if (i == turn)
                lost(1, 10, 29, STRIA_GAP_DRIVE, 3);
            else
                lost(1, 20, 39, STRIA_GAP_DRIVE, 2);
        build(1);
        cr_expect_eq(stria_map_lost_count(&map, 0, BASE), 30);
        cr_expect_eq(stria_map_lost_find(&map, 19)->drive, 3);
        cr_expect_eq(stria_map_lost_find(&map, 20)->drive, 2, "of equal causes the lowest drive");
        cr_expect_eq(stria_map_lost_find(&map, 29)->drive, 2);
    }
}

Test(map_lost, an_entry_that_names_nothing_new_is_dropped)
{
    lost(1, 10, 29, STRIA_GAP_DRIVE, 1);
    lost(1, 10, 29, STRIA_GAP_DRIVE, 2);
    lost(1, 15, 15, STRIA_GAP_DRIVE, 3);
    build(1);
    cr_expect_eq(map.lost_count, 1);
    cr_expect_eq(memory[0].drive, 1);
}

Test(map_lost, memory_too_small_is_told)
{
    for (uint64_t i = 0; i < 3; i++)
        lost(1, i * BASE, i * BASE, STRIA_GAP_DRIVE, 1);
    cr_expect_eq(stria_map_lost_build(&map, &catalogue, 1, 2), STRIA_ERR_NO_MEMORY);
    map.lost_count = 0;
    cr_expect_eq(stria_map_lost_build(&map, &catalogue, 1, 3), STRIA_OK);
}

Test(map_lost, the_highest_sequences_there_are_can_be_lost)
{
    lost(1, UINT64_MAX, UINT64_MAX, STRIA_GAP_DRIVE, 1);
    build(1);
    cr_expect_not_null(stria_map_lost_find(&map, UINT64_MAX));
    cr_expect_null(stria_map_lost_find(&map, UINT64_MAX - 1));
    cr_expect_eq(stria_map_lost_next(&map, 0, UINT64_MAX), UINT64_MAX);
}

Test(map_lost, agrees_with_a_list_of_single_sequences)
{
    enum { SPAN = 4 * 512 };
    static bool named[SPAN];
    struct stria_random random = random_of(1);
    for (unsigned i = 0; i < 40; i++) {
        const uint64_t first = stria_random_next(&random) % SPAN;
        uint64_t last = first + stria_random_next(&random) % 40;
        if (last / BASE != first / BASE)
            last = (first / BASE + 1) * BASE - 1;
        lost(1, first, last, STRIA_GAP_DRIVE, (uint32_t)(stria_random_next(&random) % 3));
        for (uint64_t sequence = first; sequence <= last; sequence++)
            named[sequence] = true;
    }
    build(1);
    uint64_t next = SPAN, count = 0;
    for (uint64_t sequence = SPAN; sequence-- > 0;) {
        next = named[sequence] ? sequence : next;
        count += named[sequence];
        cr_assert_eq(stria_map_lost_find(&map, sequence) != NULL, named[sequence]);
        cr_assert_eq(stria_map_lost_next(&map, sequence, SPAN), next);
        cr_assert_eq(stria_map_lost_count(&map, sequence, SPAN), count);
    }
}
