/* How fast a drive's flash takes the next byte, by what was written since it last recovered. Two laws:
 *
 * table: the measured marginal rate of the next byte as a function of U, the bytes written since the last
 *   recovery. Rest takes U back, but not below that share of the occupied bytes which the profile says rest
 *   cannot bring back; trim takes U back by what it frees.
 *
 * cache: the physical law. The drive writes into cells used with one bit each until
 *     c = static + α · free / bits_per_cell      (free: bytes of the drive without data, at recovery)
 *   bytes are held so; then with all bits directly, while there is room beside the held data, which take
 *   bits times their size: while (bits − 1) · held < free. Then it has to fold: move held data into full
 *   cells to make room for new ones. Drives without a direct phase fold as soon as the cache is full. A drive
 *   that stops and goes folds in turns: go_bytes at one rate, stop_bytes at the fold rate. */
#ifndef STRIA_CORE_WRITE_LAW_H
#define STRIA_CORE_WRITE_LAW_H

#include <stdint.h>

#define STRIA_WRITE_STEPS_MAX 32u

/* Rates in bytes per second, 1 to STRIA_WRITE_RATE_MAX. */
#define STRIA_WRITE_RATE_MAX 1000000000000u

struct stria_rate_step {
    uint64_t until_bytes; /* the rate holds below this; that of the last step for ever */
    uint64_t bytes_per_s;
};

enum stria_write_law_kind { STRIA_WRITE_LAW_TABLE, STRIA_WRITE_LAW_CACHE };

struct stria_write_law {
    enum stria_write_law_kind kind;

    /* table */
    unsigned step_count; /* 1 to STRIA_WRITE_STEPS_MAX, until_bytes ascending */
    struct stria_rate_step steps[STRIA_WRITE_STEPS_MAX];
    uint64_t held_per_mille; /* share of the occupied bytes that rest does not bring back, 0 to 1000 */

    /* cache */
    uint64_t slc_bytes_per_s;
    uint64_t direct_bytes_per_s; /* zero: no direct phase */
    uint64_t fold_bytes_per_s;
    uint64_t static_bytes;      /* cache that is there however full the drive */
    uint64_t dynamic_per_mille; /* α: share of the free cells used as cache, 0 to 1000 */
    uint64_t bits_per_cell;     /* 1 to 8 */
    uint64_t go_bytes;          /* zero: folds without stop and go */
    uint64_t go_bytes_per_s;    /* used with go_bytes only */
    uint64_t stop_bytes;        /* at least 1 with go_bytes */
};

struct stria_write_law_state {
    uint64_t since_bytes; /* U */
    uint64_t cache_bytes; /* c as of the last recovery */
    uint64_t held_bytes;  /* in the cache and not folded yet, at most cache_bytes */
    uint64_t turn_bytes;  /* how far into the current go and stop, below go_bytes + stop_bytes */
};

/* What the law needs to know of the rest of the drive. */
struct stria_write_room {
    uint64_t used_bytes; /* hold data */
    uint64_t free_bytes; /* do not */
};

/* A drive in full recovery. */
void stria_write_law_start(const struct stria_write_law *law, struct stria_write_law_state *state,
                           struct stria_write_room room);

/* The rate of the next byte, in bytes per second, and for how many bytes on it surely holds, at least 1. */
struct stria_rate_step stria_write_law_next(const struct stria_write_law *law,
                                            const struct stria_write_law_state *state,
                                            struct stria_write_room room);

/* Notes bytes written; room is that after the write. What is more than stria_write_law_next allowed counts as
 * written under the rate that it gave: keep it small. */
void stria_write_law_written(const struct stria_write_law *law, struct stria_write_law_state *state,
                             struct stria_write_room room, uint64_t bytes);

/* Rest: bytes are folded in the background. */
void stria_write_law_refill(const struct stria_write_law *law, struct stria_write_law_state *state,
                            struct stria_write_room room, uint64_t bytes);

/* Trim: freed_bytes hold data no more; room is that after the trim. A drive left without data is as new. */
void stria_write_law_trimmed(const struct stria_write_law *law, struct stria_write_law_state *state,
                             struct stria_write_room room, uint64_t freed_bytes);

#endif
