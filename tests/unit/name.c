#include "core/name.h"

#include "core/code.h"

#include <criterion/criterion.h>
#include <string.h>

Test(name, fills_the_field_with_zeros_behind_the_text)
{
    char name[STRIA_NAME_BYTES];
    memset(name, 'x', sizeof(name));
    cr_assert_eq(stria_name_set(name, "left"), STRIA_OK);
    cr_assert(stria_name_valid(name));
    char expected[STRIA_NAME_BYTES] = "left";
    cr_assert(stria_name_equal(name, expected));
    cr_assert_arr_eq(name, expected, sizeof(expected));
}

Test(name, takes_up_to_63_bytes_and_at_least_one)
{
    char text[STRIA_NAME_BYTES + 2];
    memset(text, 'n', sizeof(text));
    char name[STRIA_NAME_BYTES] = "before";
    text[STRIA_NAME_BYTES] = 0;
    cr_assert_eq(stria_name_set(name, text), STRIA_ERR_INVALID);
    cr_assert_eq(stria_name_set(name, ""), STRIA_ERR_INVALID);
    cr_assert_str_eq(name, "before", "a failure leaves the field alone");
    text[STRIA_NAME_BYTES - 1] = 0;
    cr_assert_eq(stria_name_set(name, text), STRIA_OK);
    cr_assert(stria_name_valid(name));
}

Test(name, a_field_from_media_is_valid_only_if_terminated_not_empty_and_zero_behind)
{
    char name[STRIA_NAME_BYTES] = "";
    cr_assert_not(stria_name_valid(name));
    memset(name, 'x', sizeof(name));
    cr_assert_not(stria_name_valid(name));
    name[STRIA_NAME_BYTES - 1] = 0;
    cr_assert(stria_name_valid(name));
    name[10] = 0;
    cr_assert_not(stria_name_valid(name));
}
