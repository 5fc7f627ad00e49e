/* The inside of a bench: what its tests are made of. */
#ifndef STRIA_MEASURE_PLAN_H
#define STRIA_MEASURE_PLAN_H

#include "measure/bench.h"
#include "measure/through.h"

/* A bench while it runs. */
struct stria_bench {
    const struct stria_bench_options *options;
    const struct stria_bench_test *test;
    struct stria_bench_result *result;
    struct stria_trouble *trouble;
    struct stria_through *through; /* to an array; null: drives by themselves */
    uint64_t bytes;                /* the least used part of all drives, or of the array */
    uint64_t begin_bytes;          /* where the used part begins on the first drive */
    uint32_t block_bytes;          /* the largest block of a drive */
    struct stria_round_plan *plans;
    uint32_t plan_count, plan_capacity;
    uint32_t current;                    /* plan */
    const struct stria_round_plan *plan; /* that is carried out */
    enum stria_bench_phase phase;
    uint64_t started_ns, phase_ns, phase_total_ns;
    uint64_t done_bytes, done_ns;               /* of rounds that are over, for what is left to be guessed */
    uint64_t lossless[STRIA_BENCH_REPEATS_MAX]; /* of each paced repeat */
    uint32_t lossless_count;
    bool stopped;
};

struct stria_bench_test {
    struct stria_bench_about about;
    bool writes;
    bool on_drives, on_array;
    bool adaptive; /* how many rounds there will be is not known before */
    /* The part of each drive that is used, and the size of a file to be made; zero: all of it; it is not
     * made. */
    uint64_t (*part_bytes)(const struct stria_bench_options *options);
    uint64_t (*file_bytes)(const struct stria_bench_options *options);
    /* Plans all rounds, or as many as are known to come. STRIA_OK or a sentence. */
    int (*plan)(struct stria_bench *bench);
    /* Carries them out; null: one after the other. */
    int (*run)(struct stria_bench *bench);
    /* Says what follows from the rounds; may be null. */
    void (*conclude)(struct stria_bench *bench);
};

/* Ends with one without a name. */
extern const struct stria_bench_test *const stria_bench_tests[];
extern const struct stria_bench_test stria_bench_test_size;
extern const struct stria_bench_test stria_bench_test_zone;
extern const struct stria_bench_test stria_bench_test_block;
extern const struct stria_bench_test stria_bench_test_fill;
extern const struct stria_bench_test stria_bench_test_steady;
extern const struct stria_bench_test stria_bench_test_paced;
extern const struct stria_bench_test stria_bench_test_accuracy;
extern const struct stria_bench_test stria_bench_test_read;

/* The test of this name, or null with a sentence that names the nearest. */
const struct stria_bench_test *stria_bench_test_find(const char *name, struct stria_trouble *trouble);

/* Plans for drives that are only looked at, not opened: for what would be measured. */
int stria_bench_plan_unopened(struct stria_bench *bench);
void stria_bench_plans_free(struct stria_bench *bench);

/* A new plan at the end, all zero but for the block, the depth and the seed; its point is printed as by
 * printf. */
struct stria_round_plan *stria_bench_plan(struct stria_bench *bench, uint32_t repeat, const char *point, ...)
    __attribute__((format(printf, 3, 4)));

/* Carries plan out with all that comes before it: TRIM, rest, warm-up. False when the bench is over: stopped,
 * failed, out of memory. */
bool stria_bench_round(struct stria_bench *bench, const struct stria_round_plan *plan);

/* All plans that were not carried out yet, in order. */
int stria_bench_rounds(struct stria_bench *bench);

/* The block and depth that were asked for, or the test's own. */
uint64_t stria_bench_block(const struct stria_bench *bench);
uint32_t stria_bench_depth(const struct stria_bench_options *options);

/* The largest size that was asked for; zero: none was. */
uint64_t stria_bench_size_max(const struct stria_bench_options *options);

/* Shows the moment to whoever watches; false once the bench is to stop. */
bool stria_bench_watch(struct stria_bench *bench, const struct stria_crew_moment *moment);

/* The sentence is kept as the reason, if it is the first. */
void stria_bench_stop(struct stria_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
