/* Running scenarios: one, and what is made of a failure. */
#ifndef STRIA_TESTS_SIM_RUN_H
#define STRIA_TESTS_SIM_RUN_H

#include "tests/sim/options.h"
#include "tests/sim/world.h"

struct sim_result {
    char failure[512]; /* empty: all is well */
    uint64_t hash;     /* of the trace */
    uint64_t steps;    /* of the last life */
};

/* Runs a seed under options. A trap (an assertion of the core) is a failure like any other. */
struct sim_result sim_run(uint64_t seed, const struct sim_options *options, struct sim_cover *cover,
                          FILE *trace);

/* Looks for a smaller scenario of that seed that fails, and narrows the options down to it. */
void sim_shrink(uint64_t seed, struct sim_options *options);

/* The counters as a table; the number of combinations that were to be reached and were not. */
uint32_t sim_cover_print(FILE *out, const struct sim_cover *cover);

#endif
