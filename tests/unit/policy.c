#include "core/policy.h"

#include <criterion/criterion.h>

Test(policy, the_words_are_those_of_the_ini_file)
{
    cr_assert_str_eq(stria_policy_text(STRIA_POLICY_RAID0), "raid0");
    cr_assert_str_eq(stria_policy_text(STRIA_POLICY_ADAPTIVE), "adaptive");
}

Test(policy, strangers_from_media_are_called_unknown)
{
    cr_assert_str_eq(stria_policy_text(0), "unknown policy");
    cr_assert_str_eq(stria_policy_text(3), "unknown policy");
    cr_assert_str_eq(stria_policy_text(UINT32_MAX), "unknown policy");
}
