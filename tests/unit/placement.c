#include "core/placement.h"

#include <criterion/criterion.h>

Test(placement, only_raid0_gives_each_chunk_a_place_of_its_own)
{
    cr_assert(stria_placement_fixed(STRIA_POLICY_RAID0));
    cr_assert_not(stria_placement_fixed(STRIA_POLICY_ADAPTIVE));
}

Test(placement, the_drive_that_gave_the_smallest_part_of_what_it_had_is_next)
{
    const struct stria_share shares[] = {{true, 10, 100}, {true, 5, 100}, {true, 18, 200}};
    cr_assert_eq(stria_placement_choose(shares, 3, STRIA_PLACEMENT_NONE), 1);
}

Test(placement, the_lower_index_wins_among_equals)
{
    const struct stria_share shares[] = {{false, 0, 10}, {true, 5, 50}, {true, 1, 10}};
    cr_assert_eq(stria_placement_choose(shares, 3, STRIA_PLACEMENT_NONE), 1);
}

Test(placement, a_drive_that_cannot_take_one_gets_none)
{
    const struct stria_share shares[] = {{false, 0, 100}, {true, 99, 100}};
    cr_assert_eq(stria_placement_choose(shares, 2, STRIA_PLACEMENT_NONE), 1);
}

Test(placement, none_is_chosen_when_none_can)
{
    const struct stria_share shares[] = {{false, 0, 100}, {false, 0, 100}};
    cr_assert_eq(stria_placement_choose(shares, 2, STRIA_PLACEMENT_NONE), STRIA_PLACEMENT_NONE);
    cr_assert_eq(stria_placement_choose(shares, 2, 0), STRIA_PLACEMENT_NONE);
}

Test(placement, a_drive_to_be_avoided_is_chosen_only_when_it_is_the_only_one)
{
    struct stria_share shares[] = {{true, 0, 100}, {true, 90, 100}};
    cr_assert_eq(stria_placement_choose(shares, 2, 0), 1);
    shares[1].can_take = false;
    cr_assert_eq(stria_placement_choose(shares, 2, 0), 0);
}

Test(placement, unequal_drives_are_full_at_the_same_time)
{
    struct stria_share shares[] = {{true, 0, 1000}, {true, 0, 250}, {true, 0, 7000}, {true, 0, 1}};
    for (uint64_t chunk = 0; chunk < 8251; chunk++) {
        for (uint32_t drive = 0; drive < 4; drive++)
            shares[drive].can_take = shares[drive].taken < shares[drive].left;
        uint32_t chosen = stria_placement_choose(shares, 4, STRIA_PLACEMENT_NONE);
        cr_assert_neq(chosen, STRIA_PLACEMENT_NONE);
        shares[chosen].taken++;
        /* No drive is further ahead of another than by the chunk that came last. */
        for (uint32_t drive = 0; drive < 4; drive++)
            cr_assert_leq((shares[drive].taken - (shares[drive].taken > 0)) * 8251,
                          (chunk + 4) * shares[drive].left);
    }
    for (uint32_t drive = 0; drive < 4; drive++)
        cr_assert_eq(shares[drive].taken, shares[drive].left);
}

Test(placement, the_largest_drives_do_not_overflow_the_comparison)
{
    const struct stria_share shares[] = {{true, UINT32_MAX, (uint64_t)1 << 32},
                                         {true, UINT32_MAX - 1, (uint64_t)1 << 32}};
    cr_assert_eq(stria_placement_choose(shares, 2, STRIA_PLACEMENT_NONE), 1);
}
