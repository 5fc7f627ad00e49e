/* The machine on which something is measured. */
#ifndef STRIA_MEASURE_HOST_H
#define STRIA_MEASURE_HOST_H

#include <stdint.h>

/* Texts are empty where the system does not tell. */
struct stria_host {
    char kernel[128];
    char cpu[128];
    char governor[32]; /* of the first processor */
    uint32_t cores;    /* that are online */
    uint64_t memory_bytes;
};

void stria_host_describe(struct stria_host *host);

#endif
