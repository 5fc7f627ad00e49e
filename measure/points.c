#include "measure/points.h"

#include "core/assert.h"

#include <stdlib.h>
#include <string.h>

static bool is_same(const struct stria_bench_point *point, const struct stria_round *round)
{
    STRIA_ASSERT(point->point);
    return point->write == round->plan.write && strcmp(point->point, round->plan.point) == 0;
}

static bool counts(const struct stria_round *round)
{
    return !round->partial && !round->above_link && round->figures.mean.known;
}

static struct stria_bench_point *find_point(struct stria_bench_result *result,
                                            const struct stria_round *round)
{
    for (uint32_t i = 0; i < result->point_count; i++)
        if (is_same(&result->points[i], round))
            return &result->points[i];
    struct stria_bench_point *point = &result->points[result->point_count++];
    *point = (struct stria_bench_point){.point = round->plan.point, .write = round->plan.write};
    return point;
}

static void add_latency(struct stria_bench_point *point, const struct stria_round *round)
{
    uint64_t p99;
    if (!stria_histogram_percentile(stria_round_latency(round), STRIA_PERCENTILE_99_PPM, &p99))
        return;
    if (!point->latency_p99_ns.known || p99 > point->latency_p99_ns.value)
        point->latency_p99_ns = (struct stria_told){true, p99};
}

/* values has room for all rounds. */
static void sum_up(const struct stria_bench_result *result, struct stria_bench_point *point, uint64_t *values)
{
    struct stria_summary minima;
    uint32_t means = 0, minimum_count = 0;
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        if (round->plan.unrated || !is_same(point, round) || !counts(round))
            continue;
        values[means++] = round->figures.mean.value;
        add_latency(point, round);
    }
    point->repeats = means;
    point->known = stria_summary_of(values, means, &point->means);
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        if (!round->plan.unrated && is_same(point, round) && counts(round) && round->figures.min.known)
            values[minimum_count++] = round->figures.min.value;
    }
    /* A repeat without a minimum would make the others' look like that of all. */
    if (minimum_count == means && stria_summary_of(values, minimum_count, &minima)) {
        point->rating = point->min = (struct stria_told){true, minima.rating};
    }
}

static void rate(struct stria_bench_result *result)
{
    for (uint32_t i = 0; i < result->point_count; i++) {
        const struct stria_told *rating = &result->points[i].rating;
        if (rating->known && (!result->rating.known || rating->value < result->rating.value))
            result->rating = *rating;
    }
}

int stria_bench_make_points(struct stria_bench_result *result, struct stria_trouble *trouble)
{
    uint64_t *values = calloc(result->round_count + 1, sizeof(*values));
    result->points = calloc(result->round_count + 1, sizeof(*result->points));
    if (!values || !result->points) {
        free(values);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory for the result");
    }
    for (uint32_t i = 0; i < result->round_count; i++)
        if (!result->rounds[i].plan.unrated)
            find_point(result, &result->rounds[i]);
    for (uint32_t i = 0; i < result->point_count; i++)
        sum_up(result, &result->points[i], values);
    rate(result);
    free(values);
    return STRIA_OK;
}
