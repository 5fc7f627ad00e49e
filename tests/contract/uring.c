#define _GNU_SOURCE
#include "backends/backend.h"
#include "tests/contract/forbid.h"
#include "tests/contract/loop.h"
#include "tests/contract/requests.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int try(const char *path, bool exclusive, struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct stria_drive_options options = {.path = path, .depth = 4, .exclusive = exclusive};
    return stria_drive_open(&options, drive, trouble);
}

static void refused(const char *path, int code, const char *phrase)
{
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    int got = try(path, true, &drive, &trouble);
    cr_expect(got == code, "%s: %s", path, stria_code_text(got));
    cr_expect(strstr(trouble.sentence, phrase) && strstr(trouble.sentence, path), "%s", trouble.sentence);
}

Test(uring, what_is_no_drive_gets_a_sentence)
{
    char path[128], inside[160];
    snprintf(path, sizeof(path), "%s/stria-test-missing", subject_folder());
    refused(path, STRIA_ERR_NOT_FOUND, "does not exist");
    refused(subject_folder(), STRIA_ERR_INVALID, "is a folder");
    refused("/dev/zero", STRIA_ERR_INVALID, "character device");
    subject_file_make(subject_folder(), 0, path);
    refused(path, STRIA_ERR_INVALID, "less than one block");
    snprintf(inside, sizeof(inside), "%s/drive", path);
    refused(inside, STRIA_ERR_NOT_FOUND, "does not exist");
    unlink(path);
    cr_assert(mkfifo(path, 0600) == 0);
    refused(path, STRIA_ERR_INVALID, "is a FIFO");
    unlink(path);
}

Test(uring, a_file_that_may_not_be_written_gets_a_sentence)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    chmod(path, 0444);
    if (geteuid() == 0)
        cr_assert(seteuid(65534) == 0);
    refused(path, STRIA_ERR_PERMISSION, "you may not write");
    if (getuid() == 0)
        cr_assert(seteuid(0) == 0);
    unlink(path);
}

Test(uring, a_locked_file_is_busy_and_the_process_is_named)
{
    char path[128], self[32];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    cr_assert(flock(fd, LOCK_EX) == 0);
    snprintf(self, sizeof(self), "process %d (", getpid());
    refused(path, STRIA_ERR_BUSY, self);
    close(fd);
    struct stria_drive *first, *second;
    cr_assert(try(path, true, &first, NULL) == STRIA_OK);
    cr_expect(try(path, true, &second, NULL) == STRIA_ERR_BUSY);
    cr_assert(try(path, false, &second, NULL) == STRIA_OK, "without exclusive, nobody is kept out");
    first->backend->close(first);
    second->backend->close(second);
    unlink(path);
}

Test(uring, a_lock_is_shared_or_alone_and_ends_with_the_drive)
{
    char path[128], self[32], holder[STRIA_LOCK_HOLDER_BYTES] = "";
    struct stria_drive *first, *second;
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    cr_assert(try(path, false, &first, NULL) == STRIA_OK);
    cr_assert(try(path, true, &second, NULL) == STRIA_OK);
    snprintf(self, sizeof(self), "process %d (", getpid());
    cr_expect(stria_drive_lock(first, 7, STRIA_LOCK_SHARED, holder) == STRIA_OK);
    cr_expect(stria_drive_lock(second, 7, STRIA_LOCK_SHARED, holder) == STRIA_OK);
    cr_expect(stria_drive_lock(second, 7, STRIA_LOCK_ALONE, holder) == STRIA_ERR_BUSY);
    cr_expect(strncmp(holder, self, strlen(self)) == 0, "it says: %s", holder);
    cr_expect(stria_drive_lock(second, 8, STRIA_LOCK_ALONE, holder) == STRIA_OK);
    cr_expect(stria_drive_lock(first, 8, STRIA_LOCK_SHARED, holder) == STRIA_ERR_BUSY);
    cr_expect(stria_drive_lock(second, 8, STRIA_LOCK_NONE, holder) == STRIA_OK);
    cr_expect(stria_drive_lock(first, STRIA_LOCK_NUMBERS - 1, STRIA_LOCK_SHARED, holder) == STRIA_OK);
    first->backend->close(first);
    cr_expect(stria_drive_lock(second, 7, STRIA_LOCK_ALONE, holder) == STRIA_OK);
    second->backend->close(second);
    unlink(path);
}

Test(uring, what_a_lock_fails_of_is_told_and_not_taken_for_no_locks)
{
    static const struct {
        int error, code;
    } all[] = {
        {ENOLCK, STRIA_ERR_UNSUPPORTED},
        {EINVAL, STRIA_ERR_UNSUPPORTED},
        {EOPNOTSUPP, STRIA_ERR_UNSUPPORTED},
        {ENOSYS, STRIA_ERR_UNSUPPORTED},
        {EIO, STRIA_ERR_IO},
        {ENOMEM, STRIA_ERR_NO_MEMORY},
        {EBADF, STRIA_ERR_SYSTEM},
    };
    for (unsigned turn = 0; turn < sizeof(all) / sizeof(all[0]); turn++) {
        char path[128];
        subject_file_make(subject_folder(), SUBJECT_BYTES, path);
        /* A thread or process keeps its filters. */
        const pid_t child = fork();
        if (child == 0) {
            char holder[STRIA_LOCK_HOLDER_BYTES];
            struct stria_drive *drive;
            if (try(path, true, &drive, NULL) != STRIA_OK)
                _exit(255);
            forbid_fcntl(F_OFD_SETLK, all[turn].error);
            _exit(-stria_drive_lock(drive, 7, STRIA_LOCK_ALONE, holder));
        }
        int status;
        cr_assert(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        cr_expect(WEXITSTATUS(status) == -all[turn].code, "%s gives %s", strerror(all[turn].error),
                  stria_code_text(-WEXITSTATUS(status)));
        unlink(path);
    }
}

Test(uring, a_drive_opens_without_locks_but_not_where_a_lock_fails)
{
    static const struct {
        int error, code;
    } all[] = {{ENOLCK, STRIA_OK}, {EINVAL, STRIA_OK}, {EAGAIN, STRIA_ERR_BUSY}, {EIO, STRIA_ERR_IO}};
    for (unsigned turn = 0; turn < sizeof(all) / sizeof(all[0]); turn++) {
        char path[128];
        subject_file_make(subject_folder(), SUBJECT_BYTES, path);
        const pid_t child = fork();
        if (child == 0) {
            struct stria_drive *drive;
            struct stria_trouble trouble = {0};
            forbid_fcntl(F_OFD_SETLK, all[turn].error);
            const int code = try(path, false, &drive, &trouble);
            _exit(code == STRIA_OK || strstr(trouble.sentence, path) ? -code : 255);
        }
        int status;
        cr_assert(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        cr_expect(WEXITSTATUS(status) == -all[turn].code, "%s gives %d", strerror(all[turn].error),
                  -WEXITSTATUS(status));
        unlink(path);
    }
}

Test(uring, what_may_not_be_locked_alone_is_not_called_locked)
{
    char path[128], holder[STRIA_LOCK_HOLDER_BYTES];
    struct stria_drive *drive;
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    const struct stria_drive_options options = {.path = path, .depth = 4, .read_only = true};
    cr_assert(stria_drive_open(&options, &drive, NULL) == STRIA_OK);
    cr_expect(stria_drive_lock(drive, 7, STRIA_LOCK_ALONE, holder) == STRIA_ERR_SYSTEM);
    cr_expect(stria_drive_lock(drive, 7, STRIA_LOCK_SHARED, holder) == STRIA_OK);
    drive->backend->close(drive);
    unlink(path);
}

Test(uring, a_lock_that_a_signal_interrupts_is_taken_all_the_same)
{
    char path[128], holder[STRIA_LOCK_HOLDER_BYTES];
    struct stria_drive *first, *second;
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    cr_assert(try(path, false, &first, NULL) == STRIA_OK);
    cr_assert(try(path, false, &second, NULL) == STRIA_OK);
    forbid_interrupt_fcntl(F_OFD_SETLK, 3);
    cr_expect(stria_drive_lock(first, 7, STRIA_LOCK_ALONE, holder) == STRIA_OK);
    cr_expect(stria_drive_lock(second, 7, STRIA_LOCK_SHARED, holder) == STRIA_ERR_BUSY);
    first->backend->close(first);
    second->backend->close(second);
    unlink(path);
}

Test(uring, a_file_that_was_closed_can_be_opened_again_at_once)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    for (unsigned i = 0; i < 50; i++) {
        struct stria_drive *drive;
        struct stria_trouble trouble = {0};
        cr_assert(try(path, true, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
        drive->backend->close(drive);
    }
    unlink(path);
}

Test(uring, a_drive_that_was_closed_is_free_at_once)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    for (int round = 0; round < 20; round++) {
        struct stria_drive *drive;
        struct stria_trouble trouble = {0};
        cr_assert(try(path, true, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
        request_drive_check(drive, false);
        drive->backend->close(drive);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        cr_expect(flock(fd, LOCK_EX | LOCK_NB) == 0, "round %d", round);
        close(fd);
    }
    unlink(path);
}

Test(uring, a_device_in_use_is_busy)
{
    char file[128], path[64];
    subject_file_make(subject_folder(), SUBJECT_BYTES, file);
    int loop = loop_attach(file, 512, path);
    unlink(file);
    if (loop < 0)
        cr_skip_test("no loop device here");
    int holder = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
    cr_assert(holder >= 0);
    refused(path, STRIA_ERR_BUSY, "held exclusively by another program");
    close(holder);
    close(loop);
}

Test(uring, a_device_tells_what_it_is)
{
    char file[128], path[64];
    subject_file_make(subject_folder(), SUBJECT_BYTES + 4096 + 512, file);
    int loop = loop_attach(file, 4096, path);
    unlink(file);
    if (loop < 0)
        cr_skip_test("no loop device here");
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    cr_assert(try(path, true, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(drive->traits.block_bytes == 4096 && drive->traits.block_device && drive->traits.may_block);
    cr_expect(drive->traits.drive_bytes == SUBJECT_BYTES + 4096, "rounded down to whole blocks");
    drive->backend->close(drive);
    close(loop);
}

Test(uring, a_trim_of_a_device_gives_its_blocks_back)
{
    char file[128], path[64];
    subject_file_make(subject_folder(), SUBJECT_BYTES, file);
    int loop = loop_attach(file, 4096, path);
    if (loop < 0) {
        unlink(file);
        cr_skip_test("no loop device here");
    }
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    struct stat before, after;
    cr_assert(try(path, true, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_assert(drive->traits.trims, "a loop device over this file system does");
    cr_assert(stat(file, &before) == 0);
    cr_expect(stria_drive_run(drive, STRIA_IO_TRIM, 1u << 20, 4u << 20, NULL) == STRIA_OK);
    cr_assert(stat(file, &after) == 0);
    cr_expect((before.st_blocks - after.st_blocks) * 512 == 4 << 20);
    drive->backend->close(drive);
    close(loop);
    unlink(file);
}

Test(uring, a_trim_of_a_file_leaves_it_fully_allocated)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    struct stria_drive *drive;
    struct stat status;
    cr_assert(try(path, true, &drive, NULL) == STRIA_OK);
    cr_expect(!drive->traits.trims);
    cr_expect(stria_drive_run(drive, STRIA_IO_TRIM, 0, SUBJECT_BYTES, NULL) == STRIA_OK);
    cr_assert(stat(path, &status) == 0);
    cr_expect((uint64_t)status.st_blocks * 512 >= SUBJECT_BYTES);
    drive->backend->close(drive);
    unlink(path);
}

Test(uring, a_kernel_without_io_uring_gets_a_sentence)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    forbid_call(SYS_io_uring_setup, ENOSYS);
    refused(path, STRIA_ERR_UNSUPPORTED, "this kernel has no io_uring");
    unlink(path);
}

Test(uring, forbidden_io_uring_gets_a_sentence)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    forbid_call(SYS_io_uring_setup, EPERM);
    refused(path, STRIA_ERR_PERMISSION, "kernel.io_uring_disabled");
    unlink(path);
}

Test(uring, a_sparse_file_is_noted)
{
    char path[128];
    subject_file_make(subject_folder(), 0, path);
    cr_assert(truncate(path, SUBJECT_BYTES) == 0);
    struct stria_drive *drive;
    cr_assert(try(path, true, &drive, NULL) == STRIA_OK);
    cr_expect(strstr(drive->traits.note, "not fully allocated"), "%s", drive->traits.note);
    drive->backend->close(drive);
    unlink(path);
}

Test(uring, a_file_cut_short_behind_our_back_reads_short)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    struct stria_drive *drive;
    cr_assert(try(path, true, &drive, NULL) == STRIA_OK);
    cr_assert(truncate(path, 4096) == 0);
    char *data = subject_memory(8192, 1);
    struct stria_io io = {.op = STRIA_IO_READ, .length = 8192, .data = data};
    struct stria_done done;
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    cr_assert(drive->backend->poll(drive, &done, 1, 5000000000u) == 1);
    cr_expect(done.code == STRIA_OK && done.bytes == 4096);
    cr_expect(stria_drive_run(drive, STRIA_IO_READ, 0, 8192, data) == STRIA_ERR_IO,
              "no progress, no success");
    drive->backend->close(drive);
    unlink(path);
    free(data);
}

Test(uring, without_locked_memory_it_works_and_says_so)
{
    if (geteuid() == 0)
        cr_assert(setgid(65534) == 0 && setuid(65534) == 0);
    struct rlimit limit = {64u << 10, 64u << 10};
    cr_assert(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    cr_assert(try(path, true, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    struct stria_region region = {subject_memory(1u << 20, 1), 1u << 20};
    cr_assert(drive->backend->attach(drive, &region, 1) == STRIA_OK);
    cr_expect(!drive->traits.registered);
    cr_expect(strstr(drive->traits.note, "locked-memory limit is 64 KiB"), "%s", drive->traits.note);
    cr_expect(stria_drive_run(drive, STRIA_IO_WRITE, 0, 1u << 20, region.base) == STRIA_OK);
    drive->backend->close(drive);
    unlink(path);
    free(region.base);
}
