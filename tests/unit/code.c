#include "core/code.h"

#include <criterion/criterion.h>

Test(code, every_code_has_a_phrase_of_its_own)
{
    for (int code = STRIA_OK; code >= STRIA_ERR_DAMAGED; code--) {
        cr_assert_str_neq(stria_code_text(code), "unknown code");
        for (int other = code - 1; other >= STRIA_ERR_DAMAGED; other--)
            cr_assert_str_neq(stria_code_text(code), stria_code_text(other));
    }
}

Test(code, strangers_are_called_unknown)
{
    cr_assert_str_eq(stria_code_text(1), "unknown code");
    cr_assert_str_eq(stria_code_text(STRIA_ERR_DAMAGED - 1), "unknown code");
}
