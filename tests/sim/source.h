/* The simulated source of the stream: it delivers chunks at its own rate, and waits or drops when it cannot.
 */
#ifndef STRIA_TESTS_SIM_SOURCE_H
#define STRIA_TESTS_SIM_SOURCE_H

#include "tests/sim/world.h"

void sim_source_start(struct sim_world *world);

/* Delivers what is due. */
void sim_source_run(struct sim_world *world);

/* When something is due; UINT64_MAX while it waits or when all is delivered. */
uint64_t sim_source_due_ns(const struct sim_world *world);

/* It delivers no more. */
void sim_source_stop(struct sim_world *world);

#endif
