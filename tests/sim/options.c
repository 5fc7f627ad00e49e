#include "tests/sim/options.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: stria-sim [--seeds N] [--from S] [option]...\n"
    "\n"
    "Runs the recorder and the pump in virtual time against simulated drives, and looks for a broken "
    "promise.\n"
    "Each seed is a scenario of its own. The exit status is 1 when one fails; a line then tells how to run "
    "it\n"
    "again.\n"
    "\n"
    "  --seeds N          how many seeds (default 1)\n"
    "  --from S           the first of them (default 1)\n"
    "  --exhaustive       each seed with a power cut at every single step, in every manner\n"
    "  --trace            tell all that happens\n"
    "  --twice            run each seed twice and compare the traces\n"
    "  --shrink           look for a smaller scenario that fails, and show its trace\n"
    "  --failures N       stop after N failures (default 10)\n"
    "  --seconds N        stop after N seconds of real time, however many seeds are left\n"
    "  --coverage         count the faults by the state in which they struck …\n"
    "  --require-coverage … and fail when a state was not reached\n"
    "  --seeds-per-minute N, --bytes-per-second N\n"
    "                     fail when it is slower, by processor time\n"
    "  --expect-failure   stop at the first failure; the exit status is 1 when there is none\n"
    "\n"
    "Scenario options; what is not given is drawn from the seed:\n"
    "  --drives N  --chunks N  --chunk BYTES  --lives N  --slots N  --policy raid0|adaptive\n"
    "  --filled | --modelled   payload is real bytes, or only its identity\n"
    "  --calm             no faults\n"
    "  --short-catalogue  the catalogue has room for hardly any losses\n"
    "  --with FAULT, --without FAULT, --only FAULT\n"
    "                     FAULT strikes, does not strike, or is the only kind (may be repeated)\n"
    "  --cut STEP         the power is cut at this step of the first life\n"
    "  --cache keep|drop|tear\n"
    "                     what a power cut does to every write that was not flushed\n"
    "  --saturated        fast, equal drives and a source that outruns them: for measuring the simulator\n"
    "\n"
    "Faults:";

static void print_help(void)
{
    printf("%s", help);
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++)
        printf("%s%s", fault % 8 == 0 ? "\n  " : " ", sim_faults[fault].name);
    printf("\n");
}

static const char *const cut_names[] = {
    [SIM_CUT_KEEP] = "keep", [SIM_CUT_DROP] = "drop", [SIM_CUT_TEAR] = "tear"};

struct number {
    const char *name;
    uint64_t *wide;
    uint32_t *narrow;
};

static bool parse_number(const struct number *number, const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*end || end == text)
        return false;
    if (number->wide)
        *number->wide = value;
    else
        *number->narrow = (uint32_t)value;
    return true;
}

static int parse_fault(struct sim_options *options, const char *name, const char *text)
{
    enum sim_fault fault = sim_fault_named(text);
    if (fault == SIM_FAULTS) {
        fprintf(stderr, "stria-sim: %s %s: no such fault; --help lists them\n", name, text);
        return 2;
    }
    if (strcmp(name, "--without") == 0)
        options->without[fault] = true;
    else
        options->with[fault] = true;
    options->only |= strcmp(name, "--only") == 0;
    return 0;
}

static int parse_word(struct sim_options *options, const char *name, const char *text)
{
    if (strcmp(name, "--policy") == 0) {
        options->policy = strcmp(text, "raid0") == 0      ? STRIA_POLICY_RAID0
                          : strcmp(text, "adaptive") == 0 ? STRIA_POLICY_ADAPTIVE
                                                          : 0;
        if (options->policy)
            return 0;
    } else if (strcmp(name, "--cache") == 0) {
        for (uint32_t cut = SIM_CUT_KEEP; cut <= SIM_CUT_TEAR; cut++) {
            if (strcmp(text, cut_names[cut]) != 0)
                continue;
            options->cut = (enum sim_cut)cut;
            options->cut_fixed = true;
            return 0;
        }
    } else if (strcmp(name, "--with") == 0 || strcmp(name, "--without") == 0 || strcmp(name, "--only") == 0) {
        return parse_fault(options, name, text);
    }
    fprintf(stderr, "stria-sim: %s %s is not understood; see --help\n", name, text);
    return 2;
}

static bool parse_flag(struct sim_command *command, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"--trace", &command->trace},
        {"--twice", &command->twice},
        {"--shrink", &command->shrink},
        {"--coverage", &command->coverage},
        {"--require-coverage", &command->require_coverage},
        {"--expect-failure", &command->expect_failure},
        {"--filled", &command->options.filled},
        {"--modelled", &command->options.modelled},
        {"--short-catalogue", &command->options.short_catalogue},
        {"--calm", &command->options.calm},
        {"--saturated", &command->options.saturated},
    };
    if (strcmp(name, "--exhaustive") == 0) {
        command->mode = SIM_MODE_EXHAUSTIVE;
        return true;
    }
    for (size_t index = 0; index < sizeof(flags) / sizeof(flags[0]); index++) {
        if (strcmp(name, flags[index].name) != 0)
            continue;
        *flags[index].flag = true;
        return true;
    }
    return false;
}

static int parse_value(struct sim_command *command, const char *name, const char *text)
{
    struct sim_options *options = &command->options;
    const struct number numbers[] = {
        {"--seeds", &command->seeds, NULL},
        {"--from", &command->from, NULL},
        {"--failures", &command->failures_max, NULL},
        {"--seconds", &command->seconds_max, NULL},
        {"--seeds-per-minute", &command->seeds_per_minute_min, NULL},
        {"--bytes-per-second", &command->bytes_per_s_min, NULL},
        {"--cut", &options->cut_step, NULL},
        {"--drives", NULL, &options->drives},
        {"--chunks", NULL, &options->chunks},
        {"--chunk", NULL, &options->chunk_bytes},
        {"--lives", NULL, &options->lives},
        {"--slots", NULL, &options->slots},
    };
    for (size_t index = 0; index < sizeof(numbers) / sizeof(numbers[0]); index++) {
        if (strcmp(name, numbers[index].name) != 0)
            continue;
        if (parse_number(&numbers[index], text))
            return 0;
        fprintf(stderr, "stria-sim: %s %s is not a number\n", name, text);
        return 2;
    }
    return parse_word(options, name, text);
}

static int check(const struct sim_options *options)
{
    if (options->drives > STRIA_DRIVES_MAX - 1 ||
        (options->slots && (options->slots < STRIA_SLOTS_MIN || options->slots > STRIA_SLOTS_MAX)) ||
        (options->chunk_bytes &&
         (options->chunk_bytes < STRIA_CHUNK_BYTES_MIN || options->chunk_bytes > STRIA_CHUNK_BYTES_MAX ||
          (options->chunk_bytes & (options->chunk_bytes - 1)) != 0))) {
        fprintf(stderr,
                "stria-sim: a number is out of range: up to %u drives, %u to %u slots, chunks of a "
                "power of two from %u to %u bytes\n",
                STRIA_DRIVES_MAX - 1, STRIA_SLOTS_MIN, STRIA_SLOTS_MAX, STRIA_CHUNK_BYTES_MIN,
                STRIA_CHUNK_BYTES_MAX);
        return 2;
    }
    return 0;
}

int sim_command_parse(struct sim_command *command, int argc, char **argv)
{
    *command = (struct sim_command){.from = 1, .seeds = 1, .failures_max = 10};
    for (int index = 1; index < argc; index++) {
        if (strcmp(argv[index], "--help") == 0) {
            print_help();
            exit(0);
        }
        if (parse_flag(command, argv[index]))
            continue;
        if (index + 1 == argc) {
            fprintf(stderr, "stria-sim: %s is not understood, or wants a value; see --help\n", argv[index]);
            return 2;
        }
        int status = parse_value(command, argv[index], argv[index + 1]);
        if (status)
            return status;
        index++;
    }
    return check(&command->options);
}

void sim_options_print(FILE *out, const struct sim_options *options)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"drives", options->drives}, {"chunks", options->chunks}, {"chunk", options->chunk_bytes},
                   {"lives", options->lives},   {"slots", options->slots},   {"cut", options->cut_step}};
    for (size_t index = 0; index < sizeof(numbers) / sizeof(numbers[0]); index++)
        if (numbers[index].value)
            fprintf(out, " --%s %llu", numbers[index].name, (unsigned long long)numbers[index].value);
    if (options->policy)
        fprintf(out, " --policy %s", stria_policy_text(options->policy));
    fprintf(out, "%s%s%s%s%s", options->filled ? " --filled" : "", options->modelled ? " --modelled" : "",
            options->calm ? " --calm" : "", options->short_catalogue ? " --short-catalogue" : "",
            options->saturated ? " --saturated" : "");
    if (options->cut_fixed)
        fprintf(out, " --cache %s", cut_names[options->cut]);
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++) {
        if (options->with[fault])
            fprintf(out, " --%s %s", options->only ? "only" : "with", sim_faults[fault].name);
        if (options->without[fault])
            fprintf(out, " --without %s", sim_faults[fault].name);
    }
}
