/* The command line of stria-sim. */
#ifndef STRIA_TESTS_SIM_OPTIONS_H
#define STRIA_TESTS_SIM_OPTIONS_H

#include "tests/sim/scenario.h"

#include <stdio.h>

enum sim_mode {
    SIM_MODE_SEEDS,      /* run seeds one after the other */
    SIM_MODE_EXHAUSTIVE, /* one scenario, power cut at every step of its first life, in every manner */
};

struct sim_command {
    enum sim_mode mode;
    uint64_t from, seeds;
    uint64_t failures_max; /* stop after so many */
    uint64_t seconds_max;  /* zero: no limit */
    bool trace, twice, shrink, coverage, require_coverage;
    bool expect_failure; /* a broken recorder is at work: not to notice is the failure */
    uint64_t seeds_per_minute_min, bytes_per_s_min; /* zero: whatever it is; of processor time */
    struct sim_options options;
};

/* Zero, or an exit status after a sentence on stderr (or the help on stdout). */
int sim_command_parse(struct sim_command *command, int argc, char **argv);

/* The options that make the same scenario again, each with a blank in front. */
void sim_options_print(FILE *out, const struct sim_options *options);

#endif
