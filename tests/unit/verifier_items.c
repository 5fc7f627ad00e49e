#include "core/verifier_internal.h"

#include <criterion/criterion.h>

#define EXTENTS 12u

static struct stria_map_extent extents[2][EXTENTS];
static struct stria_map maps[2];
static struct stria_verifier_recording recordings[2];
static struct stria_verifier_item items[3][2 * EXTENTS];
static struct lane lanes[3];
static struct stria_verifier verifier;

static void add(unsigned recording, uint64_t sequence, uint16_t drive, uint32_t position)
{
    extents[recording][maps[recording].extent_count++] =
        (struct stria_map_extent){.sequence = sequence, .drive = drive, .position = position};
}

static void begin(void)
{
    for (unsigned i = 0; i < 2; i++) {
        maps[i].extents = extents[i];
        recordings[i].map = &maps[i];
    }
}

TestSuite(verifier_items, .init = begin);

/* As stria_verifier_init() lays it out. */
static void list(uint32_t drives)
{
    verifier = (struct stria_verifier){
        .config = {.drive_count = drives, .recording_count = 2, .recordings = recordings}, .lanes = lanes};
    for (uint32_t drive = 0; drive < drives; drive++) {
        lanes[drive].config.items = items[drive];
        lanes[drive].config.item_count = stria_verifier_items(recordings, 2, drive, items[drive]);
    }
}

/* The position of candidate number of an item, or −1 where there is none of that number. */
static int64_t candidate(uint32_t drive, uint64_t item, uint32_t number)
{
    const struct pull pull = {.drive = drive, .item = item};
    struct stria_verifier_candidate found;
    cr_assert(stria_verifier_candidate(&verifier, &pull, number, &found));
    return found.extent ? (int64_t)found.extent->position : -1;
}

Test(verifier_items, each_drive_is_read_by_rising_position_whatever_recording_it_is)
{
    add(0, 0, 0, 7);
    add(0, 1, 1, 3);
    add(0, 2, 0, 2);
    add(1, 0, 0, 5);
    list(2);
    cr_assert_eq(lanes[0].config.item_count, 3);
    cr_expect_eq(items[0][0].position, 2);
    cr_expect_eq(items[0][1].position, 5);
    cr_expect_eq(items[0][2].position, 7);
    cr_expect_eq(items[0][1].recording, 1);
    cr_expect_eq(items[0][0].extent, 2);
    cr_assert_eq(lanes[1].config.item_count, 1);
    cr_expect_eq(stria_verifier_items(recordings, 2, 0, NULL), 3, "counted without a list");
    cr_expect_eq(stria_verifier_items(recordings, 2, 9, NULL), 0);
}

Test(verifier_items, of_a_chunk_that_lies_in_several_places_the_first_is_listed)
{
    add(0, 0, 0, 1);
    add(0, 0, 0, 4);
    add(0, 0, 1, 9);
    add(0, 1, 1, 2);
    list(2);
    cr_assert_eq(lanes[0].config.item_count, 1);
    cr_expect_eq(items[0][0].position, 1);
    cr_assert_eq(lanes[1].config.item_count, 1);
    cr_expect_eq(items[1][0].position, 2);
}

Test(verifier_items, the_nearest_on_the_same_drive_are_held_against_a_payload_first)
{
    for (uint32_t i = 0; i < 6; i++)
        add(0, i, 0, 10 * i);
    list(1);
    const int64_t wanted[] = {30, 10, 40, 0, 50, -1, -1, -1};
    for (uint32_t number = 0; number < 8; number++)
        cr_expect_eq(candidate(0, 2, number), wanted[number], "candidate %u is %lld", number,
                     (long long)candidate(0, 2, number));
}

Test(verifier_items, then_those_of_the_other_drives_at_its_position_and_around_it)
{
    for (uint32_t i = 0; i < 4; i++) {
        add(0, 3 * i, 0, 10 * i);
        add(0, 3 * i + 1, 1, 10 * i);
    }
    list(3);
    /* Three of each drive: its own is passed over, the last has none. */
    const int64_t wanted[] = {-1, -1, -1, 10, 20, 30, -1, -1, -1};
    for (uint32_t number = 0; number < 9; number++)
        cr_expect_eq(candidate(0, 2, 8 + number), wanted[number], "candidate %u", number);
    struct stria_verifier_candidate found;
    const struct pull pull = {.drive = 0, .item = 2};
    cr_expect(!stria_verifier_candidate(&verifier, &pull, 8 + 9, &found), "there is an end of them");
}

Test(verifier_items, at_the_ends_of_another_drive_there_are_fewer)
{
    add(0, 0, 0, 5);
    add(0, 1, 0, 50);
    add(0, 2, 1, 5);
    add(0, 3, 1, 20);
    list(2);
    const int64_t first[] = {-1, 5, 20}, last[] = {20, -1, -1};
    for (uint32_t number = 0; number < 3; number++) {
        cr_expect_eq(candidate(0, 0, 8 + 3 + number), first[number]);
        cr_expect_eq(candidate(0, 1, 8 + 3 + number), last[number]);
    }
}
