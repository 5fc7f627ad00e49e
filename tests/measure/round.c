#include "measure/round.h"

#include "measure/round_document.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define S  UINT64_C(1000000000)
#define MB UINT64_C(1000000)

/* A round of one drive with so many bins of 100 ms, each of so many bytes. */
static struct stria_round make(const uint64_t *bins, uint32_t count, uint64_t duration_ns)
{
    struct stria_round round = {.drive_count = 1, .duration_ns = duration_ns};
    strcpy(round.plan.point, "point");
    round.plan.write = true;
    round.drives = calloc(2, sizeof(*round.drives));
    round.latencies = calloc(2, sizeof(*round.latencies));
    for (unsigned i = 0; i < 2; i++) {
        struct stria_series *series = &round.drives[i];
        stria_series_init(series, calloc(count, sizeof(uint64_t)), count, 0, STRIA_SERIES_INTERVAL_NS);
        for (uint32_t bin = 0; bin < count; bin++)
            if (bins[bin])
                stria_series_add(series, bin * STRIA_SERIES_INTERVAL_NS + 1, bins[bin]);
        stria_series_advance(series, duration_ns);
    }
    round.bytes = round.drive_bytes[0] = round.drives[0].total_bytes;
    return round;
}

static struct json_object *at(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    cr_assert(json_object_object_get_ex(object, key, &value), "no key %s", key);
    return value;
}

Test(round, idle_bins_count_as_zero)
{
    uint64_t bins[30];
    for (unsigned i = 0; i < 30; i++)
        bins[i] = i < 10 || i >= 20 ? 10 * MB : 0;
    struct stria_round round = make(bins, 30, 3 * S);
    stria_round_conclude(&round, 0);
    cr_assert(round.figures.min.known);
    cr_assert_eq(round.figures.min.value, 0);
    cr_assert_eq(round.figures.max.value, 100 * MB);
    cr_assert_eq(round.figures.mean.value, 200 * MB / 3);
    stria_round_free(&round);
}

Test(round, shorter_than_a_second_it_has_a_mean_and_neither_minimum_nor_maximum)
{
    const uint64_t bins[5] = {MB, MB, MB, MB, MB};
    struct stria_round round = make(bins, 5, S / 2);
    stria_round_conclude(&round, 0);
    cr_assert_eq(round.figures.mean.value, 10 * MB);
    cr_assert_not(round.figures.min.known);
    cr_assert_not(round.figures.max.known);
    stria_round_free(&round);
}

Test(round, a_last_bin_cut_short_is_left_out_of_the_minimum)
{
    uint64_t bins[11];
    for (unsigned i = 0; i < 11; i++)
        bins[i] = i < 10 ? 10 * MB : 1;
    struct stria_round round = make(bins, 11, S + S / 20);
    stria_round_conclude(&round, 0);
    cr_assert_eq(round.figures.min.value, 100 * MB);
    stria_round_free(&round);
}

Test(round, a_long_series_is_merged_for_the_document_and_loses_no_byte)
{
    const uint32_t count = 2 * STRIA_ROUND_BINS_MAX + 3;
    uint64_t *bins = malloc(count * sizeof(*bins)), sum = 0;
    for (uint32_t i = 0; i < count; i++)
        bins[i] = i % 7 + 1;
    struct stria_round round = make(bins, count, count * STRIA_SERIES_INTERVAL_NS);
    stria_round_conclude(&round, 0);
    const struct stria_series *total = stria_round_total(&round);
    cr_assert_leq(total->count, STRIA_ROUND_BINS_MAX);
    cr_assert_eq(total->interval_ns, 4 * STRIA_SERIES_INTERVAL_NS);
    for (uint32_t i = 0; i < total->count; i++)
        sum += total->bins[i];
    cr_assert_eq(sum, round.bytes);
    stria_round_free(&round);
    free(bins);
}

Test(round, what_the_link_carries_is_believed_and_more_is_not)
{
    const uint64_t bins[10] = {MB, MB, MB, MB, MB, MB, MB, MB, MB, MB};
    struct stria_round round = make(bins, 10, S);
    cr_assert_not(stria_round_is_above_link(&round, 0, 10 * MB, 0));
    cr_assert(stria_round_is_above_link(&round, 0, 10 * MB - 1, 0));
    /* What was under way when the clock began is no proof. */
    cr_assert_not(stria_round_is_above_link(&round, 0, 9 * MB, MB));
    stria_round_free(&round);
}

Test(round, a_refused_round_keeps_its_keys_and_has_no_rates)
{
    uint64_t bins[20];
    for (unsigned i = 0; i < 20; i++)
        bins[i] = MB;
    struct stria_round round = make(bins, 20, 2 * S);
    stria_round_conclude(&round, MB);
    round.above_link = true;
    struct json_object *object = json_object_new_object();
    stria_round_document(object, &round);
    cr_assert_null(at(object, "mean_bytes_per_s"));
    cr_assert_null(at(object, "min_bytes_per_s"));
    cr_assert_null(at(object, "max_bytes_per_s"));
    cr_assert_null(at(object, "lossless_bytes_per_s"));
    cr_assert_null(at(at(object, "sustained_bytes_per_s"), "1s"));
    cr_assert_eq(json_object_get_uint64(at(object, "bytes")), 20 * MB);
    json_object_put(object);
    stria_round_free(&round);
}

Test(round, a_latency_of_minutes_is_told_exactly)
{
    const uint64_t bins[2] = {MB, 0}, minutes = 94 * S;
    struct stria_round round = make(bins, 2, S / 10);
    for (unsigned i = 0; i < 100000; i++)
        stria_histogram_add(&round.latencies[1], i < 99000 ? 1000 : minutes);
    stria_round_conclude(&round, 0);
    struct json_object *object = json_object_new_object();
    stria_round_document(object, &round);
    struct json_object *latency = at(object, "latency_ns");
    cr_assert_eq(json_object_get_uint64(at(latency, "max")), minutes);
    /* Never above the maximum, however wide the bucket is. */
    cr_assert_eq(json_object_get_uint64(at(latency, "p999")), minutes);
    cr_assert_leq(json_object_get_uint64(at(latency, "p50")), 1008);
    struct json_object *histogram = at(object, "histogram");
    cr_assert_eq(json_object_array_length(histogram), 2);
    struct json_object *tail = json_object_array_get_idx(histogram, 1);
    cr_assert_leq(json_object_get_uint64(json_object_array_get_idx(tail, 0)), minutes);
    cr_assert_eq(json_object_get_uint64(json_object_array_get_idx(tail, 1)), 1000);
    json_object_put(object);
    stria_round_free(&round);
}

Test(round, what_was_seen_once_a_second_stands_in_each_bin_of_it)
{
    uint64_t bins[15];
    for (unsigned i = 0; i < 15; i++)
        bins[i] = MB;
    struct stria_round round = make(bins, 15, S + S / 2);
    for (uint64_t second = 0; second < 2; second++) {
        struct stria_round_second *seen = stria_round_add_second(&round);
        seen->drives[0].temperature_c = (struct stria_told){true, 40 + second};
        seen->latency_max_ns = (struct stria_told){second == 1, 7};
    }
    stria_round_conclude(&round, 0);
    cr_assert(round.temperature_known);
    cr_assert_eq(round.temperature_max_c, 41);
    struct json_object *object = json_object_new_object();
    stria_round_document(object, &round);
    struct json_object *series = at(object, "series");
    struct json_object *temperature = json_object_array_get_idx(at(series, "temperature_c"), 0);
    cr_assert_eq(json_object_array_length(temperature), 15);
    cr_assert_eq(json_object_get_int(json_object_array_get_idx(temperature, 9)), 40);
    cr_assert_eq(json_object_get_int(json_object_array_get_idx(temperature, 10)), 41);
    cr_assert_null(json_object_array_get_idx(at(series, "latency_max_ns"), 0));
    json_object_put(object);
    stria_round_free(&round);
}
