#include "results/text.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <string.h>

static struct stria_text text;

#define EXPECT(call, wanted)                                                                                 \
    do {                                                                                                     \
        text.length = 0;                                                                                     \
        call;                                                                                                \
        cr_expect_str_eq(text.bytes, wanted);                                                                \
    } while (0)

Test(text, grows_as_it_must)
{
    for (unsigned i = 0; i < 100000; i++)
        stria_text_add(&text, "0123456789");
    cr_expect_eq(text.length, 1000000);
    cr_expect_eq(strlen(text.bytes), 1000000);
    stria_text_clear(&text);
    cr_expect_null(text.bytes);
}

Test(text, has_decimals_with_a_point_in_every_locale)
{
    setlocale(LC_ALL, "de_DE.UTF-8");
    EXPECT(stria_text_add_decimal(&text, 1500000, 1000000, 3), "1.5");
    EXPECT(stria_text_add_decimal(&text, 1, 1000000000, 9), "0.000000001");
    EXPECT(stria_text_add_decimal(&text, 2000000000, 1000000000, 9), "2");
    EXPECT(stria_text_add_decimal(&text, 1999, 1000, 2), "2");
    EXPECT(stria_text_add_decimal(&text, 1994, 1000, 2), "1.99");
    EXPECT(stria_text_add_decimal(&text, UINT64_MAX, 1, 9), "18446744073709551615");
    EXPECT(stria_text_add_value(&text, STRIA_QUANTITY_MEAN, 12345678), "12.3 MB/s");
    EXPECT(stria_text_add_value(&text, STRIA_QUANTITY_TEMPERATURE_MAX, 41500), "41.5 °C");
    EXPECT(stria_text_add_value(&text, STRIA_QUANTITY_BYTES, 321212383232), "321 GB");
    EXPECT(stria_text_add_value(&text, STRIA_QUANTITY_LATENCY_MAX, 12345678), "12.3 ms");
}

Test(text, of_html_lets_nothing_through)
{
    EXPECT(stria_text_add_html(&text, "</script><b a=\"x\" c='y'>&amp;"),
           "&lt;/script&gt;&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;amp;");
    EXPECT(stria_text_add_html(&text, "\xff|\xc3\xa9|\xed\xa0\x80|\x01"),
           "\xef\xbf\xbd|\xc3\xa9|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd");
    EXPECT(stria_text_add_html(&text, "cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd");
}

Test(text, of_csv_is_quoted_where_it_must_be)
{
    EXPECT(stria_text_add_csv(&text, "plain text"), "plain text");
    EXPECT(stria_text_add_csv(&text, "a,b"), "\"a,b\"");
    EXPECT(stria_text_add_csv(&text, "say \"x\"\n"), "\"say \"\"x\"\"\n\"");
    EXPECT(stria_text_add_csv(&text, "=1+1"), "\"'=1+1\"");
}
