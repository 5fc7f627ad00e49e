#include "config/ini.h"

#include "core/code.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* All that was told, "LINE:[NAME]" for a section and "LINE:KEY=VALUE" for a value, a blank behind each. */
static char told[65536];
static struct stria_problems problems;

static void section(void *user, unsigned line, const char *name)
{
    cr_assert_eq(user, told);
    const size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, "%u:[%s] ", line, name);
}

static void value(void *user, unsigned line, const char *key, const char *text)
{
    cr_assert_eq(user, told);
    const size_t used = strlen(told);
    snprintf(told + used, sizeof(told) - used, text ? "%u:%s=%s " : "%u:%s ", line, key, text);
}

static int parse_bytes(const char *text, size_t bytes)
{
    const struct stria_ini_handler handler = {section, value, told};
    told[0] = '\0';
    stria_problems_clear(&problems);
    return stria_ini_parse("x.ini", text, bytes, &handler, &problems);
}

static int parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void clear(void)
{
    stria_problems_clear(&problems);
}

TestSuite(ini, .fini = clear);

Test(ini, sections_and_values_come_in_order_with_their_lines)
{
    cr_expect_eq(parse("[a]\nk = v\n\n; remark\n[b]\nk=w # remark\n"), STRIA_OK);
    cr_expect_str_eq(told, "1:[a] 2:k=v 5:[b] 6:k=w ");
}

Test(ini, a_section_without_keys_is_told_and_a_long_name_is_not_cut)
{
    char text[512];
    snprintf(text, sizeof(text), "[%0300d]\n[ b\t]\n", 7);
    cr_expect_eq(parse(text), STRIA_OK);
    cr_expect_eq(strlen(told), strlen("1:[] 2:[b] ") + 300);
    cr_expect(strstr(told, "7] 2:[b] "));
}

Test(ini, a_comment_may_follow_a_value_a_section_or_nothing)
{
    cr_expect_eq(parse("[a] ; one\n[b]# two\nk = v ; three\nl =; four\nm = ; five\nn = v;w\no = v#w\n"),
                 STRIA_OK);
    cr_expect_str_eq(told, "1:[a] 2:[b] 3:k=v 4:l= 5:m= 6:n=v;w 7:o=v#w ");
}

Test(ini, a_line_without_an_equals_sign_has_no_value_and_one_with_it_an_empty_one)
{
    cr_expect_eq(parse("lonely\nk =\n"), STRIA_OK);
    cr_expect_str_eq(told, "1:lonely 2:k= ");
}

Test(ini, an_indented_line_is_no_continuation)
{
    cr_expect_eq(parse("a = 1\n   b = 2\n\t[s]\n"), STRIA_OK);
    cr_expect_str_eq(told, "1:a=1 2:b=2 3:[s] ");
}

Test(ini, the_last_line_needs_no_end)
{
    cr_expect_eq(parse("a = 1\r\nb = 2"), STRIA_OK);
    cr_expect_str_eq(told, "1:a=1 2:b=2 ");
    cr_expect_eq(parse(""), STRIA_OK);
    cr_expect_str_eq(told, "");
}

Test(ini, brackets_that_do_not_close_and_text_behind_them_are_problems_and_the_rest_is_read)
{
    cr_expect_eq(parse("[a\nk = v\n[b] c = d\nl = w\n"), STRIA_ERR_INVALID);
    cr_expect_str_eq(told, "2:k=v 3:[b] 4:l=w ");
    cr_assert_eq(problems.count, 2);
    cr_expect(strstr(problems.sentences[0], "x.ini:1: ") && strstr(problems.sentences[0], "']'"));
    cr_expect(strstr(problems.sentences[1], "x.ini:3: ") && strstr(problems.sentences[1], "[b]"));
}

Test(ini, the_longest_line_is_kept_whole_and_a_longer_one_is_refused_alone)
{
    static char text[2 * STRIA_INI_LINE_BYTES];
    for (unsigned more = 0; more < 2; more++) {
        const size_t line = STRIA_INI_LINE_BYTES - 1 + more;
        memset(text, 'v', sizeof(text));
        memcpy(text, "k=", 2);
        memcpy(text + line - 1, "\nl=w\n", 6);
        cr_expect_eq(parse(text), more ? STRIA_ERR_INVALID : STRIA_OK);
        cr_expect_eq(strncmp(told, "1:k=vvv", 7) == 0, !more);
        cr_expect_eq(strlen(told), strlen("2:l=w ") + (more ? 0 : strlen("1:") + line));
        cr_expect_eq(problems.count, more);
    }
    cr_expect(strstr(problems.sentences[0], "x.ini:1: "), "%s", problems.sentences[0]);
}

Test(ini, bytes_that_are_no_text_are_refused_as_a_whole_and_a_byte_order_mark_is_not)
{
    cr_expect_eq(parse_bytes("a = 1\nb\0c\n", 10), STRIA_ERR_INVALID);
    cr_expect_str_eq(told, "");
    cr_assert_eq(problems.count, 1);
    cr_expect(strstr(problems.sentences[0], "at byte 7"), "%s", problems.sentences[0]);
    cr_expect_eq(parse("\xef\xbb\xbf[a]\n"), STRIA_OK);
    cr_expect_str_eq(told, "1:[a] ");
}
