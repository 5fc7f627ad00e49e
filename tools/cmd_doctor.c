#include "config/keys.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/plain.h"
#include "survey/doctor.h"
#include "survey/json.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/opening.h"
#include "tools/status.h"
#include "tools/survey_list.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct doctor_options {
    bool json;
    const char *root;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.doctor/1, instead of text",
     offsetof(struct doctor_options, json), NULL},
    {"root", 0, STRIA_OPTION_TEXT, "DIR",
     "Looks at a recorded tree instead of this machine: copies of its /sys and\n/proc below DIR",
     offsetof(struct doctor_options, root), NULL},
    {.name = NULL},
};

/* Between the two looks at who writes. */
#define LOOK_NS STRIA_NS_PER_S

/* All that an examination needs and finds. */
struct examination {
    const char *root;
    struct stria_array_config config; /* as array.ini has it, or its initial values */
    struct stria_survey_list list;
    struct stria_survey_host host;
    uint64_t *wanted_bytes; /* of each drive */
    struct stria_writers writers;
    struct stria_findings findings;
    bool judged[STRIA_CHECKS_MAX];
};

static bool is_array_file(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".ini") == 0;
}

/* Without an array, the values that array.ini has when nothing is said. */
static void take_initial(struct stria_array_config *config)
{
    static const char *const keys[] = {"buffer", "depth"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct stria_key *key = stria_key_find(STRIA_KEY_ARRAY, keys[i]);
        key->parse(key->initial, (char *)config + key->field);
    }
}

/* A drive of the array that is not there is a finding, not a mistake. */
static int take_array(struct examination *exam, const char *ini_path)
{
    int status = STRIA_STATUS_OK;
    struct stria_array_config *config = stria_ending_at_once_with("doctor", ini_path, &status)
                                            ? stria_opening_read("doctor", ini_path, &status)
                                            : NULL;
    if (!config)
        return status;
    exam->config = *config;
    free(config);
    for (uint32_t i = 0; i < exam->config.drive_count && !stria_ending_asked("doctor", &status); i++) {
        struct stria_trouble trouble = {0};
        if (stria_survey_list_add(&exam->list, exam->root, exam->config.drives[i].path, &trouble) ==
            STRIA_ERR_NO_MEMORY)
            return stria_status_fail("doctor", &trouble);
    }
    return status;
}

static int take_drives(struct examination *exam, char **operands, int operand_count)
{
    int status = STRIA_STATUS_OK;
    struct stria_trouble trouble = {0};
    take_initial(&exam->config);
    stria_ending_at_once(operands, operand_count);
    if (operand_count == 0 && stria_survey_list_add_all(&exam->list, exam->root, true, &trouble) != STRIA_OK)
        return stria_status_fail("doctor", &trouble);
    for (int i = 0; i < operand_count && !stria_ending_asked("doctor", &status); i++) {
        if (is_array_file(operands[i])) {
            fprintf(stderr, "stria doctor: name either one array.ini, which %s is, or drives\n",
                    stria_shown(operands[i]));
            return STRIA_STATUS_USAGE;
        }
        if (stria_survey_list_add(&exam->list, exam->root, operands[i], &trouble) != STRIA_OK)
            return stria_status_fail("doctor", &trouble);
    }
    return status;
}

static bool look_for_writers(struct examination *exam)
{
    struct stria_writers *writers = &exam->writers;
    const size_t count = exam->list.count ? exam->list.count : 1;
    writers->root = exam->root;
    writers->drives = (const struct stria_survey_drive *const *)exam->list.drives;
    writers->drive_count = exam->list.count;
    writers->disk_before = calloc(count, sizeof(*writers->disk_before));
    writers->disk_after = calloc(count, sizeof(*writers->disk_after));
    exam->wanted_bytes = calloc(count, sizeof(*exam->wanted_bytes));
    if (!writers->disk_before || !writers->disk_after || !exam->wanted_bytes)
        return false;
    stria_writers_begin(writers);
    if (exam->list.count && !exam->root[0])
        stria_clock_sleep_until(stria_clock_ns() + LOOK_NS);
    stria_writers_end(writers);
    return true;
}

static bool examine(struct examination *exam)
{
    stria_survey_read_host(exam->root, &exam->host);
    if (!look_for_writers(exam))
        return false;
    for (uint32_t i = 0; i < exam->config.drive_count; i++)
        exam->wanted_bytes[i] = exam->config.drives[i].size_bytes;
    const struct stria_patient patient = {
        .root = exam->root,
        .host = &exam->host,
        .drives = exam->writers.drives,
        .drive_count = exam->list.count,
        .troubles = exam->list.troubles,
        .writers = &exam->writers,
        .buffer_bytes = exam->config.buffer_bytes,
        .depth = exam->config.depth,
        .wanted_bytes = exam->wanted_bytes,
    };
    stria_doctor_examine(&patient, &exam->findings, exam->judged);
    return true;
}

static void print_cost(const struct stria_finding *finding)
{
    if (finding->cost_percent == 0)
        printf("no rate");
    else
        printf("%s%u %% of the rate", finding->basis == STRIA_COST_RULE ? "up to " : "",
               finding->cost_percent);
}

static void print_unjudged(const struct examination *exam)
{
    bool any = false;
    for (unsigned i = 0; stria_checks[i].name; i++) {
        if (exam->judged[i])
            continue;
        printf("%s%s", any ? ", " : "\nnot to be told here: ", stria_checks[i].name);
        any = true;
    }
    if (any)
        printf("\n");
}

static void print_findings(const struct examination *exam)
{
    unsigned counts[STRIA_SEVERITY_SERIOUS + 1] = {0};
    for (uint32_t i = 0; i < exam->findings.count; i++) {
        const struct stria_finding *finding = &exam->findings.list[i];
        counts[finding->severity]++;
        printf("%s: %s (%s, costs ", stria_severity_text(finding->severity), finding->subject,
               finding->check);
        print_cost(finding);
        printf(")\n    %s\n    remedy: %s\n", finding->evidence, finding->remedy);
    }
    if (exam->findings.more)
        printf("and %" PRIu32 " more\n", exam->findings.more);
    printf("%s%" PRIu32 " drive%s examined: %u serious, %u warning%s, %u note%s\n",
           exam->findings.count ? "\n" : "", exam->list.count, exam->list.count == 1 ? "" : "s",
           counts[STRIA_SEVERITY_SERIOUS], counts[STRIA_SEVERITY_WARNING],
           counts[STRIA_SEVERITY_WARNING] == 1 ? "" : "s", counts[STRIA_SEVERITY_NOTE],
           counts[STRIA_SEVERITY_NOTE] == 1 ? "" : "s");
    print_unjudged(exam);
}

static void add_findings(struct json_object *document, const struct examination *exam)
{
    struct json_object *findings = stria_json_add_array(document, "findings");
    for (uint32_t i = 0; i < exam->findings.count; i++) {
        const struct stria_finding *finding = &exam->findings.list[i];
        struct json_object *object = stria_json_append_object(findings);
        stria_json_add_text(object, "check", finding->check);
        stria_json_add_text(object, "severity", stria_severity_text(finding->severity));
        stria_json_add_text(object, "subject", finding->subject);
        stria_json_add_text(object, "evidence", finding->evidence);
        stria_json_add_text(object, "remedy", finding->remedy);
        stria_json_add_u64(object, "cost_percent", finding->cost_percent);
        stria_json_add_text(object, "cost_basis",
                            finding->basis == STRIA_COST_COMPUTED ? "computed" : "rule of thumb");
    }
    struct json_object *checks = stria_json_add_array(document, "checks");
    for (unsigned i = 0; stria_checks[i].name; i++) {
        struct json_object *object = stria_json_append_object(checks);
        stria_json_add_text(object, "check", stria_checks[i].name);
        stria_json_add_text(object, "about", stria_checks[i].about);
        stria_json_add_bool(object, "judged", exam->judged[i]);
    }
}

static int print_document(const struct examination *exam)
{
    struct stria_trouble trouble = {0};
    struct json_object *document = json_object_new_object();
    if (!document)
        abort();
    stria_json_add_text(document, "schema", "stria.doctor/1");
    stria_json_add_text(document, "verdict",
                        exam->findings.count ? stria_severity_text(stria_doctor_worst(&exam->findings))
                                             : "healthy");
    stria_json_add_u64(document, "buffer_bytes", exam->config.buffer_bytes);
    stria_json_add_u64(document, "depth", exam->config.depth);
    stria_survey_add_host(stria_json_add_object(document, "host"), &exam->host);
    struct json_object *drives = stria_json_add_array(document, "drives");
    for (uint32_t i = 0; i < exam->list.count; i++)
        stria_survey_add_drive(stria_json_append_object(drives), exam->list.drives[i]);
    add_findings(document, exam);
    const int code = stria_json_write(document, "-", &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("doctor", &trouble);
}

static int no_memory(void)
{
    fprintf(stderr, "stria doctor: not enough memory\n");
    return STRIA_STATUS_SYSTEM;
}

static int run_with(struct examination *exam, const struct doctor_options *doctor, char **operands,
                    int operand_count)
{
    exam->root = doctor->root ? doctor->root : "";
    int status = operand_count == 1 && is_array_file(operands[0])
                     ? take_array(exam, operands[0])
                     : take_drives(exam, operands, operand_count);
    if (status != STRIA_STATUS_OK)
        return status;
    if (!examine(exam))
        return no_memory();
    if (stria_ending_asked("doctor", &status))
        return status;
    if (doctor->json)
        status = print_document(exam);
    else
        print_findings(exam);
    if (status == STRIA_STATUS_OK && stria_doctor_worst(&exam->findings) == STRIA_SEVERITY_SERIOUS)
        status = STRIA_STATUS_NOT_WHOLE;
    return status;
}

static int run(const void *given, char **operands, int operand_count)
{
    struct examination *exam = calloc(1, sizeof(*exam));
    if (!exam)
        return no_memory();
    const int status = run_with(exam, given, operands, operand_count);
    free(exam->wanted_bytes);
    free(exam->writers.disk_before);
    free(exam->writers.disk_after);
    stria_survey_list_clear(&exam->list);
    free(exam);
    return status;
}

const struct stria_command stria_command_doctor = {
    .name = "doctor",
    .summary = "tells why drives or an array will not be as fast as they could be",
    .operands = "[ARRAY.ini|DEVICE...]",
    .operands_min = 0,
    .operands_max = 64,
    .description =
        "Examines the drives of an array, made already or not, the drives named, or all that nobody "
        "uses; and\nthe machine. Each finding has its evidence and its remedy; those that cost most come "
        "first. Changes\nnothing. The exit status is 1 if a finding is serious.",
    .options = options,
    .options_bytes = sizeof(struct doctor_options),
    .run = run,
};
