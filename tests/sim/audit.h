/* The checks made while a recording runs: at each request, completion and report. */
#ifndef STRIA_TESTS_SIM_AUDIT_H
#define STRIA_TESTS_SIM_AUDIT_H

#include "tests/sim/world.h"

/* A drive gets a request: nothing precious is written over, no entry precedes its payload. */
void sim_audit_submit(struct sim_world *world, uint32_t drive, const struct stria_io *io);

/* A drive says that bytes of a request are done. */
void sim_audit_done(struct sim_world *world, uint32_t drive, const struct stria_io *io, uint64_t bytes);

/* A request of a drive fails for good: of payload that is progress too, for its place is passed by. */
void sim_audit_failed(struct sim_world *world, uint32_t drive, const struct stria_io *io);

/* Reports of the recorder. */
void sim_audit_watermark(struct sim_world *world, uint64_t offset_bytes);
void sim_audit_gap(struct sim_world *world, const struct stria_gap *gap);
void sim_audit_release(struct sim_world *world, uint32_t slot);
void sim_audit_timeout(struct sim_world *world, uint32_t drive);

/* Between two events: conservation, work conservation, progress. */
void sim_audit_quiet(struct sim_world *world);

/* The recording is finished. */
void sim_audit_finished(struct sim_world *world);

#endif
