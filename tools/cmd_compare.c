#include "results/compare.h"
#include "results/versus.h"
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/status.h"

#include <stdio.h>
#include <string.h>

/* Of the data in the sense of the exit status: what is worse is not what it was. */
#define STATUS_WORSE STRIA_STATUS_NOT_WHOLE

struct compare_options {
    bool json, versus;
    const char *tolerance, *price_a, *price_b;
    struct stria_texts despite;
    struct stria_figure buffer, rate;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.compare/1, instead of tables",
     offsetof(struct compare_options, json), NULL},
    {"tolerance", 0, STRIA_OPTION_TEXT, "PERCENT", "A change of at most so much is none (5 by default)",
     offsetof(struct compare_options, tolerance), NULL},
    {"despite", 0, STRIA_OPTION_TEXTS, "CONDITION",
     "Compares although this differs, such as kernel or policy; may be repeated",
     offsetof(struct compare_options, despite), NULL},
    {"versus", 0, STRIA_OPTION_FLAG, NULL,
     "Asks instead which of two is to be bought: what each carries, and for how much",
     offsetof(struct compare_options, versus), NULL},
    {"price-a", 0, STRIA_OPTION_TEXT, "NUMBER",
     "With --versus: what all drives of the first cost, in any currency",
     offsetof(struct compare_options, price_a), NULL},
    {"price-b", 0, STRIA_OPTION_TEXT, "NUMBER", "With --versus: what all drives of the second cost",
     offsetof(struct compare_options, price_b), NULL},
    {"buffer", 0, STRIA_OPTION_SIZE, "SIZE", "With --versus: the memory that lossless rates are for",
     offsetof(struct compare_options, buffer), NULL},
    {"rate", 0, STRIA_OPTION_RATE, "RATE",
     "With --versus: of the sensor; how much of it each takes before it loses any",
     offsetof(struct compare_options, rate), NULL},
    {.name = NULL},
};

static int parse_number(const char *option, const char *text, double *number, struct stria_trouble *trouble)
{
    struct stria_trouble why;
    if (!text || stria_ratio_parse(text, number, &why) == STRIA_OK)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "--%s: %s", option, why.sentence);
}

static int set_despites(const struct stria_texts *texts, bool despite[STRIA_DESPITES],
                        struct stria_trouble *trouble)
{
    for (unsigned i = 0; i < texts->count; i++) {
        const unsigned index = stria_despite_find(texts->list[i]);
        char names[512] = "";
        for (unsigned name = 0; name < STRIA_DESPITES && index == STRIA_DESPITES; name++)
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", name ? ", " : "",
                     stria_despite_name(name));
        if (index == STRIA_DESPITES)
            return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                     "--despite: there is no condition '%.50s': it takes %s", texts->list[i],
                                     names);
        despite[index] = true;
    }
    return STRIA_OK;
}

static int check(const struct compare_options *compare, struct stria_trouble *trouble)
{
    if (compare->versus && (compare->tolerance || compare->despite.count))
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "--versus asks for no equal conditions: write it without --tolerance and --despite");
    if (!compare->versus &&
        (compare->price_a || compare->price_b || compare->buffer.given || compare->rate.given))
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "--price-a, --price-b, --buffer and --rate are for --versus: add it, or leave them out");
    return STRIA_OK;
}

/* They quote names from documents; null is no line. */
static void print_lines(char *text)
{
    char *rest = NULL;
    for (char *line = text; line && *line; line = rest) {
        rest = line + strcspn(line, "\n");
        const bool ends = *rest == '\n';
        if (ends)
            *rest++ = '\0';
        printf("%s%s", stria_plain(line), ends ? "\n" : "");
    }
}

static int finish(struct json_object *document, struct stria_text *text, struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    if (document)
        code = stria_json_write(document, "-", trouble);
    else
        print_lines(text->bytes);
    json_object_put(document);
    stria_text_clear(text);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("compare", trouble);
}

static int run_compare(const struct compare_options *compare, const struct stria_measurement sides[2],
                       struct stria_trouble *trouble)
{
    struct stria_compare_options how = {.tolerance = STRIA_COMPARE_TOLERANCE};
    struct stria_comparison comparison;
    struct stria_text text = {0};
    struct json_object *document = NULL;
    double percent = 100 * STRIA_COMPARE_TOLERANCE;
    int code = parse_number("tolerance", compare->tolerance, &percent, trouble);
    if (code == STRIA_OK)
        code = set_despites(&compare->despite, how.despite, trouble);
    if (code != STRIA_OK)
        return stria_status_fail("compare", trouble);
    how.tolerance = percent / 100;
    stria_compare(&sides[0], &sides[1], &how, &comparison);
    if (compare->json)
        document = stria_comparison_document(&sides[0], &sides[1], &how, &comparison);
    else
        stria_comparison_print(&sides[0], &sides[1], &comparison, &text);
    int status = finish(document, &text, trouble);
    if (status == STRIA_STATUS_OK && comparison.change == STRIA_CHANGE_WORSE)
        status = STATUS_WORSE;
    if (status == STRIA_STATUS_OK && comparison.change == STRIA_CHANGE_NOT_COMPARABLE)
        status = STRIA_STATUS_USAGE;
    stria_comparison_clear(&comparison);
    return status;
}

static int run_versus(const struct compare_options *compare, const struct stria_measurement both[2],
                      struct stria_trouble *trouble)
{
    const struct stria_measurement *const sides[2] = {&both[0], &both[1]};
    struct stria_versus_options how = {
        .buffer_bytes = {compare->buffer.given, compare->buffer.value},
        .rate_bytes_per_s = {compare->rate.given, compare->rate.value},
    };
    struct stria_versus versus;
    struct stria_text text = {0};
    struct json_object *document = NULL;
    int code = parse_number("price-a", compare->price_a, &how.price[0], trouble);
    if (code == STRIA_OK)
        code = parse_number("price-b", compare->price_b, &how.price[1], trouble);
    if (code != STRIA_OK)
        return stria_status_fail("compare", trouble);
    stria_versus(sides, &how, &versus);
    if (compare->json)
        document = stria_versus_document(sides, &versus);
    else
        stria_versus_print(sides, &versus, &text);
    return finish(document, &text, trouble);
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct compare_options *compare = given;
    struct stria_measurement sides[2] = {0};
    struct stria_trouble trouble;
    int status = STRIA_STATUS_OK;
    int code = check(compare, &trouble);
    for (int i = 0; i < operand_count && code == STRIA_OK; i++)
        code = stria_measurement_read(operands[i], &sides[i], &trouble);
    if (code != STRIA_OK)
        status = stria_status_fail("compare", &trouble);
    if (code == STRIA_OK) {
        stria_measurements_tell_apart(sides, 2);
        status =
            compare->versus ? run_versus(compare, sides, &trouble) : run_compare(compare, sides, &trouble);
    }
    stria_measurement_clear(&sides[0]);
    stria_measurement_clear(&sides[1]);
    return status;
}

const struct stria_command stria_command_compare = {
    .name = "compare",
    .summary = "tells whether a result is better or worse than another, or what to buy",
    .operands = "BASE NEW",
    .operands_min = 2,
    .operands_max = 2,
    .description = "Sets two results side by side and says of each figure, and of the whole, whether NEW is "
                   "better, the\n"
                   "same or worse than BASE, or why that cannot be said. Changes that the spread of the "
                   "repeats explains\n"
                   "are none. Exit status: 0 better or the same, 1 worse, 2 not comparable.",
    .options = options,
    .options_bytes = sizeof(struct compare_options),
    .interruptible = true,
    .run = run,
};
