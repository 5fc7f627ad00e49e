/* A drive without media in virtual time: its completions come when the drive model says, by a clock that is
 * the caller's. It takes writes and flushes, which is all that a recorder asks for, and keeps no byte. */
#ifndef STRIA_ENGINE_MODELLED_DRIVE_H
#define STRIA_ENGINE_MODELLED_DRIVE_H

#include "backends/backend.h"
#include "core/model.h"

/* A drive that is empty, cool and rested, as large as the model's capacity in whole blocks. The parameters
 * pass stria_model_check; *clock_ns is what time it is, and outlives the drive. depth is how many requests it
 * accepts at once. Null without memory. To be ended by its backend's close. */
struct stria_drive *stria_modelled_drive_create(const struct stria_model_parameters *parameters,
                                                uint64_t seed, uint32_t depth, const uint64_t *clock_ns);

/* When the next request ends; UINT64_MAX when nothing is in flight. */
uint64_t stria_modelled_drive_due_ns(const struct stria_drive *drive);

const struct stria_model *stria_modelled_drive_model(const struct stria_drive *drive);

#endif
