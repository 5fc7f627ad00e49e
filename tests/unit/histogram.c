#include "core/histogram.h"

#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct stria_histogram *fresh(void)
{
    struct stria_histogram *histogram = malloc(sizeof(*histogram));
    stria_histogram_init(histogram);
    return histogram;
}

static uint64_t percentile(const struct stria_histogram *histogram, uint32_t ppm)
{
    uint64_t value = 0;
    cr_assert(stria_histogram_percentile(histogram, ppm, &value));
    return value;
}

Test(histogram, forgets_all_and_is_as_new)
{
    struct stria_histogram *used = fresh(), *unused = fresh();
    static const uint64_t values[] = {0, 1, 127, 128, 5000000, UINT64_MAX};
    for (unsigned i = 0; i < 6; i++)
        for (unsigned j = i; j < 6; j++) {
            stria_histogram_add(used, values[i]);
            stria_histogram_add(used, values[j]);
            stria_histogram_clear(used);
            cr_assert_arr_eq(used, unused, sizeof(*used));
        }
    free(used);
    free(unused);
}

Test(histogram, buckets_cover_the_64_bit_range_without_gap_or_overlap)
{
    for (uint32_t bucket = 0; bucket < STRIA_HISTOGRAM_BUCKETS; bucket++) {
        const uint64_t max = stria_histogram_bucket_max(bucket);
        cr_assert_eq(stria_histogram_bucket(max), bucket);
        if (bucket + 1 < STRIA_HISTOGRAM_BUCKETS)
            cr_assert_eq(stria_histogram_bucket(max + 1), bucket + 1);
        else
            cr_assert_eq(max, UINT64_MAX);
    }
}

Test(histogram, no_bucket_is_wider_than_a_128th_of_its_values)
{
    for (uint32_t bucket = 1; bucket < STRIA_HISTOGRAM_BUCKETS; bucket++) {
        const uint64_t min = stria_histogram_bucket_max(bucket - 1) + 1;
        const uint64_t width = stria_histogram_bucket_max(bucket) - min + 1;
        cr_assert(width == 1 || width <= min / 128);
    }
}

Test(histogram, small_values_are_exact)
{
    struct stria_histogram *histogram = fresh();
    for (uint64_t value = 1; value <= 100; value++)
        stria_histogram_add(histogram, value);
    cr_assert_eq(percentile(histogram, STRIA_PERCENTILE_50_PPM), 50u);
    cr_assert_eq(percentile(histogram, STRIA_PERCENTILE_90_PPM), 90u);
    cr_assert_eq(histogram->min, 1u);
    cr_assert_eq(histogram->max, 100u);
    cr_assert(histogram->sum == 5050);
    uint64_t mean = 0;
    cr_assert(stria_histogram_mean(histogram, &mean));
    cr_assert_eq(mean, 50u);
    free(histogram);
}

Test(histogram, a_percentile_with_fewer_than_ten_samples_above_it_does_not_exist)
{
    struct stria_histogram *histogram = fresh();
    uint64_t value = 77;
    cr_assert_not(stria_histogram_percentile(histogram, STRIA_PERCENTILE_50_PPM, &value));
    for (int i = 0; i < 999; i++)
        stria_histogram_add(histogram, 5);
    cr_assert_not(stria_histogram_percentile(histogram, STRIA_PERCENTILE_99_PPM, &value));
    cr_assert_eq(value, 77u);
    stria_histogram_add(histogram, 5);
    cr_assert(stria_histogram_percentile(histogram, STRIA_PERCENTILE_99_PPM, &value));
    cr_assert_eq(value, 5u);
    cr_assert_not(stria_histogram_percentile(histogram, STRIA_PERCENTILE_999_PPM, &value));
    cr_assert_not(stria_histogram_percentile(histogram, STRIA_PERCENTILE_ALL_PPM, &value));
    free(histogram);
}

Test(histogram, a_percentile_never_passes_the_exact_maximum)
{
    struct stria_histogram *histogram = fresh();
    const uint64_t value = UINT64_C(94000000001);
    for (int i = 0; i < 20; i++)
        stria_histogram_add(histogram, value);
    cr_assert_eq(percentile(histogram, STRIA_PERCENTILE_50_PPM), value);
    cr_assert_eq(histogram->max, value);
    free(histogram);
}

Test(histogram, the_sum_of_the_largest_samples_is_exact)
{
    struct stria_histogram *histogram = fresh();
    for (int i = 0; i < 21; i++)
        stria_histogram_add(histogram, UINT64_MAX);
    cr_assert(histogram->sum == (stria_u128)UINT64_MAX * 21);
    uint64_t mean = 0;
    cr_assert(stria_histogram_mean(histogram, &mean));
    cr_assert_eq(mean, UINT64_MAX);
    cr_assert_eq(percentile(histogram, STRIA_PERCENTILE_50_PPM), UINT64_MAX);
    free(histogram);
}

Test(histogram, without_samples_there_is_no_mean)
{
    struct stria_histogram *histogram = fresh();
    uint64_t mean = 3;
    cr_assert_not(stria_histogram_mean(histogram, &mean));
    cr_assert_eq(mean, 3u);
    free(histogram);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

Test(histogram, percentiles_lie_within_a_128th_above_those_of_the_sorted_samples)
{
    enum { SAMPLES = 20000 };
    static uint64_t samples[SAMPLES];
    struct stria_random random;
    stria_random_seed(&random, 3);
    struct stria_histogram *histogram = fresh();
    for (int i = 0; i < SAMPLES; i++) {
        samples[i] = stria_random_next(&random) >> stria_random_below(&random, 64);
        stria_histogram_add(histogram, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof(samples[0]), ascending);
    for (uint32_t ppm = 500; ppm <= STRIA_PERCENTILE_999_PPM; ppm += 500) {
        const uint64_t rank =
            ((uint64_t)SAMPLES * ppm + STRIA_PERCENTILE_ALL_PPM - 1) / STRIA_PERCENTILE_ALL_PPM;
        const uint64_t exact = samples[rank - 1], shown = percentile(histogram, ppm);
        cr_assert_geq(shown, exact);
        cr_assert_leq(shown - exact, exact / 128);
    }
    cr_assert_eq(histogram->min, samples[0]);
    cr_assert_eq(histogram->max, samples[SAMPLES - 1]);
    free(histogram);
}

static void assert_same(const struct stria_histogram *a, const struct stria_histogram *b)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->min, b->min);
    cr_assert_eq(a->max, b->max);
    cr_assert(a->sum == b->sum);
    cr_assert_arr_eq(a->counts, b->counts, sizeof(a->counts));
}

Test(histogram, a_merge_is_as_if_all_samples_had_gone_into_one)
{
    struct stria_random random;
    stria_random_seed(&random, 4);
    struct stria_histogram *left = fresh(), *right = fresh(), *both = fresh(), *empty = fresh();
    for (int i = 0; i < 5000; i++) {
        const uint64_t value = stria_random_next(&random) >> stria_random_below(&random, 64);
        stria_histogram_add(i % 3 ? left : right, value);
        stria_histogram_add(both, value);
    }
    stria_histogram_merge(left, right);
    stria_histogram_merge(left, empty);
    assert_same(left, both);
    stria_histogram_merge(empty, both);
    assert_same(empty, both);
    free(left);
    free(right);
    free(both);
    free(empty);
}
