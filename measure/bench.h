/* Measures drives, or an array through the recorder, and tells what was found: `stria bench`. */
#ifndef STRIA_MEASURE_BENCH_H
#define STRIA_MEASURE_BENCH_H

#include "config/array.h"
#include "core/knee.h"
#include "core/steady.h"
#include "core/summary.h"
#include "measure/crew.h"
#include "measure/round.h"
#include "measure/target.h"

#define STRIA_BENCH_REPEATS_MAX 1000u
#define STRIA_BENCH_LIST_MAX    32u /* sizes, blocks, depths given at once */

enum stria_bench_phase { STRIA_BENCH_TRIM, STRIA_BENCH_REST, STRIA_BENCH_WARM_UP, STRIA_BENCH_ROUND };

/* How a bench stands, for whoever watches. */
struct stria_bench_moment {
    const char *test;
    enum stria_bench_phase phase;
    const struct stria_round_plan *plan;  /* the round that goes on or comes next */
    uint32_t round, round_count;          /* which, from 0, of so many; zero: not known how many */
    uint64_t elapsed_ns;                  /* of the whole bench */
    struct stria_told left_ns;            /* what is likely to be left of it */
    const struct stria_crew_moment *crew; /* null but in a round */
    const struct stria_target *targets;
    uint32_t target_count;
};

struct stria_bench_list {
    uint64_t values[STRIA_BENCH_LIST_MAX];
    uint32_t count; /* zero: what the test takes by itself */
};

/* What to measure. Points to memory of the caller's that outlives the result. */
struct stria_bench_options {
    const char *test;     /* a name in stria_bench_tests */
    char *const *command; /* the words that it was asked for with, for the document */
    int command_count;
    const struct stria_drive_config *drives; /* measured each by itself, side by side … */
    uint32_t drive_count;
    const struct stria_array_config *array; /* … or, if not null, through the recorder */
    struct stria_guard guard;               /* what may be erased */
    struct stria_bench_list sizes, blocks, depths;
    uint32_t zones;      /* places on the drive; zero: what the test takes */
    uint32_t repeats;    /* 1 to STRIA_BENCH_REPEATS_MAX */
    uint64_t rest_ns;    /* before each round */
    uint64_t runtime_ns; /* of a round that is not ended by its bytes; zero: what the test takes */
    uint64_t warm_up_ns;
    uint64_t stop_at_c;        /* a temperature; zero: none */
    uint64_t buffer_bytes;     /* zero: that of the array, or none */
    uint64_t link_bytes_per_s; /* of each drive whose link is not known; zero: unlimited */
    uint64_t seed;             /* of what is written and of shuffling */
    const char *engine;        /* a backend's name; null: whichever serves the path */
    void *context; /* of the two below, which may be null and are called by one thread at a time */
    bool (*watch)(void *context, const struct stria_bench_moment *moment); /* a few times a second; false:
                                                                              stop, and keep what there is */
    void (*say)(void *context, const char *sentence); /* something that whoever waits should know */
};

/* All repeats of one point. */
struct stria_bench_point {
    const char *point;
    bool write;
    uint32_t repeats;           /* that are whole; the figures are of these */
    bool known;                 /* there is one */
    struct stria_summary means; /* of their mean rates */
    struct stria_told min;      /* the least of their minima */
    struct stria_told rating; /* what the point is worth: that minimum, or the lossless rate of a paced one */
    struct stria_told latency_p99_ns; /* the worst of them */
};

#define STRIA_BENCH_FILL_STEPS_MAX 4096u

struct stria_bench_result {
    const struct stria_bench_options *options;
    uint64_t started_unix_ns, duration_ns;
    bool partial;  /* it was stopped or failed; what was measured until then is here */
    char why[256]; /* … and why, in words; empty: all is whole */
    bool refused;  /* a figure is above what the link carries; why tells which */
    struct stria_target *targets;
    uint32_t target_count;
    uint64_t generator_bytes_per_s;
    uint64_t buffer_bytes; /* for which lossless rates are told; zero: none are */
    struct stria_round *rounds;
    uint32_t round_count;
    struct stria_bench_point *points;
    uint32_t point_count;
    struct stria_told rating;
    bool steady_known;
    struct stria_steady steady;
    uint32_t steady_rounds;
    bool knee_known;
    struct stria_knee knee;
    struct stria_told lossless_measured, lossless_predicted;
    bool accuracy_known;
    struct stria_content_counts accuracy;
    uint64_t fill_step_bytes; /* zero: no drive was filled */
    uint64_t *fill_bytes_per_s;
    uint32_t fill_count;
};

/* Why a kind of bench exists, for help texts. */
struct stria_bench_about {
    const char *name;
    const char *summary;
};

/* All kinds; ends with a null name. */
const struct stria_bench_about *stria_bench_abouts(void);

/* Measures. STRIA_OK, also where a drive failed or a figure is refused on the way: the result tells.
 * Otherwise a sentence, and nothing was measured. The result is to be freed after STRIA_OK. */
int stria_bench_run(const struct stria_bench_options *options, struct stria_bench_result *result,
                    struct stria_trouble *trouble);
void stria_bench_result_free(struct stria_bench_result *result);

#endif
