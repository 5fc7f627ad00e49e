#define _GNU_SOURCE
#include "backends/guard.h"

#include "backends/content.h"
#include "backends/sysfs.h"
#include "backends/usage.h"
#include "core/geometry.h"
#include "core/superblock.h"
#include "tests/contract/forbid.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define DRIVE_BYTES (64u << 20)

static char folder[64];
static char loop[64]; /* the loop device of this test, or empty */

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
    char command[512], quiet[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof(command), format, arguments);
    va_end(arguments);
    snprintf(quiet, sizeof(quiet), "(%s) >log 2>&1", command);
    cr_assert_eq(system(quiet), 0, "failed: %s", command);
}

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-guard-XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    loop[0] = '\0';
}

static void tear_down(void)
{
    char command[512];
    snprintf(command, sizeof(command),
             "{ umount %s/mnt; swapoff %s; losetup -d %s; } >/dev/null 2>&1; cd / && rm -rf %s", folder, loop,
             loop, folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(guard, .init = set_up, .fini = tear_down);

/* Lays a loop device upon a new file of zeros; skips the test where that is not allowed. */
static void make_loop(const char *options)
{
    char command[160];
    snprintf(command, sizeof(command), "truncate -s %u disk && losetup %s -f --show disk 2>/dev/null",
             DRIVE_BYTES, options);
    FILE *out = geteuid() == 0 ? popen(command, "r") : NULL;
    if (!out || !fgets(loop, sizeof(loop), out))
        loop[0] = '\0';
    if (out)
        pclose(out);
    loop[strcspn(loop, "\n")] = '\0';
    if (!loop[0])
        cr_skip_test("loop devices need root");
}

static int check(const char *path, const char *erase_name, bool *erase, char *sentence)
{
    bool used = false;
    const struct stria_guard guard = {
        .erase = &erase_name, .erase_count = erase_name ? 1 : 0, .erase_used = &used};
    struct stria_trouble trouble = {0};
    int code = stria_guard_check(path, &guard, erase, &trouble);
    strcpy(sentence, trouble.sentence);
    cr_assert(code == STRIA_OK || trouble.code == code);
    cr_assert(!*erase || used);
    return code;
}

static void assert_allowed(const char *path)
{
    bool erase;
    char sentence[768];
    cr_assert_eq(check(path, NULL, &erase, sentence), STRIA_OK, "%s", sentence);
    cr_assert_not(erase);
}

/* Refused with both words in the sentence; by --erase allowed if erasable, and then as good as new. */
static void assert_refused(const char *path, const char *word, const char *other, bool erasable)
{
    bool erase;
    char sentence[768];
    cr_assert_eq(check(path, NULL, &erase, sentence), STRIA_ERR_REFUSED, "%s was allowed", path);
    cr_assert(strstr(sentence, path) && strstr(sentence, word) && strstr(sentence, other), "%s", sentence);
    cr_assert_eq(strstr(sentence, "--erase ") != NULL, erasable, "%s", sentence);
    cr_assert_eq(check(path, "another", &erase, sentence), STRIA_ERR_REFUSED);
    cr_assert_not(erase);
    const int code = check(path, path, &erase, sentence);
    cr_assert_eq(code, erasable ? STRIA_OK : STRIA_ERR_REFUSED, "%s", sentence);
    cr_assert_eq(erase, erasable);
}

/* As init does it: held from before it is looked at. */
static void assert_erases(const char *path)
{
    bool erase;
    int hold;
    const struct stria_guard guard = {.erase = (const char *const[]){path}, .erase_count = 1};
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_guard_take(path, &guard, &hold, &erase, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_assert(erase && hold >= 0);
    cr_assert_eq(stria_guard_erase(path, hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    close(hold);
}

static void write_at(const char *path, off_t offset, const void *data, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0644);
    cr_assert(fd >= 0 && pwrite(fd, data, bytes, offset) == (ssize_t)bytes);
    close(fd);
}

static void write_superblock(const char *path, unsigned copy, uint64_t drive_bytes)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock super = {.version = STRIA_FORMAT_VERSION,
                                     .array_uuid = {0xab, 0xcd, 1},
                                     .drive_uuid = {2},
                                     .drive_index = 1,
                                     .drive_count = 4,
                                     .ledger_generation = 1,
                                     .policy = 2,
                                     .generation = 1,
                                     .created_unix_ns = 1,
                                     .array_name = "rig",
                                     .drive_name = "left"};
    cr_assert_eq(stria_geometry_plan(&super.geometry, drive_bytes, 1u << 20, 512), STRIA_OK);
    stria_superblock_encode(page, &super);
    write_at(path, (off_t)super.geometry.super_offset[copy], page, sizeof(page));
}

Test(guard, a_file_that_is_not_there_or_empty_or_holds_only_zeros_is_allowed)
{
    assert_allowed("missing");
    write_at("empty", 0, "", 0);
    assert_allowed("empty");
    run("truncate -s 64M sparse && head -c 3000000 /dev/zero >zeros && fallocate -l 1M allocated");
    assert_allowed("sparse");
    assert_allowed("zeros");
    assert_allowed("allocated");
}

Test(guard, a_file_with_a_single_byte_in_it_is_refused)
{
    run("truncate -s 64M far && truncate -s 3M near");
    write_at("far", DRIVE_BYTES - 1, "x", 1);
    write_at("near", 0, "x", 1);
    assert_refused("far", "data of an unknown kind", "--erase far", true);
    assert_refused("near", "data of an unknown kind", "--erase near", true);
}

Test(guard, what_begins_like_a_backend_is_never_taken_for_a_file)
{
    bool erase;
    char sentence[768];
    write_at("photos:2024", 0, "x", 1);
    cr_assert_eq(check("photos:2024", NULL, &erase, sentence), STRIA_ERR_UNSUPPORTED);
    cr_assert(strstr(sentence, "write ./photos:2024 for a file of that name"), "%s", sentence);
    cr_assert_eq(check("photos:2024", "photos:2024", &erase, sentence), STRIA_ERR_UNSUPPORTED);
    assert_refused("./photos:2024", "data of an unknown kind", "--erase ./photos:2024", true);
    assert_allowed("memory:1GiB");
    assert_allowed("null:1GiB");
}

Test(guard, a_drive_reached_by_passthrough_is_guarded_and_held_as_without)
{
    bool erase;
    char sentence[768], path[96];
    struct stria_trouble trouble = {0};
    int hold;
    const struct stria_guard guard = {.erase = (const char *const[]){loop}, .erase_count = 1};
    make_loop("");
    run("mkfs.ext4 -q -L photos %s", loop);
    snprintf(path, sizeof(path), "passthrough:%s", loop);
    cr_assert_eq(check(path, NULL, &erase, sentence), STRIA_ERR_REFUSED);
    cr_assert(strstr(sentence, "labelled 'photos'"), "%s", sentence);
    cr_assert_eq(stria_guard_take(path, &guard, &hold, &erase, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_assert(erase && hold >= 0);
    cr_assert_lt(open(loop, O_RDWR | O_EXCL), 0);
    cr_assert_eq(stria_guard_erase(path, hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    close(hold);
    assert_allowed(path);
}

Test(guard, a_file_may_be_named_by_another_path_to_it)
{
    bool erase;
    char sentence[768], path[96];
    write_at("data", 0, "x", 1);
    snprintf(path, sizeof(path), "%s/data", folder);
    cr_assert_eq(check("data", path, &erase, sentence), STRIA_OK);
    cr_assert(erase);
}

Test(guard, what_can_be_no_drive_is_refused)
{
    run("mkdir folder && mkfifo pipe");
    assert_refused("folder", "neither a block device nor a file", "", false);
    assert_refused("pipe", "neither a block device nor a file", "", false);
    assert_refused("/dev/null", "neither a block device nor a file", "", false);
}

Test(guard, a_file_system_in_a_file_is_named_with_its_label_and_wiped)
{
    run("truncate -s 64M data && mkfs.ext4 -q -L photos data");
    assert_refused("data", "an ext4 file system labelled 'photos'", "--erase data", true);
    assert_erases("data");
    run("! wipefs data | grep .");
}

Test(guard, either_copy_of_our_own_superblock_makes_a_drive_ours)
{
    for (unsigned copy = 0; copy < 2; copy++) {
        const char *name = copy ? "second" : "first";
        run("truncate -s %u %s", DRIVE_BYTES, name);
        write_superblock(name, copy, DRIVE_BYTES);
        assert_refused(name, "drive 'left' (2 of 4) of Stria's array 'rig'",
                       "abcd0100-0000-0000-0000-000000000000", true);
        assert_erases(name);
        assert_allowed(name);
    }
}

Test(guard, every_copy_is_erased_also_where_the_drive_has_grown)
{
    run("truncate -s %u data", DRIVE_BYTES);
    write_superblock("data", 0, DRIVE_BYTES);
    write_superblock("data", 1, DRIVE_BYTES);
    run("truncate -s %u data", 2 * DRIVE_BYTES);
    /* An older array's, of a time when the drive was as large as it is now. */
    write_superblock("data", 1, 2 * DRIVE_BYTES);
    assert_refused("data", "drive 'left'", "--erase data", true);
    assert_erases("data");
    run("test $(tr -d '\\000' <data | wc -c) -eq 0");
}

Test(guard, a_damaged_superblock_of_ours_is_still_refused)
{
    run("truncate -s %u data", DRIVE_BYTES);
    write_superblock("data", 0, DRIVE_BYTES);
    write_at("data", (64 << 10) + 300, "damage", 6);
    assert_refused("data", "a damaged superblock of Stria's", "--erase data", true);
}

static int held_where_a_lock_answers(int error)
{
    struct stria_trouble trouble = {0};
    const struct stria_guard guard = {0};
    bool erase;
    int hold;
    const pid_t child = fork();
    if (child == 0) {
        forbid_fcntl(F_OFD_SETLK, error);
        const int code = stria_guard_take("data", &guard, &hold, &erase, &trouble);
        _exit(code == STRIA_OK || (strstr(trouble.sentence, "data") && hold < 0) ? -code : 255);
    }
    int status;
    cr_assert(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return -WEXITSTATUS(status);
}

Test(guard, a_drive_is_held_without_locks_but_not_where_a_lock_fails)
{
    run("truncate -s %u data", DRIVE_BYTES);
    cr_expect_eq(held_where_a_lock_answers(ENOLCK), STRIA_OK);
    cr_expect_eq(held_where_a_lock_answers(ENOSYS), STRIA_OK);
    cr_expect_eq(held_where_a_lock_answers(EAGAIN), STRIA_ERR_BUSY);
    cr_expect_eq(held_where_a_lock_answers(EIO), STRIA_ERR_IO);
}

static int taken(const char *path, const char *erase_name, int *hold, struct stria_trouble *trouble)
{
    bool erase;
    const struct stria_guard guard = {.erase = &erase_name, .erase_count = erase_name ? 1 : 0};
    *trouble = (struct stria_trouble){0};
    return stria_guard_take(path, &guard, hold, &erase, trouble);
}

Test(guard, who_takes_a_file_looks_at_it_only_when_nobody_else_can_write_to_it)
{
    struct stria_trouble trouble;
    int hold, other;
    run("truncate -s %u data", DRIVE_BYTES);
    cr_assert_eq(taken("data", NULL, &hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    cr_assert_eq(taken("data", NULL, &other, &trouble), STRIA_ERR_BUSY);
    cr_assert(strstr(trouble.sentence, "in use by another process"), "%s", trouble.sentence);
    cr_assert_eq(other, -1);
    write_superblock("data", 0, DRIVE_BYTES);
    close(hold);
    cr_assert_eq(taken("data", NULL, &hold, &trouble), STRIA_ERR_REFUSED);
    cr_assert_eq(hold, -1);
    cr_assert_eq(taken("data", "data", &hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    close(hold);
}

Test(guard, a_file_just_made_is_held_against_whoever_finds_it)
{
    struct stria_trouble trouble;
    int hold, other;
    const int made = open("data", O_RDWR | O_CREAT | O_EXCL, 0644);
    cr_assert_eq(taken("data", NULL, &hold, &trouble), STRIA_OK);
    cr_assert_eq(stria_guard_take_new(made, "data", &trouble), STRIA_ERR_BUSY);
    close(hold);
    cr_assert_eq(stria_guard_take_new(made, "data", &trouble), STRIA_OK);
    cr_assert_eq(taken("data", NULL, &other, &trouble), STRIA_ERR_BUSY);
    close(made);
}

Test(guard, an_empty_device_is_allowed)
{
    make_loop("");
    assert_allowed(loop);
}

Test(guard, a_device_with_a_file_system_is_refused_until_it_is_named_and_then_wiped)
{
    make_loop("");
    run("mkfs.ext4 -q -L photos %s", loop);
    assert_refused(loop, "an ext4 file system labelled 'photos'", loop, true);
    assert_erases(loop);
    assert_allowed(loop);
    run("! wipefs %s | grep .", loop);
}

Test(guard, swap_space_is_refused_also_when_not_in_use)
{
    make_loop("");
    run("mkswap %s", loop);
    assert_refused(loop, "a swap signature", loop, true);
    assert_erases(loop);
    assert_allowed(loop);
}

Test(guard, swap_in_use_is_refused_whatever_is_named)
{
    make_loop("");
    run("mkswap %s", loop);
    char command[128];
    snprintf(command, sizeof(command), "swapon %s 2>/dev/null", loop);
    if (system(command) != 0)
        cr_skip_test("swapon is not allowed");
    assert_refused(loop, "in use as swap", "swapoff", false);
}

Test(guard, a_mounted_device_is_refused_whatever_is_named)
{
    make_loop("");
    run("mkfs.ext4 -q %s && mkdir mnt && mount %s mnt", loop, loop);
    assert_refused(loop, "is mounted on ", "/mnt: unmount it", false);
}

Test(guard, the_file_behind_a_loop_device_is_refused_whatever_is_named)
{
    make_loop("");
    assert_refused("disk", loop, "losetup -d", false);
}

Test(guard, a_partition_table_is_refused_until_it_is_named_and_then_wiped_at_both_ends)
{
    make_loop("");
    run("printf 'label: gpt\\n,,\\n' | sfdisk --no-reread %s", loop);
    assert_refused(loop, "a partition table (gpt)", loop, true);
    assert_erases(loop);
    assert_allowed(loop);
    run("! wipefs %s | grep .", loop);
    run("printf 'label: dos\\n,,\\n' | sfdisk --no-reread %s", loop);
    assert_refused(loop, "a partition table (dos)", loop, true);
}

Test(guard, a_disk_with_partitions_is_refused_and_forgets_them_when_erased)
{
    char name[STRIA_SYSFS_NAME_BYTES + 8];
    make_loop("-P");
    run("printf 'label: gpt\\n,,\\n' | sfdisk %s; partx -u %s; sleep 0.2", loop, loop);
    snprintf(name, sizeof(name), "%sp1", loop + strlen("/dev/"));
    struct stat status;
    cr_assert_eq(stat(loop, &status), 0);
    char sys[192];
    snprintf(sys, sizeof(sys), "/sys/block/%s/%s", loop + strlen("/dev/"), name);
    if (access(sys, F_OK) != 0)
        cr_skip_test("the kernel makes no partitions on loop devices here");
    assert_refused(loop, "1 partition (", name, true);
    assert_erases(loop);
    assert_allowed(loop);
    cr_assert_neq(access(sys, F_OK), 0, "the kernel still has %s", sys);
}

/* Prints the device over a part of the file "disk", which tear_down takes back. */
static void part_of_disk(const char *options, char device[64])
{
    char command[160];
    snprintf(command, sizeof(command), "losetup %s -f --show disk", options);
    FILE *out = popen(command, "r");
    cr_assert(out && fgets(device, 64, out));
    pclose(out);
    device[strcspn(device, "\n")] = '\0';
}

static bool overlap(const char *a, const char *b)
{
    struct stat of_a, of_b;
    cr_assert(stat(a, &of_a) == 0 && stat(b, &of_b) == 0);
    const bool there = stria_usage_overlaps(&of_a, &of_b);
    cr_assert_eq(there, stria_usage_overlaps(&of_b, &of_a));
    return there;
}

Test(guard, two_devices_over_the_same_bytes_overlap_and_over_different_parts_do_not)
{
    char whole[64], first[64], second[64], inner[64];
    make_loop("");
    part_of_disk("", whole);
    part_of_disk("--sizelimit 33554432", first);
    part_of_disk("--offset 33554432", second);
    part_of_disk("--offset 33553920 --sizelimit 512", inner);
    const bool seen[] = {overlap(loop, whole),   overlap(loop, first),   overlap(loop, second),
                         overlap(first, inner),  overlap(first, second), overlap(second, inner),
                         overlap("disk", second)};
    run("losetup -d %s %s %s %s", whole, first, second, inner);
    const bool wanted[] = {true, true, true, true, false, false, true};
    for (unsigned i = 0; i < sizeof(wanted); i++)
        cr_expect_eq(seen[i], wanted[i], "pair %u", i);
}

Test(guard, a_loop_device_over_a_disk_protects_those_partitions_that_it_covers)
{
    char part[80], over[64] = "";
    make_loop("-P");
    run("printf 'label: gpt\n,8M,\n,8M,\n' | sfdisk %s; partx -u %s; sleep 0.2", loop, loop);
    snprintf(part, sizeof(part), "%sp1", loop);
    if (access(part, F_OK) != 0)
        cr_skip_test("no partition nodes appear here");
    run("losetup --offset 4M --sizelimit 1M -f --show %s >name && mv name over", loop);
    FILE *name = fopen("over", "r");
    cr_assert(name && fgets(over, sizeof(over), name));
    fclose(name);
    over[strcspn(over, "\n")] = '\0';
    bool erase;
    char first[768], second[768];
    const int code = check(part, NULL, &erase, first);
    snprintf(part, sizeof(part), "%sp2", loop);
    const int other = check(part, NULL, &erase, second);
    run("losetup -d %s", over);
    cr_expect_eq(code, STRIA_ERR_REFUSED);
    cr_expect(strstr(first, over) && strstr(first, "losetup -d"), "%s", first);
    cr_expect_eq(other, STRIA_OK, "%s", second);
}

/* Somebody may come to use a partition after the disk was looked at: then nothing is wiped. */
Test(guard, a_disk_whose_partition_is_used_meanwhile_is_not_wiped)
{
    char part[80];
    struct stria_trouble trouble;
    int hold;
    make_loop("-P");
    run("printf 'label: gpt\n,,\n' | sfdisk %s; partx -u %s; sleep 0.2", loop, loop);
    snprintf(part, sizeof(part), "%sp1", loop);
    if (access(part, F_OK) != 0)
        cr_skip_test("no partition nodes appear here");
    cr_assert_eq(taken(loop, loop, &hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    const int user = open(part, O_RDONLY);
    cr_assert_geq(user, 0);
    cr_assert_eq(stria_guard_erase(loop, hold, &trouble), STRIA_ERR_BUSY);
    cr_assert(strstr(trouble.sentence, "p1)"), "%s", trouble.sentence);
    close(user);
    run("wipefs %s | grep gpt", loop);
    cr_assert_eq(stria_guard_erase(loop, hold, &trouble), STRIA_OK, "%s", trouble.sentence);
    close(hold);
    assert_allowed(loop);
}

Test(guard, a_mounted_partition_protects_its_disk)
{
    make_loop("-P");
    run("printf 'label: gpt\\n,,\\n' | sfdisk %s; partx -u %s; sleep 0.2", loop, loop);
    char part[80];
    snprintf(part, sizeof(part), "%sp1", loop);
    if (access(part, F_OK) != 0)
        cr_skip_test("no partition nodes appear here");
    run("mkfs.ext4 -q %s && mkdir mnt && mount %s mnt", part, part);
    assert_refused(loop, "p1 is mounted on ", "/mnt", false);
    assert_refused(part, "is mounted on ", "/mnt", false);
}

Test(guard, a_device_that_somebody_holds_is_refused_whatever_is_named)
{
    make_loop("");
    int fd = open(loop, O_RDWR | O_EXCL);
    cr_assert_geq(fd, 0);
    assert_refused(loop, "held exclusively", "", false);
    close(fd);
    assert_allowed(loop);
}

Test(guard, the_root_device_and_what_lies_below_it_are_refused_whatever_is_named)
{
    struct stat root;
    char name[STRIA_SYSFS_NAME_BYTES], path[80];
    cr_assert_eq(stat("/", &root), 0);
    if (!stria_sysfs_name(root.st_dev, name))
        cr_skip_test("the root file system is on no block device here");
    cr_assert(stria_usage_is_root(root.st_dev));
    dev_t whole;
    if (stria_sysfs_is_partition(root.st_dev, &whole))
        cr_assert(stria_usage_is_root(whole));
    snprintf(path, sizeof(path), "/dev/%s", name);
    if (access(path, R_OK) != 0)
        cr_skip_test("the root device has no node here");
    assert_refused(path, "running system's root", "never overwritten", false);
    char serial[64];
    bool erase;
    char sentence[768];
    if (stria_sysfs_serial(root.st_dev, serial, sizeof(serial)))
        cr_assert_eq(check(path, serial, &erase, sentence), STRIA_ERR_REFUSED);
}

Test(guard, a_device_that_is_no_root_is_not_taken_for_one)
{
    make_loop("");
    struct stat status;
    cr_assert_eq(stat(loop, &status), 0);
    cr_assert_not(stria_usage_is_root(status.st_rdev));
}
