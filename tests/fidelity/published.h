/* What was published about the drives, figure by figure. */
#ifndef STRIA_TESTS_FIDELITY_PUBLISHED_H
#define STRIA_TESTS_FIDELITY_PUBLISHED_H

#include "tests/fidelity/protocol.h"

enum published_figure {
    FIGURE_MEAN,       /* rate of the whole run */
    FIGURE_FROM,       /* rate of the run from from_gb on */
    FIGURE_SECOND_MIN, /* lowest second */
    FIGURE_SECOND_MAX,
    FIGURE_LATENCY_MEAN,
    FIGURE_LATENCY_P50,
    FIGURE_LATENCY_P99,
    FIGURE_LATENCY_P999,
    FIGURE_LATENCY_MAX,
    FIGURE_KNEE, /* where the rate falls, in GB */
    FIGURE_TEMPERATURE_BEFORE,
    FIGURE_TEMPERATURE_AFTER
};

enum published_unit { UNIT_GB_PER_S, UNIT_MIB_PER_S, UNIT_GIB_PER_S, UNIT_MS, UNIT_GB, UNIT_CELSIUS };

struct published_row {
    const char *profile;
    const char *what; /* the run and the figure in words */
    struct protocol_run run;
    enum published_figure figure;
    double from_gb;
    enum published_unit unit;
    /* As published: one figure twice, or a range; low zero for "under high". */
    double low, high;
    double tolerance_percent; /* what may be between the report and the model; zero under "under" */
};

extern const struct published_row published_rows[];
extern const unsigned published_row_count;

#endif
