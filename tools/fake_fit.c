#include "config/profile_fit.h"
#include "support/file.h"
#include "support/units.h"
#include "tools/fake.h"
#include "tools/status.h"

#include <ctype.h>
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES_MAX 256

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

/* The series of one drive of a stria.record/1 document, or null. */
static struct json_object *find_series(struct json_object *document, const char *path, const char *drive,
                                       struct stria_trouble *trouble)
{
    struct json_object *series = NULL, *all = NULL, *drives = NULL;
    if (!json_object_object_get_ex(document, "series", &series) ||
        !json_object_object_get_ex(series, "drive_bytes", &all) ||
        !json_object_is_type(all, json_type_array) ||
        !json_object_object_get_ex(document, "drives", &drives)) {
        stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s is no report with a series: give it one of 'stria record --report', or a CSV file", path);
        return NULL;
    }
    const size_t count = json_object_array_length(all);
    if (!drive && count == 1)
        return json_object_array_get_idx(all, 0);
    for (size_t i = 0; drive && i < count; i++) {
        struct json_object *entry = json_object_array_get_idx(drives, i), *value = NULL;
        if (json_object_object_get_ex(entry, "path", &value) &&
            strcmp(json_object_get_string(value), drive) == 0)
            return json_object_array_get_idx(all, i);
    }
    if (drive)
        stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND, "%s has no drive with the path %s", path, drive);
    else
        stria_trouble_set(trouble, STRIA_ERR_INVALID,
                          "%s has %zu drives: say with --drive PATH which one the profile is to be of", path,
                          count);
    return NULL;
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
static int take_report(struct json_object *document, const char *path, const char *drive,
                       struct measurement *measurement, struct stria_trouble *trouble)
{
    struct json_object *series = find_series(document, path, drive, trouble), *whole = NULL, *interval = NULL;
    if (!series)
        return trouble->code;
    json_object_object_get_ex(document, "series", &whole);
    json_object_object_get_ex(whole, "interval_ns", &interval);
    const int64_t interval_ns = json_object_get_int64(interval);
    size_t end = json_object_array_length(series), begin = 0;
    while (end > 0 && json_object_get_int64(json_object_array_get_idx(series, end - 1)) <= 0)
        end--;
    end -= end > 1;
    while (begin < end && json_object_get_int64(json_object_array_get_idx(series, begin)) <= 0)
        begin++;
    for (size_t i = begin; i < end; i++) {
        const int64_t bytes = json_object_get_int64(json_object_array_get_idx(series, i));
        if (interval_ns <= 0 || bytes < 0)
            return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s has a series with negative figures",
                                     path);
        if (!add_bin(measurement, (uint64_t)bytes, (uint64_t)interval_ns))
            return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    }
    start_at_full_speed(measurement);
    return STRIA_OK;
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
    if (until_bytes <= *written_bytes || bytes_per_s == 0)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s:%u: bytes written have to grow from line to line, and a rate is more than zero", path,
            number);
    const uint64_t bytes = until_bytes - *written_bytes;
    *written_bytes = until_bytes;
    if (!add_bin(measurement, bytes, (uint64_t)((double)bytes * 1e9 / (double)bytes_per_s) + 1))
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to read %s", path);
    return STRIA_OK;
}

static int take_csv(FILE *in, const char *path, struct measurement *measurement,
                    struct stria_trouble *trouble)
{
    char line[LINE_BYTES_MAX];
    uint64_t written_bytes = 0;
    int code = STRIA_OK;
    for (unsigned number = 1; code == STRIA_OK && fgets(line, sizeof(line), in); number++) {
        line[strcspn(line, "\r\n#")] = '\0';
        const char *first = line + strspn(line, " \t");
        const bool heading = number == 1 && isalpha((unsigned char)*first);
        if (*first && !heading)
            code = take_line(line, path, number, &written_bytes, measurement, trouble);
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
    if (first == '{') {
        struct json_object *document = json_object_from_file(path);
        code = document ? take_report(document, path, drive, measurement, trouble)
                        : stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s is not valid JSON", path);
        json_object_put(document);
    } else {
        rewind(in);
        code = take_csv(in, path, measurement, trouble);
    }
    fclose(in);
    return code;
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
    const int code = stria_file_write_whole(output ? output : "-", text, bytes, trouble);
    free(text);
    return code;
}

int fake_fit(const char *path, const struct fake_options *options)
{
    struct measurement measurement = {0};
    struct stria_profile profile;
    struct stria_trouble trouble = {0};
    char model[STRIA_NAME_BYTES];
    const char *slash = strrchr(path, '/');
    snprintf(model, sizeof(model), "%s", options->model ? options->model : slash ? slash + 1 : path);
    int code = take_measurement(path, options->drive, &measurement, &trouble);
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
