#include "backends/fault_script.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct fault_script script;
static struct stria_random draws;

static void parse(const char *text)
{
    struct stria_trouble trouble = {0};
    cr_assert(fault_script_parse(text, &script, &trouble) == STRIA_OK, "%s", trouble.sentence);
    stria_random_seed(&draws, 1);
}

static enum fault_kind strike_at(enum stria_io_op op, uint64_t offset, uint64_t length, uint64_t age_ns)
{
    struct stria_io io = {.op = op, .offset = offset, .length = length};
    const struct fault_rule *rule = fault_script_strike(&script, &io, age_ns, &draws);
    return rule ? rule->kind : FAULT_NONE;
}

/* Which of the first n requests of a kind are struck: bit 0 is the first. */
static unsigned struck(enum stria_io_op op, unsigned n)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < n; i++)
        bits |= (unsigned)(strike_at(op, 0, 4096, 0) != FAULT_NONE) << i;
    return bits;
}

Test(fault_script, an_empty_script_never_strikes)
{
    parse("");
    cr_expect(script.rule_count == 0 && struck(STRIA_IO_WRITE, 8) == 0);
    parse(" ; ;");
    cr_expect(script.rule_count == 0);
}

Test(fault_script, ordinals_count_from_one_and_only_their_own_kind)
{
    parse("write#3:eio");
    cr_expect(struck(STRIA_IO_READ, 8) == 0);
    cr_expect(struck(STRIA_IO_WRITE, 8) == 0x04);
    parse("any#2-4:eio");
    cr_expect(struck(STRIA_IO_READ, 2) == 0x02 && struck(STRIA_IO_WRITE, 4) == 0x03);
    parse("flush#6-:eio");
    cr_expect(struck(STRIA_IO_FLUSH, 8) == 0xe0);
}

Test(fault_script, every_chance_and_times_limit_a_rule)
{
    parse("write,every=3:eio");
    cr_expect(struck(STRIA_IO_WRITE, 9) == 0x124);
    parse("every=2,times=2:eio");
    cr_expect(struck(STRIA_IO_WRITE, 9) == 0x0a);
    parse("chance=1/1:eio");
    cr_expect(struck(STRIA_IO_TRIM, 8) == 0xff);
    parse("chance=1/1000000000:eio");
    cr_expect(struck(STRIA_IO_TRIM, 8) == 0);
}

Test(fault_script, a_range_is_what_a_request_touches)
{
    parse("write@64KiB-68KiB:eio");
    cr_expect(strike_at(STRIA_IO_WRITE, 61440, 4096, 0) == FAULT_NONE);
    cr_expect(strike_at(STRIA_IO_WRITE, 61440, 4608, 0) == FAULT_FAIL);
    cr_expect(strike_at(STRIA_IO_WRITE, 69120, 512, 0) == FAULT_FAIL);
    cr_expect(strike_at(STRIA_IO_WRITE, 69632, 4096, 0) == FAULT_NONE);
    parse("any@0-1MiB:eio");
    cr_expect(strike_at(STRIA_IO_FLUSH, 0, 0, 0) == FAULT_NONE, "a flush has no place");
}

Test(fault_script, conditions_hold_together)
{
    parse(" write#2@1MiB-2MiB , after=1s : gone ");
    cr_expect(strike_at(STRIA_IO_WRITE, 0, 4096, 2000000000u) == FAULT_NONE);
    cr_expect(strike_at(STRIA_IO_WRITE, 1u << 20, 4096, 0) == FAULT_NONE);
    cr_expect(strike_at(STRIA_IO_WRITE, 1u << 20, 4096, 1000000000u) == FAULT_NONE, "the first that counts");
    cr_expect(strike_at(STRIA_IO_READ, 1u << 20, 4096, 1000000000u) == FAULT_NONE);
    cr_expect(strike_at(STRIA_IO_WRITE, 1u << 20, 4096, 1000000000u) == FAULT_GONE);
    cr_expect(strike_at(STRIA_IO_WRITE, 1u << 20, 4096, 1000000000u) == FAULT_NONE);
}

Test(fault_script, the_first_rule_that_strikes_counts)
{
    parse("write#2:short=4096; write:torn=512; any:stall=5ms");
    cr_expect(strike_at(STRIA_IO_WRITE, 0, 8192, 0) == FAULT_TORN);
    cr_expect(strike_at(STRIA_IO_WRITE, 0, 8192, 0) == FAULT_SHORT);
    cr_expect(strike_at(STRIA_IO_READ, 0, 8192, 0) == FAULT_STALL);
    cr_expect(script.rules[0].amount == 4096 && script.rules[2].amount == 5000000);
}

Test(fault_script, what_happens_is_kept_to_requests_it_can_happen_to)
{
    parse("any:short=0");
    cr_expect(strike_at(STRIA_IO_FLUSH, 0, 0, 0) == FAULT_NONE &&
              strike_at(STRIA_IO_READ, 0, 512, 0) == FAULT_SHORT);
    parse("any:torn=0");
    cr_expect(strike_at(STRIA_IO_READ, 0, 512, 0) == FAULT_NONE &&
              strike_at(STRIA_IO_WRITE, 0, 512, 0) == FAULT_TORN);
    parse("any:ignored");
    cr_expect(strike_at(STRIA_IO_READ, 0, 512, 0) == FAULT_NONE &&
              strike_at(STRIA_IO_FLUSH, 0, 0, 0) == FAULT_IGNORED);
}

Test(fault_script, a_rule_that_cannot_be_read_is_quoted_with_what_is_allowed)
{
    static const char *const wrong[][2] = {
        {"write", "has no colon"},
        {"wirte:eio", "\"wirte\" is no condition"},
        {"write#0:eio", "is no condition"},
        {"write#:eio", "is no condition"},
        {"write#5-4:eio", "is no condition"},
        {"write#1x:eio", "is no condition"},
        {"write@4096:eio", "is no condition"},
        {"write@8192-4096:eio", "is no condition"},
        {"write@0-much:eio", "is no condition"},
        {"every=0:eio", "\"every=0\" is no condition"},
        {"every=-1:eio", "is no condition"},
        {"every=99999999999999999999:eio", "is no condition"},
        {"chance=2/1:eio", "is no condition"},
        {"chance=5:eio", "is no condition"},
        {"after=soon:eio", "\"after=soon\" is no condition"},
        {"now=1:eio", "is no condition"},
        {"times=0:eio", "is no condition"},
        {"write,,:eio,", "behind the colon"},
        {"write:", "behind the colon"},
        {"write:explode", "behind the colon"},
        {"write:eio=5", "behind the colon"},
        {"write:short", "behind the colon"},
        {"write:short=long", "behind the colon"},
        {"write:stall=4096MiB", "behind the colon"},
        {"flush:short=4096", "behind the colon"},
        {"read:torn=4096", "behind the colon"},
        {"read:ignored", "behind the colon"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[300];
        struct stria_trouble trouble = {0};
        snprintf(text, sizeof(text), "any#1000:eio; %s", wrong[i][0]);
        cr_expect(fault_script_parse(text, &script, &trouble) == STRIA_ERR_INVALID, "%s", wrong[i][0]);
        cr_expect(strstr(trouble.sentence, wrong[i][1]) && strstr(trouble.sentence, wrong[i][0]), "%s: %s",
                  wrong[i][0], trouble.sentence);
    }
}

Test(fault_script, a_script_without_end_is_refused)
{
    static const char rule[] = "any:eio;";
    char text[2048] = "";
    struct stria_trouble trouble = {0};
    for (size_t i = 0; i <= STRIA_FAULT_RULES_MAX; i++)
        memcpy(text + i * (sizeof(rule) - 1), rule, sizeof(rule));
    cr_expect(fault_script_parse(text, &script, &trouble) == STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "more than 32 rules") != NULL);
    memset(text, ' ', 1000);
    memcpy(text + 1000, rule, sizeof(rule));
    cr_expect(fault_script_parse(text, &script, &trouble) == STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "too long") != NULL);
}
