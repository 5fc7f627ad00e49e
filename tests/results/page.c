#include "results/page.h"

#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

static struct stria_measurement measurements[3];
static struct stria_text page;

static void set_up(void)
{
    struct stria_trouble trouble;
    cr_assert_eq(document_read("<i>take.json", document_record, &measurements[0], &trouble), STRIA_OK);
    cr_assert_eq(document_read("bench.json", document_bench, &measurements[1], &trouble), STRIA_OK);
    cr_assert_eq(document_read("f.json", document_fio, &measurements[2], &trouble), STRIA_OK);
    stria_page(measurements, 3, "9.9.9", &page);
}

static void tear_down(void)
{
    for (unsigned i = 0; i < 3; i++)
        stria_measurement_clear(&measurements[i]);
    stria_text_clear(&page);
}

TestSuite(page, .init = set_up, .fini = tear_down);

static unsigned count_of(const char *what)
{
    unsigned count = 0;
    for (const char *at = page.bytes; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

Test(page, is_whole_and_needs_nothing_else)
{
    cr_expect_eq(strncmp(page.bytes, "<!doctype html>", 15), 0);
    cr_expect_str_eq(page.bytes + page.length - 8, "</html>\n");
    cr_expect_eq(strlen(page.bytes), page.length);
    cr_expect_eq(count_of("src="), 0);
    cr_expect_eq(count_of("<link"), 0);
    cr_expect_eq(count_of("@import"), 0);
    cr_expect_eq(count_of("url("), 0);
    cr_expect_eq(count_of("<script"), count_of("</script>"));
    cr_expect_eq(count_of("<script"), 3);
    cr_expect(strstr(page.bytes, "Written by stria 9.9.9"));
    cr_expect(strstr(page.bytes, "Leon Sorokin"), "the chart library comes without its licence");
}

Test(page, lets_no_text_of_a_document_become_markup)
{
    cr_expect_eq(count_of("<i>take"), 0);
    cr_expect_gt(count_of("&lt;i&gt;take"), 2);
    cr_expect_eq(count_of("right</script>"), 0);
    cr_expect_gt(count_of("right&lt;/script&gt;,&quot;x"), 1);
}

Test(page, holds_the_data_that_its_script_draws)
{
    const char *begin = strstr(page.bytes, "id=\"stria-data\">");
    cr_assert(begin);
    begin += strlen("id=\"stria-data\">");
    const char *end = strstr(begin, "</script>");
    char *json = strndup(begin, (size_t)(end - begin));
    struct json_object *list = json_tokener_parse(json), *value;
    cr_assert_eq(json_object_array_length(list), 3);
    cr_assert(json_object_object_get_ex(json_object_array_get_idx(list, 0), "drives", &value));
    cr_assert(json_object_object_get_ex(json_object_array_get_idx(value, 1), "label", &value));
    cr_expect_str_eq(json_object_get_string(value), "right</script>,\"x");
    /* Two gaps half a second apart are one stretch. */
    cr_assert(json_object_object_get_ex(json_object_array_get_idx(list, 0), "gaps", &value));
    cr_expect_eq(json_object_array_length(value), 1);
    cr_assert(json_object_object_get_ex(json_object_array_get_idx(list, 1), "rounds", &value));
    cr_expect_eq(json_object_array_length(value), 6);
    json_object_put(list);
    free(json);
}

Test(page, tells_the_minimum_first_and_the_average_last)
{
    const char *card = strstr(page.bytes, "data-result=\"1\"");
    const char *minimum = strstr(card, "<dt>minimum</dt><dd><b>500</b>");
    const char *lossless = strstr(card, "<dt>lossless rate</dt>");
    const char *average = strstr(card, "<dt>average</dt>");
    const char *end = strstr(card, "</article>");
    const char *sustained = strstr(card, "<dt>sustained(1 s)</dt>");
    cr_expect(!sustained || sustained > end, "the minimum is told twice");
    cr_expect(card < minimum && minimum < lossless && lossless < average && average < end);
}

Test(page, names_gaps_with_their_cause_and_drive)
{
    cr_expect(strstr(page.bytes, "<p class=\"verdict bad\"><span>▲</span> with gaps: 20 MB dropped</p>"));
    cr_expect(strstr(
        page.bytes,
        "<td>300 MB</td><td>2.0 s to 2.5 s</td><td>20 MB</td><td>2</td><td>buffer</td><td>right</td>"));
}
