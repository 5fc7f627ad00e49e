#include "results/latency_curve.h"

#include "core/histogram.h"

#include <criterion/criterion.h>

static struct stria_reading readings[STRIA_QUANTITIES];
static struct stria_latency_point points[STRIA_LATENCY_POINTS_MAX];

/* Latencies 1, 2, 3 … of a microsecond, one of each. */
static struct stria_latencies of(uint32_t count)
{
    static struct stria_bucket buckets[20000];
    struct stria_latencies latencies = {.buckets = buckets};
    for (uint32_t i = 1; i <= count; i++) {
        const uint32_t bucket = stria_histogram_bucket(i * 1000);
        const uint64_t low = stria_histogram_bucket_max(bucket - 1) + 1;
        if (latencies.count == 0 || buckets[latencies.count - 1].low_ns != low)
            buckets[latencies.count++] = (struct stria_bucket){.low_ns = low};
        buckets[latencies.count - 1].count++;
    }
    readings[STRIA_QUANTITY_LATENCY_MAX] = (struct stria_reading){true, count * UINT64_C(1000)};
    return latencies;
}

Test(latency_curve, goes_as_far_as_ten_requests_rank_above_it_and_then_to_the_maximum)
{
    const struct stria_latencies latencies = of(10000);
    const uint32_t count = stria_latency_curve(&latencies, readings, points);
    cr_assert_gt(count, 20);
    cr_assert_lt(count, STRIA_LATENCY_POINTS_MAX);
    for (uint32_t i = 0; i + 1 < count; i++) {
        const double exact = 1e7 * (1 - points[i].tail_ppm / 1e6);
        cr_assert_geq(points[i].ns, exact - 1000);
        cr_assert_leq(points[i].ns, (exact + 1000) * 129 / 128);
        cr_assert_gt(points[i].tail_ppm, points[i + 1].tail_ppm);
        cr_assert_leq(points[i].ns, points[i + 1].ns);
    }
    cr_assert_eq(points[count - 2].tail_ppm, 1000);
    cr_assert_eq(points[count - 1].tail_ppm, 0);
    cr_assert_eq(points[count - 1].ns, 10000000);
}

Test(latency_curve, has_the_percentiles_that_the_document_tells)
{
    const struct stria_latencies latencies = of(10000);
    struct stria_histogram histogram = {0};
    for (uint64_t i = 1; i <= 10000; i++)
        stria_histogram_add(&histogram, i * 1000);
    const uint32_t count = stria_latency_curve(&latencies, readings, points);
    unsigned met = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        uint64_t ns = 0;
        cr_assert(stria_histogram_percentile(&histogram, STRIA_PERCENTILE_ALL_PPM - points[i].tail_ppm, &ns));
        cr_assert_eq(points[i].ns, ns);
        met += points[i].tail_ppm == 500000 || points[i].tail_ppm == 100000 || points[i].tail_ppm == 10000;
    }
    cr_assert_eq(met, 3);
}

Test(latency_curve, of_few_requests_is_their_maximum)
{
    const struct stria_latencies latencies = of(9);
    cr_assert_eq(stria_latency_curve(&latencies, readings, points), 1);
    cr_assert_eq(points[0].tail_ppm, 0);
    cr_assert_eq(points[0].ns, 9000);
}

Test(latency_curve, without_a_histogram_has_the_percentiles_that_are_told)
{
    readings[STRIA_QUANTITY_LATENCY_P50] = (struct stria_reading){true, 10};
    readings[STRIA_QUANTITY_LATENCY_P99] = (struct stria_reading){true, 30};
    cr_assert_eq(stria_latency_curve(NULL, readings, points), 2);
    cr_assert_eq(points[1].tail_ppm, 10000);
    cr_assert_eq(points[1].ns, 30);
}

Test(latency_curve, of_nothing_has_no_point)
{
    const struct stria_latencies none = {0};
    cr_assert_eq(stria_latency_curve(&none, readings, points), 0);
}
