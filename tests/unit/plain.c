#include "support/plain.h"

#include "support/trouble.h"

#include <criterion/criterion.h>

Test(plain, what_would_make_a_terminal_do_something_becomes_a_question_mark)
{
    char text[] = "a\033[2Jb\nc\td\x7f\xc2\x9b"
                  "2J";
    cr_assert_str_eq(stria_plain(text), "a?[2Jb?c?d???2J");
}

Test(plain, words_of_any_language_stay_as_they_are)
{
    char text[] = "Größe 1 µs, \xc2\xa0"
                  "…";
    cr_assert_str_eq(stria_plain(text), "Größe 1 µs, \xc2\xa0"
                                        "…");
}

Test(plain, half_a_character_at_the_end_is_left)
{
    char text[] = "a\xc2";
    cr_assert_str_eq(stria_plain(text), "a\xc2");
}

Test(plain, a_sentence_of_trouble_quotes_nothing_else)
{
    struct stria_trouble trouble;
    stria_trouble_set(&trouble, STRIA_ERR_INVALID, "'%s' is no name", "\033c");
    cr_assert_str_eq(trouble.sentence, "'?c' is no name");
}
