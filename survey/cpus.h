/* Sets of processors, as the kernel writes them: "0-7,16-23". */
#ifndef STRIA_SURVEY_CPUS_H
#define STRIA_SURVEY_CPUS_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_CPUS_MAX 4096u

struct stria_cpus {
    uint64_t bits[STRIA_CPUS_MAX / 64];
};

/* False, and the empty set, for what is no such list or names a processor of STRIA_CPUS_MAX or beyond. */
bool stria_cpus_parse(const char *text, struct stria_cpus *cpus);

bool stria_cpus_has(const struct stria_cpus *cpus, unsigned cpu);
unsigned stria_cpus_count(const struct stria_cpus *cpus);

/* The lowest of them; STRIA_CPUS_MAX if there is none. */
unsigned stria_cpus_first(const struct stria_cpus *cpus);

/* What both have. */
struct stria_cpus stria_cpus_common(const struct stria_cpus *a, const struct stria_cpus *b);

/* Adds those of other. */
void stria_cpus_add(struct stria_cpus *cpus, const struct stria_cpus *other);

#endif
