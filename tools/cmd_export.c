#include "engine/reader.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/opening.h"
#include "tools/output.h"
#include "tools/signals.h"
#include "tools/status.h"

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

/* A stretch of the stream that is not there, told when it has ended. */
struct hole {
    enum stria_gap_cause cause;    /* STRIA_GAP_NONE: stored, but … */
    struct stria_read_fault fault; /* … this is wrong; of a gap only its drive */
    uint64_t offset, bytes;
};

struct export
{
    const struct stria_array *array;
    struct stria_reader *reader;
    struct stria_output *output;
    uint64_t next, end; /* in the stream */
    struct hole hole;
    bool damaged;
};

static void tell_fault(const struct stria_read_fault *fault, const struct stria_drive_info *drive)
{
    fprintf(stderr, "%s", stria_verdict_text(fault->verdict));
    if (fault->verdict == STRIA_VERDICT_MISSING)
        fprintf(stderr, ", their drive not being there or having lost them");
    if (!drive)
        return;
    fprintf(stderr, ", on drive %s (%s)", drive->name, drive->path);
    if (fault->verdict != STRIA_VERDICT_MISSING)
        fprintf(stderr, " at offset %" PRIu64, fault->drive_offset);
    if (fault->verdict == STRIA_VERDICT_UNREADABLE)
        fprintf(stderr, " (%s)", stria_code_text(fault->code));
    if (fault->verdict == STRIA_VERDICT_MISPLACED)
        fprintf(stderr, ", where what belongs to stream offset %" PRIu64 " lies", fault->other_offset);
}

static void tell_hole(struct export *export)
{
    const struct hole *hole = &export->hole;
    struct stria_drive_info info;
    char size[STRIA_UNITS_TEXT_BYTES];
    if (hole->bytes == 0)
        return;
    const int drive = hole->fault.drive;
    const bool named = drive >= 0 && stria_array_drive(export->array, (uint32_t)drive, &info) == STRIA_OK;
    fprintf(stderr, "stria export: at stream offset %" PRIu64 ": %s ", hole->offset,
            stria_size_print_both(size, sizeof(size), hole->bytes));
    if (hole->cause == STRIA_GAP_NONE)
        tell_fault(&hole->fault, named ? &info : NULL);
    else
        fprintf(stderr, "never stored, cause %s%s%s", stria_gap_cause_text(hole->cause),
                named ? ", drive " : "", named ? info.name : "");
    fprintf(stderr, ": left as a hole\n");
    export->hole.bytes = 0;
}

/* Whether what follows in the stream also follows on the drive, and for the same reason. */
static bool goes_on(const struct hole *hole, const struct hole *next)
{
    const struct stria_read_fault *fault = &hole->fault, *more = &next->fault;
    const bool placed = hole->cause == STRIA_GAP_NONE && fault->verdict != STRIA_VERDICT_MISSING;
    return hole->bytes && hole->cause == next->cause && fault->drive == more->drive &&
           fault->verdict == more->verdict && fault->code == more->code &&
           (!placed || fault->drive_offset + hole->bytes == more->drive_offset) &&
           (fault->verdict != STRIA_VERDICT_MISPLACED ||
            fault->other_offset + hole->bytes == more->other_offset);
}

static void note_hole(struct export *export, enum stria_read_verdict verdict, uint64_t bytes)
{
    struct hole hole = {.offset = export->next, .bytes = bytes};
    if (verdict == STRIA_READ_GAP)
        hole.cause = stria_reader_gap(export->reader, export->next, &hole.fault.drive);
    else
        stria_reader_fault(export->reader, export->next, &hole.fault);
    export->damaged = true;
    if (goes_on(&export->hole, &hole)) {
        export->hole.bytes += bytes;
        return;
    }
    tell_hole(export);
    export->hole = hole;
}

static int removed(const struct export *export, struct stria_trouble *trouble)
{
    struct stria_recording_info info;
    stria_reader_describe(export->reader, &info);
    return stria_trouble_set(
        trouble, STRIA_ERR_NOT_FOUND,
        "recording %s was removed by another host while it was exported: not all of it could be read",
        info.name);
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
                name);
    code = set_range(export, given, info.length_bytes, trouble);
    if (code != STRIA_OK)
        return code;
    return stria_output_open(given->output ? given->output : "-", array, &export->output, trouble);
}

static int export_from(struct stria_array *array, const char *name, const struct export_options *given)
{
    struct export export = {.array = array};
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
    const bool to_stdout = !export_options->output || strcmp(export_options->output, "-") == 0;
    int status;
    (void)operand_count;
    if (to_stdout && isatty(STDOUT_FILENO)) {
        fprintf(stderr,
                "stria export: standard output is a terminal: name a file with -o, or pipe it somewhere\n");
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
