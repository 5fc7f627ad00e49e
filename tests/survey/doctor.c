#include "survey/doctor.h"

#include "tests/survey/rig.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVES_MAX 8u

/* One examination. */
static struct stria_survey_host host;
static const struct stria_survey_drive *drives[DRIVES_MAX];
static struct stria_trouble troubles[DRIVES_MAX];
static uint64_t wanted_bytes[DRIVES_MAX];
static struct stria_findings findings;
static bool judged[STRIA_CHECKS_MAX];
static uint64_t buffer_bytes = UINT64_C(512) << 20;

/* Of the drives at these paths, separated by blanks. */
static void examine(const char *paths)
{
    char list[512];
    uint32_t count = 0;
    struct stria_survey_figure before[DRIVES_MAX], after[DRIVES_MAX];
    snprintf(list, sizeof(list), "%s", paths);
    for (char *path = strtok(list, " "); path; path = strtok(NULL, " "))
        drives[count++] = rig_drive(path);
    struct stria_writers writers = {
        .root = tree, .drives = drives, .drive_count = count, .disk_before = before, .disk_after = after};
    stria_writers_begin(&writers);
    stria_writers_end(&writers);
    stria_survey_read_host(tree, &host);
    const struct stria_patient patient = {.root = tree,
                                          .host = &host,
                                          .drives = drives,
                                          .drive_count = count,
                                          .troubles = troubles,
                                          .writers = &writers,
                                          .buffer_bytes = buffer_bytes,
                                          .depth = 8,
                                          .wanted_bytes = wanted_bytes};
    stria_doctor_examine(&patient, &findings, judged);
}

/* The checks that have found something, each once and in the order of the findings. */
static const char *found(void)
{
    static char names[512];
    names[0] = '\0';
    for (uint32_t i = 0; i < findings.count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%s ", findings.list[i].check);
        if (!strstr(names, name))
            strcat(names, name);
    }
    if (names[0])
        names[strlen(names) - 1] = '\0';
    return names;
}

static const struct stria_finding *finding_of(const char *check)
{
    for (uint32_t i = 0; i < findings.count; i++)
        if (strcmp(findings.list[i].check, check) == 0)
            return &findings.list[i];
    cr_assert_fail("%s found nothing; found: %s", check, found());
    return NULL;
}

/* What a check found, in one line. */
#define cr_finding(check_name, wanted_severity, wanted_cost, in_evidence, in_remedy)                         \
    do {                                                                                                     \
        const struct stria_finding *one = finding_of(check_name);                                            \
        cr_expect_eq(one->severity, (wanted_severity), "%s", stria_severity_text(one->severity));            \
        cr_expect_eq(one->cost_percent, (unsigned)(wanted_cost), "costs %u", one->cost_percent);             \
        cr_expect(strstr(one->evidence, (in_evidence)), "%s", one->evidence);                                \
        cr_expect(strstr(one->remedy, (in_remedy)), "%s", one->remedy);                                      \
    } while (0)

#define ALL "/dev/nvme0n1 /dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1"

static bool was_judged(const char *check)
{
    for (unsigned i = 0; stria_checks[i].name; i++)
        if (strcmp(stria_checks[i].name, check) == 0)
            return judged[i];
    cr_assert_fail("there is no check %s", check);
    return false;
}

TestSuite(doctor, .fini = rig_end);

/* Every tree, and exactly what is to be found in it: nothing more, nothing less, the dearest first. */
struct expectation {
    char tree[32], paths[96], found[96];
};

ParameterizedTestParameters(doctor, finds_exactly_what_is_wrong_with_a_machine)
{
    static struct expectation expectations[] = {
        {"healthy", ALL, ""},
        {"downgraded", ALL, "link"},
        {"slot", ALL, "slot"},
        {"narrow-port", ALL " /dev/nvme4n1 /dev/nvme5n1", "port"},
        {"narrow-port", ALL, ""},
        {"format-512", ALL, "format"},
        {"hot", ALL, "temperature critical-warning throttled"},
        {"worn", ALL, "critical-warning wear media-errors"},
        {"scheduler", ALL, "scheduler requests"},
        {"misaligned", "/dev/nvme0n1p1", "alignment"},
        {"misaligned", ALL, ""},
        {"numa-far", ALL, "numa"},
        {"numa-split", ALL, "numa"},
        {"interrupts", ALL, "interrupts"},
        {"powersave", ALL, "governor idle-states"},
        {"memlock", ALL, "memlock"},
        {"old-kernel", ALL, "kernel"},
        {"small-memory", ALL, "memory huge-pages"},
        {"writer", ALL, "writers"},
        {"healthy", "/dev/sda", "in-use"},
        {"healthy", "/data/left.img", "file-system"},
        {"healthy", "/data/left.img /data/right.img", "same-disk file-system"},
    };
    return cr_make_param_array(struct expectation, expectations,
                               sizeof(expectations) / sizeof(expectations[0]));
}

ParameterizedTest(struct expectation *expected, doctor, finds_exactly_what_is_wrong_with_a_machine)
{
    rig_begin(expected->tree);
    examine(expected->paths);
    cr_expect_str_eq(found(), expected->found, "%s: found '%s' instead of '%s'", expected->tree, found(),
                     expected->found);
    for (uint32_t i = 0; i < findings.count; i++) {
        cr_expect(findings.list[i].subject[0] && findings.list[i].evidence[0] && findings.list[i].remedy[0]);
        cr_expect(i == 0 || findings.list[i - 1].cost_percent >= findings.list[i].cost_percent);
    }
    rig_end();
    rig_begin(NULL);
}

Test(doctor, computes_what_a_downgraded_link_costs)
{
    rig_begin("downgraded");
    examine(ALL);
    cr_finding("link", STRIA_SEVERITY_SERIOUS, 87, "2.5 GT/s x4, 1000 MB/s", "reseat");
    cr_expect_str_eq(finding_of("link")->subject, "/dev/nvme1n1");
    cr_expect(strstr(finding_of("link")->evidence, "16.0 GT/s x4, 7876 MB/s"));
    cr_expect_eq(finding_of("link")->basis, STRIA_COST_COMPUTED);
    cr_expect_eq(stria_doctor_worst(&findings), STRIA_SEVERITY_SERIOUS);
}

Test(doctor, blames_the_slot_and_not_the_link_for_what_the_slot_cannot_do)
{
    rig_begin("slot");
    examine(ALL);
    cr_finding("slot", STRIA_SEVERITY_SERIOUS, 75, "0000:00:00.1", "move it");
    rig_change("file /sys/devices/pci0000:00/0000:00:00.1/0000:40:00.0/current_link_width 1");
    examine(ALL);
    cr_expect_str_eq(found(), "slot link");
    cr_finding("link", STRIA_SEVERITY_SERIOUS, 50, "8.0 GT/s x1", "reseat");
}

Test(doctor, tells_a_narrow_port_once_with_all_its_drives)
{
    rig_begin("narrow-port");
    examine(ALL " /dev/nvme4n1 /dev/nvme5n1");
    cr_expect_eq(findings.count, 1);
    cr_finding("port", STRIA_SEVERITY_SERIOUS, 75, "2 drives are behind one port", "processor itself");
    cr_expect_str_eq(finding_of("port")->subject, "/dev/nvme4n1, /dev/nvme5n1");
    cr_expect(strstr(finding_of("port")->evidence, "3938 MB/s instead of 15753"));
}

Test(doctor, counts_two_namespaces_of_one_drive_as_one_behind_a_port)
{
    rig_begin("healthy");
    rig_change("file /sys/devices/pci0000:00/0000:00:00.1/0000:40:00.0/nvme/nvme0/nvme0n2/size 2048");
    rig_change("link /sys/class/block/nvme0n2 "
               "../../devices/pci0000:00/0000:00:00.1/0000:40:00.0/nvme/nvme0/nvme0n2");
    examine("/dev/nvme0n1 /dev/nvme0n2");
    cr_expect_str_eq(found(), "");
}

Test(doctor, tells_how_to_format_in_larger_blocks)
{
    rig_begin("format-512");
    examine(ALL);
    cr_finding("format", STRIA_SEVERITY_WARNING, 5, "blocks of 512 bytes, and offers 4096",
               "nvme format --lbaf=1 /dev/nvme0n1");
}

Test(doctor, tells_heat_now_and_before)
{
    rig_begin("hot");
    examine(ALL);
    cr_finding("temperature", STRIA_SEVERITY_SERIOUS, 50, "83 °C", "heat sink");
    cr_finding("throttled", STRIA_SEVERITY_WARNING, 30, "12 times for 3600 s", "cool");
    cr_finding("critical-warning", STRIA_SEVERITY_SERIOUS, 50, "0x02", "replace");
    rig_change("number /nvme/nvme2/smart-log.bin 1 2 348");
    examine(ALL);
    cr_finding("temperature", STRIA_SEVERITY_WARNING, 30, "75 °C already", "heat sink");
    rig_change("number /nvme/nvme2/smart-log.bin 1 2 346");
    rig_change("number /nvme/nvme2/smart-log.bin 196 4 0");
    examine(ALL);
    cr_finding("throttled", STRIA_SEVERITY_NOTE, 10, "95 min", "cool");
    cr_expect(!strstr(found(), "temperature"));
}

Test(doctor, tells_wear)
{
    rig_begin("worn");
    examine(ALL);
    cr_finding("wear", STRIA_SEVERITY_SERIOUS, 30, "112 %", "replace");
    cr_finding("critical-warning", STRIA_SEVERITY_SERIOUS, 50, "spare is below", "replace");
    cr_finding("media-errors", STRIA_SEVERITY_WARNING, 0, "3 errors", "accuracy");
    rig_change("number /nvme/nvme3/smart-log.bin 3 1 10");
    rig_change("number /nvme/nvme3/smart-log.bin 5 1 95");
    examine(ALL);
    cr_finding("wear", STRIA_SEVERITY_WARNING, 10, "95 %", "replace");
    rig_change("number /nvme/nvme3/smart-log.bin 5 1 89");
    examine(ALL);
    cr_expect(!strstr(found(), "wear"));
}

Test(doctor, tells_a_drive_that_is_read_only_and_why)
{
    rig_begin("healthy");
    rig_change("file /sys/class/block/nvme0n1/ro 1");
    examine(ALL);
    cr_expect_str_eq(found(), "read-only");
    cr_finding("read-only", STRIA_SEVERITY_SERIOUS, 100, "device is read-only", "setrw");
    rig_change("number /nvme/nvme0/smart-log.bin 0 1 8");
    examine(ALL);
    cr_finding("read-only", STRIA_SEVERITY_SERIOUS, 100, "made itself", "replace");
}

Test(doctor, tells_a_write_cache_that_is_off_but_not_one_that_is_not_there)
{
    rig_begin("healthy");
    rig_change("file /nvme/nvme0/volatile-cache 0");
    rig_change("number /nvme/nvme1/id-ctrl.bin 525 1 0");
    examine(ALL);
    cr_expect_str_eq(found(), "volatile-cache");
    cr_expect_eq(findings.count, 1);
    cr_finding("volatile-cache", STRIA_SEVERITY_WARNING, 30, "cache is off", "nvme set-feature /dev/nvme0");
    rig_change("file /sys/class/block/sda/queue/write_cache write through");
    examine("/dev/sda");
    cr_finding("volatile-cache", STRIA_SEVERITY_WARNING, 30, "cache is off", "hdparm -W1 /dev/sda");
}

Test(doctor, tells_schedulers_and_queues)
{
    rig_begin("scheduler");
    examine(ALL);
    cr_expect_eq(findings.count, 5);
    cr_finding("scheduler", STRIA_SEVERITY_WARNING, 20, "nvme0n1 is bfq", "echo none");
    cr_finding("requests", STRIA_SEVERITY_WARNING, 20, "lets 4 requests", "echo 8");
    /* The usual one of a SATA drive is none of our business. */
    examine("/dev/sda");
    cr_expect_str_eq(found(), "in-use");
}

Test(doctor, tells_disks_that_turn_and_believes_no_virtual_disk_that_says_so)
{
    rig_begin("healthy");
    rig_change("file /sys/class/block/sda/queue/rotational 1");
    examine("/dev/sda");
    cr_finding("rotational", STRIA_SEVERITY_SERIOUS, 90, "sda is a disk that turns", "SSD");
    rig_change("file /sys/devices/virtual/block/vda/size 2048");
    rig_change("file /sys/devices/virtual/block/vda/queue/rotational 1");
    rig_change("link /sys/class/block/vda ../../devices/virtual/block/vda");
    examine("/dev/vda");
    cr_expect_str_eq(found(), "");
}

Test(doctor, tells_partitions_that_begin_between_blocks)
{
    rig_begin("misaligned");
    examine("/dev/nvme0n1p1");
    cr_finding("alignment", STRIA_SEVERITY_WARNING, 30, "byte 32256", "1 MiB");
    rig_change("file /sys/class/block/nvme0n1p1/start 2048");
    examine("/dev/nvme0n1p1");
    cr_expect_str_eq(found(), "");
    rig_change("file /sys/class/block/nvme0n1/queue/optimal_io_size 786432");
    examine("/dev/nvme0n1p1");
    cr_finding("alignment", STRIA_SEVERITY_NOTE, 5, "no multiple of 786432", "1 MiB");
}

Test(doctor, tells_drives_that_cannot_be_trimmed)
{
    rig_begin("healthy");
    rig_change("file /sys/class/block/nvme0n1/queue/discard_max_bytes 0");
    examine(ALL);
    cr_expect_str_eq(found(), "discard");
    cr_finding("discard", STRIA_SEVERITY_WARNING, 30, "TRIM", "bridge");
}

Test(doctor, tells_far_nodes)
{
    rig_begin("numa-far");
    examine(ALL);
    cr_expect_eq(findings.count, 1);
    cr_finding("numa", STRIA_SEVERITY_WARNING, 20, "8 of 8 are on other nodes", "numactl --cpunodebind=1");
    rig_change("file /proc/self/status Cpus_allowed_list:	8-15");
    examine(ALL);
    cr_expect_str_eq(found(), "");
    rig_change("file /proc/self/status Cpus_allowed_list:	0-15");
    examine(ALL);
    cr_finding("numa", STRIA_SEVERITY_NOTE, 5, "8 of 16", "numactl --cpunodebind=1");
}

Test(doctor, tells_drives_of_several_nodes)
{
    rig_begin("numa-split");
    examine(ALL);
    cr_finding("numa", STRIA_SEVERITY_WARNING, 20, "0 and 1 (distance 32)", "one socket");
}

Test(doctor, tells_interrupts_on_one_processor)
{
    rig_begin("interrupts");
    examine(ALL);
    cr_expect_eq(findings.count, 1);
    cr_finding("interrupts", STRIA_SEVERITY_WARNING, 20, "2 queues are all served by processor 0", "spread");
    cr_expect_str_eq(finding_of("interrupts")->subject, "/dev/nvme0n1");
    /* A machine of one processor has no other. */
    rig_change("file /sys/devices/system/cpu/online 0");
    examine(ALL);
    cr_expect(!strstr(found(), "interrupts"));
}

Test(doctor, knows_a_governor_that_crawls_from_one_that_adapts)
{
    rig_begin("powersave");
    examine(ALL);
    cr_finding("governor", STRIA_SEVERITY_SERIOUS, 40, "16 processors is powersave", "performance");
    cr_finding("idle-states", STRIA_SEVERITY_NOTE, 5, "C6, and need 133", "cpupower idle-set");
    for (unsigned cpu = 0; cpu < 16; cpu++)
        rig_change("file /sys/devices/system/cpu/cpu%u/cpufreq/scaling_driver intel_pstate", cpu);
    rig_change("file /sys/devices/system/cpu/cpu0/cpuidle/state2/disable 1");
    examine(ALL);
    cr_expect_str_eq(found(), "governor");
    cr_finding("governor", STRIA_SEVERITY_NOTE, 5, "intel_pstate", "performance");
}

Test(doctor, weighs_the_limit_of_locked_memory_against_the_buffer)
{
    rig_begin("memlock");
    examine(ALL);
    cr_finding("memlock", STRIA_SEVERITY_WARNING, 20, "8 MiB may be locked", "ulimit -l");
    rig_change("file /proc/self/limits Max locked memory         1073741824           unlimited  bytes");
    examine(ALL);
    cr_finding("memlock", STRIA_SEVERITY_NOTE, 10, "2048 MiB are counted", "ulimit -l");
    rig_change("file /proc/self/limits Max locked memory         2147483648           unlimited  bytes");
    examine(ALL);
    cr_expect_str_eq(found(), "");
    rig_change("file /proc/self/limits Max locked memory         65536           unlimited  bytes");
    rig_change("more /proc/self/status CapEff:	0000000000004000");
    examine(ALL);
    cr_expect_str_eq(found(), "", "CAP_IPC_LOCK lifts the limit");
}

Test(doctor, tells_old_kernels_and_what_they_lack)
{
    rig_begin("old-kernel");
    examine(ALL);
    cr_finding("kernel", STRIA_SEVERITY_SERIOUS, 100, "5.10.0-33-amd64", "6.1");
    rig_change("file /proc/sys/kernel/osrelease 5.15.0-91-generic");
    examine(ALL);
    cr_finding("kernel", STRIA_SEVERITY_WARNING, 5, "interrupts the threads", "6.1");
    rig_change("file /proc/sys/kernel/osrelease 6.12.1");
    examine(ALL);
    cr_expect_str_eq(found(), "");
    cr_expect(!was_judged("io-uring"), "there is no such switch");
}

Test(doctor, tells_that_io_uring_is_forbidden)
{
    rig_begin("healthy");
    rig_change("file /proc/sys/kernel/io_uring_disabled 1");
    examine(ALL);
    cr_finding("io-uring", STRIA_SEVERITY_SERIOUS, 100, "without privileges", "io_uring_group");
    rig_change("more /proc/self/status CapEff:	000001ffffffffff");
    examine(ALL);
    cr_expect_str_eq(found(), "");
    rig_change("file /proc/sys/kernel/io_uring_disabled 2");
    examine(ALL);
    cr_finding("io-uring", STRIA_SEVERITY_SERIOUS, 100, "everybody", "io_uring_disabled=0");
}

Test(doctor, weighs_memory_against_the_buffer)
{
    rig_begin("small-memory");
    examine(ALL);
    cr_finding("memory", STRIA_SEVERITY_SERIOUS, 100, "512 MiB, of this machine's 1000 MiB memory 200 MiB",
               "smaller");
    cr_finding("huge-pages", STRIA_SEVERITY_WARNING, 10,
               "16 huge pages are free, and the buffer of 512 MiB needs 256", "vm.nr_hugepages=256");
    buffer_bytes = 32 << 20;
    examine(ALL);
    cr_expect_str_eq(found(), "");
    buffer_bytes = 64 << 20;
    rig_change("file /sys/kernel/mm/transparent_hugepage/enabled always [madvise] never");
    examine(ALL);
    cr_expect_str_eq(found(), "huge-pages");
    cr_finding("huge-pages", STRIA_SEVERITY_NOTE, 2, "needs 32", "vm.nr_hugepages=32");
}

Test(doctor, names_who_writes_to_a_drive_now)
{
    rig_begin("writer");
    examine(ALL);
    cr_expect_eq(findings.count, 1);
    cr_finding("writers", STRIA_SEVERITY_SERIOUS, 25, "2000.0 MB/s to nvme0n1", "end that");
    cr_expect(strstr(finding_of("writers")->evidence, "dd (process 4711, /dev/nvme0n1)"));
    cr_expect_null(strstr(finding_of("writers")->evidence, "md5sum"));
    cr_expect_null(strstr(finding_of("writers")->evidence, "rsyslogd"));
    rig_change("drop /proc/4711");
    examine(ALL);
    cr_finding("writers", STRIA_SEVERITY_SERIOUS, 25, "no process", "end that");
    rig_change("drop /later");
    examine(ALL);
    cr_expect_str_eq(found(), "");
}

Test(doctor, knows_file_systems_that_are_no_good_for_drives)
{
    static const struct {
        const char *type;
        enum stria_severity severity;
    } systems[] = {{"ext4", STRIA_SEVERITY_NOTE},       {"xfs", STRIA_SEVERITY_NOTE},
                   {"tmpfs", STRIA_SEVERITY_WARNING},   {"btrfs", STRIA_SEVERITY_WARNING},
                   {"nfs4", STRIA_SEVERITY_SERIOUS},    {"fuse.sshfs", STRIA_SEVERITY_SERIOUS},
                   {"overlay", STRIA_SEVERITY_WARNING}, {"virtiofs", STRIA_SEVERITY_SERIOUS}};
    rig_begin("healthy");
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++) {
        rig_change("more /proc/self/mountinfo 40 22 0:50 / /data rw - %s source rw", systems[i].type);
        examine("/data/left.img");
        cr_expect_eq(finding_of("file-system")->severity, systems[i].severity, "%s", systems[i].type);
        cr_expect(strstr(finding_of("file-system")->evidence, systems[i].type));
        cr_expect(strstr(finding_of("file-system")->evidence, "37 % full"));
    }
}

Test(doctor, looks_for_room_before_a_file_is_made)
{
    rig_begin("healthy");
    wanted_bytes[0] = 250000000000;
    examine("/data/new.img");
    cr_expect_str_eq(found(), "file-system");
    wanted_bytes[0] = 301000000000;
    examine("/data/new.img");
    cr_finding("room", STRIA_SEVERITY_SERIOUS, 100, "1.1 GB are missing on ext4", "smaller size");
    wanted_bytes[0] = 290000000000;
    examine("/data/new.img");
    cr_finding("room", STRIA_SEVERITY_WARNING, 20, "will be 97 % full", "fstrim");
    wanted_bytes[0] = 0;
    rig_change("file /files/data/left.img.stat file 4096 4096 of 100000 5000");
    examine("/data/left.img");
    cr_finding("room", STRIA_SEVERITY_WARNING, 20, "is 95 % full", "free some");
}

Test(doctor, tells_sparse_files)
{
    rig_begin("healthy");
    rig_change("file /files/data/left.img.stat file 1000000 250000 of 480000000000 300000000000");
    examine("/data/left.img");
    cr_finding("allocated", STRIA_SEVERITY_WARNING, 30, "25 % of the file",
               "fallocate -l 1000000 /data/left.img");
}

Test(doctor, tells_drives_in_use_but_not_members_of_an_array)
{
    rig_begin("healthy");
    examine("/dev/sda");
    cr_finding("in-use", STRIA_SEVERITY_SERIOUS, 100, "sda2 is mounted on /, sda3 is swap", "swapoff");
}

Test(doctor, tells_drives_that_could_not_be_surveyed)
{
    rig_begin("healthy");
    stria_trouble_set(&troubles[1], STRIA_ERR_NOT_FOUND, "/dev/nvme9n1 is not there");
    examine("/dev/nvme0n1 memory:1GiB");
    cr_expect_str_eq(found(), "present");
    cr_finding("present", STRIA_SEVERITY_SERIOUS, 100, "/dev/nvme9n1 is not there", "");
}

Test(doctor, tells_what_it_could_not_judge)
{
    rig_begin("healthy");
    rig_change("drop /nvme");
    rig_change("drop /proc/self/limits");
    examine(ALL);
    cr_expect_str_eq(found(), "");
    cr_expect(!was_judged("wear") && !was_judged("format") && !was_judged("memlock"));
    cr_expect(was_judged("link") && was_judged("governor"));
}

/* Nothing at all in /sys and /proc. */
Test(doctor, finds_nothing_where_nothing_is_known)
{
    rig_begin(NULL);
    examine("memory:1GiB null:");
    cr_expect_str_eq(found(), "");
    for (unsigned i = 0; stria_checks[i].name; i++)
        cr_expect(!judged[i] || strcmp(stria_checks[i].name, "present") == 0, "%s", stria_checks[i].name);
}

Test(doctor, counts_findings_beyond_its_list)
{
    static const struct stria_survey_drive *many[STRIA_FINDINGS_MAX + 5];
    rig_begin("healthy");
    rig_change("file /sys/class/block/nvme0n1/queue/discard_max_bytes 0");
    const struct stria_survey_drive *one = rig_drive("/dev/nvme0n1");
    for (uint32_t i = 0; i < STRIA_FINDINGS_MAX + 5; i++)
        many[i] = one;
    stria_survey_read_host(tree, &host);
    const struct stria_patient patient = {.root = tree,
                                          .host = &host,
                                          .drives = many,
                                          .drive_count = STRIA_FINDINGS_MAX + 5,
                                          .buffer_bytes = buffer_bytes,
                                          .depth = 8};
    stria_doctor_examine(&patient, &findings, judged);
    cr_expect_eq(findings.count, STRIA_FINDINGS_MAX);
    /* The same disk is told too. */
    cr_expect_eq(findings.more, 6);
}
