#include "tests/contract/requests.h"

#include "support/clock.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void request_submit(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                    void *data, uint64_t tag)
{
    struct stria_io io = {.op = op, .offset = offset, .length = length, .data = data, .tag = tag};
    int code = drive->backend->submit(drive, &io);
    cr_assert(code == STRIA_OK, "submit: %s", stria_code_text(code));
}

struct stria_done request_wait(struct stria_drive *drive)
{
    uint64_t deadline_ns = stria_clock_ns() + REQUEST_WAIT_NS;
    struct stria_done done;
    int count = 0;
    while (count == 0 && stria_clock_ns() < deadline_ns)
        count = drive->backend->poll(drive, &done, 1, REQUEST_WAIT_NS);
    cr_assert(count == 1, "poll: %s", count ? stria_code_text(count) : "no completion came");
    return done;
}

struct stria_done request_run(struct stria_drive *drive, enum stria_io_op op, uint64_t offset,
                              uint64_t length, void *data)
{
    static uint64_t tag = 0x5eed;
    request_submit(drive, op, offset, length, data, ++tag);
    struct stria_done done = request_wait(drive);
    cr_assert(done.tag == tag);
    return done;
}

void request_drive_check(struct stria_drive *drive, bool forgets)
{
    uint32_t block = drive->traits.block_bytes;
    char *written = subject_memory(block, 77), *read = subject_memory(block, 78);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, block, block, written) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, block, block, read) == STRIA_OK);
    cr_assert(forgets || memcmp(written, read, block) == 0);
    free(written);
    free(read);
}
