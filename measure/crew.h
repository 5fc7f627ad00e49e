/* All drives of a bench at work for one round: a worker each, and an onlooker who takes a look each second.
 */
#ifndef STRIA_MEASURE_CREW_H
#define STRIA_MEASURE_CREW_H

#include "measure/round.h"
#include "measure/target.h"

/* The moment, for whoever watches. */
struct stria_crew_moment {
    uint64_t elapsed_ns;
    uint64_t bytes;                         /* of all drives */
    uint64_t bytes_per_s[STRIA_DRIVES_MAX]; /* over about the last second */
    uint64_t total_bytes_per_s;
    struct stria_told temperature_c[STRIA_DRIVES_MAX];
};

struct stria_crew {
    struct stria_target *targets;
    uint32_t count;
    uint64_t buffer_bytes; /* for which the lossless rate is told; zero: it is not */
    void *context;         /* of watch */
    bool (*watch)(void *context, const struct stria_crew_moment *moment); /* a few times a second; false:
                                                                            stop; may be null */
};

/* Carries a plan out; *round is to be freed. Negative only if it could not begin, with a sentence: what a
 * drive does then is in the round. */
int stria_crew_run(const struct stria_crew *crew, const struct stria_round_plan *plan,
                   struct stria_round *round, struct stria_trouble *trouble);

#endif
