#include "backends/fault.h"

#include "support/clock.h"
#include "tests/contract/requests.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  512ull
#define LENGTH (8 * BLOCK)
#define MS     1000000ull

static char *old, *new, *seen;

/* A memory drive that struck by the script would be, with `old` all over its first 64 KiB. */
static struct stria_drive *faulty(const char *script)
{
    struct stria_drive_options options = {.path = "memory:64KiB", .depth = 8};
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    old = subject_memory(LENGTH, 1);
    new = subject_memory(LENGTH, 2);
    seen = subject_memory(LENGTH, 3);
    cr_assert(stria_drive_open(&options, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    for (uint64_t at = 0; at < drive->traits.drive_bytes; at += LENGTH)
        cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, at, LENGTH, old) == STRIA_OK);
    cr_assert(stria_fault_wrap(drive, script, 7, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    return drive;
}

static void end(struct stria_drive *drive)
{
    drive->backend->close(drive);
    free(old);
    free(new);
    free(seen);
}

static int write_code(struct stria_drive *drive, uint64_t offset)
{
    return request_run(drive, STRIA_IO_WRITE, offset, LENGTH, new).code;
}

/* Whether the drive has `new` in its first bytes at offset, and `old` behind them. */
static bool has_new(struct stria_drive *drive, uint64_t offset, uint64_t bytes)
{
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, offset, LENGTH, seen) == STRIA_OK);
    return memcmp(seen, new, bytes) == 0 && memcmp(seen + bytes, old + bytes, LENGTH - bytes) == 0;
}

Test(fault, an_error_strikes_the_nth_write_and_nothing_is_written)
{
    struct stria_drive *drive = faulty("write#2:eio");
    cr_expect(write_code(drive, 0) == STRIA_OK);
    cr_expect(write_code(drive, LENGTH) == STRIA_ERR_IO);
    cr_expect(write_code(drive, 2 * LENGTH) == STRIA_OK);
    cr_expect(has_new(drive, 0, LENGTH) && has_new(drive, LENGTH, 0) && has_new(drive, 2 * LENGTH, LENGTH));
    end(drive);
}

Test(fault, again_and_no_space_are_told_as_such_and_a_run_gets_over_again)
{
    struct stria_drive *drive = faulty("write#1-3:again; read#1:nospace");
    cr_expect(write_code(drive, 0) == STRIA_ERR_AGAIN);
    cr_expect(request_run(drive, STRIA_IO_READ, 0, LENGTH, seen).code == STRIA_ERR_NO_SPACE);
    cr_expect(stria_drive_run(drive, STRIA_IO_WRITE, 0, LENGTH, new) == STRIA_OK);
    cr_expect(has_new(drive, 0, LENGTH));
    end(drive);
}

Test(fault, a_run_gives_up_on_a_drive_that_always_says_again)
{
    struct stria_drive *drive = faulty("write:again");
    cr_expect(stria_drive_run(drive, STRIA_IO_WRITE, 0, LENGTH, new) == STRIA_ERR_AGAIN);
    end(drive);
}

Test(fault, a_short_write_says_how_short_it_was_and_a_run_completes_it)
{
    struct stria_drive *drive = faulty("write#1:short=1100; write#2-3:short=0; write#4:short=1100");
    struct stria_done done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, new);
    cr_expect(done.code == STRIA_OK && done.bytes == 2 * BLOCK);
    cr_expect(has_new(drive, 0, 2 * BLOCK));
    done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, new);
    cr_expect(done.code == STRIA_OK && done.bytes == 0);
    cr_expect(stria_drive_run(drive, STRIA_IO_WRITE, LENGTH, LENGTH, new) == STRIA_OK);
    cr_expect(has_new(drive, LENGTH, LENGTH));
    end(drive);
}

Test(fault, a_short_read_leaves_the_rest_of_the_memory_alone)
{
    struct stria_drive *drive = faulty("read:short=512");
    memcpy(seen, new, LENGTH);
    struct stria_done done = request_run(drive, STRIA_IO_READ, 0, LENGTH, seen);
    cr_expect(done.code == STRIA_OK && done.bytes == BLOCK);
    cr_expect(memcmp(seen, old, BLOCK) == 0 && memcmp(seen + BLOCK, new + BLOCK, LENGTH - BLOCK) == 0);
    end(drive);
}

Test(fault, a_torn_write_claims_to_be_whole)
{
    struct stria_drive *drive = faulty("write#1:torn=1536; write#2:torn=0");
    struct stria_done done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, new);
    cr_expect(done.code == STRIA_OK && done.bytes == LENGTH);
    cr_expect(has_new(drive, 0, 3 * BLOCK));
    done = request_run(drive, STRIA_IO_WRITE, LENGTH, LENGTH, new);
    cr_expect(done.code == STRIA_OK && done.bytes == LENGTH);
    cr_expect(has_new(drive, LENGTH, 0));
    end(drive);
}

Test(fault, an_ignored_write_claims_to_be_done)
{
    struct stria_drive *drive = faulty("write:ignored; flush:ignored");
    struct stria_done done = request_run(drive, STRIA_IO_WRITE, 0, LENGTH, new);
    cr_expect(done.code == STRIA_OK && done.bytes == LENGTH);
    cr_expect(has_new(drive, 0, 0));
    done = request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL);
    cr_expect(done.code == STRIA_OK && done.bytes == 0);
    end(drive);
}

Test(fault, a_misdirected_write_lands_elsewhere_on_the_drive)
{
    struct stria_drive *drive = faulty("write#1-2:misdirect=8KiB; write#3:misdirect=1");
    cr_expect(write_code(drive, 0) == STRIA_OK);
    cr_expect(has_new(drive, 0, 0) && has_new(drive, 8192, LENGTH));
    cr_expect(write_code(drive, 65536 - LENGTH) == STRIA_OK, "at the end it goes back");
    cr_expect(has_new(drive, 65536 - LENGTH, 0) && has_new(drive, 65536 - LENGTH - 8192, LENGTH));
    cr_expect(write_code(drive, 4 * LENGTH) == STRIA_OK, "at least by a block");
    cr_expect(stria_drive_run(drive, STRIA_IO_READ, 4 * LENGTH + BLOCK, LENGTH, seen) == STRIA_OK);
    cr_expect(memcmp(seen, new, LENGTH) == 0);
    end(drive);
}

Test(fault, a_stalled_request_ends_late_and_others_overtake_it)
{
    struct stria_drive *drive = faulty("write#1:stall=120ms");
    uint64_t begin_ns = stria_clock_ns();
    request_submit(drive, STRIA_IO_WRITE, 0, LENGTH, new, 1);
    request_submit(drive, STRIA_IO_WRITE, LENGTH, LENGTH, new, 2);
    cr_expect(request_wait(drive).tag == 2);
    cr_expect(stria_clock_ns() - begin_ns < 100 * MS);
    struct stria_done done;
    cr_expect(drive->backend->poll(drive, &done, 1, 10 * MS) == 0);
    cr_expect(request_wait(drive).tag == 1);
    cr_expect(stria_clock_ns() - begin_ns >= 120 * MS);
    end(drive);
}

Test(fault, waiting_for_a_stalled_request_costs_no_processor_time)
{
    struct stria_drive *drive = faulty("any:stall=300ms");
    uint64_t begin_ns = stria_clock_cpu_ns();
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_OK);
    cr_expect(stria_clock_cpu_ns() - begin_ns < 100 * MS);
    end(drive);
}

Test(fault, a_lost_request_never_ends_and_keeps_its_place)
{
    struct stria_drive *drive = faulty("write#1:lost");
    request_submit(drive, STRIA_IO_WRITE, 0, LENGTH, new, 1);
    struct stria_done done;
    cr_expect(drive->backend->poll(drive, &done, 1, 50 * MS) == 0);
    for (uint64_t tag = 2; tag <= 8; tag++)
        request_submit(drive, STRIA_IO_WRITE, tag * LENGTH, LENGTH, new, tag);
    struct stria_io io = {.op = STRIA_IO_FLUSH};
    cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_FULL);
    for (int i = 2; i <= 8; i++)
        cr_expect(request_wait(drive).tag != 1);
    cr_expect(drive->backend->poll(drive, &done, 1, 50 * MS) == 0);
    cr_expect(has_new(drive, 0, LENGTH), "it was carried out all the same");
    end(drive);
}

Test(fault, a_drive_that_is_gone_stays_gone_and_ends_what_was_in_flight)
{
    struct stria_drive *drive = faulty("write#1:lost; write#2:stall=1h; write#3:gone");
    request_submit(drive, STRIA_IO_WRITE, 0, LENGTH, new, 1);
    request_submit(drive, STRIA_IO_WRITE, 0, LENGTH, new, 2);
    struct stria_done done;
    cr_expect(drive->backend->poll(drive, &done, 1, 10 * MS) == 0);
    request_submit(drive, STRIA_IO_READ, 0, LENGTH, seen, 4);
    request_submit(drive, STRIA_IO_WRITE, 0, LENGTH, new, 3);
    unsigned tags = 0;
    for (int i = 0; i < 4; i++) {
        done = request_wait(drive);
        cr_expect(done.code == STRIA_ERR_GONE && done.bytes == 0);
        tags |= 1u << done.tag;
    }
    cr_expect(tags == 0x1e);
    cr_expect(request_run(drive, STRIA_IO_READ, 0, LENGTH, seen).code == STRIA_ERR_GONE);
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_ERR_GONE);
    end(drive);
}

Test(fault, a_flush_fails_when_it_is_told_to)
{
    struct stria_drive *drive = faulty("flush#2:eio");
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_OK);
    cr_expect(write_code(drive, 0) == STRIA_OK);
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_ERR_IO);
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_OK);
    end(drive);
}

Test(fault, a_drive_fails_after_some_time)
{
    struct stria_drive *drive = faulty("after=80ms:gone");
    cr_expect(write_code(drive, 0) == STRIA_OK);
    stria_clock_sleep_until(stria_clock_ns() + 90 * MS);
    cr_expect(write_code(drive, 0) == STRIA_ERR_GONE);
    end(drive);
}

/* Chance depends on the seed and the requests alone. */
static uint64_t pattern(uint64_t seed)
{
    struct stria_drive_options options = {.path = "null:64KiB", .depth = 8};
    struct stria_drive *drive;
    cr_assert(stria_drive_open(&options, &drive, NULL) == STRIA_OK);
    cr_assert(stria_fault_wrap(drive, "flush,chance=1/4:eio", seed, &drive, NULL) == STRIA_OK);
    uint64_t failed = 0;
    for (int i = 0; i < 64; i++)
        failed |= (uint64_t)(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code < 0) << i;
    drive->backend->close(drive);
    return failed;
}

Test(fault, chance_is_repeated_by_its_seed)
{
    cr_expect(pattern(1) == pattern(1));
    cr_expect(pattern(1) != pattern(2));
    int failed = __builtin_popcountll(pattern(3));
    cr_expect(failed > 4 && failed < 32, "%d of 64 at one in four", failed);
}

Test(fault, a_script_that_cannot_be_read_leaves_the_drive_to_the_caller)
{
    struct stria_drive_options options = {.path = "memory:64KiB", .depth = 8};
    struct stria_drive *drive, *wrapped = NULL;
    struct stria_trouble trouble = {0};
    cr_assert(stria_drive_open(&options, &drive, NULL) == STRIA_OK);
    cr_expect(stria_fault_wrap(drive, "write#2", 0, &wrapped, &trouble) == STRIA_ERR_INVALID && !wrapped);
    cr_expect(strstr(trouble.sentence, "memory:64KiB") && strstr(trouble.sentence, "\"write#2\""), "%s",
              trouble.sentence);
    request_drive_check(drive, false);
    drive->backend->close(drive);
}
