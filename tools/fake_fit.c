#include "config/profile_fit.h"
#include "core/ratio.h"
#include "results/measurement.h"
#include "support/file.h"
#include "support/units.h"
#include "tools/fake.h"
#include "tools/status.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX  256
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct measurement {
    struct stria_fit_bin *bins;
    size_t count;
    size_t room;
};

static bool add_bin(struct measurement *measurement, uint64_t bytes, uint64_t duration_ns)
{
    if (measurement->count == measurement->room) {
        const size_t room = measurement->room ? 2 * measurement->room : 256;
        struct stria_fit_bin *bins = realloc(measurement->bins, room * sizeof(*bins));
        if (!bins)
            return false;
        measurement->bins = bins;
        measurement->room = room;
    }
    measurement->bins[measurement->count++] = (struct stria_fit_bin){bytes, duration_ns};
    return true;
}

/* The drive that is meant, as an index; -1 with a sentence when there is none or it is not told. */
static int find_drive(const struct stria_measurement *result, const char *path, const char *drive,
                      struct stria_trouble *trouble)
{
    if (!drive && result->drive_count == 1)
        return 0;
    for (uint32_t i = 0; drive && i < result->drive_count; i++)
        if ((result->drives[i].path && strcmp(result->drives[i].path, drive) == 0) ||
            strcmp(result->drives[i].label, drive) == 0)
            return (int)i;
    if (drive)
        stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND, "%s has no drive with the path %s", path, drive);
    else
        stria_trouble_set(trouble, STRIA_ERR_INVALID,
                          "%s has %" PRIu32
                          " drives: say with --drive PATH which one the profile is to be of",
                          path, result->drive_count);
    return -1;
}

static uint64_t bytes_in(const struct stria_track *track)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < track->count; i++)
        bytes += track->values[i] == STRIA_TRACK_UNKNOWN ? 0 : track->values[i];
    return bytes;
}

/* What the drive wrote in the round in which it wrote most; null when there is no series. */
static const struct stria_track *find_track(const struct stria_measurement *result, int drive)
{
    const struct stria_track *most = NULL;
    for (uint32_t i = 0; i < result->round_count; i++) {
        const struct stria_round *round = &result->rounds[i];
        const struct stria_track *track = stria_round_track(round, STRIA_TRACK_STORED, drive);
        if (track && !round->reads && (!most || bytes_in(track) > bytes_in(most)))
            most = track;
    }
    return most;
}

/* The first write came somewhere within the first bin: its bytes are taken to have gone at the next one's
 * rate. */
static void start_at_full_speed(struct measurement *measurement)
{
    struct stria_fit_bin *bins = measurement->bins;
    if (measurement->count > 1 && bins[0].bytes < bins[1].bytes)
        bins[0].duration_ns =
            (uint64_t)((double)bins[0].bytes / (double)bins[1].bytes * (double)bins[1].duration_ns) + 1;
}

/* Bins before the first byte, behind the last, and the last one itself, which is not whole, say nothing of
 * the drive. */
static bool take_track(const struct stria_track *track, struct measurement *measurement)
{
    uint32_t end = track->count, begin = 0;
    while (end > 0 && (track->values[end - 1] == 0 || track->values[end - 1] == STRIA_TRACK_UNKNOWN))
        end--;
    end -= end > 1;
    while (begin < end && (track->values[begin] == 0 || track->values[begin] == STRIA_TRACK_UNKNOWN))
        begin++;
    for (uint32_t i = begin; i < end; i++)
        if (!add_bin(measurement, track->values[i] == STRIA_TRACK_UNKNOWN ? 0 : track->values[i],
                     track->interval_ns))
            return false;
    start_at_full_speed(measurement);
    return true;
}

/* A result document of whichever command. */
static int take_result(const char *path, const char *drive, struct measurement *measurement,
                       struct stria_trouble *trouble)
{
    struct stria_measurement result;
    int code = stria_measurement_read(path, &result, trouble);
    if (code != STRIA_OK)
        return code;
    const int index = find_drive(&result, path, drive, trouble);
    const struct stria_track *track = index >= 0 ? find_track(&result, index) : NULL;
    if (index < 0)
        code = trouble->code;
    else if (!result.saturated)
        code = stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s tells how fast the input was, and not the drives, which waited for it: record "
            "more than the buffer holds, as fast as it comes, without --rate",
            path);
    else if (!track)
        code =
            stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s has no series of what that drive wrote", path);
    else if (!take_track(track, measurement))
        code = stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    stria_measurement_clear(&result);
    return code;
}

/* One line "written, rate": up to so many bytes in all, the drive wrote at that rate. */
static int take_line(char *line, const char *path, unsigned number, uint64_t *written_bytes,
                     struct measurement *measurement, struct stria_trouble *trouble)
{
    char *comma = strpbrk(line, ",;\t");
    uint64_t until_bytes, bytes_per_s;
    struct stria_trouble reason = {0};
    if (!comma)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s:%u: a line is bytes written in all, a comma, and the rate up to there",
                                 path, number);
    *comma = '\0';
    if (stria_size_parse(line, &until_bytes, &reason) != STRIA_OK ||
        stria_rate_parse(comma + 1, &bytes_per_s, &reason) != STRIA_OK)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s:%u: %s", path, number, reason.sentence);
    if (until_bytes <= *written_bytes || bytes_per_s == 0 || bytes_per_s > STRIA_WRITE_RATE_MAX)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s:%u: bytes written have to grow from line to line, and a rate is more than "
            "zero and at most 1000 GB/s",
            path, number);
    const uint64_t bytes = until_bytes - *written_bytes;
    *written_bytes = until_bytes;
    const uint64_t duration_ns = stria_ratio_scale(bytes, STRIA_SECOND_NS, bytes_per_s);
    if (!add_bin(measurement, bytes, duration_ns > 0 ? duration_ns : 1))
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    return STRIA_OK;
}

static int take_csv(FILE *in, const char *path, struct measurement *measurement,
                    struct stria_trouble *trouble)
{
    char line[LINE_BYTES_MAX];
    uint64_t written_bytes = 0;
    bool begun = false; /* the heading, if there is one, was seen */
    int code = STRIA_OK;
    for (unsigned number = 1; code == STRIA_OK && fgets(line, sizeof(line), in); number++) {
        const bool whole = strchr(line, '\n') || feof(in);
        line[strcspn(line, "\r\n#")] = '\0';
        char *first = line + (number == 1 && strncmp(line, BYTE_ORDER_MARK, 3) == 0 ? 3 : 0);
        first += strspn(first, " \t");
        const bool heading = !begun && isalpha((unsigned char)*first);
        begun |= *first != '\0';
        if (!whole)
            code =
                stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s:%u: the line is longer than %d characters",
                                  path, number, LINE_BYTES_MAX - 2);
        else if (*first && !heading)
            code = take_line(first, path, number, &written_bytes, measurement, trouble);
    }
    return code;
}

static int take_measurement(const char *path, const char *drive, struct measurement *measurement,
                            struct stria_trouble *trouble)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot read %s: %s", path,
                                 stria_errno_text(errno));
    int first = getc(in);
    while (isspace(first))
        first = getc(in);
    int code;
    if (ferror(in)) {
        code = stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot read %s: %s", path,
                                 stria_errno_text(errno));
    } else if (first == '{' || first == '[') {
        code = take_result(path, drive, measurement, trouble);
    } else {
        rewind(in);
        code = take_csv(in, path, measurement, trouble);
    }
    fclose(in);
    return code;
}

/* Not every name survives an INI file. */
static int check_text(const struct stria_profile *profile, const char *text, size_t bytes,
                      struct stria_trouble *trouble)
{
    struct stria_profile back;
    struct stria_problems problems = {0};
    const int code = stria_profile_parse("fitted", text, bytes, &back, &problems);
    stria_problems_clear(&problems);
    if (code == STRIA_OK && strcmp(back.model, profile->model) == 0)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_INVALID,
        "--model cannot be '%s': a profile holds one line, without blanks around it and without "
        "';' or '#' at its beginning or behind a blank",
        profile->model);
}

static int write_profile(const struct stria_profile *profile, const char *source, const char *output,
                         struct stria_trouble *trouble)
{
    char *text = NULL;
    size_t bytes = 0;
    char note[512];
    snprintf(
        note, sizeof(note),
        "Fitted to %.300s: the write table is measured, as the whole means of its steps.\n"
        "Not measured: the link and the reads (taken as fast as the fastest step), rest, heat and stalls.",
        source);
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to write a profile");
    stria_profile_write(profile, note, out);
    fclose(out);
    int code = check_text(profile, text, bytes, trouble);
    if (code == STRIA_OK)
        code = stria_file_write_whole(output ? output : "-", text, bytes, trouble);
    free(text);
    return code;
}

/* What the drive is called, where nobody says: after the measurement's file, as far as a profile can hold it.
 */
static void name_model(const char *path, char model[STRIA_NAME_BYTES])
{
    const char *slash = strrchr(path, '/');
    snprintf(model, STRIA_NAME_BYTES, "%s", slash && slash[1] ? slash + 1 : path);
    for (char *c = model; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == ';' || *c == '#')
            *c = '_';
}

int fake_fit(const char *path, const struct fake_options *options)
{
    struct measurement measurement = {0};
    struct stria_profile profile;
    struct stria_trouble trouble = {0};
    char model[STRIA_NAME_BYTES];
    name_model(path, model);
    int code = STRIA_OK;
    if (options->model && strlen(options->model) >= sizeof(model))
        code = stria_trouble_set(&trouble, STRIA_ERR_INVALID, "--model is %zu bytes long: it takes 1 to %zu",
                                 strlen(options->model), sizeof(model) - 1);
    else if (options->model)
        snprintf(model, sizeof(model), "%s", options->model);
    if (code == STRIA_OK)
        code = stria_file_check_apart(options->output ? options->output : "-", path, "the measurement",
                                      &trouble);
    if (code == STRIA_OK)
        code = take_measurement(path, options->drive, &measurement, &trouble);
    if (code == STRIA_OK) {
        struct stria_trouble reason = {0};
        code = stria_profile_fit(measurement.bins, measurement.count, model, options->capacity_bytes,
                                 &profile, &reason);
        if (code != STRIA_OK)
            stria_trouble_set(&trouble, code, "%s: %s", path, reason.sentence);
    }
    if (code == STRIA_OK)
        code = write_profile(&profile, path, options->output, &trouble);
    free(measurement.bins);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("fake", &trouble);
}
