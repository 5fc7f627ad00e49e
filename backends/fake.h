/* Makes any drive behave like a given model of SSD, in real time: requests are really carried out by the
 * drive inside, but they end only when the drive model (core/model.h) says so. Where the drive inside is
 * slower than the model, they end when it does.
 *
 * Waiting is by absolute deadlines and costs no processor time. Timers of the calling thread are made precise
 * to a microsecond by its first poll (the system's default of 50 µs would show in every latency), so let the
 * drive have a thread of its own (threaded.h). */
#ifndef STRIA_BACKENDS_FAKE_H
#define STRIA_BACKENDS_FAKE_H

#include "backends/backend.h"
#include "core/model.h"

#include <stddef.h>

/* On success *out owns inner. state_path is the file in which the modelled drive lives on between runs, made
 * where there is none; null: it begins empty, cool and rested each time. Time between runs does not count.
 * The state is stored about once a second and on close, so that a killed process leaves it nearly right; that
 * of another drive file (made anew under the same path) or of another capacity is put aside, which
 * traits.note says. A file that holds something else is refused, and so is one that the disk has no room for.
 * On failure inner is still the caller's. The parameters are copied and must pass stria_model_check. */
int stria_fake_wrap(struct stria_drive *inner, const struct stria_model_parameters *parameters, uint64_t seed,
                    const char *state_path, struct stria_drive **out, struct stria_trouble *trouble);

/* The model inside a drive made by stria_fake_wrap, to look at: only from the thread that uses the drive.
 * Null for any other drive. */
const struct stria_model *stria_fake_model(const struct stria_drive *drive);

/* Where the state of a fake drive belongs: beside its file, with ".fake" behind the name. False, and out is
 * empty, for what is no regular file (a device, "memory:1GiB") and for a name that does not fit. */
bool stria_fake_state_path(const char *drive_path, char *out, size_t size);

/* The stored state as a model at time zero, for tools while no drive uses it. STRIA_ERR_NOT_FOUND without a
 * file; STRIA_ERR_FORMAT for a file that holds no state, or none of that capacity. */
int stria_fake_state_read(const char *state_path, const struct stria_model_parameters *parameters,
                          struct stria_model *model, struct stria_trouble *trouble);

/* Stores it again, in the existing file. */
int stria_fake_state_write(const char *state_path, const struct stria_model *model,
                           struct stria_trouble *trouble);

#endif
