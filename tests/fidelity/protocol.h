/* The protocols of the published reports, replayed against the drive model in virtual time. */
#ifndef STRIA_TESTS_FIDELITY_PROTOCOL_H
#define STRIA_TESTS_FIDELITY_PROTOCOL_H

#include "core/model.h"

#include <stdbool.h>
#include <stdint.h>

/* One sequential run: so many requests in flight, each followed by the next as it completes. */
struct protocol_run {
    bool read;
    uint64_t offset_bytes;
    uint64_t bytes;
    uint64_t block_bytes;
    unsigned depth; /* 1 to PROTOCOL_DEPTH_MAX */
};

#define PROTOCOL_DEPTH_MAX 256u

/* What a run shows. */
struct protocol_result {
    uint64_t duration_ns;
    uint64_t request_count;
    uint64_t *latency_ns;   /* request_count of them, ascending */
    uint64_t *second_bytes; /* completed in each second of the run; the last one is not whole */
    uint64_t second_count;
    uint64_t *gigabyte_ns; /* when each 10^9 bytes of the run were complete, since its start */
    uint64_t gigabyte_count;
    int64_t temperature_before_mc, temperature_after_mc;
};

/* Trims the whole drive, lets it rest and runs. *now_ns is the virtual time, before and after. The result's
 * arrays are the caller's, freed by protocol_free. */
void protocol_run(struct stria_model *model, uint64_t *now_ns, const struct protocol_run *run,
                  struct protocol_result *result);

void protocol_free(struct protocol_result *result);

/* The latency below which that share of the requests lies. */
uint64_t protocol_percentile_ns(const struct protocol_result *result, double percent);

/* The lowest and the highest whole second, in bytes. */
uint64_t protocol_second_min(const struct protocol_result *result);
uint64_t protocol_second_max(const struct protocol_result *result);

/* The gigabyte from which on the run goes at less than two thirds of its rate at the start; its size if it
 * never does. */
uint64_t protocol_knee_gb(const struct protocol_result *result);

#endif
