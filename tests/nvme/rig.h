/* A drive on a model, with memory for both, for tests. What goes wrong fails the test, and so does every
 * violation. */
#ifndef STRIA_TESTS_NVME_RIG_H
#define STRIA_TESTS_NVME_RIG_H

#include "nvme/drive.h"
#include "tests/nvme/model.h"

#define RIG_DATA_BYTES (16u << 20)

struct rig {
    struct model model;
    struct stria_nvme_drive drive;
    uint8_t *dma;
    uint8_t *data; /* RIG_DATA_BYTES that the controller may use, on a page of 64 KiB */
};

/* Opens the model and starts the drive, without waiting; depth commands in flight. */
void rig_begin(struct rig *rig, const struct model_options *options, uint32_t depth);

/* And waits until it is ready, which it must become. */
void rig_open(struct rig *rig, const struct model_options *options, uint32_t depth);

/* Starts the drive once more on the same model, as after a crash or a power cut. */
void rig_restart(struct rig *rig, uint32_t depth);

/* Stops the drive, looks for violations and frees everything. */
void rig_close(struct rig *rig);

/* Frees everything, in whatever state the drive is; only violations fail. */
void rig_drop(struct rig *rig);

/* Requests of data at an offset of rig->data. */
int rig_run(struct rig *rig, enum stria_nvme_op op, uint64_t offset, uint64_t bytes, uint64_t at);
int rig_submit(struct rig *rig, enum stria_nvme_op op, uint64_t offset, uint64_t bytes, uint64_t at,
               uint64_t tag);

/* Polls, letting time pass, until one is done: its code; *done may be null. A drive that fails ends it too.
 */
int rig_wait(struct rig *rig, struct stria_nvme_done *done);

/* Bytes made from seed. */
void rig_fill(uint8_t *memory, uint64_t bytes, uint64_t seed);

/* Whether they are those. */
bool rig_is(const uint8_t *memory, uint64_t bytes, uint64_t seed);

#endif
