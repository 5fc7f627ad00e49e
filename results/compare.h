/* Two measurements against each other: whether the new one is better or worse than the base, or why that
 * cannot be said. */
#ifndef STRIA_RESULTS_COMPARE_H
#define STRIA_RESULTS_COMPARE_H

#include "results/measurement.h"
#include "results/text.h"

#include <json-c/json.h>

enum stria_change { STRIA_CHANGE_SAME, STRIA_CHANGE_BETTER, STRIA_CHANGE_WORSE, STRIA_CHANGE_NOT_COMPARABLE };

/* What may be forgiven beside the conditions. */
#define STRIA_DESPITE_AMOUNT  STRIA_CONDITIONS       /* so much more, or longer, was written by one */
#define STRIA_DESPITE_PARTIAL (STRIA_CONDITIONS + 1) /* one was interrupted */
#define STRIA_DESPITES        (STRIA_CONDITIONS + 2)

struct stria_compare_options {
    double tolerance;             /* a change of at most this part of the base is none */
    bool despite[STRIA_DESPITES]; /* differences that do not make them not comparable */
};

#define STRIA_COMPARE_TOLERANCE 0.05

struct stria_compared {
    const char *point; /* of a bench; null for the whole */
    enum stria_quantity quantity;
    bool counts;                      /* for the verdict on the whole; others are told only */
    uint64_t base, fresh;             /* the worst of the repeats, of an average their mean */
    uint32_t base_count, fresh_count; /* repeats */
    bool ratio_known;
    double ratio; /* of the change to the base: -0.1 is a tenth less */
    enum stria_change change;
    const char *why; /* in a few words; never null */
};

struct stria_comparison {
    struct stria_arena arena;
    enum stria_change change;
    const char **reasons; /* why they are not comparable */
    uint32_t reason_count;
    const char **notes; /* what else differs, or makes figures less sure */
    uint32_t note_count;
    struct stria_compared *figures; /* also where not comparable, for those who want to see them */
    uint32_t figure_count;
};

/* Both are the caller's and outlive the comparison. */
void stria_compare(const struct stria_measurement *base, const struct stria_measurement *fresh,
                   const struct stria_compare_options *options, struct stria_comparison *comparison);

void stria_comparison_clear(struct stria_comparison *comparison);

/* The despite index that a name stands for, or STRIA_DESPITES. */
unsigned stria_despite_find(const char *name);
const char *stria_despite_name(unsigned index);

/* "better", "same", "worse" or "not comparable". */
const char *stria_change_name(enum stria_change change);

/* For people, and as stria.compare/1. */
void stria_comparison_print(const struct stria_measurement *base, const struct stria_measurement *fresh,
                            const struct stria_comparison *comparison, struct stria_text *out);
struct json_object *stria_comparison_document(const struct stria_measurement *base,
                                              const struct stria_measurement *fresh,
                                              const struct stria_compare_options *options,
                                              const struct stria_comparison *comparison);

#endif
