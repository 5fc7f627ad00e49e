/* What `stria bench` shows: while it runs, and at its end. */
#ifndef STRIA_TOOLS_BENCH_H
#define STRIA_TOOLS_BENCH_H

#include "measure/bench.h"

#include <stdio.h>

/* Shows moments on standard error: one live block on a terminal, else a line every few seconds and for each
 * round that begins. */
struct bench_live {
    FILE *out;
    bool terminal;
    unsigned lines; /* of the block that stands there */
    uint64_t shown_ns;
    uint32_t round; /* of the last line, from 1 */
    enum stria_bench_phase phase;
};

void bench_live_start(struct bench_live *live, FILE *out);
void bench_live_show(struct bench_live *live, const struct stria_bench_moment *moment);

/* A sentence of its own, above the block. */
void bench_live_say(struct bench_live *live, const char *sentence);

/* The block for a terminal of so many columns; returns how many lines it took. */
unsigned bench_live_print_block(const struct stria_bench_moment *moment, unsigned columns, FILE *out);
void bench_live_print_line(const struct stria_bench_moment *moment, FILE *out);

/* Lists the results in an archive; returns an exit status. */
int bench_list(const char *folder, bool json);

/* The table at the end. */
void bench_print(const struct stria_bench_result *result, FILE *out);

#endif
