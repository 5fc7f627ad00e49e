#define _GNU_SOURCE
#include "support/allocate.h"

#include "core/code.h"
#include "tests/contract/forbid.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MIB (1ull << 20)

static char folder[64], path[96], target[96];
static int fd;
static struct stria_trouble trouble;

static void begin(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-allocate-XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/drive.img", folder);
    snprintf(target, sizeof(target), "%s/target.img", folder);
    fd = -1;
}

static void end(void)
{
    if (fd >= 0)
        close(fd);
    unlink(path);
    unlink(target);
    rmdir(folder);
}

TestSuite(allocate, .init = begin, .fini = end);

/* Opens path with that text in it, and a hole up to bytes. */
static void old_file(const char *text, uint64_t bytes)
{
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    cr_assert_eq(ftruncate(fd, (off_t)bytes), 0);
}

static void starts_with(const char *text)
{
    char read[16] = {0};
    cr_assert_eq(pread(fd, read, strlen(text), 0), (ssize_t)strlen(text));
    cr_expect_str_eq(read, text);
}

static void is_allocated(uint64_t bytes)
{
    struct stat status;
    cr_assert_eq(fstat(fd, &status), 0);
    cr_expect_eq((uint64_t)status.st_size, bytes);
    cr_expect_geq((uint64_t)status.st_blocks * 512, bytes);
}

static void limit_files_to(uint64_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

Test(allocate, a_new_file_gets_its_size_and_all_of_its_blocks_and_is_taken_back)
{
    cr_assert_eq(stria_allocate_make(path, &fd, &trouble), STRIA_OK, "%s", trouble.sentence);
    is_allocated(0);
    cr_assert_eq(stria_allocate_resize(fd, path, 3 * MIB + 512, &trouble), STRIA_OK, "%s", trouble.sentence);
    is_allocated(3 * MIB + 512);
    stria_allocate_take_back(path);
    cr_expect_neq(access(path, F_OK), 0);
}

Test(allocate, what_is_there_is_not_made_and_left_as_it_is)
{
    old_file("precious", 8);
    int other;
    cr_expect_eq(stria_allocate_make(path, &other, &trouble), STRIA_ERR_EXISTS);
    cr_expect_eq(other, -1);
    cr_expect(strstr(trouble.sentence, path), "%s", trouble.sentence);
    starts_with("precious");
}

Test(allocate, a_link_that_leads_to_nothing_leads_to_the_file_that_is_made)
{
    struct stat status;
    cr_assert_eq(symlink("target.img", path), 0);
    cr_assert_eq(stria_allocate_make(path, &fd, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_expect_eq(access(target, F_OK), 0);
    stria_allocate_take_back(path);
    cr_expect_neq(access(target, F_OK), 0);
    cr_expect(lstat(path, &status) == 0 && S_ISLNK(status.st_mode), "the link stays");
}

Test(allocate, a_folder_that_is_not_there_is_told_by_the_path)
{
    snprintf(path, sizeof(path), "%s/none/drive.img", folder);
    cr_expect_lt(stria_allocate_make(path, &fd, &trouble), 0);
    cr_expect_eq(fd, -1);
    cr_expect(strstr(trouble.sentence, path), "%s", trouble.sentence);
}

Test(allocate, what_is_there_keeps_its_content_and_its_holes_are_filled)
{
    old_file("precious", 2 * MIB);
    cr_assert_eq(stria_allocate_resize(fd, path, 2 * MIB, &trouble), STRIA_OK, "%s", trouble.sentence);
    is_allocated(2 * MIB);
    starts_with("precious");
}

Test(allocate, a_file_that_is_longer_is_cut)
{
    old_file("precious", 2 * MIB);
    cr_assert_eq(stria_allocate_resize(fd, path, MIB, &trouble), STRIA_OK, "%s", trouble.sentence);
    is_allocated(MIB);
    starts_with("precious");
}

Test(allocate, a_file_that_cannot_grow_is_as_it_was)
{
    old_file("precious", 8);
    limit_files_to(MIB);
    cr_expect_lt(stria_allocate_resize(fd, path, 2 * MIB, &trouble), 0);
    is_allocated(8);
    starts_with("precious");
    cr_expect(strstr(trouble.sentence, path), "%s", trouble.sentence);
}

Test(allocate, more_than_there_is_room_for_tells_how_much_is_missing)
{
    struct statvfs room;
    cr_assert_eq(statvfs(folder, &room), 0);
    const uint64_t bytes = (uint64_t)room.f_blocks * room.f_frsize + MIB;
    old_file("precious", 8);
    cr_expect_eq(stria_allocate_resize(fd, path, bytes, &trouble), STRIA_ERR_NO_SPACE, "%s",
                 trouble.sentence);
    is_allocated(8);
    starts_with("precious");
    cr_expect(strstr(trouble.sentence, "missing on its file system"), "%s", trouble.sentence);
}

/* Neither is grown nor cut. */
static void stays_where_allocation_fails(int error, int code, const char *words)
{
    static const uint64_t wanted[] = {MIB, 8 * MIB};
    old_file("precious", 3 * MIB);
    forbid_call(SYS_fallocate, error);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        struct stat status;
        cr_expect_eq(stria_allocate_resize(fd, path, wanted[i], &trouble), code);
        cr_expect(strstr(trouble.sentence, path) && strstr(trouble.sentence, words), "%s", trouble.sentence);
        cr_expect(fstat(fd, &status) == 0 && status.st_size == (off_t)(3 * MIB));
        starts_with("precious");
    }
}

Test(allocate, a_file_system_that_cannot_allocate_is_told_and_the_file_stays_as_it_was)
{
    stays_where_allocation_fails(
        EOPNOTSUPP, STRIA_ERR_UNSUPPORTED,
        "in full: its file system does not do that: use one that does, such as ext4 or XFS");
}

Test(allocate, a_quota_that_is_used_up_is_told_and_the_file_stays_as_it_was)
{
    stays_where_allocation_fails(EDQUOT, STRIA_ERR_NO_SPACE, "has not enough room");
}
