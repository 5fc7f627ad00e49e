#include "config/keys.h"
#include "engine/writer.h"
#include "measure/through.h"
#include "support/file.h"
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/capture.h"
#include "tools/commands.h"
#include "tools/live.h"
#include "tools/opening.h"
#include "tools/output.h"
#include "tools/record_report.h"
#include "tools/status.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct record_options {
    const char *name, *input, *report;
    struct stria_figure rate, size, duration, seed;
    unsigned overrun; /* enum stria_overrun */
};

static const char *const overruns[] = {"block", "drop", "stop", NULL};

static const struct stria_option options[] = {
    {"name", 0, STRIA_OPTION_TEXT, "NAME",
     "What the recording is called; by default the date and time of its start",
     offsetof(struct record_options, name), NULL},
    {"input", 0, STRIA_OPTION_TEXT, "SOURCE",
     "What is recorded: a file or FIFO by its path, '-' for standard input (the\n"
     "default where that is a pipe or a file), or 'synthetic' for a generated\n"
     "sensor stream that describes itself",
     offsetof(struct record_options, input), NULL},
    {"rate", 0, STRIA_OPTION_RATE, "RATE",
     "The pace of the input, such as 2.5GB/s; by default as fast as it comes",
     offsetof(struct record_options, rate), NULL},
    {"size", 0, STRIA_OPTION_SIZE, "SIZE", "Ends the recording after so many bytes of the input",
     offsetof(struct record_options, size), NULL},
    {"duration", 0, STRIA_OPTION_TIME, "TIME",
     "Ends the recording after this time; of a file or 'synthetic' with --rate, after\n"
     "what comes in this time at that rate, however long the drives take",
     offsetof(struct record_options, duration), NULL},
    {"on-overrun", 0, STRIA_OPTION_CHOICE, NULL,
     "When the drives are slower than the input and the buffer is full: let the\n"
     "input wait (block, the default), leave a gap and go on (drop), or end the\n"
     "recording (stop)",
     offsetof(struct record_options, overrun), overruns},
    {"report", 0, STRIA_OPTION_TEXT, "FILE.json",
     "Writes a report of the run, stria.record/1, whole or not at all",
     offsetof(struct record_options, report), NULL},
    {"seed", 0, STRIA_OPTION_NUMBER, "NUMBER", "Of the synthetic stream; another seed gives another stream",
     offsetof(struct record_options, seed), NULL},
    {.name = NULL},
};

struct run {
    const struct record_options *options;
    struct stria_array *array;
    struct stria_array_info info;
    struct stria_source *source;
    struct stria_writer *writer;
};

static int fail(int code, const char *sentence)
{
    struct stria_trouble trouble = {0};
    stria_trouble_set(&trouble, code, "%s", sentence);
    return stria_status_fail("record", &trouble);
}

/* Before anything is recorded: a report that cannot be written shall not be found out at the end. */
static int check_report(const char *path)
{
    struct stria_trouble trouble;
    if (!path || stria_file_check_place(path, &trouble) == STRIA_OK)
        return STRIA_STATUS_OK;
    char sentence[sizeof(trouble.sentence) + sizeof("--report ")];
    snprintf(sentence, sizeof(sentence), "--report %s", trouble.sentence);
    return fail(STRIA_ERR_INVALID, sentence);
}

static int check_options(const struct record_options *given)
{
    char sentence[512];
    if (given->name && !stria_name_allowed(given->name)) {
        snprintf(sentence, sizeof(sentence), "a recording cannot be called '%.100s': its name is %s",
                 given->name, stria_name_allowed_text);
        return fail(STRIA_ERR_INVALID, sentence);
    }
    if (given->name && strncmp(given->name, stria_through_prefix, strlen(stria_through_prefix)) == 0) {
        snprintf(sentence, sizeof(sentence),
                 "a recording cannot be called '%.100s': the next bench removes what begins with %s: choose "
                 "another name",
                 given->name, stria_through_prefix);
        return fail(STRIA_ERR_INVALID, sentence);
    }
    if (given->rate.given && given->rate.value == 0)
        return fail(STRIA_ERR_INVALID,
                    "--rate cannot be 0: leave it out to record as fast as the input comes");
    if (given->size.given && given->size.value == 0)
        return fail(STRIA_ERR_INVALID, "--size cannot be 0: leave it out to record all of the input");
    if (given->duration.given && given->duration.value == 0)
        return fail(STRIA_ERR_INVALID, "--duration cannot be 0: leave it out to record all of the input");
    return check_report(given->report);
}

static int open_source(struct run *run)
{
    struct stria_trouble trouble = {0};
    const struct record_options *given = run->options;
    const struct stria_source_options source = {.input = given->input,
                                                .rate_bytes_per_s = given->rate.value,
                                                .bytes_max = given->size.value,
                                                .duration_ns = given->duration.value,
                                                .seed = given->seed.value};
    return stria_source_open(&source, &run->source, &trouble) == STRIA_OK
               ? STRIA_STATUS_OK
               : stria_status_fail("record", &trouble);
}

/* A drive that is given up meanwhile, for those who read no report. */
static void tell_lost(const struct stria_record_report *report)
{
    for (uint32_t i = 0; i < report->array.drive_count; i++) {
        const struct stria_drive_progress *progress = &report->progress[i];
        char when[STRIA_UNITS_TEXT_BYTES];
        if (progress->lost_code != STRIA_OK)
            fprintf(stderr,
                    "stria record: warning: drive %s (%s) was given up after %s: %s; 'stria doctor' looks at "
                    "its health\n",
                    report->drives[i].name, stria_shown(report->drives[i].path),
                    stria_time_print_short(when, sizeof(when), progress->lost_ns),
                    stria_code_text(progress->lost_code));
    }
}

static int begin(struct run *run)
{
    struct stria_trouble trouble = {0};
    const struct stria_writer_options writer = {.name = run->options->name};
    const uint32_t present = stria_opening_present(run->array);
    stria_array_describe(run->array, &run->info);
    int code = stria_writer_begin(run->array, &writer, &run->writer, &trouble);
    stria_opening_tell_lost("record", run->array, present);
    if (code == STRIA_OK && stria_writer_complaint(run->writer)[0])
        fprintf(stderr, "stria record: warning: %s\n", stria_shown(stria_writer_complaint(run->writer)));
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("record", &trouble);
}

/* Says why a recording ended that was not meant to. */
static int tell_end(const struct run *run, enum stria_capture_end end, const struct stria_trouble *trouble)
{
    switch (end) {
    case STRIA_CAPTURE_OVERRUN:
        fprintf(
            stderr,
            "stria record: the drives could not keep up and the buffer was full: ended, as --on-overrun stop "
            "asks\n");
        return STRIA_STATUS_NOT_WHOLE;
    case STRIA_CAPTURE_ARRAY_FULL:
        fprintf(stderr,
                "stria record: the array is full: the rest of %s was not recorded; 'stria rm' makes room\n",
                stria_shown(stria_source_name(run->source)));
        return STRIA_STATUS_NOT_WHOLE;
    case STRIA_CAPTURE_NO_DRIVE:
        fprintf(stderr, "stria record: no drive was left to record to: what is durable can be read\n");
        return STRIA_STATUS_SYSTEM;
    case STRIA_CAPTURE_FAILED:
        fprintf(stderr, "stria record: %s\n", trouble->sentence);
        return STRIA_STATUS_SYSTEM;
    default:
        return STRIA_STATUS_OK;
    }
}

static struct stria_gap_info *take_gaps(const struct run *run, uint32_t count)
{
    struct stria_gap_info *gaps = calloc(count ? count : 1, sizeof(*gaps));
    if (!gaps)
        stria_memory_missing();
    for (uint32_t i = 0; i < count; i++)
        stria_writer_gap(run->writer, i, &gaps[i]);
    return gaps;
}

static int write_report(const struct stria_record_report *report, const char *path)
{
    struct stria_trouble trouble = {0};
    struct json_object *document = stria_record_report_document(report);
    int code = stria_json_write(document, path, &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("record", &trouble);
}

static int tell_result(const struct run *run, uint64_t buffer_bytes)
{
    const char *path = run->options->report;
    struct stria_record_report *report = calloc(1, sizeof(*report));
    if (!report)
        stria_memory_missing();
    report->array = run->info;
    report->meter = stria_writer_meter(run->writer);
    report->buffer_bytes = buffer_bytes;
    stria_writer_result(run->writer, &report->result);
    for (uint32_t i = 0; i < run->info.drive_count; i++) {
        stria_array_drive(run->array, i, &report->drives[i]);
        stria_writer_drive_progress(run->writer, i, &report->progress[i]);
    }
    struct stria_gap_info *gaps = take_gaps(run, report->result.gap_count);
    report->gaps = gaps;
    tell_lost(report);
    /* A document on standard output stands there alone. */
    stria_record_report_print(report, path && stria_file_descriptor(path) == STDOUT_FILENO ? stderr : stdout);
    int status = path ? write_report(report, path) : STRIA_STATUS_OK;
    if (status == STRIA_STATUS_OK && (report->result.info.dropped_bytes || report->result.degraded))
        status = STRIA_STATUS_NOT_WHOLE;
    free(gaps);
    free(report);
    return status;
}

/* The gravest counts; among these statuses that is the highest. */
static int graver(int a, int b)
{
    return a > b ? a : b;
}

static int record(struct run *run)
{
    struct stria_trouble trouble = {0};
    struct stria_progress progress;
    struct stria_live *live = stria_live_start(run->writer, run->array);
    enum stria_capture_end end =
        stria_capture(run->source, run->writer, run->info.chunk_bytes, run->options->overrun, &trouble);
    int code = stria_writer_end(run->writer);
    stria_live_stop(live);
    stria_writer_progress(run->writer, &progress);
    int status = tell_end(run, end, &trouble);
    if (code != STRIA_OK && status != STRIA_STATUS_SYSTEM)
        fprintf(stderr, "stria record: the recording could not be ended properly: %s\n",
                stria_code_text(code));
    if (code != STRIA_OK)
        status = STRIA_STATUS_SYSTEM;
    return graver(status, tell_result(run, progress.buffer_bytes));
}

/* A report must not replace what is being recorded, or recorded onto. */
static int check_report_place(const struct run *run)
{
    struct stria_trouble trouble;
    struct stat input;
    const char *path = run->options->report;
    bool file;
    if (!path)
        return STRIA_STATUS_OK;
    int code = stria_output_check(path, run->array, &file, &trouble);
    if (code == STRIA_OK && stria_source_status(run->source, &input) && stria_file_leads_to(path, &input))
        code = stria_trouble_set(&trouble, STRIA_ERR_REFUSED,
                                 "--report %s is what is to be recorded: name another file",
                                 stria_file_shown(path));
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("record", &trouble);
}

/* A recording of the drives that it is written to would never end, and prove nothing. */
static int check_input(const struct run *run)
{
    struct stat status;
    struct stria_trouble trouble;
    const char *drive =
        stria_source_status(run->source, &status) ? stria_output_drive(run->array, &status) : NULL;
    if (!drive)
        return STRIA_STATUS_OK;
    stria_trouble_set(&trouble, STRIA_ERR_REFUSED,
                      "%s shares bytes with the array's drive %s: name another input",
                      stria_source_name(run->source), drive);
    return stria_status_fail("record", &trouble);
}

static int run(const void *given, char **operands, int operand_count)
{
    struct run run = {.options = given};
    (void)operand_count;
    int status = check_options(run.options);
    if (status == STRIA_STATUS_OK)
        status = open_source(&run);
    if (status == STRIA_STATUS_OK)
        run.array = stria_opening_open("record", operands[0], true, &status);
    if (run.array)
        status = check_input(&run);
    if (run.array && status == STRIA_STATUS_OK)
        status = check_report_place(&run);
    if (run.array && status == STRIA_STATUS_OK)
        status = begin(&run);
    if (run.writer)
        status = record(&run);
    stria_writer_free(run.writer);
    stria_array_close(run.array);
    stria_source_close(run.source);
    return status;
}

const struct stria_command stria_command_record = {
    .name = "record",
    .summary = "records one stream onto an array",
    .operands = "ARRAY.ini",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Records until the input ends, or --size, --duration, SIGINT or SIGTERM ends it properly. "
                   "While it runs,\n"
                   "standard error shows how it goes; at the end a table of what was stored comes on "
                   "standard output. The exit\n"
                   "status is 1 when anything was lost.",
    .options = options,
    .options_bytes = sizeof(struct record_options),
    .run = run,
};
