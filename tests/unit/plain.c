#include "support/plain.h"

#include "support/trouble.h"

#include <criterion/criterion.h>
#include <string.h>

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

Test(plain, what_is_not_utf8_becomes_question_marks_byte_by_byte)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"a\xc2", "a?"}, /* half a character at the end */
        {"\x9b"
         "2J",
         "?2J"},                              /* a control character as Latin 1 has it */
        {"\xff\xfe", "??"},                   /* bytes that are nowhere in UTF-8 */
        {"\xc0\x9b", "??"},                   /* overlong */
        {"\xed\xa0\x80", "???"},              /* a surrogate */
        {"\xf4\x90\x80\x80", "????"},         /* past the last character */
        {"\xe2\x82", "??"},                   /* cut in the middle */
        {"\xe2\x82x\xc3\xa4", "??x\xc3\xa4"}, /* and sound ones behind it */
        {"\xf0\x9f\x8e\xa5", "\xf0\x9f\x8e\xa5"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[16];
        strcpy(text, cases[i].text);
        cr_expect_str_eq(stria_plain(text), cases[i].shown, "case %zu", i);
    }
}

Test(plain, what_is_shown_is_a_copy_only_where_it_must_be)
{
    const char *sound = "left", *first, *second;
    cr_expect(stria_shown(sound) == sound);
    cr_expect_str_eq(stria_shown(NULL), "");
    first = stria_shown("a\033b");
    second = stria_shown("c\033d");
    cr_expect_str_eq(first, "a?b");
    cr_expect_str_eq(second, "c?d");
    char longer[2 * STRIA_PLAIN_SHOWN_BYTES] = "";
    memset(longer, '\a', sizeof(longer) - 1);
    cr_expect(strlen(stria_shown(longer)) == STRIA_PLAIN_SHOWN_BYTES - 1);
}

Test(plain, a_sentence_of_trouble_quotes_nothing_else)
{
    struct stria_trouble trouble;
    stria_trouble_set(&trouble, STRIA_ERR_INVALID, "'%s' is no name", "\033c");
    cr_assert_str_eq(trouble.sentence, "'?c' is no name");
}
