#include "results/export.h"
#include "results/page.h"
#include "results/write.h"
#include "support/file.h"
#include "tools/commands.h"
#include "tools/status.h"

#include <stdlib.h>
#include <string.h>

/* More are not told apart by eye. */
#define RESULTS_MAX 32

struct report_options {
    const char *output;
    bool svg, csv, openmetrics, influx;
};

static const struct stria_option options[] = {
    {"output", 'o', STRIA_OPTION_TEXT, "FILE|-",
     "Writes it to this file, whole or not at all, or to standard output. The page needs it, the\n"
     "others go to standard output without",
     offsetof(struct report_options, output), NULL},
    {"svg", 0, STRIA_OPTION_FLAG, NULL, "The rates over time as a figure for a paper instead of the page",
     offsetof(struct report_options, svg), NULL},
    {"csv", 0, STRIA_OPTION_FLAG, NULL,
     "CSV instead of the page: every figure and every bin of the series, one a line",
     offsetof(struct report_options, csv), NULL},
    {"openmetrics", 0, STRIA_OPTION_FLAG, NULL,
     "The figures for a node exporter's textfile folder (FILE.prom) instead of the page",
     offsetof(struct report_options, openmetrics), NULL},
    {"influx", 0, STRIA_OPTION_FLAG, NULL, "InfluxDB line protocol instead of the page",
     offsetof(struct report_options, influx), NULL},
    {.name = NULL},
};

static void render(const struct report_options *report, const struct stria_measurement *measurements,
                   uint32_t count, struct stria_text *text)
{
    if (report->svg)
        stria_export_svg(measurements, count, text);
    else if (report->csv)
        stria_export_csv(measurements, count, text);
    else if (report->openmetrics)
        stria_export_openmetrics(measurements, count, text);
    else if (report->influx)
        stria_export_influx(measurements, count, text);
    else
        stria_page(measurements, count, STRIA_VERSION, text);
}

static int check(const struct report_options *report, char **operands, int count,
                 struct stria_trouble *trouble)
{
    const int forms = report->svg + report->csv + report->openmetrics + report->influx;
    if (forms > 1)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "one form at a time: choose --svg, --csv, --openmetrics or --influx");
    if (forms == 0 && !report->output)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "the page needs a file: write -o page.html, or choose --svg, --csv, --openmetrics or --influx");
    int code = STRIA_OK;
    for (int i = 0; i < count && code == STRIA_OK; i++)
        code = stria_file_check_apart(report->output ? report->output : "-", operands[i],
                                      "one of the results", trouble);
    return code;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct report_options *report = given;
    struct stria_measurement *measurements = calloc((size_t)operand_count, sizeof(*measurements));
    struct stria_text text = {0};
    struct stria_trouble trouble = {STRIA_ERR_NO_MEMORY, "out of memory"};
    uint32_t count = 0;
    int code = measurements ? check(report, operands, operand_count, &trouble) : STRIA_ERR_NO_MEMORY;
    while (code == STRIA_OK && count < (uint32_t)operand_count) {
        code = stria_measurement_read(operands[count], &measurements[count], &trouble);
        count += code == STRIA_OK;
    }
    if (code == STRIA_OK) {
        stria_measurements_tell_apart(measurements, count);
        render(report, measurements, count, &text);
        code = stria_results_write(report->output ? report->output : "-", &text, &trouble);
    }
    while (count > 0)
        stria_measurement_clear(&measurements[--count]);
    free(measurements);
    stria_text_clear(&text);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("report", &trouble);
}

const struct stria_command stria_command_report = {
    .name = "report",
    .summary = "shows results as a page, or for other programs",
    .operands = "RESULT...",
    .operands_min = 1,
    .operands_max = RESULTS_MAX,
    .description =
        "Reads results of record --report, bench and simulate --json, and what fio prints with\n"
        "--output-format=json, and shows them over one another on one page that needs no network and no\n"
        "other file. - is standard input.",
    .options = options,
    .options_bytes = sizeof(struct report_options),
    .interruptible = true,
    .run = run,
};
