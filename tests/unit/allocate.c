#include "support/allocate.h"

#include "core/code.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define MIB (1ull << 20)

static char folder[64], path[96];
static bool made;
static struct stria_trouble trouble;

static void begin(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-allocate-XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/drive.img", folder);
}

static void end(void)
{
    unlink(path);
    rmdir(folder);
}

TestSuite(allocate, .init = begin, .fini = end);

static struct stat status_of_file(void)
{
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    return status;
}

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void starts_with(const char *text)
{
    char read[16] = {0};
    FILE *file = fopen(path, "r");
    cr_assert(file && fread(read, 1, strlen(text), file) == strlen(text) && fclose(file) == 0);
    cr_expect_str_eq(read, text);
}

Test(allocate, a_new_file_has_its_size_and_all_of_its_blocks)
{
    cr_assert_eq(stria_allocate_file(path, 3 * MIB + 512, &made, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_expect(made);
    cr_expect_eq(status_of_file().st_size, 3 * MIB + 512);
    cr_expect_geq((uint64_t)status_of_file().st_blocks * 512, 3 * MIB + 512);
}

Test(allocate, what_is_there_keeps_its_content_and_its_holes_are_filled)
{
    write_file("precious");
    cr_assert_eq(truncate(path, 2 * MIB), 0);
    cr_assert_eq(stria_allocate_file(path, 2 * MIB, &made, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_expect(!made);
    cr_expect_geq((uint64_t)status_of_file().st_blocks * 512, 2 * MIB);
    starts_with("precious");
}

Test(allocate, a_file_that_is_longer_is_cut)
{
    write_file("precious");
    cr_assert_eq(truncate(path, 2 * MIB), 0);
    cr_assert_eq(stria_allocate_file(path, MIB, &made, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_expect_eq(status_of_file().st_size, MIB);
    starts_with("precious");
}

static void limit_files_to(uint64_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    cr_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

Test(allocate, a_new_file_that_cannot_be_had_is_gone_again)
{
    limit_files_to(MIB);
    cr_expect_lt(stria_allocate_file(path, 2 * MIB, &made, &trouble), 0);
    cr_expect(!made);
    cr_expect_neq(access(path, F_OK), 0);
    cr_expect(strstr(trouble.sentence, path), "%s", trouble.sentence);
}

Test(allocate, an_old_file_that_cannot_grow_is_as_it_was)
{
    write_file("precious");
    limit_files_to(MIB);
    cr_expect_lt(stria_allocate_file(path, 2 * MIB, &made, &trouble), 0);
    cr_expect(!made);
    cr_expect_eq(status_of_file().st_size, strlen("precious"));
    starts_with("precious");
}

Test(allocate, more_than_there_is_room_for_tells_how_much_is_missing)
{
    struct statvfs room;
    cr_assert_eq(statvfs(folder, &room), 0);
    const uint64_t bytes = (uint64_t)room.f_blocks * room.f_frsize + MIB;
    cr_expect_eq(stria_allocate_file(path, bytes, &made, &trouble), STRIA_ERR_NO_SPACE, "%s",
                 trouble.sentence);
    cr_expect_neq(access(path, F_OK), 0);
    cr_expect(strstr(trouble.sentence, "missing on its file system"), "%s", trouble.sentence);
}

Test(allocate, a_folder_that_is_not_there_is_told_by_the_path)
{
    snprintf(path, sizeof(path), "%s/none/drive.img", folder);
    cr_expect_lt(stria_allocate_file(path, MIB, &made, &trouble), 0);
    cr_expect(!made);
    cr_expect(strstr(trouble.sentence, path), "%s", trouble.sentence);
}
