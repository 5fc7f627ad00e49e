#include "measure/document.h"

#include "core/ratio.h"
#include "core/synthetic.h"
#include "measure/host.h"
#include "measure/round_document.h"
#include "support/json.h"

#include <string.h>
#include <time.h>

static const char *text_or_null(const char *text)
{
    return text && text[0] ? text : NULL;
}

static void add_started(struct json_object *object, uint64_t unix_ns)
{
    char text[32];
    const time_t seconds = (time_t)(unix_ns / STRIA_SECOND_NS);
    struct tm moment;
    gmtime_r(&seconds, &moment);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &moment);
    stria_json_add_text(object, "started", text);
}

static void add_command(struct json_object *object, const struct stria_bench_options *options)
{
    struct json_object *words = stria_json_add_array(object, "command");
    for (int i = 0; i < options->command_count; i++)
        stria_json_append_text(words, options->command[i]);
}

static void add_versions(struct json_object *object, const struct stria_host *host)
{
    struct json_object *versions = stria_json_add_object(object, "versions");
    stria_json_add_text(versions, "stria", STRIA_VERSION);
    stria_json_add_text(versions, "kernel", text_or_null(host->kernel));
    stria_json_add_text(versions, "liburing", text_or_null(STRIA_LIBURING_VERSION));
    stria_json_add_text(versions, "libnvme", text_or_null(STRIA_LIBNVME_VERSION));
}

static void add_host(struct json_object *object, const struct stria_host *host)
{
    struct json_object *machine = stria_json_add_object(object, "host");
    stria_json_add_text(machine, "cpu", text_or_null(host->cpu));
    stria_json_add_figure(machine, "cores", host->cores > 0, host->cores);
    stria_json_add_figure(machine, "memory_bytes", host->memory_bytes > 0, host->memory_bytes);
    stria_json_add_text(machine, "governor", text_or_null(host->governor));
}

static void add_options(struct json_object *object, const struct stria_bench_result *result)
{
    const struct stria_bench_options *given = result->options;
    struct json_object *options = stria_json_add_object(object, "options");
    const struct stria_round *first = result->round_count ? &result->rounds[0] : NULL;
    stria_json_add_figure(options, "block_bytes", first, first ? first->plan.block_bytes : 0);
    stria_json_add_figure(options, "depth", first, first ? first->plan.depth : 0);
    stria_json_add_text(options, "engine",
                        result->target_count ? text_or_null(result->targets[0].engine) : NULL);
    stria_json_add_u64(options, "repeats", given->repeats);
    stria_json_add_u64(options, "rest_ns", given->rest_ns);
    stria_json_add_figure(options, "runtime_ns", given->runtime_ns > 0, given->runtime_ns);
    stria_json_add_u64(options, "warm_up_ns", given->warm_up_ns);
    stria_json_add_text(options, "policy", given->array ? stria_policy_text(given->array->policy) : NULL);
    stria_json_add_figure(options, "buffer_bytes", result->buffer_bytes > 0, result->buffer_bytes);
    stria_json_add_u64(options, "seed", given->seed);
}

static void add_told(struct json_object *object, const char *key, const struct stria_told *told)
{
    stria_json_add_figure(object, key, told->known, told->value);
}

/* Zero is not known. */
static void add_real(struct json_object *object, const char *key, double value)
{
    if (value > 0)
        stria_json_add_real(object, key, value);
    else
        stria_json_add_null(object, key);
}

static void add_health(struct json_object *object, const char *key, const struct stria_health *health,
                       bool trimmed)
{
    struct json_object *at = stria_json_add_object(object, key);
    add_told(at, "temperature_c", &health->temperature_c);
    add_told(at, "percentage_used", &health->percentage_used);
    add_told(at, "media_errors", &health->media_errors);
    add_told(at, "critical_warning", &health->critical_warning);
    add_told(at, "throttle_count", &health->throttle_count);
    stria_json_add_bool(at, "trimmed", trimmed);
}

static void add_link(struct json_object *object, const struct stria_target *target)
{
    struct json_object *link = stria_json_add_object(object, "link");
    add_real(link, "gts", target->link.gts);
    add_told(link, "width", &target->link.width);
    add_real(link, "capable_gts", target->link.capable_gts);
    add_told(link, "capable_width", &target->link.capable_width);
    add_told(link, "bytes_per_s", &target->link_bytes_per_s);
}

static void add_drive(struct json_object *drives, const struct stria_bench_result *result,
                      const struct stria_target *target)
{
    struct json_object *drive = stria_json_append_object(drives);
    const bool trimmed = result->round_count > 0 && result->rounds[result->round_count - 1].trimmed;
    stria_json_add_text(drive, "path", target->config.path);
    stria_json_add_text(drive, "model", text_or_null(target->model));
    stria_json_add_text(drive, "serial", text_or_null(target->serial));
    stria_json_add_text(drive, "firmware", text_or_null(target->firmware));
    stria_json_add_u64(drive, "size_bytes", target->size_bytes);
    add_told(drive, "lba_bytes", &target->lba_bytes);
    stria_json_add_text(drive, "file_system", text_or_null(target->file_system));
    stria_json_add_text(drive, "profile", text_or_null(target->config.profile));
    stria_json_add_u64(drive, "offset_bytes", target->begin_bytes);
    add_link(drive, target);
    add_real(drive, "price", target->price);
    add_health(drive, "before", &target->before, false);
    add_health(drive, "after", &target->after, trimmed);
    stria_json_add_text(drive, "warning", text_or_null(target->warning));
}

static void add_point(struct json_object *points, const struct stria_bench_point *point)
{
    struct json_object *entry = stria_json_append_object(points);
    stria_json_add_text(entry, "point", point->point);
    stria_json_add_text(entry, "direction", point->write ? "write" : "read");
    stria_json_add_u64(entry, "repeats", point->repeats);
    stria_json_add_figure(entry, "mean_bytes_per_s", point->known, point->means.mean);
    const bool spread = point->known && point->means.has_spread;
    stria_json_add_figure(entry, "stddev_bytes_per_s", spread, point->means.deviation);
    stria_json_add_figure(entry, "ci95_bytes_per_s", spread, point->means.interval_half);
    add_told(entry, "min_bytes_per_s", &point->min);
    add_told(entry, "rating_bytes_per_s", &point->rating);
    add_told(entry, "latency_p99_ns", &point->latency_p99_ns);
}

static void add_steady(struct json_object *document, const struct stria_bench_result *result)
{
    const struct stria_steady *steady = &result->steady;
    if (!result->steady_known) {
        stria_json_add_null(document, "steady");
        return;
    }
    struct json_object *object = stria_json_add_object(document, "steady");
    const bool figures = steady->average > 0;
    const double average = figures ? (double)steady->average : 1;
    stria_json_add_bool(object, "attained", steady->verdict == STRIA_STEADY_REACHED);
    stria_json_add_u64(object, "rounds", result->steady_rounds);
    stria_json_add_u64(object, "first_round", steady->first_round);
    stria_json_add_text(object, "reason",
                        steady->verdict == STRIA_STEADY_REACHED ? NULL : stria_steady_text(steady->verdict));
    stria_json_add_figure(object, "mean_bytes_per_s", figures, steady->average);
    stria_json_add_real(object, "range_ratio", (double)steady->range / average);
    stria_json_add_real(object, "slope_ratio", (double)steady->excursion / average);
}

static void add_knee(struct json_object *document, const struct stria_bench_result *result)
{
    if (!result->knee_known) {
        stria_json_add_null(document, "knee");
        return;
    }
    struct json_object *object = stria_json_add_object(document, "knee");
    stria_json_add_u64(object, "offset_bytes", result->knee.at_bytes);
    stria_json_add_u64(object, "before_bytes_per_s", result->knee.before_bytes_per_s);
    stria_json_add_u64(object, "after_bytes_per_s", result->knee.after_bytes_per_s);
}

static void add_fill(struct json_object *document, const struct stria_bench_result *result)
{
    if (!result->fill_step_bytes) {
        stria_json_add_null(document, "fill");
        return;
    }
    struct json_object *object = stria_json_add_object(document, "fill");
    stria_json_add_u64(object, "step_bytes", result->fill_step_bytes);
    struct json_object *rates = stria_json_add_array(object, "bytes_per_s");
    for (uint32_t i = 0; i < result->fill_count; i++)
        stria_json_append_u64(rates, result->fill_bytes_per_s[i]);
}

static void add_lossless(struct json_object *document, const struct stria_bench_result *result)
{
    if (!result->lossless_measured.known && !result->lossless_predicted.known) {
        stria_json_add_null(document, "lossless");
        return;
    }
    struct json_object *object = stria_json_add_object(document, "lossless");
    stria_json_add_u64(object, "buffer_bytes", result->buffer_bytes);
    add_told(object, "measured_bytes_per_s", &result->lossless_measured);
    add_told(object, "predicted_bytes_per_s", &result->lossless_predicted);
}

static void add_accuracy(struct json_object *document, const struct stria_bench_result *result)
{
    if (!result->accuracy_known) {
        stria_json_add_null(document, "accuracy");
        return;
    }
    const struct stria_content_counts *counts = &result->accuracy;
    struct json_object *object = stria_json_add_object(document, "accuracy");
    stria_json_add_u64(object, "bytes",
                       (counts->ok + counts->corrupt + counts->missing + counts->misplaced + counts->stale) *
                           STRIA_SYNTHETIC_BLOCK_BYTES);
    stria_json_add_u64(object, "ok", counts->ok);
    stria_json_add_u64(object, "corrupt", counts->corrupt);
    stria_json_add_u64(object, "missing", counts->missing);
    stria_json_add_u64(object, "misplaced", counts->misplaced);
    stria_json_add_u64(object, "stale", counts->stale);
}

struct json_object *stria_bench_document(const struct stria_bench_result *result)
{
    struct json_object *document = json_object_new_object();
    struct stria_host host;
    stria_host_describe(&host);
    stria_json_add_text(document, "schema", "stria.bench/1");
    stria_json_add_bool(document, "partial", result->partial);
    stria_json_add_text(document, "reason", text_or_null(result->why));
    stria_json_add_text(document, "test", result->options->test);
    add_command(document, result->options);
    add_started(document, result->started_unix_ns);
    stria_json_add_u64(document, "duration_ns", result->duration_ns);
    add_versions(document, &host);
    add_host(document, &host);
    add_options(document, result);
    struct json_object *drives = stria_json_add_array(document, "drives");
    for (uint32_t i = 0; i < result->target_count; i++)
        add_drive(drives, result, &result->targets[i]);
    struct json_object *generator = stria_json_add_object(document, "generator");
    stria_json_add_u64(generator, "bytes_per_s", result->generator_bytes_per_s);
    struct json_object *rounds = stria_json_add_array(document, "rounds");
    for (uint32_t i = 0; i < result->round_count; i++)
        stria_round_document(stria_json_append_object(rounds), &result->rounds[i]);
    struct json_object *points = stria_json_add_array(document, "points");
    for (uint32_t i = 0; i < result->point_count; i++)
        add_point(points, &result->points[i]);
    add_told(document, "rating_bytes_per_s", &result->rating);
    add_steady(document, result);
    add_knee(document, result);
    add_fill(document, result);
    add_lossless(document, result);
    add_accuracy(document, result);
    return document;
}
