/* Chance without a state: every decision of the simulated world is a function of the seed and of what it is
 * about, so that switching one kind of fault off leaves all other decisions as they were. */
#ifndef STRIA_TESTS_SIM_DRAW_H
#define STRIA_TESTS_SIM_DRAW_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t sim_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

/* What a decision is about. */
enum sim_topic {
    SIM_TOPIC_SCENARIO = 1,
    SIM_TOPIC_FAULT,
    SIM_TOPIC_LATENCY,
    SIM_TOPIC_CAPTURE,
    SIM_TOPIC_TEAR,
    SIM_TOPIC_CUT,
    SIM_TOPIC_PRODUCER,
    SIM_TOPIC_LIFE,
    SIM_TOPIC_PAYLOAD,
    SIM_TOPIC_PROCESS
};

static inline uint64_t sim_draw(uint64_t seed, enum sim_topic topic, uint64_t a, uint64_t b)
{
    uint64_t value = sim_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    value = sim_mix(value ^ ((uint64_t)topic << 56) ^ a);
    return sim_mix(value + b * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

/* True in parts of 65536 cases. */
static inline bool sim_chance(uint64_t draw, uint32_t parts)
{
    return (draw & 0xffff) < parts;
}

#endif
