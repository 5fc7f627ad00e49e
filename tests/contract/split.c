#include "backends/split.h"

#include "backends/fault.h"
#include "tests/contract/requests.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  512ull
#define PIECE  (4 * BLOCK)
#define LENGTH (10 * BLOCK)

/* Pieces of four blocks on a memory drive that is struck by the script and takes inner_depth at once. */
static struct stria_drive *cut(const char *script, uint32_t inner_depth, uint32_t depth)
{
    struct stria_drive_options options = {.path = "memory:64KiB", .depth = inner_depth};
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    cr_assert(stria_drive_open(&options, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_assert(stria_fault_wrap(drive, script, 7, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_assert(stria_split_wrap(drive, PIECE + 1, depth, &drive, &trouble) == STRIA_OK, "%s",
              trouble.sentence);
    return drive;
}

Test(split, what_is_longer_than_a_piece_is_written_and_read_whole)
{
    struct stria_drive *drive = cut("", 2, 4);
    char *data = subject_memory(LENGTH, 1), *seen = subject_memory(LENGTH, 2);
    cr_expect(drive->traits.transfer_bytes_max == STRIA_TRANSFER_BYTES_MAX && drive->traits.depth_max == 4);
    struct stria_done done = request_run(drive, STRIA_IO_WRITE, BLOCK, LENGTH, data);
    cr_expect(done.code == STRIA_OK && done.bytes == LENGTH);
    done = request_run(drive, STRIA_IO_READ, BLOCK, LENGTH, seen);
    cr_expect(done.code == STRIA_OK && done.bytes == LENGTH);
    cr_expect(memcmp(data, seen, LENGTH) == 0);
    drive->backend->close(drive);
    free(data);
    free(seen);
}

/* Three pieces a request: struck are the first, the middle and the last. */
Test(split, a_piece_that_falls_short_ends_the_transfer_there)
{
    const struct {
        const char *script;
        uint64_t bytes;
    } cases[] = {{"write#1:short=512", BLOCK},
                 {"write#2:short=1024", PIECE + 2 * BLOCK},
                 {"write#3:short=512", 2 * PIECE + BLOCK},
                 {"write#2-3:short=512", PIECE + BLOCK}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stria_drive *drive = cut(cases[i].script, 8, 1);
        char *data = subject_memory(LENGTH, 1);
        const struct stria_done done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, data);
        cr_expect(done.code == STRIA_OK && done.bytes == cases[i].bytes, "%s: %llu bytes", cases[i].script,
                  (unsigned long long)done.bytes);
        drive->backend->close(drive);
        free(data);
    }
}

Test(split, one_failed_piece_fails_the_request_once_and_the_next_goes_well)
{
    const char *scripts[] = {"write#1:eio", "write#2:eio", "write#3:eio", "write#1-3:eio", "write#1-2:eio"};
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        for (uint32_t inner_depth = 1; inner_depth <= 4; inner_depth++) {
            struct stria_drive *drive = cut(scripts[i], inner_depth, 2);
            char *data = subject_memory(LENGTH, 1);
            struct stria_done done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, data);
            cr_expect(done.code == STRIA_ERR_IO && done.bytes == 0, "%s", scripts[i]);
            /* Of "#1-3" a drive that takes one piece at a time has seen just one. */
            while (done.code == STRIA_ERR_IO)
                done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, data);
            cr_expect(done.code == STRIA_OK && done.bytes == LENGTH, "%s", scripts[i]);
            drive->backend->close(drive);
            free(data);
        }
}

Test(split, after_a_failure_no_further_piece_is_submitted)
{
    struct stria_drive *drive = cut("write#1:eio", 1, 1);
    char *data = subject_memory(LENGTH, 1), *seen = subject_memory(LENGTH, 2);
    cr_expect(request_run(drive, STRIA_IO_WRITE, 0, LENGTH, data).code == STRIA_ERR_IO);
    cr_expect(request_run(drive, STRIA_IO_READ, 0, LENGTH, seen).code == STRIA_OK);
    for (size_t i = 0; i < LENGTH; i++)
        cr_assert(seen[i] == 0, "byte %zu was written", i);
    drive->backend->close(drive);
    free(data);
    free(seen);
}

Test(split, more_requests_than_the_drive_has_room_for_all_end)
{
    struct stria_drive *drive = cut("write,every=5:stall=1ms", 3, 16);
    char *data = subject_memory(LENGTH, 1);
    for (uint64_t tag = 0; tag < 16; tag++) {
        const struct stria_io io = {
            .op = STRIA_IO_WRITE, .offset = tag * BLOCK, .length = LENGTH, .data = data, .tag = tag};
        cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    }
    const struct stria_io more = {.op = STRIA_IO_WRITE, .length = LENGTH, .data = data};
    cr_expect(drive->backend->submit(drive, &more) == STRIA_ERR_FULL);
    bool seen[16] = {false};
    for (int ended = 0; ended < 16;) {
        struct stria_done done[3];
        const int count = drive->backend->poll(drive, done, 3, 1000000000);
        cr_assert(count >= 0);
        for (int i = 0; i < count; i++, ended++) {
            cr_expect(done[i].code == STRIA_OK && done[i].bytes == LENGTH && !seen[done[i].tag]);
            seen[done[i].tag] = true;
        }
    }
    drive->backend->close(drive);
    free(data);
}
