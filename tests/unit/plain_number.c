#include "support/plain_number.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

/* A locale with a decimal comma, which few machines have: it is made where the system can make one. It lacks
 * all else, of which localedef complains. */
static void enter_comma_locale(void)
{
    static const char make[] =
        "cd %s && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \"\"\\ngrouping -1\\nEND "
        "LC_NUMERIC\\n' >comma && localedef -c -i comma -f UTF-8 ./comma.UTF-8 >log 2>&1";
    char command[320];
    snprintf(folder, sizeof(folder), "/tmp/stria-locale-XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof(command), make, folder);
    (void)!system(command);
    setenv("LOCPATH", folder, 1);
    const bool entered = setlocale(LC_NUMERIC, "comma.UTF-8") && localeconv()->decimal_point[0] == ',';
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    if (!entered)
        cr_skip_test("this machine can make no locale with a decimal comma");
}

Test(plain_number, a_whole_text_is_a_number_or_none)
{
    double number = 7;
    cr_assert(stria_plain_number_parse("-12.5", &number));
    cr_assert_eq(number, -12.5);
    static const char *const others[] = {"", "1.2.3", "1,5", "1 ", "x"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_expect_not(stria_plain_number_parse(others[i], &number), "%s", others[i]);
    cr_assert_eq(number, -12.5);
}

Test(plain_number, the_locale_of_the_program_changes_nothing)
{
    char text[32];
    double number;
    enter_comma_locale();
    cr_assert(stria_plain_number_parse("0.255", &number));
    cr_assert_eq(number, 0.255);
    stria_plain_number_print(text, sizeof(text), 3, number);
    cr_assert_str_eq(text, "0.255");
    snprintf(text, sizeof(text), "%.1f", 0.5);
    cr_assert_str_eq(text, "0,5", "the program's own locale is left as it was");
}
