#include "support/nearest.h"

#include <criterion/criterion.h>

static const char *meant(const char *word)
{
    static const char *const candidates[] = {"init", "record",         "ls", "verify", "export",
                                             "rm",   "commit_interval"};
    struct stria_nearest nearest = stria_nearest_to(word);
    for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); i++)
        stria_nearest_offer(&nearest, candidates[i]);
    return nearest.best;
}

Test(nearest, a_slip_of_the_finger_is_understood)
{
    cr_assert_str_eq(meant("recrod"), "record");
    cr_assert_str_eq(meant("verfy"), "verify");
    cr_assert_str_eq(meant("exports"), "export");
    cr_assert_str_eq(meant("Init"), "init");
    cr_assert_str_eq(meant("l"), "ls");
    cr_assert_str_eq(meant("sl"), "ls");
    cr_assert_str_eq(meant("comit-interval"), "commit_interval");
}

Test(nearest, what_is_like_nothing_gets_no_suggestion)
{
    cr_assert_null(meant("frobnicate"));
    cr_assert_null(meant(""));
    cr_assert_null(meant("xy"));
    cr_assert_null(meant("a-word-that-is-much-longer-than-anything-that-anybody-would-ever-mistype"));
}
