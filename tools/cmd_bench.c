#include "backends/fabrics.h"
#include "config/profile.h"
#include "measure/archive.h"
#include "measure/document.h"
#include "measure/fio.h"
#include "measure/profile.h"
#include "support/file.h"
#include "support/json.h"
#include "support/units.h"
#include "tools/bench.h"
#include "tools/commands.h"
#include "tools/opening.h"
#include "tools/signals.h"
#include "tools/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPEATS_DEFAULT 3u
#define REST_NS_DEFAULT 180000000000ull

struct bench_options {
    struct stria_texts size, block, depth, erase;
    struct stria_figure zones, repeats, rest, runtime, warm_up, stop_at, buffer, link, seed;
    const char *engine, *profile, *capacity_scale, *rate_scale, *output, *archive, *save_profile;
    bool raw, like_fio, json;
};

static const struct stria_option options[] = {
    {"size", 0, STRIA_OPTION_TEXTS, "SIZE[,SIZE...]",
     "How much to write or read; of a target that does not exist also the size of\n"
     "the file that is made and removed again",
     offsetof(struct bench_options, size), NULL},
    {"block", 0, STRIA_OPTION_TEXTS, "SIZE[,SIZE...]", "Of each request; 1MiB",
     offsetof(struct bench_options, block), NULL},
    {"depth", 0, STRIA_OPTION_TEXTS, "NUMBER[,NUMBER...]", "Requests in flight on each drive; 8",
     offsetof(struct bench_options, depth), NULL},
    {"zones", 0, STRIA_OPTION_NUMBER, "NUMBER", "zone: how many places; 8",
     offsetof(struct bench_options, zones), NULL},
    {"repeats", 0, STRIA_OPTION_NUMBER, "NUMBER", "How often each point is measured; 3",
     offsetof(struct bench_options, repeats), NULL},
    {"rest", 0, STRIA_OPTION_TIME, "TIME", "Between the TRIM before a round and the round; 180s",
     offsetof(struct bench_options, rest), NULL},
    {"runtime", 0, STRIA_OPTION_TIME, "TIME", "Of a round that does not end by its size",
     offsetof(struct bench_options, runtime), NULL},
    {"warm-up", 0, STRIA_OPTION_TIME, "TIME", "Does the same before each round, unmeasured; 0",
     offsetof(struct bench_options, warm_up), NULL},
    {"stop-at", 0, STRIA_OPTION_NUMBER, "TEMPERATURE",
     "Stops when a drive is as hot as this, in °C, and keeps what was measured",
     offsetof(struct bench_options, stop_at), NULL},
    {"buffer", 0, STRIA_OPTION_SIZE, "SIZE",
     "Memory between sensor and drives, for the lossless rate; that of ARRAY.ini",
     offsetof(struct bench_options, buffer), NULL},
    {"engine", 0, STRIA_OPTION_TEXT, "BACKEND", "Insists on this backend: uring, memory, null",
     offsetof(struct bench_options, engine), NULL},
    {"profile", 0, STRIA_OPTION_TEXT, "NAME", "Makes each target a fake drive of this model",
     offsetof(struct bench_options, profile), NULL},
    {"capacity-scale", 0, STRIA_OPTION_TEXT, "NUMBER", "Multiplies the sizes in the profile",
     offsetof(struct bench_options, capacity_scale), NULL},
    {"rate-scale", 0, STRIA_OPTION_TEXT, "NUMBER", "Multiplies the rates in the profile",
     offsetof(struct bench_options, rate_scale), NULL},
    {"raw", 0, STRIA_OPTION_FLAG, NULL,
     "Measures the drives of ARRAY.ini each by itself, not through the recorder",
     offsetof(struct bench_options, raw), NULL},
    {"link", 0, STRIA_OPTION_RATE, "RATE",
     "What the connection of a drive carries, where the system does not tell",
     offsetof(struct bench_options, link), NULL},
    {"seed", 0, STRIA_OPTION_NUMBER, "NUMBER", "Of what is written, and of the order of places; 1",
     offsetof(struct bench_options, seed), NULL},
    {"erase", 0, STRIA_OPTION_TEXTS, "SERIAL|PATH",
     "Allows the drive with this serial number, or the file at this path, to be\n"
     "overwritten although it carries something",
     offsetof(struct bench_options, erase), NULL},
    {"output", 'o', STRIA_OPTION_TEXT, "FILE.json",
     "Writes the result, stria.bench/1, whole or not at all; '-' is standard output",
     offsetof(struct bench_options, output), NULL},
    {"report", 0, STRIA_OPTION_TEXT, "FILE.json", "The same", offsetof(struct bench_options, output), NULL},
    {"archive", 0, STRIA_OPTION_TEXT, "FOLDER",
     "Also puts the result into this folder, under a name of its own; 'ls' lists it",
     offsetof(struct bench_options, archive), NULL},
    {"save-profile", 0, STRIA_OPTION_TEXT, "FILE.ini",
     "fill: writes a profile by which a fake drive behaves as this one did",
     offsetof(struct bench_options, save_profile), NULL},
    {"like-fio", 0, STRIA_OPTION_FLAG, NULL,
     "Measures nothing, and prints the commands of fio that would measure the same",
     offsetof(struct bench_options, like_fio), NULL},
    {"json", 0, STRIA_OPTION_FLAG, NULL, "ls: prints one JSON document, stria.archive/1",
     offsetof(struct bench_options, json), NULL},
    {.name = NULL},
};

#define COMMAND_BYTES_MAX 65536u
#define WORDS_MAX         512u

/* The words that were typed, in their order: getopt has changed that of its own. */
struct words {
    char text[COMMAND_BYTES_MAX];
    char *list[WORDS_MAX];
    int count;
};

struct job {
    struct words words;
    const struct bench_options *given;
    struct stria_bench_options bench;
    struct stria_drive_config *drives;
    struct stria_array_config *array; /* also where --raw takes its drives from */
    bool erase_used[STRIA_TEXTS_MAX];
    struct bench_live live;
};

static int wrong(const char *format, const char *what)
{
    struct stria_trouble trouble = {0};
    stria_trouble_set(&trouble, STRIA_ERR_INVALID, format, what);
    return stria_status_fail("bench", &trouble);
}

/* Lists may stand in several options and, with commas, in one. */
static int parse_list(const char *name, const struct stria_texts *texts,
                      int (*parse)(const char *, uint64_t *, struct stria_trouble *),
                      struct stria_bench_list *list)
{
    for (unsigned i = 0; i < texts->count; i++) {
        char text[512], *rest = text, *word;
        snprintf(text, sizeof(text), "%s", texts->list[i]);
        while ((word = strsep(&rest, ",")) != NULL) {
            struct stria_trouble trouble = {0};
            uint64_t value = 0;
            if (list->count == STRIA_BENCH_LIST_MAX)
                return wrong("--%s has too many values: give 32 at most", name);
            if (parse(word, &value, &trouble) != STRIA_OK || value == 0) {
                fprintf(stderr, "stria bench: --%s: %s\n", name,
                        trouble.sentence[0] ? trouble.sentence : "it cannot be 0");
                return STRIA_STATUS_USAGE;
            }
            list->values[list->count++] = value;
        }
    }
    return STRIA_STATUS_OK;
}

static int parse_scale(const char *name, const char *text, double *scale)
{
    struct stria_trouble trouble = {0};
    *scale = 1;
    if (!text || stria_ratio_parse(text, scale, &trouble) == STRIA_OK)
        return STRIA_STATUS_OK;
    fprintf(stderr, "stria bench: --%s: %s\n", name, trouble.sentence);
    return STRIA_STATUS_USAGE;
}

static bool ends_in_ini(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".ini") == 0;
}

/* A drive of another host is measured as the device that it is here, until the command ends. */
static int take_device(struct stria_drive_config *drive)
{
    struct stria_fabrics_reach reach;
    struct stria_trouble trouble = {0};
    if (!stria_fabrics_url_is(drive->path))
        return STRIA_STATUS_OK;
    if (stria_fabrics_reach(drive->path, &reach, &trouble) != STRIA_OK)
        return stria_status_fail("bench", &trouble);
    snprintf(drive->path, sizeof(drive->path), "%s", reach.device);
    stria_fabrics_leave(&reach);
    return STRIA_STATUS_OK;
}

static int take_array(struct job *job, char **targets, int count)
{
    int status = STRIA_STATUS_OK;
    if (count > 1)
        return wrong("%s is an array: it is measured alone", targets[0]);
    if (job->given->profile)
        return wrong("--profile is for targets by themselves: give [drive.NAME] in %s its profile",
                     targets[0]);
    job->array = stria_opening_read("bench", targets[0], &status);
    if (!job->array)
        return status;
    job->bench.drives = job->array->drives;
    job->bench.drive_count = job->array->drive_count;
    if (!job->given->raw)
        job->bench.array = job->array;
    for (uint32_t i = 0; i < job->array->drive_count && status == STRIA_STATUS_OK; i++)
        status = take_device(&job->array->drives[i]);
    return status;
}

static int take_drive(struct job *job, const char *path)
{
    struct stria_drive_config *drive = &job->drives[job->bench.drive_count];
    struct stria_profile profile;
    struct stria_problems problems = {0};
    const struct bench_options *given = job->given;
    if (strlen(path) >= sizeof(drive->path))
        return wrong("%.100s… is too long for a path", path);
    snprintf(drive->path, sizeof(drive->path), "%s", path);
    snprintf(drive->name, sizeof(drive->name), "drive%u", job->bench.drive_count);
    stria_drive_config_plain(drive);
    int status = take_device(drive);
    if (status == STRIA_STATUS_OK)
        status = parse_scale("capacity-scale", given->capacity_scale, &drive->capacity_scale);
    if (status == STRIA_STATUS_OK)
        status = parse_scale("rate-scale", given->rate_scale, &drive->rate_scale);
    if (status != STRIA_STATUS_OK)
        return status;
    if (given->profile && stria_profile_find(given->profile, &profile, &problems) != STRIA_OK)
        status = stria_status_fail_all("bench", STRIA_ERR_INVALID, &problems);
    else if (given->profile)
        snprintf(drive->profile, sizeof(drive->profile), "%s", given->profile);
    stria_problems_clear(&problems);
    job->bench.drive_count++;
    return status;
}

static int take_targets(struct job *job, char **targets, int count)
{
    for (int i = 0; i < count; i++)
        if (ends_in_ini(targets[i]))
            return take_array(job, targets + i, count);
    if (job->given->raw)
        return wrong("--raw is for an ARRAY.ini, and %s is measured by itself anyway", targets[0]);
    if (count > (int)STRIA_DRIVES_MAX)
        return wrong("%s and what follows are too many: 32 drives at once", targets[0]);
    job->drives = calloc((size_t)count, sizeof(*job->drives));
    if (!job->drives)
        stria_memory_missing();
    job->bench.drives = job->drives;
    int status = STRIA_STATUS_OK;
    for (int i = 0; i < count && status == STRIA_STATUS_OK; i++)
        status = take_drive(job, targets[i]);
    return status;
}

/* What is written at the end must not replace what it is the result of. */
static int check_apart(const struct job *job, const char *path, struct stria_trouble *trouble)
{
    static const char measured[] = "what is to be measured";
    int code = STRIA_OK;
    for (uint32_t i = 0; i < job->bench.drive_count && code == STRIA_OK; i++) {
        const struct stria_drive_config *drive = &job->bench.drives[i];
        /* One that is not there yet is made. */
        if (strcmp(path, drive->path) == 0)
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED, "%s is %s: name another file", path,
                                     measured);
        code = stria_file_check_apart(path, drive->path, measured, trouble);
        if (code == STRIA_OK)
            code = stria_file_check_apart(path, drive->profile, "the profile of a drive", trouble);
    }
    if (code == STRIA_OK && job->array)
        code = stria_file_check_apart(path, job->array->file, "the description of the array", trouble);
    return code;
}

static int check_place(const struct job *job, const char *path, struct stria_trouble *trouble)
{
    const int code = check_apart(job, path, trouble);
    return code == STRIA_OK ? stria_file_check_place(path, trouble) : code;
}

static int check_places(const struct job *job)
{
    const struct bench_options *given = job->given;
    struct stria_trouble trouble = {0};
    int code = given->output ? check_place(job, given->output, &trouble) : STRIA_OK;
    if (code == STRIA_OK && given->archive)
        code = stria_archive_prepare(given->archive, &trouble);
    if (code == STRIA_OK && given->save_profile)
        code = stria_bench_profile_check(&job->bench, &trouble);
    if (code == STRIA_OK && given->save_profile)
        code = check_place(job, given->save_profile, &trouble);
    if (code == STRIA_OK && given->save_profile && given->output &&
        strcmp(given->save_profile, given->output) == 0)
        code =
            stria_trouble_set(&trouble, STRIA_ERR_INVALID,
                              "-o and --save-profile cannot both write %s: name another file", given->output);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("bench", &trouble);
}

static bool watch(void *context, const struct stria_bench_moment *moment)
{
    struct job *job = context;
    bench_live_show(&job->live, moment);
    return !stria_signals_stop();
}

static void say(void *context, const char *sentence)
{
    struct job *job = context;
    bench_live_say(&job->live, sentence);
}

static int take_options(struct job *job, char **operands, int operand_count)
{
    const struct bench_options *given = job->given;
    struct stria_bench_options *bench = &job->bench;
    int status = parse_list("size", &given->size, stria_size_parse, &bench->sizes);
    if (status == STRIA_STATUS_OK)
        status = parse_list("block", &given->block, stria_size_parse, &bench->blocks);
    if (status == STRIA_STATUS_OK)
        status = parse_list("depth", &given->depth, stria_number_parse, &bench->depths);
    if (status != STRIA_STATUS_OK)
        return status;
    if (given->repeats.given && (given->repeats.value < 1 || given->repeats.value > 1000))
        return wrong("--repeats is out of range: give 1 to %s", "1000");
    bench->repeats = given->repeats.given ? (uint32_t)given->repeats.value : REPEATS_DEFAULT;
    bench->zones = given->zones.value < UINT32_MAX ? (uint32_t)given->zones.value : UINT32_MAX;
    bench->rest_ns = given->rest.given ? given->rest.value : REST_NS_DEFAULT;
    bench->runtime_ns = given->runtime.value;
    bench->warm_up_ns = given->warm_up.value;
    bench->stop_at_c = given->stop_at.value;
    bench->buffer_bytes = given->buffer.value;
    bench->link_bytes_per_s = given->link.value;
    bench->seed = given->seed.given ? given->seed.value : 1;
    bench->engine = given->engine;
    bench->guard = (struct stria_guard){
        .erase = given->erase.list, .erase_count = given->erase.count, .erase_used = job->erase_used};
    bench->context = job;
    bench->watch = watch;
    bench->say = say;
    bench->test = operands[0];
    status = take_targets(job, operands + 1, operand_count - 1);
    return status == STRIA_STATUS_OK ? check_places(job) : status;
}

static int write_result(const struct job *job, const struct stria_bench_result *result)
{
    struct stria_trouble trouble = {0};
    const struct bench_options *given = job->given;
    const char *path = given->output;
    char name[STRIA_ARCHIVE_NAME_BYTES];
    struct json_object *document = path || given->archive ? stria_bench_document(result) : NULL;
    int status = STRIA_STATUS_OK;
    /* Each is tried: what took hours must not be lost because the first place is full. */
    if (given->archive && stria_archive_add(given->archive, document, name, &trouble) != STRIA_OK)
        status = stria_status_fail("bench", &trouble);
    if (path && stria_json_write(document, path, &trouble) != STRIA_OK)
        status = stria_status_fail("bench", &trouble);
    if (given->save_profile && stria_bench_save_profile(result, given->save_profile, &trouble) != STRIA_OK)
        status = stria_status_fail("bench", &trouble);
    json_object_put(document);
    return status;
}

/* What the result means for whoever looks at the exit status only. */
static int judge(const struct stria_bench_result *result)
{
    const struct stria_content_counts *counts = &result->accuracy;
    int status = STRIA_STATUS_OK;
    if (result->partial || result->refused ||
        (result->accuracy_known &&
         (counts->corrupt || counts->missing || counts->misplaced || counts->stale)))
        status = STRIA_STATUS_NOT_WHOLE;
    for (uint32_t i = 0; i < result->round_count; i++) {
        if (result->rounds[i].errors)
            fprintf(stderr, "stria bench: '%s' met %llu errors of the drive\n", result->rounds[i].plan.point,
                    (unsigned long long)result->rounds[i].errors);
        if (result->rounds[i].errors || result->rounds[i].code != STRIA_OK)
            status = STRIA_STATUS_SYSTEM;
    }
    return status;
}

static int measure(struct job *job)
{
    struct stria_bench_result result;
    struct stria_trouble trouble = {0};
    bench_live_start(&job->live, stderr);
    if (stria_bench_run(&job->bench, &result, &trouble) != STRIA_OK)
        return stria_status_fail("bench", &trouble);
    if (result.why[0])
        bench_live_say(&job->live, result.why);
    /* A document on standard output stands there alone. */
    const bool document_on_output =
        job->given->output && stria_file_descriptor(job->given->output) == STDOUT_FILENO;
    bench_print(&result, document_on_output ? stderr : stdout);
    const int written = write_result(job, &result), found = judge(&result);
    stria_bench_result_free(&result);
    return written > found ? written : found;
}

static int print_like_fio(const struct job *job)
{
    struct stria_trouble trouble = {0};
    return stria_bench_like_fio(&job->bench, stdout, &trouble) == STRIA_OK
               ? STRIA_STATUS_OK
               : stria_status_fail("bench", &trouble);
}

static void read_words(struct words *words)
{
    static char name[] = "stria";
    FILE *in = fopen("/proc/self/cmdline", "re");
    if (!in)
        return;
    const size_t bytes = fread(words->text, 1, sizeof(words->text) - 1, in);
    fclose(in);
    for (size_t at = 0; at < bytes && words->count < (int)WORDS_MAX; at += strlen(words->text + at) + 1)
        words->list[words->count++] = words->text + at;
    if (words->count)
        words->list[0] = name;
}

static int run(const void *given, char **operands, int operand_count)
{
    struct job *job = calloc(1, sizeof(*job));
    if (!job)
        stria_memory_missing();
    job->given = given;
    read_words(&job->words);
    job->bench.command = job->words.list;
    job->bench.command_count = job->words.count;
    int status;
    if (strcmp(operands[0], "ls") == 0) {
        status = operand_count == 1 ? bench_list(job->given->archive, job->given->json)
                                    : wrong("ls takes nothing behind it, and %s is there", operands[1]);
    } else if (operand_count < 2) {
        status = wrong("%s needs something to measure: a device, a file, or an ARRAY.ini", operands[0]);
    } else {
        status = take_options(job, operands, operand_count);
        if (status == STRIA_STATUS_OK)
            status = job->given->like_fio ? print_like_fio(job) : measure(job);
    }
    free(job->array);
    free(job->drives);
    free(job);
    return status;
}

const struct stria_command stria_command_bench = {
    .name = "bench",
    .summary = "measures what drives, or an array, can be trusted to take",
    .operands = "TEST TARGET... | ls --archive FOLDER",
    .operands_min = 1,
    .operands_max = STRIA_DRIVES_MAX + 1,
    .description =
        "TEST is one of\n"
        "  size      a row of sizes, each written from the start; 1, 2, 4 … 64GiB\n"
        "  zone      --size at places spread over the drive, in an order of chance; 8 of 1GiB\n"
        "  block     requests of 512B to 16MiB at depths 1, 8 and 32, each for --runtime, 10s\n"
        "  fill      the whole drive once, or --size of it: the rate over what is written, and its knee\n"
        "  steady    rounds of --runtime, 60s, until five are alike as SNIA defines it, 25 at most\n"
        "  paced     an array: the highest rate of a sensor that nothing is lost of, with --buffer\n"
        "  accuracy  --size, 8GiB, written, read in order and in reverse, and compared\n"
        "  read      what is there, unchanged; what is made for it, or recorded, is written first\n\n"
        "TARGET is a block device, a file, or an ARRAY.ini, which is measured through the recorder, in its "
        "free space.\n"
        "A file that does not exist is made with --size, allocated fully, and gone at the end. What is on a "
        "target is\n"
        "lost: one that carries anything is refused unless --erase names it, and one in use always. Before "
        "each round\n"
        "the drives are given a TRIM and rest. A drive is worth its minimum: the rating is the least over "
        "all "
        "repeats.\n"
        "Ctrl-C keeps what was measured.",
    .options = options,
    .options_bytes = sizeof(struct bench_options),
    .run = run,
};
