/* A simulated drive behind the backend table, in virtual time. */
#ifndef STRIA_TESTS_SIM_DRIVE_H
#define STRIA_TESTS_SIM_DRIVE_H

#include "tests/sim/world.h"

struct sim_drive *sim_drive_new(struct sim_world *world, uint32_t index);
void sim_drive_free(struct sim_drive *drive);

/* As the pump sees it. */
struct stria_drive *sim_drive_base(struct sim_drive *drive);

/* When the next request is ready; UINT64_MAX: none will be. */
uint64_t sim_drive_due_ns(const struct sim_drive *drive);

/* Power is cut: what is in flight reaches the cache, or not, and the cache is emptied. */
void sim_drive_cut(struct sim_drive *drive);

#endif
