#include "tools/findings.h"

#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/stretch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void stria_findings_add(struct stria_findings *findings, const struct stria_verify_finding *finding)
{
    if (findings->count == findings->capacity) {
        const size_t capacity = findings->capacity ? 2 * findings->capacity : 64;
        struct stria_verify_finding *list = reallocarray(findings->list, capacity, sizeof(*list));
        if (!list) {
            findings->unlisted++;
            return;
        }
        findings->list = list;
        findings->capacity = capacity;
    }
    findings->list[findings->count++] = *finding;
}

void stria_findings_clear(struct stria_findings *findings)
{
    free(findings->list);
    *findings = (struct stria_findings){0};
}

/* Names of one result lie in the order of its recordings. */
static int compare(const void *a, const void *b)
{
    const struct stria_verify_finding *left = a, *right = b;
    if (left->recording != right->recording)
        return left->recording < right->recording ? -1 : 1;
    return left->stream_offset < right->stream_offset ? -1 : left->stream_offset > right->stream_offset;
}

void stria_findings_sort(struct stria_findings *findings)
{
    if (findings->count > 0)
        qsort(findings->list, findings->count, sizeof(*findings->list), compare);
}

static struct stria_stretch stretch_of(const struct stria_verify_finding *finding)
{
    return (struct stria_stretch){
        .offset = finding->stream_offset,
        .bytes = finding->length_bytes,
        .cause = finding->cause,
        .verdict = finding->verdict,
        .drive = finding->drive,
        .drive_offset = finding->drive_offset,
        .reason = finding->reason,
        .other = finding->other,
        .other_offset = finding->other_offset,
    };
}

static void print_line(const char *recording, const struct stria_stretch *stretch,
                       const struct stria_array *array)
{
    printf("%s: ", stria_shown(recording));
    stria_stretch_print(stretch, array, stdout);
    printf("\n");
}

void stria_findings_print(const struct stria_findings *findings, const struct stria_array *array)
{
    uint64_t lines = 0, more_bytes = 0;
    for (size_t i = 0, next; i < findings->count; i = next, lines++) {
        const char *recording = findings->list[i].recording;
        struct stria_stretch stretch = stretch_of(&findings->list[i]);
        for (next = i + 1; next < findings->count && findings->list[next].recording == recording; next++) {
            const struct stria_stretch further = stretch_of(&findings->list[next]);
            if (!stria_stretch_join(&stretch, &further))
                break;
        }
        if (lines < STRIA_STRETCH_LINES_MAX)
            print_line(recording, &stretch, array);
        else
            more_bytes += stretch.bytes;
    }
    char size[STRIA_UNITS_TEXT_BYTES];
    if (lines > STRIA_STRETCH_LINES_MAX)
        printf("and %" PRIu64 " more such stretches, %s in all: --json lists every extent\n",
               lines - STRIA_STRETCH_LINES_MAX, stria_size_print_both(size, sizeof(size), more_bytes));
    if (findings->unlisted > 0)
        printf("and %" PRIu64 " more damaged extents, for which there was no memory\n", findings->unlisted);
}

static void add_drive(struct json_object *object, const struct stria_array *array, int index)
{
    struct stria_drive_info drive;
    const bool named = index >= 0 && stria_array_drive(array, (uint32_t)index, &drive) == STRIA_OK;
    stria_json_add_text(object, "drive", named ? drive.name : NULL);
    stria_json_add_text(object, "path", named ? drive.path : NULL);
}

static void fill(struct json_object *object, const struct stria_array *array,
                 const struct stria_verify_finding *finding)
{
    const bool gap = finding->cause != STRIA_GAP_NONE;
    const bool placed = finding->drive >= 0 && finding->verdict != STRIA_VERDICT_MISSING;
    stria_json_add_text(object, "recording", finding->recording);
    if (gap)
        stria_json_add_text(object, "cause", stria_gap_cause_text(finding->cause));
    else
        stria_json_add_text(object, "verdict", stria_verdict_text(finding->verdict));
    stria_json_add_u64(object, "offset_bytes", finding->stream_offset);
    stria_json_add_u64(object, "length_bytes", finding->length_bytes);
    add_drive(object, array, finding->drive);
    if (gap)
        return;
    stria_json_add_figure(object, "drive_offset_bytes", placed, finding->drive_offset);
    stria_json_add_text(object, "reason", finding->reason);
    stria_json_add_text(object, "other_recording", finding->other);
    stria_json_add_figure(object, "other_offset_bytes", finding->other != NULL, finding->other_offset);
}

/* Without its last less_bytes bytes. */
static void write_object(struct json_object *object, size_t less_bytes)
{
    size_t length;
    const char *text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (!text)
        stria_memory_missing();
    fwrite(text, 1, length - less_bytes, stdout);
}

static void write_list(const char *key, const struct stria_findings *findings,
                       const struct stria_array *array)
{
    printf(", \"%s\": [", key);
    for (size_t i = 0; i < findings->count; i++) {
        struct json_object *object = json_object_new_object();
        if (!object)
            stria_memory_missing();
        fill(object, array, &findings->list[i]);
        printf("%s", i > 0 ? ", " : " ");
        write_object(object, 0);
        json_object_put(object);
    }
    printf(" ]");
}

int stria_findings_write(const struct stria_findings *findings, const struct stria_findings *gaps,
                         const struct stria_array *array, struct json_object *document,
                         struct stria_trouble *trouble)
{
    static const char end[] = " }";
    errno = 0;
    write_object(document, sizeof(end) - 1);
    write_list("gaps", gaps, array);
    write_list("findings", findings, array);
    printf("%s\n", end);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return STRIA_OK;
    return stria_trouble_set(trouble, errno ? stria_code_of_errno(errno) : STRIA_ERR_SYSTEM,
                             "cannot write to standard output: %s", stria_errno_text(errno));
}
