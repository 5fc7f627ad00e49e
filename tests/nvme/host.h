/* A controller in software as a host for the hosted backend. */
#ifndef STRIA_TESTS_NVME_HOST_H
#define STRIA_TESTS_NVME_HOST_H

#include "backends/nvme_host.h"
#include "tests/nvme/model.h"

/* A drive of the backend on a new model, which goes with it. Violations fail the test when it is closed. */
int model_host_open(const struct model_options *model, const struct stria_drive_options *options,
                    struct stria_drive **drive, struct stria_trouble *trouble);

/* The system takes the drive back. */
void model_host_revoke(struct stria_drive *drive);

/* The model of the drive that was opened last. */
struct model *model_host_last(void);

#endif
