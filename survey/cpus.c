#include "survey/cpus.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool parse_cpu(const char **text, unsigned *cpu)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    const unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *cpu = (unsigned)value;
    return value < STRIA_CPUS_MAX;
}

static bool parse_range(const char **text, struct stria_cpus *cpus)
{
    unsigned first, last;
    if (!parse_cpu(text, &first))
        return false;
    last = first;
    if (**text == '-') {
        (*text)++;
        if (!parse_cpu(text, &last) || last < first)
            return false;
    }
    for (unsigned cpu = first; cpu <= last; cpu++)
        cpus->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
    return true;
}

bool stria_cpus_parse(const char *text, struct stria_cpus *cpus)
{
    memset(cpus, 0, sizeof(*cpus));
    text += strspn(text, " \t");
    bool whole = *text == '\0' || parse_range(&text, cpus);
    while (whole && *text == ',') {
        text++;
        whole = parse_range(&text, cpus);
    }
    if (whole && text[strspn(text, " \t\n")] == '\0')
        return true;
    memset(cpus, 0, sizeof(*cpus));
    return false;
}

bool stria_cpus_has(const struct stria_cpus *cpus, unsigned cpu)
{
    return cpu < STRIA_CPUS_MAX && cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

unsigned stria_cpus_count(const struct stria_cpus *cpus)
{
    unsigned count = 0;
    for (unsigned i = 0; i < STRIA_CPUS_MAX / 64; i++)
        count += (unsigned)__builtin_popcountll(cpus->bits[i]);
    return count;
}

unsigned stria_cpus_first(const struct stria_cpus *cpus)
{
    unsigned cpu = 0;
    while (cpu < STRIA_CPUS_MAX && !stria_cpus_has(cpus, cpu))
        cpu++;
    return cpu;
}

struct stria_cpus stria_cpus_common(const struct stria_cpus *a, const struct stria_cpus *b)
{
    struct stria_cpus common;
    for (unsigned i = 0; i < STRIA_CPUS_MAX / 64; i++)
        common.bits[i] = a->bits[i] & b->bits[i];
    return common;
}

void stria_cpus_add(struct stria_cpus *cpus, const struct stria_cpus *other)
{
    for (unsigned i = 0; i < STRIA_CPUS_MAX / 64; i++)
        cpus->bits[i] |= other->bits[i];
}
