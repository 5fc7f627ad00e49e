#include "support/json_latency.h"

void stria_json_add_latency(struct json_object *object, const struct stria_histogram *latency)
{
    static const struct {
        const char *key;
        uint32_t ppm;
    } percentiles[] = {{"p50", STRIA_PERCENTILE_50_PPM},
                       {"p90", STRIA_PERCENTILE_90_PPM},
                       {"p99", STRIA_PERCENTILE_99_PPM},
                       {"p999", STRIA_PERCENTILE_999_PPM}};
    struct json_object *figures = stria_json_add_object(object, "latency_ns");
    for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        uint64_t value = 0;
        const bool known = stria_histogram_percentile(latency, percentiles[i].ppm, &value);
        stria_json_add_figure(figures, percentiles[i].key, known, value);
    }
    stria_json_add_figure(figures, "max", latency->count > 0, latency->max);
}

void stria_json_append_histogram(struct json_object *array, const struct stria_histogram *latency)
{
    for (uint32_t bucket = 0; bucket < STRIA_HISTOGRAM_BUCKETS; bucket++) {
        if (!latency->counts[bucket])
            continue;
        struct json_object *entry = stria_json_append_array(array);
        stria_json_append_u64(entry, bucket ? stria_histogram_bucket_max(bucket - 1) + 1 : 0);
        stria_json_append_u64(entry, latency->counts[bucket]);
    }
}
