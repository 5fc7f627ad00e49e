/* Which drives carry a sensor: the fewest of one kind, or the cheapest mix of several. What seems possible by
 * the drives' own service curves is tried by simulation, and only what that finds lossless is an answer. */
#ifndef STRIA_ENGINE_CHOOSE_H
#define STRIA_ENGINE_CHOOSE_H

#include "engine/simulate.h"

#define STRIA_KINDS_MAX 32u

/* A kind of drive that could be bought. */
struct stria_kind {
    const struct stria_model_parameters *parameters;
    double price; /* of one; zero: not known */
};

struct stria_choice {
    bool found;
    uint32_t counts[STRIA_KINDS_MAX]; /* how many of each kind */
    uint32_t drive_count;
    uint64_t buffer_bytes; /* that it needs: the buffer's high water */
    double price;          /* zero: not known */
};

/* config says what is wanted: rate_bytes_per_s and size_bytes of the stream, neither zero; how to record; and
 * with buffer_bytes, how much memory there may be. Its drives are not looked at. A choice that is not found
 * is no failure. Codes as of stria_simulate; a kind that is too small for the chunk is not chosen. */
int stria_choose_fewest(const struct stria_simulate_config *config, const struct stria_kind *kind,
                        struct stria_choice *choice, struct stria_trouble *trouble);

/* Among kinds with a price; the fewest drives of those that cost the same. STRIA_ERR_NO_MEMORY also when the
 * mixes that would have to be looked at are too many. */
int stria_choose_cheapest(const struct stria_simulate_config *config, const struct stria_kind *kinds,
                          uint32_t kind_count, struct stria_choice *choice, struct stria_trouble *trouble);

#endif
