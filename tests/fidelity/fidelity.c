/* fidelity [--check FILE | --write FILE]: replays what was published about the drives of the profiles against
 * the drive model and holds the two against each other. The table goes to standard output, into the file's
 * generated part (--write), or must be what stands there (--check). Exit status 1 if a figure is too far off
 * or the file is not up to date. */
#include "config/profile.h"
#include "tests/fidelity/published.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED  1u
#define BEGIN "<!-- generated: published against modelled -->\n"
#define END   "<!-- end of generated part -->\n"

/* The drive of the rows now looked at, and its last run: neighbouring rows often ask for the same one. */
static struct stria_profile profile;
static struct stria_model model;
static uint64_t now_ns;
static struct protocol_run last_run;
static struct protocol_result result;

static void take_drive(const char *name)
{
    if (strcmp(profile.name, name) == 0)
        return;
    struct stria_problems problems = {0};
    if (stria_profile_find(name, &profile, &problems) != STRIA_OK) {
        stria_problems_print(&problems, "fidelity: ", stderr);
        exit(1);
    }
    stria_model_init(&model, &profile.parameters, SEED);
    now_ns = 0;
    protocol_free(&result);
    last_run = (struct protocol_run){0};
}

static bool same_run(const struct protocol_run *a, const struct protocol_run *b)
{
    return a->read == b->read && a->offset_bytes == b->offset_bytes && a->bytes == b->bytes &&
           a->block_bytes == b->block_bytes && a->depth == b->depth;
}

static void run(const struct published_row *row)
{
    take_drive(row->profile);
    if (same_run(&last_run, &row->run))
        return;
    protocol_free(&result);
    protocol_run(&model, &now_ns, &row->run, &result);
    last_run = row->run;
}

/* In bytes per second, nanoseconds, bytes or °C. */
static double modelled(const struct published_row *row)
{
    run(row);
    switch (row->figure) {
    case FIGURE_MEAN:
        return (double)row->run.bytes * 1e9 / (double)result.duration_ns;
    case FIGURE_FROM: {
        const uint64_t from_gb = (uint64_t)row->from_gb;
        return (double)(row->run.bytes - from_gb * 1000000000u) * 1e9 /
               (double)(result.duration_ns - result.gigabyte_ns[from_gb - 1]);
    }
    case FIGURE_SECOND_MIN:
        return (double)protocol_second_min(&result);
    case FIGURE_SECOND_MAX:
        return (double)protocol_second_max(&result);
    case FIGURE_LATENCY_MEAN: {
        double sum_ns = 0;
        for (uint64_t i = 0; i < result.request_count; i++)
            sum_ns += (double)result.latency_ns[i];
        return sum_ns / (double)result.request_count;
    }
    case FIGURE_LATENCY_P50:
        return (double)protocol_percentile_ns(&result, 50);
    case FIGURE_LATENCY_P99:
        return (double)protocol_percentile_ns(&result, 99);
    case FIGURE_LATENCY_P999:
        return (double)protocol_percentile_ns(&result, 99.9);
    case FIGURE_LATENCY_MAX:
        return (double)protocol_percentile_ns(&result, 100);
    case FIGURE_KNEE:
        return (double)protocol_knee_gb(&result) * 1e9;
    case FIGURE_TEMPERATURE_BEFORE:
        return (double)result.temperature_before_mc / 1000;
    case FIGURE_TEMPERATURE_AFTER:
        return (double)result.temperature_after_mc / 1000;
    }
    return 0;
}

static const struct {
    const char *text;
    double scale;
    int digits;
} units[] = {
    [UNIT_GB_PER_S] = {"GB/s", 1e9, 3},
    [UNIT_MIB_PER_S] = {"MiB/s", 1048576, 0},
    [UNIT_GIB_PER_S] = {"GiB/s", 1073741824, 2},
    [UNIT_MS] = {"ms", 1e6, 1},
    [UNIT_GB] = {"GB", 1e9, 0},
    [UNIT_CELSIUS] = {"°C", 1, 1},
};

/* How far outside the published range, in per cent of its nearer end; negative below. */
static double deviation_percent(const struct published_row *row, double value)
{
    if (value < row->low)
        return 100 * (value - row->low) / row->low;
    return value > row->high ? 100 * (value - row->high) / row->high : 0;
}

static void print_published(const struct published_row *row, FILE *out)
{
    if (row->low == 0)
        fprintf(out, "under %g %s", row->high, units[row->unit].text);
    else if (row->low == row->high)
        fprintf(out, "%g %s", row->high, units[row->unit].text);
    else
        fprintf(out, "%g–%g %s", row->low, row->high, units[row->unit].text);
}

static bool print_row(const struct published_row *row, FILE *out)
{
    const double value = modelled(row) / units[row->unit].scale;
    const double deviation = deviation_percent(row, value);
    fprintf(out, "| %s | %s | ", row->profile, row->what);
    print_published(row, out);
    fprintf(out, " | %.*f %s | ", units[row->unit].digits, value, units[row->unit].text);
    if (row->low != row->high && deviation == 0)
        fputs("within |\n", out);
    else if (deviation > -0.05 && deviation < 0.05)
        fputs("0.0 % |\n", out);
    else
        fprintf(out, "%+.1f %% |\n", deviation);
    const bool good = deviation <= row->tolerance_percent && deviation >= -row->tolerance_percent;
    if (!good)
        fprintf(stderr, "fidelity: %s, %s: %.*f %s is %.1f %% off what was published (%.0f %% allowed)\n",
                row->profile, row->what, units[row->unit].digits, value, units[row->unit].text, deviation,
                row->tolerance_percent);
    return good;
}

/* The table as one text, the caller's to free. */
static char *make_table(bool *good)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        abort();
    fputs(
        "| profile | run and figure | published | modelled | difference |\n| --- | --- | --- | --- | --- |\n",
        out);
    *good = true;
    for (unsigned i = 0; i < published_row_count; i++)
        *good &= print_row(&published_rows[i], out);
    fclose(out);
    return text;
}

#define FILE_BYTES_MAX (1u << 20)

/* The file as a text, the caller's to free. */
static char *read_whole(const char *path)
{
    FILE *in = fopen(path, "re");
    char *text = calloc(1, FILE_BYTES_MAX + 1);
    if (!in || !text || fread(text, 1, FILE_BYTES_MAX, in) == 0) {
        fprintf(stderr, "fidelity: cannot read %s\n", path);
        exit(1);
    }
    fclose(in);
    return text;
}

/* Puts the table into the file, or says that it is not what stands there. */
static bool put_table(const char *path, const char *table, bool write)
{
    char *text = read_whole(path);
    char *begin = strstr(text, BEGIN);
    char *end = begin ? strstr(begin, END) : NULL;
    if (!end) {
        fprintf(stderr, "fidelity: %s has no generated part\n", path);
        exit(1);
    }
    begin += strlen(BEGIN);
    bool same = strlen(table) == (size_t)(end - begin) && memcmp(table, begin, strlen(table)) == 0;
    if (!same && write) {
        FILE *out = fopen(path, "we");
        same = out && fprintf(out, "%.*s%s%s", (int)(begin - text), text, table, end) > 0;
        same = out && fclose(out) == 0 && same;
    }
    if (!same)
        fprintf(stderr,
                "fidelity: the table in %s is not that of the model: bring it up to date with --write\n",
                path);
    free(text);
    return same;
}

int main(int argc, char **argv)
{
    const bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
    const bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    if (argc != 1 && !check && !write) {
        fputs("usage: fidelity [--check FILE | --write FILE]\n", stderr);
        return 2;
    }
    bool good;
    char *table = make_table(&good);
    if (check || write)
        good &= put_table(argv[2], table, write);
    else
        fputs(table, stdout);
    protocol_free(&result);
    free(table);
    return good ? 0 : 1;
}
