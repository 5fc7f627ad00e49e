/* What is known of one simulated recording, and how it is told. */
#ifndef STRIA_TOOLS_SIMULATE_ANSWER_H
#define STRIA_TOOLS_SIMULATE_ANSWER_H

#include "tools/simulate.h"

struct simulate_answer {
    const struct simulate_array *array;
    uint64_t rate_bytes_per_s;        /* of the sensor; zero: there is none, nor anything of it below */
    struct stria_simulation free_run; /* as fast as the drives go */
    struct stria_curve curve;         /* of the array in it, up to the size asked about: … */
    uint64_t curve_bytes, curve_ns;   /* … so many bytes, in so much time */
    uint64_t recorded_bytes;          /* the size asked about; zero where it is a time that was asked about */
    struct stria_simulation paced;    /* with the sensor */
    bool limit_known;                 /* how long a recording at this rate could go on: */
    bool limit_full;                  /* until the array is full, or else too slow */
    uint64_t limit_ns, limit_bytes;
};

/* As a document on standard output; returns an exit status. */
int simulate_write_answer(const struct simulate_job *job, const struct simulate_answer *answer);

/* In words and a plot. */
void simulate_print_answer(const struct simulate_job *job, const struct simulate_answer *answer);

#endif
