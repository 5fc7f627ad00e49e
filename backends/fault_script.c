#include "backends/fault_script.h"

#include "support/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULE_BYTES_MAX 256
#define OP_BIT(op)     (1u << (op))
#define OPS_TRANSFER   (OP_BIT(STRIA_IO_READ) | OP_BIT(STRIA_IO_WRITE))
#define OPS_CHANGE     (OP_BIT(STRIA_IO_WRITE) | OP_BIT(STRIA_IO_FLUSH) | OP_BIT(STRIA_IO_TRIM))
#define OPS_ANY        (OPS_TRANSFER | OPS_CHANGE)

static const struct {
    const char *name;
    unsigned ops;
} op_names[] = {
    {"read", OP_BIT(STRIA_IO_READ)},
    {"write", OP_BIT(STRIA_IO_WRITE)},
    {"flush", OP_BIT(STRIA_IO_FLUSH)},
    {"trim", OP_BIT(STRIA_IO_TRIM)},
    {"any", OPS_ANY},
};

enum amount { AMOUNT_NONE, AMOUNT_BYTES, AMOUNT_TIME };

static const struct {
    const char *name;
    enum fault_kind kind;
    enum amount amount;
    unsigned ops; /* what it can happen to */
    int code;
} kinds[] = {
    {"eio", FAULT_FAIL, AMOUNT_NONE, OPS_ANY, STRIA_ERR_IO},
    {"again", FAULT_FAIL, AMOUNT_NONE, OPS_ANY, STRIA_ERR_AGAIN},
    {"nospace", FAULT_FAIL, AMOUNT_NONE, OPS_ANY, STRIA_ERR_NO_SPACE},
    {"gone", FAULT_GONE, AMOUNT_NONE, OPS_ANY, STRIA_ERR_GONE},
    {"short", FAULT_SHORT, AMOUNT_BYTES, OPS_TRANSFER, STRIA_OK},
    {"torn", FAULT_TORN, AMOUNT_BYTES, OP_BIT(STRIA_IO_WRITE), STRIA_OK},
    {"ignored", FAULT_IGNORED, AMOUNT_NONE, OPS_CHANGE, STRIA_OK},
    {"misdirect", FAULT_MISDIRECT, AMOUNT_BYTES, OPS_TRANSFER, STRIA_OK},
    {"stall", FAULT_STALL, AMOUNT_TIME, OPS_ANY, STRIA_OK},
    {"lost", FAULT_LOST, AMOUNT_NONE, OPS_ANY, STRIA_OK},
};

static char *trimmed(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t length = strlen(text); length && isspace((unsigned char)text[length - 1]);)
        text[--length] = 0;
    return text;
}

/* A whole number of at least 1; text must have nothing else. */
static bool count_parse(const char *text, uint64_t *count)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *count = strtoull(text, &end, 10);
    return *end == 0 && *count >= 1 && errno == 0;
}

/* "N", "N-M" or "N-". */
static bool ordinals_parse(char *text, struct fault_rule *rule)
{
    char *dash = strchr(text, '-');
    if (!dash)
        return count_parse(text, &rule->first) && (rule->last = rule->first, true);
    *dash = 0;
    if (!count_parse(text, &rule->first))
        return false;
    return !dash[1] || (count_parse(dash + 1, &rule->last) && rule->last >= rule->first);
}

/* "BEGIN-END". */
static bool bytes_parse(char *text, struct fault_rule *rule)
{
    char *dash = strchr(text, '-');
    if (!dash)
        return false;
    *dash = 0;
    return stria_size_parse(text, &rule->begin, NULL) == STRIA_OK &&
           stria_size_parse(dash + 1, &rule->end, NULL) == STRIA_OK && rule->end > rule->begin;
}

/* "write#3-5@1MiB-2MiB": the parts behind the name in any order. */
static bool op_parse(char *text, struct fault_rule *rule)
{
    char *bytes = strchr(text, '@');
    if (bytes)
        *bytes++ = 0;
    char *ordinals = strchr(text, '#');
    if (ordinals)
        *ordinals++ = 0;
    for (size_t i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++)
        if (strcmp(text, op_names[i].name) == 0) {
            rule->ops = op_names[i].ops;
            return (!ordinals || ordinals_parse(ordinals, rule)) && (!bytes || bytes_parse(bytes, rule));
        }
    return false;
}

static bool chance_parse(char *text, struct fault_rule *rule)
{
    char *slash = strchr(text, '/');
    if (!slash)
        return false;
    *slash = 0;
    return count_parse(text, &rule->chance) && count_parse(slash + 1, &rule->chance_of) &&
           rule->chance <= rule->chance_of;
}

static bool condition_parse(char *text, struct fault_rule *rule)
{
    char *value = strchr(text, '=');
    if (!value)
        return op_parse(text, rule);
    *value++ = 0;
    if (strcmp(text, "after") == 0)
        return stria_time_parse(value, &rule->after_ns, NULL) == STRIA_OK;
    if (strcmp(text, "every") == 0)
        return count_parse(value, &rule->every);
    if (strcmp(text, "chance") == 0)
        return chance_parse(value, rule);
    return strcmp(text, "times") == 0 && count_parse(value, &rule->times);
}

static bool kind_parse(char *text, struct fault_rule *rule)
{
    char *value = strchr(text, '=');
    if (value)
        *value++ = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(text, kinds[i].name) != 0)
            continue;
        rule->kind = kinds[i].kind;
        rule->code = kinds[i].code;
        rule->ops &= kinds[i].ops;
        if (!rule->ops || !value != (kinds[i].amount == AMOUNT_NONE))
            return false;
        if (kinds[i].amount == AMOUNT_BYTES)
            return stria_size_parse(value, &rule->amount, NULL) == STRIA_OK;
        return kinds[i].amount == AMOUNT_NONE || stria_time_parse(value, &rule->amount, NULL) == STRIA_OK;
    }
    return false;
}

static int rule_parse(const char *text, struct fault_rule *rule, struct stria_trouble *trouble)
{
    char copy[RULE_BYTES_MAX];
    snprintf(copy, sizeof(copy), "%s", text);
    *rule = (struct fault_rule){.ops = OPS_ANY,
                                .first = 1,
                                .last = UINT64_MAX,
                                .end = UINT64_MAX,
                                .every = 1,
                                .chance = 1,
                                .chance_of = 1,
                                .times = UINT64_MAX};
    char *kind = strchr(copy, ':');
    if (!kind)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "the fault rule \"%s\" has no colon: write WHEN:WHAT, such as write#120:eio",
                                 text);
    *kind++ = 0;
    char *rest = NULL;
    for (char *part = strtok_r(copy, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
        char condition[RULE_BYTES_MAX];
        snprintf(condition, sizeof(condition), "%s", trimmed(part));
        if (!condition_parse(condition, rule))
            return stria_trouble_set(
                trouble, STRIA_ERR_INVALID,
                "in the fault rule \"%s\", \"%s\" is no condition: write read, write, flush, "
                "trim or any, with #N, #N-M or @BEGIN-END behind it; after=TIME, every=N, "
                "chance=N/M or times=N",
                text, trimmed(part));
    }
    if (!kind_parse(trimmed(kind), rule))
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "in the fault rule \"%s\", what is behind the colon cannot happen to such requests: "
            "write eio, again, nospace, gone, short=SIZE, torn=SIZE, ignored, misdirect=SIZE, "
            "stall=TIME or lost",
            text);
    return STRIA_OK;
}

int fault_script_parse(const char *text, struct fault_script *script, struct stria_trouble *trouble)
{
    script->rule_count = 0;
    while (*text) {
        size_t length = strcspn(text, ";");
        char rule[RULE_BYTES_MAX];
        if (length >= sizeof(rule))
            return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                     "the fault rule \"%.40s…\" is too long: write at most %d characters",
                                     text, RULE_BYTES_MAX - 1);
        memcpy(rule, text, length);
        rule[length] = 0;
        text += length + (text[length] == ';');
        if (!*trimmed(rule))
            continue;
        if (script->rule_count == STRIA_FAULT_RULES_MAX)
            return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                     "the fault script has more than %u rules: shorten it",
                                     STRIA_FAULT_RULES_MAX);
        int code = rule_parse(trimmed(rule), &script->rules[script->rule_count++], trouble);
        if (code < 0)
            return code;
    }
    return STRIA_OK;
}

static bool rule_is_about(const struct fault_rule *rule, const struct stria_io *io, uint64_t age_ns)
{
    if (!(rule->ops & OP_BIT(io->op)) || age_ns < rule->after_ns)
        return false;
    if (io->op == STRIA_IO_FLUSH)
        return rule->begin == 0 && rule->end == UINT64_MAX;
    return io->offset < rule->end && io->offset + io->length > rule->begin;
}

const struct fault_rule *fault_script_strike(struct fault_script *script, const struct stria_io *io,
                                             uint64_t age_ns, struct stria_random *random)
{
    const struct fault_rule *striking = NULL;
    for (unsigned i = 0; i < script->rule_count; i++) {
        struct fault_rule *rule = &script->rules[i];
        if (!rule_is_about(rule, io, age_ns))
            continue;
        rule->seen++;
        /* Drawn whether or not it decides, so that a change to one rule leaves the others' chances. */
        const bool chosen =
            rule->chance_of == 1 || stria_random_below(random, rule->chance_of) < rule->chance;
        if (striking || !chosen || rule->seen < rule->first || rule->seen > rule->last ||
            rule->seen % rule->every != 0 || rule->struck == rule->times)
            continue;
        rule->struck++;
        striking = rule;
    }
    return striking;
}
