/* How a drive is at a moment: its temperature, how often it has slowed itself down for heat, its wear. */
#ifndef STRIA_MEASURE_HEALTH_H
#define STRIA_MEASURE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

/* A figure that the drive may not tell. */
struct stria_told {
    bool known;
    uint64_t value;
};

struct stria_health {
    struct stria_told temperature_c;
    struct stria_told percentage_used;
    struct stria_told media_errors;
    struct stria_told critical_warning; /* the bits of the NVMe health log; zero: none */
    struct stria_told throttle_count;   /* how often heat made it slower, ever */
};

#endif
