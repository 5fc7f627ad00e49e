#include "support/mounts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char root[64];
static struct stria_mount mounts[8];
static char swaps[8][256];
static unsigned count, most;

static void write_file(const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof(name), "%s%s", root, path);
    FILE *file = fopen(name, "w");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void begin(void)
{
    char folder[96];
    snprintf(root, sizeof(root), "/tmp/stria-mounts-XXXXXX");
    cr_assert(mkdtemp(root));
    snprintf(folder, sizeof(folder), "%s/proc", root);
    cr_assert(mkdir(folder, 0700) == 0);
    snprintf(folder, sizeof(folder), "%s/proc/self", root);
    cr_assert(mkdir(folder, 0700) == 0);
    count = 0;
    most = 8;
}

static void end(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}

TestSuite(mounts, .init = begin, .fini = end);

static bool keep_mount(const struct stria_mount *mount, void *user)
{
    cr_assert_eq(user, &count);
    mounts[count++] = *mount;
    return count < most;
}

static bool keep_swap(const char *path, void *user)
{
    cr_assert_eq(user, &count);
    snprintf(swaps[count++], sizeof(swaps[0]), "%s", path);
    return count < most;
}

Test(mounts, a_line_tells_device_place_type_and_source)
{
    write_file("/proc/self/mountinfo",
               "41 26 7:3 / /mnt rw,relatime shared:1 - ext4 /dev/loop3 rw\n"
               "42 26 259:1048575 /sub /srv rw - btrfs /dev/nvme0n1p2 rw,subvol=/sub\n");
    stria_mounts_each(root, keep_mount, &count);
    cr_assert_eq(count, 2);
    cr_expect_eq(mounts[0].device, makedev(7, 3));
    cr_expect_str_eq(mounts[0].place, "/mnt");
    cr_expect_str_eq(mounts[0].type, "ext4");
    cr_expect_str_eq(mounts[0].source, "/dev/loop3");
    cr_expect_eq(mounts[1].device, makedev(259, 1048575));
    cr_expect_str_eq(mounts[1].source, "/dev/nvme0n1p2");
}

Test(mounts, however_many_optional_fields_there_are_the_dash_ends_them)
{
    write_file("/proc/self/mountinfo",
               "1 0 8:1 / /none rw - xfs /dev/a rw\n"
               "2 0 8:2 / /three rw shared:1 master:2 propagate_from:3 - xfs /dev/b rw\n");
    stria_mounts_each(root, keep_mount, &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(mounts[0].source, "/dev/a");
    cr_expect_str_eq(mounts[1].source, "/dev/b");
}

Test(mounts, blanks_and_backslashes_in_names_are_as_they_were)
{
    write_file("/proc/self/mountinfo", "1 0 8:1 / /my\\040disk\\011\\134 rw - ext4 /dev/x\\040y rw\n");
    stria_mounts_each(root, keep_mount, &count);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(mounts[0].place, "/my disk\t\\");
    cr_expect_str_eq(mounts[0].source, "/dev/x y");
}

Test(mounts, what_is_no_mount_is_passed_over)
{
    write_file("/proc/self/mountinfo",
               "noise\n1 0 8:1 / /cut rw ext4 /dev/a rw\n1 0 8 / /odd rw - ext4 /dev/a rw\n\n"
               "2 0 8:2 / /good rw - ext4 /dev/b rw\n");
    stria_mounts_each(root, keep_mount, &count);
    cr_assert_eq(count, 1);
    cr_expect_str_eq(mounts[0].place, "/good");
}

Test(mounts, whoever_has_seen_enough_is_not_asked_again)
{
    write_file("/proc/self/mountinfo",
               "1 0 8:1 / /a rw - ext4 /dev/a rw\n2 0 8:2 / /b rw - ext4 /dev/b rw\n");
    most = 1;
    stria_mounts_each(root, keep_mount, &count);
    cr_expect_eq(count, 1);
}

Test(mounts, swaps_are_told_without_the_heading_and_by_their_names)
{
    write_file("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
                              "/dev/nvme0n1p3                          partition\t8388604\t0\t-2\n"
                              "/swap\\040file\tfile\t1024\t0\t-3\n");
    stria_swaps_each(root, keep_swap, &count);
    cr_assert_eq(count, 2);
    cr_expect_str_eq(swaps[0], "/dev/nvme0n1p3");
    cr_expect_str_eq(swaps[1], "/swap file");
}

Test(mounts, a_machine_that_tells_nothing_has_none)
{
    stria_mounts_each(root, keep_mount, &count);
    stria_swaps_each(root, keep_swap, &count);
    cr_expect_eq(count, 0);
}
