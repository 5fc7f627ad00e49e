#include "tests/sim/trace.h"

#include "tests/sim/draw.h"

void sim_trace_hash(struct sim_trace *trace, uint64_t what, uint64_t now_ns, uint64_t a, uint64_t b,
                    uint64_t c)
{
    uint64_t hash = trace->hash + what;
    hash = (hash ^ now_ns) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ a) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ b) * UINT64_C(0x94d049bb133111eb);
    trace->hash = hash ^ hash >> 31 ^ c;
    trace->events++;
}
