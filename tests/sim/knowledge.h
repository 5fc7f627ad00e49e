/* Which drives durably hold what the catalogue says of each recording: its beginning, its end, its removal.
 * As long as one of them is there, all readers have to know of it. */
#ifndef STRIA_TESTS_SIM_KNOWLEDGE_H
#define STRIA_TESTS_SIM_KNOWLEDGE_H

#include "tests/sim/array.h"

/* The recorder says that the running recording has begun, or has ended: its entry must be durable on every
 * drive that it still writes to. One that lied may not hold it; nothing is asked of that one then. */
void sim_know_begun(struct sim_world *world);
void sim_know_ended(struct sim_world *world);

/* A removal was written to every drive of the array and flushed. */
void sim_know_removed(const struct sim_array *array, struct sim_recording *recording);

/* The drives of the array have met: what one of them knew all know, and what was found all have. */
void sim_know_met(struct sim_world *world, const struct sim_array *array);

/* Looks at what drives that lied, or that changed by themselves, really hold. An end that nobody holds was
 * never given. Power is down: what is on the media is what remains. */
void sim_know_lies(struct sim_world *world);

/* Whether a set of drives (a bit for each) knows together all that any drive knows. */
bool sim_know_all(const struct sim_world *world, uint32_t drives);

/* The drives of an array that are there, a bit for each. */
uint32_t sim_present(const struct sim_array *array);

#endif
