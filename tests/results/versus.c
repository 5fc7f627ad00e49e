#include "results/versus.h"

#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stria_measurement a, b;
static const struct stria_measurement *const sides[2] = {&a, &b};
static struct stria_versus_options options;
static struct stria_versus versus;

/* One drive that stores so many MB in each second, without figures of its own. */
static void make(struct stria_measurement *measurement, const char *name, const unsigned *megabytes,
                 unsigned seconds)
{
    char text[4096], bins[1024] = "";
    struct stria_trouble trouble;
    unsigned total = 0;
    for (unsigned i = 0; i < seconds; i++) {
        snprintf(bins + strlen(bins), sizeof(bins) - strlen(bins), "%s%u000000", i ? ", " : "", megabytes[i]);
        total += megabytes[i];
    }
    snprintf(
        text, sizeof(text),
        "{\"schema\": \"stria.record/1\", \"array\": {\"name\": \"a\"}, \"recording\": {\"name\": \"r\", "
        "\"bytes\": %u000000,"
        " \"gaps\": []}, \"aggregate\": {\"saturated\": true}, \"buffer\": {\"bytes\": 50000000}, "
        "\"drives\": [{\"path\": \"p\"}],"
        " \"series\": {\"interval_ns\": 1000000000, \"last_bin_partial\": false, \"drive_bytes\": [[%s]]}}",
        total, bins);
    cr_assert_eq(document_read(name, text, measurement, &trouble), STRIA_OK, "%s", trouble.sentence);
}

static void tear_down(void)
{
    stria_measurement_clear(&a);
    stria_measurement_clear(&b);
}

TestSuite(versus, .fini = tear_down);

/* 200 MB/s until the cache is full after two seconds, then 50; against 100 all along. */
static void cliff_against_flat(void)
{
    const unsigned cliff[] = {200, 200, 50, 50, 50, 50}, flat[] = {100, 100, 100, 100, 100, 100};
    make(&a, "cliff.json", cliff, 6);
    make(&b, "flat.json", flat, 6);
}

Test(versus, rates_are_taken_over_what_both_have_written)
{
    const unsigned early[] = {200, 200, 200, 20}, late[] = {150, 150};
    make(&a, "long.json", early, 4);
    make(&b, "short.json", late, 2);
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.bytes, 300000000);
    /* The fourth second, in which the one is slow, the other has not seen. */
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_SUSTAINED_1S].value, 200000000);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_MEAN].value, 200000000);
    cr_expect_eq(versus.winner[STRIA_VERSUS_SUSTAINED_1S], 0);
}

Test(versus, the_average_and_the_minimum_may_name_different_winners)
{
    cliff_against_flat();
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_SUSTAINED_1S].value, 50000000);
    cr_expect_eq(versus.winner[STRIA_VERSUS_SUSTAINED_1S], 1);
    cr_expect_eq(versus.winner[STRIA_VERSUS_MEAN], -1, "both wrote 600 MB in 6 s");
    /* min over windows of (50 + S) / t: the last four seconds decide, (50 + 200) / 4. */
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_LOSSLESS].value, 62500000);
    cr_expect_eq(versus.winner[STRIA_VERSUS_LOSSLESS], 1);
    cr_expect_not(versus.figures[0][STRIA_VERSUS_SUSTAINED_60S].known);
}

Test(versus, the_capacity_is_what_comes_in_before_the_buffer_overruns)
{
    cliff_against_flat();
    options.rate_bytes_per_s = (struct stria_reading){true, 80000000};
    stria_versus(sides, &options, &versus);
    /* 400 MB are gone when it gets slow; 30 MB more stay behind in each second: 30 after the first, 50 after
     * two thirds of the second, in which the drive has stored 33 MB: 400 + 50 + 33 stored, and 50 in the
     * buffer. */
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_CAPACITY].value, 533333333);
    cr_expect_not(versus.endless[0]);
    cr_expect_eq(versus.figures[1][STRIA_VERSUS_CAPACITY].value, 600000000);
    cr_expect(versus.endless[1]);
    cr_expect_eq(versus.winner[STRIA_VERSUS_CAPACITY], 1);
    options.buffer_bytes = (struct stria_reading){true, 200000000};
    stria_versus(sides, &options, &versus);
    cr_expect(versus.endless[0], "a buffer of 200 MB carries all four slow seconds");
    cr_expect_eq(versus.winner[STRIA_VERSUS_CAPACITY], -1, "neither has lost anything yet");
}

Test(versus, prices_are_set_against_the_lossless_rate)
{
    cliff_against_flat();
    options.price[0] = 50;
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_PRICE].value, 5000);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_PRICE_PER_RATE].value, 8000, "50 over 62.5 MB/s");
    cr_expect_not(versus.figures[1][STRIA_VERSUS_PRICE].known);
    cr_expect_eq(versus.winner[STRIA_VERSUS_PRICE], -1);
    options.price[1] = 200;
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.winner[STRIA_VERSUS_PRICE], 0);
    cr_expect_eq(versus.winner[STRIA_VERSUS_PRICE_PER_RATE], 0);
}

Test(versus, prices_in_the_documents_count_where_none_is_given)
{
    struct stria_trouble trouble;
    cr_assert_eq(document_read("a.json", document_bench, &a, &trouble), STRIA_OK);
    cr_assert_eq(document_read("b.json", document_bench, &b, &trouble), STRIA_OK);
    options.price[1] = 90;
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_PRICE].value, 4500);
    cr_expect_eq(versus.figures[1][STRIA_VERSUS_PRICE].value, 9000);
}

Test(versus, what_has_no_series_is_judged_by_its_figures)
{
    struct stria_trouble trouble;
    cr_assert_eq(document_read("a.json", document_fio, &a, &trouble), STRIA_OK);
    cr_assert_eq(document_read("b.json", document_bench, &b, &trouble), STRIA_OK);
    stria_versus(sides, &options, &versus);
    cr_expect_eq(versus.bytes, 0);
    cr_expect_eq(versus.figures[0][STRIA_VERSUS_MEAN].value, 1000000000);
    cr_expect_not(versus.figures[0][STRIA_VERSUS_CAPACITY].known);
    cr_expect(versus.figures[1][STRIA_VERSUS_CAPACITY].known);
}
