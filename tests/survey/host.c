#include "survey/host.h"

#include "survey/cpus.h"
#include "tests/survey/rig.h"

#include <criterion/criterion.h>

static struct stria_survey_host host;

static void set_up(void)
{
    rig_begin("healthy");
}

TestSuite(host, .init = set_up, .fini = rig_end);

Test(cpus, are_read_as_the_kernel_writes_them)
{
    struct stria_cpus cpus;
    cr_assert(stria_cpus_parse("0-2,5, 8-8", &cpus) == false);
    cr_assert(stria_cpus_parse("0-2,5,64-65\n", &cpus));
    cr_expect_eq(stria_cpus_count(&cpus), 6);
    cr_expect(stria_cpus_has(&cpus, 2) && !stria_cpus_has(&cpus, 3) && stria_cpus_has(&cpus, 65));
    cr_expect_eq(stria_cpus_first(&cpus), 0);
    cr_assert(stria_cpus_parse("", &cpus));
    cr_expect_eq(stria_cpus_count(&cpus), 0);
    cr_expect_eq(stria_cpus_first(&cpus), STRIA_CPUS_MAX);
}

Test(cpus, are_none_in_what_is_no_list)
{
    static const char *const odd[] = {"a",   "1-", "-1", "3-1", "1,,2", "0-4096", "99999999999999999999",
                                      "1 2", ","};
    struct stria_cpus cpus;
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        cr_expect(!stria_cpus_parse(odd[i], &cpus), "%s", odd[i]);
        cr_expect_eq(stria_cpus_count(&cpus), 0);
    }
}

Test(host, is_read_from_a_tree)
{
    stria_survey_read_host(tree, &host);
    cr_expect_str_eq(host.kernel, "6.1.0-28-amd64");
    cr_expect_eq(host.kernel_version.value, 6001);
    cr_expect(host.io_uring_disabled.known && host.io_uring_disabled.value == 0);
    cr_expect_eq(host.cpus.value, 16);
    cr_expect_str_eq(host.allowed_cpus, "0-15");
    cr_expect_eq(host.nodes.value, 1);
    cr_expect_eq(host.distances[0][0], 10);
    cr_expect_str_eq(host.governor, "performance");
    cr_expect(host.slow_cpus.known && host.slow_cpus.value == 0);
    cr_expect_eq(host.idle_latency_us.value, 1);
    cr_expect_eq(host.memory_bytes.value, 65793744LL * 1024);
    cr_expect_eq(host.huge_page_bytes.value, 2 << 20);
    cr_expect_eq(host.huge_pages_free.value, 1024);
    cr_expect_eq(host.memlock_bytes.value, INT64_MAX);
    cr_expect(!host.capabilities.known);
}

Test(host, flags_what_is_missing_or_odd_as_unknown)
{
    rig_change("drop /sys/devices/system");
    rig_change("file /proc/meminfo MemTotal: many kB");
    rig_change("file /proc/self/limits Max locked memory");
    rig_change("file /proc/sys/kernel/osrelease next-20261130");
    rig_change("file /proc/self/status Cpus_allowed_list:	all");
    stria_survey_read_host(tree, &host);
    cr_expect(!host.cpus.known && !host.nodes.known && !host.slow_cpus.known && !host.idle_latency_us.known);
    cr_expect(!host.memory_bytes.known && !host.memlock_bytes.known && !host.kernel_version.known);
    cr_expect_eq(stria_cpus_count(&host.allowed), 0);
}

Test(host, is_this_machine_without_a_root)
{
    stria_survey_read_host("", &host);
    cr_expect(host.kernel_version.known && host.kernel_version.value >= 3000);
    cr_expect(host.memory_bytes.known && host.memory_bytes.value > 1 << 20);
    cr_expect(host.memlock_bytes.known);
    cr_expect(host.cpus.known && host.cpus.value >= 1);
    cr_expect(host.capabilities.known);
}

Test(host, leaves_the_administrations_queue_out_of_interrupts)
{
    struct stria_survey_interrupts interrupts;
    stria_survey_read_interrupts(tree, rig_drive("/dev/nvme1n1"), &interrupts);
    cr_expect_eq(interrupts.queues, 2);
    cr_expect(!stria_cpus_has(&interrupts.cpus, 0) && stria_cpus_has(&interrupts.cpus, 1) &&
              stria_cpus_has(&interrupts.cpus, 2));
    rig_change("drop /proc/irq/71/effective_affinity_list");
    rig_change("file /proc/irq/71/smp_affinity_list 4-7");
    stria_survey_read_interrupts(tree, rig_drive("/dev/nvme1n1"), &interrupts);
    cr_expect_eq(stria_cpus_count(&interrupts.cpus), 5);
    stria_survey_read_interrupts(tree, rig_drive("/dev/sda"), &interrupts);
    cr_expect_eq(interrupts.queues, 0);
}
