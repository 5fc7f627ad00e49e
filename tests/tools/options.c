#include "tools/options.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

struct given {
    bool flag;
    const char *text;
    struct stria_texts texts;
    struct stria_figure size, rate, time, number;
    unsigned choice;
};

static const char *const choices[] = {"block", "drop", "stop", NULL};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints JSON", offsetof(struct given, flag), NULL},
    {"output", 'o', STRIA_OPTION_TEXT, "FILE", "Where to\nwrite", offsetof(struct given, text), NULL},
    {"erase", 0, STRIA_OPTION_TEXTS, "PATH", "What to erase", offsetof(struct given, texts), NULL},
    {"size", 0, STRIA_OPTION_SIZE, "SIZE", "How much", offsetof(struct given, size), NULL},
    {"rate", 0, STRIA_OPTION_RATE, "RATE", "How fast", offsetof(struct given, rate), NULL},
    {"duration", 0, STRIA_OPTION_TIME, "TIME", "How long", offsetof(struct given, time), NULL},
    {"seed", 0, STRIA_OPTION_NUMBER, "NUMBER", "Of chance", offsetof(struct given, number), NULL},
    {"on-overrun", 0, STRIA_OPTION_CHOICE, NULL, "What then", offsetof(struct given, choice), choices},
    {.name = NULL},
};

static int run(const void *given, char **operands, int operand_count)
{
    (void)given, (void)operands, (void)operand_count;
    return 0;
}

static const struct stria_command command = {.name = "test",
                                             .summary = "is a test",
                                             .operands = "ARRAY.ini [NAME...]",
                                             .operands_min = 1,
                                             .operands_max = 3,
                                             .description = "Tests.",
                                             .options = options,
                                             .options_bytes = sizeof(struct given),
                                             .run = run};

static enum stria_parsed parse(struct given *given, char **operands[], const char *line)
{
    static char copy[512];
    static char *argv[32];
    int argc = 0, first;
    snprintf(copy, sizeof(copy), "test %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    memset(given, 0, sizeof(*given));
    enum stria_parsed parsed = stria_options_parse(&command, argc, argv, given, &first);
    *operands = argv + first;
    return parsed;
}

Test(options, each_kind_is_stored_as_what_it_is)
{
    struct given given;
    char **operands;
    cr_assert_eq(
        parse(&given, &operands,
              "a.ini --json -o out --erase X --erase Y --size 2MiB --rate=5MB/s --duration 1.5s --seed 42 "
              "--on-overrun stop name"),
        STRIA_PARSED_RUN);
    cr_assert(given.flag);
    cr_assert_str_eq(given.text, "out");
    cr_assert_eq(given.texts.count, 2);
    cr_assert_str_eq(given.texts.list[1], "Y");
    cr_assert(given.size.given && given.size.value == 2u << 20);
    cr_assert(given.rate.given && given.rate.value == 5000000);
    cr_assert(given.time.given && given.time.value == 1500000000);
    cr_assert(given.number.given && given.number.value == 42);
    cr_assert_eq(given.choice, 2);
    cr_assert_str_eq(operands[0], "a.ini");
    cr_assert_str_eq(operands[1], "name");
}

Test(options, what_is_not_given_is_zero)
{
    struct given given;
    char **operands;
    cr_assert_eq(parse(&given, &operands, "a.ini"), STRIA_PARSED_RUN);
    cr_assert(!given.flag && !given.text && !given.size.given && given.choice == 0 && given.texts.count == 0);
}

Test(options, two_dashes_end_the_options_and_one_is_an_operand)
{
    struct given given;
    char **operands;
    cr_assert_eq(parse(&given, &operands, "- -- --json"), STRIA_PARSED_RUN);
    cr_assert_str_eq(operands[0], "-");
    cr_assert_str_eq(operands[1], "--json");
    cr_assert_not(given.flag);
}

Test(options, help_wins_over_what_is_missing)
{
    struct given given;
    char **operands;
    cr_assert_eq(parse(&given, &operands, "--help"), STRIA_PARSED_HELP);
    cr_assert_eq(parse(&given, &operands, "-h"), STRIA_PARSED_HELP);
}

static char *stderr_text(void)
{
    static char text[4096];
    fflush(stderr);
    FILE *file = cr_get_redirected_stderr();
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    return text;
}

/* One line on standard error that has all the words. */
static void assert_wrong(const char *line, const char *word, const char *other)
{
    struct given given;
    char **operands;
    cr_redirect_stderr();
    cr_assert_eq(parse(&given, &operands, line), STRIA_PARSED_WRONG);
    fclose(stderr);
    const char *said = stderr_text();
    cr_assert(strstr(said, word) && strstr(said, other), "%s", said);
    cr_assert_eq(strchr(said, '\n'), said + strlen(said) - 1, "not one line: %s", said);
}

Test(options, an_unknown_option_is_named_with_the_one_that_was_meant)
{
    assert_wrong("a.ini --sise=3", "'--sise=3'", "--size?");
}

Test(options, an_unknown_letter_is_named)
{
    assert_wrong("a.ini -x", "-x", "--help");
}

Test(options, a_value_that_is_missing_is_told)
{
    assert_wrong("a.ini --size", "--size", "value");
}

Test(options, a_value_that_is_wrong_is_quoted_with_what_is_allowed)
{
    assert_wrong("a.ini --size 3XB", "'3XB'", "GiB");
}

Test(options, a_choice_that_is_none_is_quoted_with_the_choices)
{
    assert_wrong("a.ini --on-overrun explode", "'explode'", "block, drop or stop");
}

Test(options, a_number_takes_digits_only)
{
    assert_wrong("a.ini --seed 4KiB", "'4KiB'", "whole number");
}

Test(options, a_missing_operand_is_told)
{
    assert_wrong("--json", "something is missing", "ARRAY.ini");
}

Test(options, too_many_operands_are_told)
{
    assert_wrong("a b c d", "too much", "ARRAY.ini");
}

Test(options, help_shows_every_option_from_the_same_table)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    stria_options_help(&command, out);
    fclose(out);
    for (const struct stria_option *option = options; option->name; option++) {
        char shown[64];
        snprintf(shown, sizeof(shown), "--%s", option->name);
        cr_assert(strstr(text, shown), "%s is not in: %s", shown, text);
    }
    cr_assert(strstr(text, "test ARRAY.ini [NAME...]") && strstr(text, "block|drop|stop") &&
              strstr(text, "-o, --output"));
    free(text);
}
