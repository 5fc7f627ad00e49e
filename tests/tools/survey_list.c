/* Surveys of drives while memory runs out; the linker gives realloc() of what is tested to this program. */
#include "tools/survey_list.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static unsigned calls_left;
static struct stria_survey_list list;
static struct stria_trouble trouble;

void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_realloc(void *memory, size_t bytes)
{
    if (calls_left == 0)
        return NULL;
    calls_left--;
    return __real_realloc(memory, bytes);
}

static void tear_down(void)
{
    stria_survey_list_clear(&list);
}

TestSuite(survey_list, .fini = tear_down);

Test(survey_list, tells_that_memory_ran_out_whatever_the_drives_before_were)
{
    for (unsigned drives = 0; drives < 2; drives++) {
        for (unsigned calls = 0; calls < 2; calls++) {
            calls_left = calls;
            trouble = (struct stria_trouble){0};
            cr_expect_eq(stria_survey_list_add(&list, "", "memory:2MiB", &trouble), STRIA_ERR_NO_MEMORY);
            cr_expect_eq(trouble.code, STRIA_ERR_NO_MEMORY);
            cr_expect(strstr(trouble.sentence, "memory:2MiB"), "%s", trouble.sentence);
            cr_expect_eq(list.count, drives);
        }
        calls_left = 2;
        cr_assert_eq(stria_survey_list_add(&list, "", "memory:1MiB", &trouble), STRIA_OK, "%s",
                     trouble.sentence);
    }
}

Test(survey_list, keeps_a_drive_that_cannot_be_surveyed_with_its_trouble)
{
    calls_left = 2;
    const int code = stria_survey_list_add(&list, "", "no/such/drive", &trouble);
    cr_expect_lt(code, STRIA_OK);
    cr_assert_eq(list.count, 1);
    cr_expect_eq(list.troubles[0].code, code);
    cr_expect_str_eq(list.troubles[0].sentence, trouble.sentence);
}
