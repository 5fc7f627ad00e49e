#include "survey/drive.h"

#include "tests/survey/rig.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NVME0 "/sys/devices/pci0000:00/0000:00:00.1/0000:40:00.0"

static void set_up(void)
{
    rig_begin("healthy");
}

TestSuite(drive, .init = set_up, .fini = rig_end);

#define cr_figure(figure, wanted)                                                                            \
    do {                                                                                                     \
        cr_expect((figure).known, #figure " is unknown");                                                    \
        cr_expect_eq((figure).value, (wanted), #figure " is %lld", (long long)(figure).value);               \
    } while (0)
#define cr_unknown(figure)                                                                                   \
    cr_expect(!(figure).known && (figure).value == 0, #figure " is known as %lld", (long long)(figure).value)

Test(drive, tells_what_an_nvme_drive_is_and_how_it_is)
{
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme2n1");
    cr_expect_eq(drive->transport, STRIA_SURVEY_NVME);
    cr_expect(drive->exists);
    cr_expect_str_eq(drive->node, "nvme2n1");
    cr_expect_str_eq(drive->disk, "nvme2n1");
    cr_expect_str_eq(drive->controller, "nvme2");
    cr_expect_str_eq(drive->model, "Samsung SSD 980 PRO 2TB");
    cr_expect_str_eq(drive->serial, "S69ENX0T000002A");
    cr_expect_str_eq(drive->firmware, "5B2QGXA7");
    cr_figure(drive->size_bytes, 2000398934016);
    cr_figure(drive->lba_bytes, 4096);
    cr_figure(drive->now.temperature_c, 39);
    cr_figure(drive->warning_c, 82);
    cr_figure(drive->critical_c, 85);
    cr_figure(drive->percentage_used, 3);
    cr_figure(drive->spare_percent, 100);
    cr_figure(drive->spare_threshold_percent, 10);
    cr_figure(drive->now.critical_warning, 0);
    cr_figure(drive->media_errors, 0);
    cr_figure(drive->now.throttle_count, 0);
    cr_figure(drive->power_on_hours, 1200);
    cr_figure(drive->written_bytes, 12000000000000);
    cr_figure(drive->volatile_cache, 1);
    cr_figure(drive->volatile_cache_present, 1);
    cr_figure(drive->read_only, 0);
    cr_figure(drive->rotational, 0);
    cr_figure(drive->discard, 1);
    cr_figure(drive->nr_requests, 1023);
    cr_expect_str_eq(drive->scheduler, "none");
    cr_figure(drive->numa_node, 0);
    cr_expect_str_eq(drive->local_cpus, "0-15");
    cr_unknown(drive->partition_offset_bytes);
    cr_expect_eq(drive->user_count, 0);
}

Test(drive, tells_the_link_and_all_bridges_on_the_way)
{
    rig_change("file " NVME0 "/current_link_speed 8.0 GT/s PCIe");
    rig_change("file " NVME0 "/current_link_width 2");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_figure(drive->link.mts, 8000);
    cr_figure(drive->link.width, 2);
    cr_figure(drive->link.capable_mts, 16000);
    cr_figure(drive->link.capable_width, 4);
    cr_figure(drive->link.bytes_per_s, 1969230769);
    cr_figure(drive->link.capable_bytes_per_s, 7876923076);
    cr_assert_eq(drive->bridge_count, 2);
    cr_expect_str_eq(drive->bridges[0].address, "0000:00:00.1");
    cr_figure(drive->bridges[0].link.capable_mts, 16000);
    cr_expect_str_eq(drive->bridges[1].address, "0000:40:00.0");
}

Test(drive, knows_the_line_coding_of_every_generation)
{
    static const struct {
        const char *speed;
        int64_t bytes_per_s;
    } lanes[] = {{"2.5", 250000000},   {"5.0", 500000000},   {"8.0", 984615384},
                 {"16.0", 1969230769}, {"32.0", 3938461538}, {"64.0", 7562500000}};
    rig_change("file " NVME0 "/current_link_width 1");
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        rig_change("file " NVME0 "/current_link_speed %s GT/s PCIe", lanes[i].speed);
        cr_figure(rig_drive("/dev/nvme0n1")->link.bytes_per_s, lanes[i].bytes_per_s);
    }
}

Test(drive, flags_odd_words_of_a_link_as_unknown)
{
    static const char *const odd[] = {"Unknown speed", "", "16.0", "GT/s", "-8.0 GT/s", "0.0 GT/s"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        rig_change("file " NVME0 "/current_link_speed %s", odd[i]);
        const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
        cr_unknown(drive->link.mts);
        cr_unknown(drive->link.bytes_per_s);
        cr_figure(drive->link.capable_bytes_per_s, 7876923076);
    }
    rig_change("file " NVME0 "/current_link_width 255");
    cr_unknown(rig_drive("/dev/nvme0n1")->link.width);
}

Test(drive, lists_the_formats_and_finds_the_best)
{
    rig_change("number /nvme/nvme0n1/id-ns.bin 26 1 0");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_assert_eq(drive->format_count, 2);
    cr_expect_eq(drive->format_used, 0);
    cr_expect_eq(drive->formats[0].lba_bytes, 512);
    cr_expect_eq(drive->formats[0].rank, 2);
    cr_expect_eq(stria_survey_best_format(drive), &drive->formats[1]);
    cr_expect_eq(drive->formats[1].lba_bytes, 4096);
    /* One with metadata is of no use. */
    rig_change("number /nvme/nvme0n1/id-ns.bin 132 2 8");
    drive = rig_drive("/dev/nvme0n1");
    cr_expect_eq(stria_survey_best_format(drive), &drive->formats[0]);
}

Test(drive, reads_a_format_beyond_the_sixteenth)
{
    rig_change("number /nvme/nvme0n1/id-ns.bin 25 1 17");
    rig_change("number /nvme/nvme0n1/id-ns.bin 26 1 0x21");
    rig_change("number /nvme/nvme0n1/id-ns.bin 198 1 12");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_assert_eq(drive->format_count, 18);
    cr_expect_eq(drive->format_used, 17);
    cr_expect_eq(drive->formats[17].lba_bytes, 4096);
}

Test(drive, believes_no_format_that_is_not_listed)
{
    rig_change("number /nvme/nvme0n1/id-ns.bin 26 1 5");
    cr_expect_eq(rig_drive("/dev/nvme0n1")->format_count, 0);
    rig_change("number /nvme/nvme0n1/id-ns.bin 25 1 255");
    cr_expect_eq(rig_drive("/dev/nvme0n1")->format_count, 0);
    rig_change("bytes /nvme/nvme0n1/id-ns.bin 100");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_expect_eq(drive->format_count, 0);
    cr_expect_null(stria_survey_best_format(drive));
    cr_figure(drive->lba_bytes, 4096);
}

Test(drive, samples_heat_and_throttling)
{
    struct stria_survey_sample sample;
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme1n1");
    rig_change("number /nvme/nvme1/smart-log.bin 0 1 2");
    rig_change("number /nvme/nvme1/smart-log.bin 1 2 357");
    rig_change("number /nvme/nvme1/smart-log.bin 192 4 17");
    rig_change("number /nvme/nvme1/smart-log.bin 196 4 2");
    rig_change("number /nvme/nvme1/smart-log.bin 216 4 4294967295");
    rig_change("number /nvme/nvme1/smart-log.bin 220 4 3");
    rig_change("number /nvme/nvme1/smart-log.bin 224 4 100");
    rig_change("number /nvme/nvme1/smart-log.bin 228 4 20");
    stria_survey_sample(tree, drive, &sample);
    cr_figure(sample.temperature_c, 84);
    cr_figure(sample.critical_warning, 2);
    cr_figure(sample.warning_minutes, 17);
    cr_figure(sample.critical_minutes, 2);
    cr_figure(sample.throttle_count, 4294967298);
    cr_figure(sample.throttle_s, 120);
}

Test(drive, takes_the_kernels_sensor_when_the_drive_may_not_be_asked)
{
    rig_change("drop /nvme");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme1n1");
    cr_figure(drive->now.temperature_c, 39);
    cr_unknown(drive->now.throttle_count);
    cr_unknown(drive->media_errors);
    cr_unknown(drive->percentage_used);
    cr_expect_str_eq(drive->serial, "S69ENX0T000001A");
    cr_figure(drive->volatile_cache, 1);
    rig_change("file /sys/class/nvme/nvme1/hwmon1/temp1_input -5850");
    stria_survey_sample(tree, drive, &((struct stria_survey_drive *)drive)->now);
    cr_figure(drive->now.temperature_c, -6);
    rig_change("drop /sys/class/nvme/nvme1/hwmon1/temp1_input");
    stria_survey_sample(tree, drive, &((struct stria_survey_drive *)drive)->now);
    cr_unknown(drive->now.temperature_c);
}

Test(drive, counts_more_errors_than_a_number_holds)
{
    for (unsigned half = 0; half < 2; half++)
        rig_change("number /nvme/nvme0/smart-log.bin %u 8 -1", 160 + 8 * half);
    rig_change("number /nvme/nvme0/smart-log.bin 48 8 0x7fffffffffffffff");
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_figure(drive->media_errors, INT64_MAX);
    cr_figure(drive->written_bytes, INT64_MAX);
}

Test(drive, is_found_by_links_and_below_a_subsystem)
{
    const struct stria_survey_drive *drive =
        rig_drive("/dev/disk/by-id/nvme-Samsung_SSD_980_PRO_2TB_S69ENX0T000003A");
    cr_expect_str_eq(drive->node, "nvme3n1");
    /* As native multipath has it. */
    rig_change("link /sys/class/block/nvme7n1 ../../devices/virtual/nvme-subsystem/nvme-subsys7/nvme7n1");
    rig_change("file /sys/devices/virtual/nvme-subsystem/nvme-subsys7/nvme7n1/dev 259:7");
    rig_change("file /sys/devices/virtual/nvme-subsystem/nvme-subsys7/nvme7n1/size 2048");
    rig_change("link /sys/devices/virtual/nvme-subsystem/nvme-subsys7/nvme3 "
               "../../../pci0000:00/0000:00:03.1/0000:43:00.0/nvme/nvme3");
    drive = rig_drive("/dev/nvme7n1");
    cr_assert(drive);
    cr_expect_str_eq(drive->controller, "nvme3");
    cr_expect_str_eq(drive->serial, "S69ENX0T000003A");
    cr_figure(drive->link.bytes_per_s, 7876923076);
}

Test(drive, tells_a_partition_and_its_disk)
{
    const struct stria_survey_drive *drive = rig_drive("/dev/sda2");
    cr_expect_eq(drive->transport, STRIA_SURVEY_SATA);
    cr_expect_str_eq(drive->node, "sda2");
    cr_expect_str_eq(drive->disk, "sda");
    cr_expect_str_eq(drive->model, "CT500MX500SSD1");
    cr_expect_str_eq(drive->serial, "2147E5E8A3B1");
    cr_expect_str_eq(drive->firmware, "M3CR046");
    cr_expect_str_eq(drive->scheduler, "mq-deadline");
    cr_figure(drive->size_bytes, 958943232LL * 512);
    cr_figure(drive->partition_offset_bytes, 1050624 * 512);
    cr_figure(drive->link.bytes_per_s, 600000000);
    cr_unknown(drive->percentage_used);
    cr_assert_eq(drive->user_count, 1);
    cr_expect_eq(drive->users[0].use, STRIA_SURVEY_MOUNT);
    cr_expect_str_eq(drive->users[0].what, "/");
}

Test(drive, is_used_also_through_its_partitions_and_what_is_built_upon_it)
{
    const struct stria_survey_drive *drive = rig_drive("/dev/sda");
    cr_assert_eq(drive->user_count, 2);
    cr_expect_str_eq(drive->users[0].part, "sda2");
    cr_expect_eq(drive->users[1].use, STRIA_SURVEY_SWAP);
    cr_expect_str_eq(drive->users[1].what, "/dev/sda3");
    cr_expect_str_eq(drive->users[1].part, "sda3");
    rig_change("link /sys/class/block/nvme0n1/holders/md0 ../../../../../../../virtual/block/md0");
    rig_change("file /sys/devices/virtual/block/loop3/loop/backing_file /dev/nvme0n1");
    rig_change("link /sys/class/block/loop3 ../../devices/virtual/block/loop3");
    drive = rig_drive("/dev/nvme0n1");
    cr_assert_eq(drive->user_count, 2);
    cr_expect_eq(drive->users[0].use, STRIA_SURVEY_HOLDER);
    cr_expect_str_eq(drive->users[0].what, "/dev/md0");
    cr_expect_str_eq(drive->users[1].what, "/dev/loop3");
}

Test(drive, counts_users_beyond_its_list)
{
    for (unsigned i = 0; i < STRIA_SURVEY_USERS_MAX + 3; i++)
        rig_change("more /proc/self/mountinfo %u 22 259:0 / /m%u rw - xfs /dev/nvme0n1 rw", 30 + i, i);
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_expect_eq(drive->user_count, STRIA_SURVEY_USERS_MAX);
    cr_expect_eq(drive->users_more, 3);
}

Test(drive, knows_an_array_by_our_superblock)
{
    char path[128];
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock super = {.version = STRIA_FORMAT_VERSION,
                                     .array_uuid = {1},
                                     .drive_uuid = {2},
                                     .drive_index = 1,
                                     .drive_count = 4,
                                     .ledger_generation = 1,
                                     .generation = 1,
                                     .array_name = "rig",
                                     .drive_name = "left"};
    cr_assert_eq(stria_geometry_plan(&super.geometry, 2000398934016, 1 << 20, 4096), STRIA_OK);
    stria_superblock_encode(page, &super);
    rig_change("bytes /superblock/nvme0n1.bin 4096");
    snprintf(path, sizeof(path), "%s/superblock/nvme0n1.bin", tree);
    int fd = open(path, O_WRONLY);
    cr_assert(fd >= 0 && write(fd, page, sizeof(page)) == (ssize_t)sizeof(page));
    close(fd);
    const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
    cr_assert(drive->member);
    cr_expect_str_eq(drive->super.array_name, "rig");
    cr_assert_eq(drive->user_count, 1);
    cr_expect_eq(drive->users[0].use, STRIA_SURVEY_ARRAY);
    cr_expect_str_eq(drive->users[0].what, "rig (drive left, 2 of 4)");
    cr_expect(!rig_drive("/dev/nvme1n1")->member);
}

Test(drive, tells_the_file_system_of_a_file_and_the_disk_beneath)
{
    const struct stria_survey_drive *drive = rig_drive("/data/left.img");
    cr_expect_eq(drive->transport, STRIA_SURVEY_FILE);
    cr_expect(drive->exists);
    cr_expect_str_eq(drive->file_system.type, "ext4");
    cr_expect_str_eq(drive->file_system.place, "/");
    cr_figure(drive->file_system.bytes, 480000000000);
    cr_figure(drive->file_system.free_bytes, 300000000000);
    cr_figure(drive->size_bytes, 68719476736);
    cr_figure(drive->allocated_bytes, 68719476736);
    cr_expect_str_eq(drive->node, "sda2");
    cr_expect_str_eq(drive->serial, "2147E5E8A3B1");
    cr_figure(drive->link.bytes_per_s, 600000000);
}

Test(drive, may_be_a_file_that_is_not_made_yet)
{
    const struct stria_survey_drive *drive = rig_drive("/data/new.img");
    cr_expect_eq(drive->transport, STRIA_SURVEY_FILE);
    cr_expect(!drive->exists);
    cr_unknown(drive->size_bytes);
    cr_expect_str_eq(drive->file_system.type, "ext4");
    cr_figure(drive->file_system.free_bytes, 300000000000);
}

Test(drive, is_beneath_the_mount_that_is_seen_last)
{
    rig_change("more /proc/self/mountinfo 30 22 259:1 / /data rw - xfs /dev/nvme1n1 rw");
    rig_change("more /proc/self/mountinfo 31 30 0:44 / /data rw - btrfs /dev/nvme2n1 rw");
    rig_change("more /proc/self/mountinfo 32 22 259:3 / /dat rw - xfs /dev/nvme3n1 rw");
    const struct stria_survey_drive *drive = rig_drive("/data/left.img");
    cr_expect_str_eq(drive->file_system.type, "btrfs");
    cr_expect_str_eq(drive->node, "nvme2n1");
}

Test(drive, is_looked_for_below_layers_that_have_but_one_below)
{
    rig_change("more /proc/self/mountinfo 30 22 252:0 / /data rw - ext4 /dev/dm-0 rw");
    rig_change("link /sys/dev/block/252:0 ../../devices/virtual/block/dm-0");
    rig_change("link /sys/devices/virtual/block/dm-0/slaves/nvme1n1 "
               "../../../../pci0000:00/0000:00:01.1/0000:41:00.0/nvme/nvme1/nvme1n1");
    const struct stria_survey_drive *drive = rig_drive("/data/left.img");
    cr_expect_str_eq(drive->node, "dm-0");
    cr_expect_str_eq(drive->disk, "nvme1n1");
    cr_expect_str_eq(drive->controller, "nvme1");
    rig_change("file /sys/devices/virtual/block/dm-0/slaves/nvme2n1/dev 259:2");
    cr_expect_str_eq(rig_drive("/data/left.img")->disk, "dm-0");
}

Test(drive, is_the_same_by_passthrough)
{
    static const char *const paths[] = {"passthrough:/dev/nvme2n1", "/dev/ng2n1"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const struct stria_survey_drive *drive = rig_drive(paths[i]);
        cr_expect_eq(drive->transport, STRIA_SURVEY_NVME);
        cr_expect_str_eq(drive->path, paths[i]);
        cr_expect_str_eq(drive->node, "nvme2n1");
        cr_expect_str_eq(drive->serial, "S69ENX0T000002A");
    }
}

Test(drive, tells_what_cannot_be_one)
{
    struct stria_survey_drive *drive = malloc(sizeof(*drive));
    struct stria_trouble trouble = {0};
    cr_expect_eq(stria_survey_read(tree, "/dev/nvme9n1", drive, &trouble), STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "/dev/nvme9n1"));
    cr_expect_eq(stria_survey_read(tree, "/nowhere/x.img", drive, &trouble), STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "no folder /nowhere"));
    cr_expect_eq(stria_survey_read(tree, "/data", drive, &trouble), STRIA_ERR_INVALID);
    cr_expect_eq(stria_survey_read("", "/dev/null", drive, &trouble), STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "/dev/null"));
    cr_expect_eq(stria_survey_read(tree, "memory:1GiB", drive, &trouble), STRIA_OK);
    cr_expect_eq(drive->transport, STRIA_SURVEY_STAND_IN);
    free(drive);
}

/* Whatever is missing or odd, there is no crash and nothing is invented. */
Test(drive, survives_a_tree_in_which_every_file_is_odd)
{
    static const char *const folders[] = {"/sys/class/block/nvme0n1", "/sys/class/block/nvme0n1/queue", NVME0,
                                          "/sys/class/nvme/nvme0"};
    static const char *const names[] = {"size",
                                        "dev",
                                        "ro",
                                        "logical_block_size",
                                        "nr_requests",
                                        "scheduler",
                                        "write_cache",
                                        "discard_max_bytes",
                                        "numa_node",
                                        "current_link_speed",
                                        "current_link_width",
                                        "max_link_speed",
                                        "model",
                                        "serial"};
    static const char *const odd[] = {
        "", " ", "-", "[", "[]", "999999999999999999999999", "0x", "\xff\xfe", "-1", "9223372036854775807"};
    for (size_t kind = 0; kind < sizeof(odd) / sizeof(odd[0]); kind++) {
        for (size_t folder = 0; folder < sizeof(folders) / sizeof(folders[0]); folder++)
            for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++)
                rig_change("file %s/%s %s", folders[folder], names[name], odd[kind]);
        const struct stria_survey_drive *drive = rig_drive("/dev/nvme0n1");
        cr_expect(!drive->size_bytes.known || drive->size_bytes.value >= 0);
        cr_unknown(drive->link.bytes_per_s);
    }
}

static bool append(const char *path, void *user)
{
    strcat(strcat(user, path), " ");
    return true;
}

Test(drive, lists_all_that_could_be_drives)
{
    char list[256] = "";
    rig_change("file /sys/class/block/ram0/size 8192");
    rig_change("file /sys/class/block/loop0/size 0");
    rig_change("file /sys/class/block/loop1/size 8192");
    rig_change("file /sys/class/block/nvme10n1/size 8192");
    rig_change("file /sys/class/block/nvme0c0n1/size 8192");
    rig_change("file /sys/class/block/nvme0c0n1/hidden 1");
    stria_survey_each(tree, append, list);
    cr_expect_str_eq(
        list, "/dev/loop1 /dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1 /dev/nvme10n1 /dev/sda ");
}
