#include "core/placement.h"

bool stria_placement_fixed(enum stria_policy policy)
{
    return policy == STRIA_POLICY_RAID0;
}

/* taken_a / left_a < taken_b / left_b without a division. */
static bool gave_less(const struct stria_share *a, const struct stria_share *b)
{
    return a->taken * b->left < b->taken * a->left;
}

uint32_t stria_placement_choose(const struct stria_share *shares, uint32_t count, uint32_t avoid)
{
    uint32_t best = STRIA_PLACEMENT_NONE;
    for (uint32_t drive = 0; drive < count; drive++) {
        if (!shares[drive].can_take || drive == avoid)
            continue;
        if (best == STRIA_PLACEMENT_NONE || gave_less(&shares[drive], &shares[best]))
            best = drive;
    }
    if (best == STRIA_PLACEMENT_NONE && avoid < count && shares[avoid].can_take)
        return avoid;
    return best;
}
