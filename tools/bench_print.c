#include "core/synthetic.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/bench.h"

#include <inttypes.h>
#include <string.h>

static const char *megabytes(char *out, size_t size, bool known, uint64_t bytes_per_s)
{
    const uint64_t tenths = bytes_per_s / 100000 + (bytes_per_s % 100000 >= 50000);
    if (known)
        snprintf(out, size, "%" PRIu64 ".%u", tenths / 10, (unsigned)(tenths % 10));
    else
        snprintf(out, size, "-");
    return out;
}

static void print_drives(const struct stria_bench_result *result, FILE *out)
{
    for (uint32_t i = 0; i < result->target_count; i++) {
        const struct stria_target *target = &result->targets[i];
        char size[STRIA_UNITS_TEXT_BYTES];
        fprintf(out, "  %s: %s", stria_shown(target->config.path),
                stria_size_print_both(size, sizeof(size), target->size_bytes));
        if (target->model[0])
            fprintf(out, ", %s", stria_shown(target->model));
        if (target->serial[0])
            fprintf(out, ", %s", stria_shown(target->serial));
        if (target->file_system[0])
            fprintf(out, ", a file on %s", target->file_system);
        fprintf(out, "\n");
    }
}

/* The hottest that any drive was in any round of a point. */
static void print_hottest(char *text, size_t size, const struct stria_bench_result *result,
                          const struct stria_bench_point *point)
{
    uint64_t most = 0;
    bool known = false;
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        if (strcmp(round->plan.point, point->point) != 0 || !round->temperature_known)
            continue;
        known = true;
        if (round->temperature_max_c > most)
            most = round->temperature_max_c;
    }
    snprintf(text, size, "-");
    if (known)
        snprintf(text, size, "%" PRIu64, most);
}

static void print_points(const struct stria_bench_result *result, FILE *out)
{
    if (!result->point_count)
        return;
    fprintf(out, "\n  %-24s %-5s %7s %11s %9s %12s %10s %7s\n", "point", "", "repeats", "mean MB/s", "± 95 %",
            "minimum MB/s", "p99", "hot °C");
    for (uint32_t i = 0; i < result->point_count; i++) {
        const struct stria_bench_point *point = &result->points[i];
        char mean[32], half[32], least[32], hot[32], p99[STRIA_UNITS_TEXT_BYTES];
        const bool spread = point->known && point->means.has_spread;
        print_hottest(hot, sizeof(hot), result, point);
        fprintf(out, "  %-24s %-5s %7" PRIu32 " %11s %9s %12s %10s %7s\n", point->point,
                point->write ? "write" : "read", point->repeats,
                megabytes(mean, sizeof(mean), point->known, point->means.mean),
                megabytes(half, sizeof(half), spread, point->means.interval_half),
                megabytes(least, sizeof(least), point->rating.known, point->rating.value),
                point->latency_p99_ns.known
                    ? stria_time_print_short(p99, sizeof(p99), point->latency_p99_ns.value)
                    : "-",
                hot);
    }
}

static void print_rate(const char *what, const struct stria_told *rate, FILE *out)
{
    char text[STRIA_UNITS_TEXT_BYTES];
    if (rate->known)
        fprintf(out, "  %-20s%s\n", what, stria_rate_print_both(text, sizeof(text), rate->value));
}

static void print_knee(const struct stria_bench_result *result, FILE *out)
{
    char at[STRIA_UNITS_TEXT_BYTES], before[STRIA_UNITS_TEXT_BYTES], after[STRIA_UNITS_TEXT_BYTES];
    if (result->knee_known)
        fprintf(out, "  %-20sbehind %s: from %s to %s\n", "knee",
                stria_size_print_both(at, sizeof(at), result->knee.at_bytes),
                stria_rate_print_both(before, sizeof(before), result->knee.before_bytes_per_s),
                stria_rate_print_both(after, sizeof(after), result->knee.after_bytes_per_s));
    else if (result->fill_step_bytes)
        fprintf(out, "  %-20snone: the rate did not fall for good\n", "knee");
}

static void print_steady(const struct stria_bench_result *result, FILE *out)
{
    char mean[STRIA_UNITS_TEXT_BYTES];
    if (!result->steady_known)
        return;
    if (result->steady.verdict == STRIA_STEADY_REACHED)
        fprintf(out, "  %-20sattained in rounds %" PRIu32 " to %" PRIu32 " of %" PRIu32 ": %s\n",
                "steady state", result->steady.first_round + 1,
                result->steady.first_round + STRIA_STEADY_ROUNDS, result->steady_rounds,
                stria_rate_print_both(mean, sizeof(mean), result->steady.average));
    else
        fprintf(out, "  %-20snot attained in %" PRIu32 " rounds: %s\n", "steady state", result->steady_rounds,
                stria_steady_text(result->steady.verdict));
}

static void print_accuracy(const struct stria_bench_result *result, FILE *out)
{
    const struct stria_content_counts *counts = &result->accuracy;
    char good[STRIA_UNITS_TEXT_BYTES];
    if (!result->accuracy_known)
        return;
    fprintf(out,
            "  %-20s%s read back right; blocks of 4 KiB corrupt %" PRIu64 ", missing %" PRIu64
            ", misplaced %" PRIu64 ", stale %" PRIu64 "\n",
            "accuracy", stria_size_print_both(good, sizeof(good), counts->ok * STRIA_SYNTHETIC_BLOCK_BYTES),
            counts->corrupt, counts->missing, counts->misplaced, counts->stale);
}

void bench_print(const struct stria_bench_result *result, FILE *out)
{
    char time[STRIA_UNITS_TEXT_BYTES];
    fprintf(out, "bench %s, %s%s\n", result->options->test,
            stria_time_print_short(time, sizeof(time), result->duration_ns),
            result->partial ? ", cut short" : "");
    print_drives(result, out);
    print_points(result, out);
    fprintf(out, "\n");
    print_rate("rating", &result->rating, out);
    if (result->point_count && !result->rating.known)
        fprintf(out, "  %-20snone: no round was whole and lasted a second\n", "rating");
    print_knee(result, out);
    print_steady(result, out);
    print_rate("lossless, measured", &result->lossless_measured, out);
    print_rate("lossless, predicted", &result->lossless_predicted, out);
    print_accuracy(result, out);
}
