/* Submitting and waiting, for tests: what goes wrong fails the test. */
#ifndef STRIA_TESTS_CONTRACT_REQUESTS_H
#define STRIA_TESTS_CONTRACT_REQUESTS_H

#include "backends/backend.h"

#define REQUEST_WAIT_NS 10000000000ull /* longer than anything here takes */

/* Submits one request, which the drive must accept. */
void request_submit(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                    void *data, uint64_t tag);

/* Waits for exactly one completion. */
struct stria_done request_wait(struct stria_drive *drive);

/* Submits one and waits for it. */
struct stria_done request_run(struct stria_drive *drive, enum stria_io_op op, uint64_t offset,
                              uint64_t length, void *data);

/* Writes and reads one block, to see that the drive is as good as before. */
void request_drive_check(struct stria_drive *drive, bool forgets);

#endif
