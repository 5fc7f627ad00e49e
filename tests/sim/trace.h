/* What happened in a run: always as a hash, by which two runs are compared; in words when asked for. */
#ifndef STRIA_TESTS_SIM_TRACE_H
#define STRIA_TESTS_SIM_TRACE_H

#include <stdint.h>
#include <stdio.h>

struct sim_trace {
    uint64_t hash;
    uint64_t events;
    FILE *out; /* null: no words */
};

/* Notes an event; format has exactly three conversions, of unsigned long long. */
#define sim_note(trace, now_ns, format, a, b, c)                                                             \
    do {                                                                                                     \
        sim_trace_hash(trace, __LINE__, now_ns, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c));                \
        if ((trace)->out)                                                                                    \
            fprintf((trace)->out, "%12.3f ms  " format "\n", (double)(now_ns) / 1e6,                         \
                    (unsigned long long)(a), (unsigned long long)(b), (unsigned long long)(c));              \
    } while (0)

void sim_trace_hash(struct sim_trace *trace, uint64_t what, uint64_t now_ns, uint64_t a, uint64_t b,
                    uint64_t c);

#endif
