#include "tools/options.h"

#include "support/nearest.h"
#include "support/plain.h"
#include "support/units.h"

#include <assert.h>
#include <getopt.h>
#include <string.h>

#define VALUE_HELP    256
#define VALUE_OPTIONS 1000 /* value of the first option in getopt's table */

#define SYNOPSIS_WIDTH 100
#define HELP_COLUMN    26

static bool takes_argument(const struct stria_option *option)
{
    return option->kind != STRIA_OPTION_FLAG;
}

/* getopt's two tables, made from ours. */
struct getopt_tables {
    struct option longs[STRIA_OPTIONS_MAX + 2];
    char shorts[3 * STRIA_OPTIONS_MAX + 3];
};

static void make_tables(const struct stria_command *command, struct getopt_tables *tables)
{
    char *letter = tables->shorts;
    unsigned count = 0;
    *letter++ = ':'; /* tell a missing argument from an unknown option */
    for (const struct stria_option *option = command->options; option->name; option++, count++) {
        assert(count < STRIA_OPTIONS_MAX);
        tables->longs[count] =
            (struct option){.name = option->name,
                            .has_arg = takes_argument(option) ? required_argument : no_argument,
                            .val = VALUE_OPTIONS + (int)count};
        if (option->letter)
            *letter++ = option->letter;
        if (option->letter && takes_argument(option))
            *letter++ = ':';
    }
    tables->longs[count++] = (struct option){.name = "help", .has_arg = no_argument, .val = VALUE_HELP};
    tables->longs[count] = (struct option){0};
    *letter++ = 'h';
    *letter = '\0';
}

static const struct stria_option *option_of(const struct stria_command *command, int value)
{
    if (value >= VALUE_OPTIONS)
        return &command->options[value - VALUE_OPTIONS];
    for (const struct stria_option *option = command->options; option->name; option++)
        if (option->letter && option->letter == value)
            return option;
    return NULL;
}

static enum stria_parsed wrong_choice(const struct stria_command *command, const struct stria_option *option,
                                      const char *text)
{
    fprintf(stderr, "stria %s: --%s cannot be '%s': it takes ", command->name, option->name,
            stria_shown(text));
    for (unsigned i = 0; option->choices[i]; i++)
        fprintf(stderr, "%s%s", i == 0 ? "" : option->choices[i + 1] ? ", " : " or ", option->choices[i]);
    fprintf(stderr, "\n");
    return STRIA_PARSED_WRONG;
}

static enum stria_parsed store_choice(const struct stria_command *command, const struct stria_option *option,
                                      const char *text, unsigned *field)
{
    for (unsigned i = 0; option->choices[i]; i++) {
        if (strcmp(option->choices[i], text) == 0) {
            *field = i;
            return STRIA_PARSED_RUN;
        }
    }
    return wrong_choice(command, option, text);
}

static enum stria_parsed store_figure(const struct stria_command *command, const struct stria_option *option,
                                      const char *text, struct stria_figure *figure)
{
    int (*parse)(const char *text, uint64_t *value, struct stria_trouble *trouble) =
        option->kind == STRIA_OPTION_SIZE   ? stria_size_parse
        : option->kind == STRIA_OPTION_RATE ? stria_rate_parse
        : option->kind == STRIA_OPTION_TIME ? stria_time_parse
                                            : stria_number_parse;
    struct stria_trouble trouble;
    if (parse(text, &figure->value, &trouble) != STRIA_OK) {
        fprintf(stderr, "stria %s: --%s: %s\n", command->name, option->name, trouble.sentence);
        return STRIA_PARSED_WRONG;
    }
    figure->given = true;
    return STRIA_PARSED_RUN;
}

static enum stria_parsed store_text(const struct stria_command *command, const struct stria_option *option,
                                    const char *text, struct stria_texts *texts)
{
    if (texts->count == STRIA_TEXTS_MAX) {
        fprintf(stderr, "stria %s: --%s stands more than %u times\n", command->name, option->name,
                STRIA_TEXTS_MAX);
        return STRIA_PARSED_WRONG;
    }
    texts->list[texts->count++] = text;
    return STRIA_PARSED_RUN;
}

/* Of an option given twice nobody knows which was meant; a flag says the same thing again. */
static bool comes_again(const struct stria_option *option, uint32_t bit, uint32_t *given)
{
    const bool again =
        *given & bit && option->kind != STRIA_OPTION_FLAG && option->kind != STRIA_OPTION_TEXTS;
    *given |= bit;
    return again;
}

static enum stria_parsed store(const struct stria_command *command, const struct stria_option *option,
                               const char *text, void *options, uint32_t *given)
{
    void *field = (char *)options + option->field;
    if (comes_again(option, UINT32_C(1) << (option - command->options), given)) {
        fprintf(stderr, "stria %s: --%s stands twice: give it once\n", command->name, option->name);
        return STRIA_PARSED_WRONG;
    }
    if (option->kind == STRIA_OPTION_FLAG) {
        *(bool *)field = true;
        return STRIA_PARSED_RUN;
    }
    if (!text[0]) {
        fprintf(stderr, "stria %s: --%s is empty: give it a value, such as --%s %s, or leave it out\n",
                command->name, option->name, option->name,
                option->choices ? option->choices[0] : option->argument);
        return STRIA_PARSED_WRONG;
    }
    switch (option->kind) {
    case STRIA_OPTION_TEXT:
        *(const char **)field = text;
        return STRIA_PARSED_RUN;
    case STRIA_OPTION_TEXTS:
        return store_text(command, option, text, field);
    case STRIA_OPTION_CHOICE:
        return store_choice(command, option, text, field);
    default:
        return store_figure(command, option, text, field);
    }
}

static enum stria_parsed unknown_option(const struct stria_command *command, const char *written)
{
    char word[64];
    const char *name = written + strspn(written, "-");
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(name, "="), name);
    struct stria_nearest nearest = stria_nearest_to(word);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every command has a table, if only its end */
    for (const struct stria_option *option = command->options; option->name; option++)
        stria_nearest_offer(&nearest, option->name);
    stria_nearest_offer(&nearest, "help");
    fprintf(stderr, "stria %s: unknown option '%s'", command->name, stria_shown(written));
    if (nearest.best)
        fprintf(stderr, ": did you mean --%s?\n", nearest.best);
    else
        fprintf(stderr, ": see 'stria %s --help'\n", command->name);
    return STRIA_PARSED_WRONG;
}

/* The word that getopt does not know. A word of short options it is in the midst of unless it was the last of
 * them; words that are no options have been moved behind by then. */
static const char *unknown_word(int argc, char **argv)
{
    const char *last = argv[optind - 1];
    const size_t length = strlen(last);
    const bool ended = optopt == 0 || (last[0] == '-' && length > 1 && last[length - 1] == optopt);
    return ended || optind == argc ? last : argv[optind];
}

/* What getopt does not take. */
static enum stria_parsed refuse(const struct stria_command *command, int argc, char **argv)
{
    if (optopt < VALUE_HELP)
        return unknown_option(command, unknown_word(argc, argv));
    const char *written = argv[optind - 1];
    fprintf(stderr, "stria %s: '%s': this option takes no value: write %.*s\n", command->name,
            stria_shown(written), (int)strcspn(written, "="), stria_shown(written));
    return STRIA_PARSED_WRONG;
}

static enum stria_parsed check_operands(const struct stria_command *command, char **operands, int count)
{
    for (int i = 0; i < count; i++) {
        if (operands[i][0])
            continue;
        fprintf(stderr, "stria %s: word %d behind it is empty: write stria %s %s\n", command->name, i + 1,
                command->name, command->operands);
        return STRIA_PARSED_WRONG;
    }
    if (count >= command->operands_min && count <= command->operands_max)
        return STRIA_PARSED_RUN;
    fprintf(stderr, "stria %s: %s: write stria %s%s%s%s\n", command->name,
            count < command->operands_min ? "something is missing" : "there is too much on the line",
            command->name, command->operands[0] ? " " : "", command->operands,
            command->options->name ? " and options" : "");
    return STRIA_PARSED_WRONG;
}

enum stria_parsed stria_options_parse(const struct stria_command *command, int argc, char **argv,
                                      void *options, int *operand_first)
{
    struct getopt_tables tables;
    make_tables(command, &tables);
    opterr = 0;
    optind = 0; /* GNU: begin anew */
    enum stria_parsed parsed = STRIA_PARSED_RUN;
    uint32_t given = 0;
    for (int value; parsed == STRIA_PARSED_RUN;) {
        value = getopt_long(argc, argv, tables.shorts, tables.longs, NULL);
        if (value == -1)
            break;
        if (value == VALUE_HELP || value == 'h')
            return STRIA_PARSED_HELP;
        if (value == ':') {
            fprintf(stderr, "stria %s: %s needs a value\n", command->name, stria_shown(argv[optind - 1]));
            return STRIA_PARSED_WRONG;
        }
        const struct stria_option *option = value == '?' ? NULL : option_of(command, value);
        parsed = option ? store(command, option, takes_argument(option) ? optarg : "", options, &given)
                        : refuse(command, argc, argv);
    }
    *operand_first = optind;
    return parsed == STRIA_PARSED_RUN ? check_operands(command, argv + optind, argc - optind) : parsed;
}

/* "--size SIZE", "--on-overrun block|drop|stop", "-o FILE|-". */
static int print_option(const struct stria_option *option, char *out, size_t size)
{
    char argument[96] = "";
    if (option->kind == STRIA_OPTION_CHOICE)
        for (unsigned i = 0; option->choices[i]; i++)
            snprintf(argument + strlen(argument), sizeof(argument) - strlen(argument), "%s%s", i ? "|" : " ",
                     option->choices[i]);
    else if (takes_argument(option))
        snprintf(argument, sizeof(argument), " %s", option->argument);
    return snprintf(out, size, "--%s%s", option->name, argument);
}

void stria_options_synopsis(const struct stria_command *command, FILE *out)
{
    int column = fprintf(out, "%s %s", command->name, command->operands);
    const int indent = (int)strlen(command->name) + 7;
    for (const struct stria_option *option = command->options; option->name; option++) {
        char text[128];
        const bool repeats = option->kind == STRIA_OPTION_TEXTS;
        const int length = print_option(option, text, sizeof(text)) + (repeats ? 6 : 3);
        if (column + length > SYNOPSIS_WIDTH)
            column = fprintf(out, "\n%*s", indent, "") - 1;
        column += fprintf(out, " [%s]%s", text, repeats ? "..." : "");
    }
    fprintf(out, "\n");
}

/* Lines of help stand in a column of their own. */
static void print_help_of(const char *left, const char *help, FILE *out)
{
    fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
    if (strlen(left) + 2 >= HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    for (; *help; help++) {
        fputc(*help, out);
        if (*help == '\n')
            fprintf(out, "%*s", HELP_COLUMN, "");
    }
    fprintf(out, "\n");
}

void stria_options_help(const struct stria_command *command, FILE *out)
{
    fprintf(out, "stria %s: %s\n\nusage: stria ", command->name, command->summary);
    stria_options_synopsis(command, out);
    fprintf(out, "\n%s\n\noptions:\n", command->description);
    for (const struct stria_option *option = command->options; option->name; option++) {
        char text[128], left[136];
        print_option(option, text, sizeof(text));
        if (option->letter)
            snprintf(left, sizeof(left), "-%c, %s", option->letter, text);
        else
            snprintf(left, sizeof(left), "%s", text);
        print_help_of(left, option->help, out);
    }
    print_help_of("-h, --help", "Shows this", out);
}
