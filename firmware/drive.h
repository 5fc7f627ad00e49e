/* One NVMe controller as a drive of the recorder: the platform of the driver in nvme/, and the table through
 * which the pump reaches it. */
#ifndef STRIA_FIRMWARE_DRIVE_H
#define STRIA_FIRMWARE_DRIVE_H

#include "backends/backend.h"
#include "firmware/machine.h"
#include "nvme/drive.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_BARE_DRIVES_MAX 8u

struct stria_bare_drive {
    struct stria_drive base; /* what the pump knows */
    struct stria_nvme_platform platform;
    struct stria_nvme_drive nvme;
    uintptr_t registers;
    uint64_t registers_bytes;
    uint64_t memory_end; /* up to which memory lies in one piece on the bus */
};

/* The drives of a machine, in the order in which the bus was scanned. */
struct stria_bare_drives {
    uint32_t count;
    struct stria_bare_drive *list[STRIA_BARE_DRIVES_MAX];
};

/* What is asked of drives. */
struct stria_bare_drives_options {
    uint32_t wanted;      /* so many; zero: all, up to the most */
    uint32_t depth;       /* requests in flight on each */
    uint64_t deadline_ns; /* a request without an answer for so long is a failure */
    bool maintain;        /* keep caches in step with memory: devices do not see them */
};

/* Starts the machine's controllers side by side. One that does not start is complained about and left out.
 * False when there are fewer than wanted, or none; the reason was said. */
bool stria_bare_drives_start(struct stria_bare_drives *drives, struct stria_machine *machine,
                             const struct stria_bare_drives_options *options);

/* Shuts them down in order. True if every one did. */
bool stria_bare_drives_stop(struct stria_bare_drives *drives);

/* One request of any length, waited for. */
struct stria_bare_job {
    struct stria_bare_drive *drive; /* null: nothing is to be done */
    enum stria_io_op op;
    uint64_t offset, length_bytes;
    void *data;
    int code; /* set: how it ended */
};

/* Carries out one job on each of several drives at once and waits for all. For what is done outside of
 * recordings: nothing else may be in flight. A drive that leaves its job unanswered for longer than the
 * deadline ends it with STRIA_ERR_TIMEOUT, and must not be used again. */
void stria_bare_jobs_run(struct stria_bare_job *jobs, uint32_t count, uint64_t deadline_ns);

#endif
