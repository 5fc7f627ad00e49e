#include "engine/reader.h"
#include "support/file.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/opening.h"
#include "tools/output.h"
#include "tools/signals.h"
#include "tools/status.h"
#include "tools/stretch.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct export_options {
    const char *output;
    struct stria_figure offset, length;
};

static const struct stria_option options[] = {
    {"output", 'o', STRIA_OPTION_TEXT, "FILE|-", "Where to write; standard output by default",
     offsetof(struct export_options, output), NULL},
    {"offset", 0, STRIA_OPTION_SIZE, "SIZE", "Begins so far into the stream",
     offsetof(struct export_options, offset), NULL},
    {"length", 0, STRIA_OPTION_SIZE, "SIZE", "Ends after so many bytes of the stream",
     offsetof(struct export_options, length), NULL},
    {.name = NULL},
};

struct export
{
    const struct stria_array *array;
    const char *name; /* of the recording */
    struct stria_reader *reader;
    struct stria_output *output;
    uint64_t next, end;        /* in the stream */
    struct stria_stretch hole; /* that is told when it has ended; of no bytes: none */
    uint64_t told, more_bytes; /* holes told, and bytes of those that were not */
    bool damaged;
};

static void tell_hole(struct export *export)
{
    if (export->hole.bytes > 0 && export->told++ < STRIA_STRETCH_LINES_MAX) {
        fprintf(stderr, "stria export: ");
        stria_stretch_print(&export->hole, export->array, stderr);
        fprintf(stderr, ": left as a hole\n");
    } else {
        export->more_bytes += export->hole.bytes;
    }
    export->hole.bytes = 0;
}

static void tell_more(const struct export *export)
{
    char size[STRIA_UNITS_TEXT_BYTES];
    if (export->told > STRIA_STRETCH_LINES_MAX)
        fprintf(stderr,
                "stria export: %" PRIu64
                " more stretches, %s in all, were left as holes: 'stria verify --json' "
                "lists all of the recording\n",
                export->told - STRIA_STRETCH_LINES_MAX,
                stria_size_print_both(size, sizeof(size), export->more_bytes));
}

static struct stria_stretch hole_at(const struct export *export, enum stria_read_verdict verdict,
                                    uint64_t bytes)
{
    struct stria_stretch hole = {.offset = export->next, .bytes = bytes};
    if (verdict == STRIA_READ_GAP) {
        hole.cause = stria_reader_gap(export->reader, export->next, &hole.drive);
        return hole;
    }
    struct stria_read_fault fault;
    stria_reader_fault(export->reader, export->next, &fault);
    hole.verdict = fault.verdict;
    hole.drive = fault.drive;
    hole.drive_offset = fault.drive_offset;
    if (fault.verdict == STRIA_VERDICT_UNREADABLE)
        hole.reason = stria_code_text(fault.code);
    if (fault.verdict == STRIA_VERDICT_MISPLACED) {
        hole.other = export->name;
        hole.other_offset = fault.other_offset;
    }
    return hole;
}

static void note_hole(struct export *export, enum stria_read_verdict verdict, uint64_t bytes)
{
    const struct stria_stretch hole = hole_at(export, verdict, bytes);
    export->damaged = true;
    if (export->hole.bytes > 0 && stria_stretch_join(&export->hole, &hole))
        return;
    tell_hole(export);
    export->hole = hole;
}

static int removed(const struct export *export, struct stria_trouble *trouble)
{
    return stria_trouble_set(
        trouble, STRIA_ERR_NOT_FOUND,
        "recording %s was removed by another host while it was exported: not all of it could be read",
        export->name);
}

/* One piece of one verdict. */
static int step(struct export *export, struct stria_trouble *trouble)
{
    const void *data;
    enum stria_read_verdict verdict;
    int64_t got = stria_reader_view(export->reader, export->next, &data, &verdict);
    if (got == STRIA_ERR_NOT_FOUND)
        return removed(export, trouble);
    if (got <= 0) {
        const int code = got < 0 ? (int)got : STRIA_ERR_IO;
        return stria_trouble_set(trouble, code, "cannot read the recording at stream offset %" PRIu64 ": %s",
                                 export->next, stria_code_text(code));
    }
    const uint64_t left = export->end - export->next, bytes = (uint64_t)got < left ? (uint64_t)got : left;
    int code;
    if (verdict == STRIA_READ_OK) {
        tell_hole(export);
        code = stria_output_write(export->output, data, (size_t)bytes, trouble);
    } else {
        note_hole(export, verdict, bytes);
        code = stria_output_skip(export->output, bytes, trouble);
    }
    export->next += bytes;
    return code;
}

static int copy(struct export *export, struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    while (code == STRIA_OK && export->next < export->end) {
        if (stria_signals_stop())
            code = stria_trouble_set(trouble, STRIA_ERR_SYSTEM, "ended by a signal before all was written");
        else
            code = step(export, trouble);
    }
    if (code == STRIA_OK && export->damaged && stria_reader_removed(export->reader))
        return removed(export, trouble);
    tell_hole(export);
    tell_more(export);
    return code;
}

static int set_range(struct export *export, const struct export_options *given, uint64_t length_bytes,
                     struct stria_trouble *trouble)
{
    char whole[STRIA_UNITS_TEXT_BYTES], offset[STRIA_UNITS_TEXT_BYTES];
    export->next = given->offset.value;
    export->end = length_bytes;
    if (export->next > length_bytes)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "--offset %s is past the end: the recording has %s",
                                 stria_size_print(offset, sizeof(offset), export->next),
                                 stria_size_print(whole, sizeof(whole), length_bytes));
    if (given->length.given && given->length.value < export->end - export->next)
        export->end = export->next + given->length.value;
    return STRIA_OK;
}

/* The recording is found and its range checked before a file is made. */
static int prepare(struct export *export, struct stria_array *array, const char *name,
                   const struct export_options *given, struct stria_trouble *trouble)
{
    struct stria_recording_info info;
    int code = stria_reader_open(array, name, &export->reader, trouble);
    if (code != STRIA_OK)
        return code;
    stria_reader_describe(export->reader, &info);
    if (!info.complete)
        fprintf(stderr, "stria export: recording '%s' was cut short: what had become durable is exported\n",
                stria_shown(name));
    code = set_range(export, given, info.length_bytes, trouble);
    if (code != STRIA_OK)
        return code;
    return stria_output_open(given->output ? given->output : "-", array, &export->output, trouble);
}

static int export_from(struct stria_array *array, const char *name, const struct export_options *given)
{
    struct export export = {.array = array, .name = name};
    struct stria_trouble trouble = {0};
    int code = prepare(&export, array, name, given, &trouble);
    if (code == STRIA_OK)
        code = copy(&export, &trouble);
    if (code == STRIA_OK) {
        code = stria_output_finish(export.output, &trouble);
        export.output = NULL;
    }
    stria_output_abandon(export.output);
    stria_reader_close(export.reader);
    if (code != STRIA_OK)
        return stria_status_fail("export", &trouble);
    return export.damaged ? STRIA_STATUS_NOT_WHOLE : STRIA_STATUS_OK;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct export_options *export_options = given;
    const char *output = export_options->output ? export_options->output : "-";
    int status;
    (void)operand_count;
    if (isatty(stria_file_descriptor(output))) {
        fprintf(stderr, "stria export: %s is a terminal: name a file with -o, or pipe it somewhere\n",
                stria_file_shown(output));
        return STRIA_STATUS_USAGE;
    }
    struct stria_array *array = stria_opening_open("export", operands[0], false, &status);
    if (!array)
        return status;
    status = export_from(array, operands[1], export_options);
    stria_array_close(array);
    return status;
}

const struct stria_command stria_command_export = {
    .name = "export",
    .summary = "writes a recording, or a part of it, to a file or a pipe",
    .operands = "ARRAY.ini NAME",
    .operands_min = 2,
    .operands_max = 2,
    .description =
        "Every byte is proven before it is written. What is not there stays a hole at its true offset, is "
        "told on\n"
        "standard error, and makes the exit status 1. A file appears under its name when it is finished.",
    .options = options,
    .options_bytes = sizeof(struct export_options),
    .run = run,
};
