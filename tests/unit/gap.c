#include "core/gap.h"

#include <criterion/criterion.h>

Test(gap, every_cause_has_a_word_of_its_own)
{
    for (uint32_t cause = STRIA_GAP_NONE; cause <= STRIA_GAP_FULL; cause++) {
        cr_assert_str_neq(stria_gap_cause_text(cause), "unknown");
        for (uint32_t other = cause + 1; other <= STRIA_GAP_FULL; other++)
            cr_assert_str_neq(stria_gap_cause_text(cause), stria_gap_cause_text(other));
    }
}

Test(gap, strangers_from_media_are_called_unknown)
{
    cr_assert_str_eq(stria_gap_cause_text(STRIA_GAP_FULL + 1), "unknown");
    cr_assert_str_eq(stria_gap_cause_text(UINT32_MAX), "unknown");
}
