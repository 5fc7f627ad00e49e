#include "support/problems.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *printed(const struct stria_problems *problems)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    stria_problems_print(problems, "x: ", out);
    fclose(out);
    return text;
}

Test(problems, every_problem_is_one_line_in_the_order_it_was_found)
{
    struct stria_problems problems = {0};
    stria_problems_add(&problems, "first %d", 1);
    stria_problems_add(&problems, "second");
    char *text = printed(&problems);
    cr_assert_str_eq(text, "x: first 1\nx: second\n");
    free(text);
    stria_problems_clear(&problems);
    cr_assert_eq(problems.count, 0);
}

Test(problems, what_nobody_would_read_is_only_counted)
{
    struct stria_problems problems = {0};
    for (unsigned i = 0; i < STRIA_PROBLEMS_MAX + 7; i++)
        stria_problems_add(&problems, "again");
    cr_assert_eq(problems.count, STRIA_PROBLEMS_MAX);
    cr_assert_eq(problems.more, 7);
    char *text = printed(&problems);
    cr_assert(strstr(text, "… and 7 more\n"));
    free(text);
    stria_problems_clear(&problems);
}
