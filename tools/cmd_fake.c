#include "support/clock.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/fake.h"
#include "tools/status.h"

#include <string.h>

struct options {
    bool json;
    const char *output;
    const char *model;
    const char *drive;
    struct stria_figure capacity;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "ls, show: prints one JSON document, stria.fake/1",
     offsetof(struct options, json), NULL},
    {"output", 'o', STRIA_OPTION_TEXT, "FILE.ini", "fit: where the profile goes; standard output without it",
     offsetof(struct options, output), NULL},
    {"model", 0, STRIA_OPTION_TEXT, "TEXT", "fit: what people call the drive",
     offsetof(struct options, model), NULL},
    {"drive", 0, STRIA_OPTION_TEXT, "PATH", "fit: which drive of a report", offsetof(struct options, drive),
     NULL},
    {"capacity", 0, STRIA_OPTION_SIZE, "SIZE", "fit: the drive's capacity; as much as was written without it",
     offsetof(struct options, capacity), NULL},
    {.name = NULL},
};

/* No drive is any more rested after that. */
#define REST_NS_MAX (87600 * 3600 * STRIA_NS_PER_S)

static int usage(const char *sentence)
{
    struct stria_trouble trouble = {0};
    stria_trouble_set(&trouble, STRIA_ERR_INVALID, "%s: see 'stria fake --help'", sentence);
    return stria_status_fail("fake", &trouble);
}

static int run_rest(char **operands, int operand_count)
{
    struct stria_trouble trouble = {0};
    uint64_t rest_ns;
    if (operand_count < 3)
        return usage("rest needs a time and an array");
    if (stria_time_parse(operands[1], &rest_ns, &trouble) != STRIA_OK)
        return stria_status_fail("fake", &trouble);
    if (rest_ns > REST_NS_MAX)
        return usage("a drive rests for ten years at most, 87600h");
    return fake_rest(rest_ns, operands[2], operands + 3, operand_count - 3);
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct options *o = given;
    const struct fake_options chosen = {.json = o->json,
                                        .output = o->output,
                                        .model = o->model,
                                        .drive = o->drive,
                                        .capacity_bytes = o->capacity.value};
    const char *what = operands[0];
    const bool fit = strcmp(what, "fit") == 0;
    if (!fit && (o->output || o->model || o->drive || o->capacity.given))
        return usage("--output, --model, --drive and --capacity are for fit");
    if (o->json && strcmp(what, "ls") != 0 && strcmp(what, "show") != 0)
        return usage("--json is for ls and show");
    if (o->capacity.given && o->capacity.value == 0)
        return usage("a drive's --capacity is more than nothing");
    if (strcmp(what, "ls") == 0)
        return operand_count == 1 ? fake_list(&chosen) : usage("ls takes nothing behind it");
    if (strcmp(what, "show") == 0)
        return operand_count == 2 ? fake_show(operands[1], &chosen) : usage("show needs one profile");
    if (strcmp(what, "trim") == 0)
        return operand_count >= 2 ? fake_trim(operands[1], operands + 2, operand_count - 2)
                                  : usage("trim needs an array");
    if (strcmp(what, "rest") == 0)
        return run_rest(operands, operand_count);
    if (fit)
        return operand_count == 2 ? fake_fit(operands[1], &chosen) : usage("fit needs one measurement");
    return usage("it is one of ls, show, trim, rest and fit that fake does");
}

const struct stria_command stria_command_fake = {
    .name = "fake",
    .summary = "shows, trims, rests and makes models of drives",
    .operands = "ls | show PROFILE | trim ARRAY.ini [DRIVE...] | rest TIME ARRAY.ini [DRIVE...] | fit FILE",
    .operands_min = 1,
    .operands_max = STRIA_TEXTS_MAX,
    .description =
        "ls lists the drive profiles that are part of the program, with their rates when new and when full.\n"
        "show draws one of them, or one in a file: its rates while it is filled from end to end, and by "
        "place.\n"
        "trim takes everything off the fake drives of an array as a trim does, and rest lets them stand idle "
        "for so\n"
        "long: the models only, recordings stay. A fake drive that was filled is full until then.\n"
        "fit makes a profile from a measurement of a drive that was written from empty as fast as it went: a "
        "result of\n"
        "'stria record', 'bench' or 'simulate' or of fio, or lines of bytes written in all, a comma, and the "
        "rate "
        "up to there.",
    .options = options,
    .options_bytes = sizeof(struct options),
    .interruptible = true,
    .run = run,
};
