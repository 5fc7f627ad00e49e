/* What the backend adds to the driver, on a controller in software; tests/contract has what all backends do.
 */
#include "backends/vfio.h"
#include "tests/nvme/host.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct stria_drive_options asked = {.path = "vfio:0000:01:00.0", .depth = 4};

static struct stria_drive *open_drive(struct model_options model)
{
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    model.latency_ns = 5000;
    cr_assert(model_host_open(&model, &asked, &drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    return drive;
}

Test(nvme_backend, it_tells_what_the_drive_is)
{
    struct stria_drive *drive = open_drive(model_defaults());
    const struct stria_traits *traits = &drive->traits;
    cr_expect_str_eq(traits->serial, "MODEL0001");
    cr_expect(traits->volatile_cache && traits->trims && traits->may_block && traits->block_device);
    cr_expect(traits->atomic_write_bytes == 8 * 512 && traits->block_bytes == 512);
    drive->backend->close(drive);
}

Test(nvme_backend, a_drive_that_is_gone_says_so)
{
    struct stria_drive *drive = open_drive(model_defaults());
    void *data = aligned_alloc(4096, 4096);
    memset(data, 1, 4096);
    model_host_last()->gone = true;
    cr_expect(stria_drive_run(drive, STRIA_IO_WRITE, 0, 4096, data) == STRIA_ERR_GONE);
    cr_expect(strstr(drive->traits.note, "is gone"), "%s", drive->traits.note);
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = 4096, .data = data};
    cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_GONE);
    drive->backend->close(drive);
    free(data);
}

Test(nvme_backend, a_drive_that_the_system_takes_back_says_so)
{
    struct stria_drive *drive = open_drive(model_defaults());
    struct stria_done done;
    model_host_revoke(drive);
    cr_expect(drive->backend->poll(drive, &done, 1, 60000000000u) == STRIA_ERR_GONE);
    cr_expect(strstr(drive->traits.note, "takes the drive away"), "%s", drive->traits.note);
    drive->backend->close(drive);
}

Test(nvme_backend, memory_used_by_several_requests_stays_mapped_for_the_last)
{
    struct model_options model = model_defaults();
    struct stria_drive *drive = open_drive(model);
    uint8_t *data = aligned_alloc(4096, 65536);
    memset(data, 7, 65536);
    model_host_last()->options.latency_ns = 20000;
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = 65536, .data = data};
    for (io.tag = 0; io.tag < 4; io.tag++, io.offset += 65536)
        cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    struct stria_done done;
    cr_assert(drive->backend->poll(drive, &done, 1, 60000000000u) == 1 && done.code == STRIA_OK);
    for (int i = 0; i < 3; i++)
        cr_assert(drive->backend->poll(drive, &done, 1, 60000000000u) == 1 && done.code == STRIA_OK);
    cr_expect(model_host_last()->violation[0] == 0, "%s", model_host_last()->violation);
    drive->backend->close(drive);
    free(data);
}

Test(nvme_backend, memory_that_overlaps_what_is_in_use_waits_for_it)
{
    struct stria_drive *drive = open_drive(model_defaults());
    uint8_t *data = aligned_alloc(4096, 65536);
    memset(data, 7, 65536);
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = 16384, .data = data};
    struct stria_done done;
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    io.length = 65536;
    cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_FULL);
    cr_assert(drive->backend->poll(drive, &done, 1, 60000000000u) == 1 && done.code == STRIA_OK);
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    cr_assert(drive->backend->poll(drive, &done, 1, 60000000000u) == 1 && done.code == STRIA_OK);
    drive->backend->close(drive);
    free(data);
}

Test(nvme_backend, a_controller_that_never_starts_gets_a_sentence)
{
    struct model_options model = model_defaults();
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    model.ready_units = 1;
    model.ready_ns = 60000000000;
    cr_expect(model_host_open(&model, &asked, &drive, &trouble) == STRIA_ERR_TIMEOUT);
    cr_expect(strstr(trouble.sentence, "vfio:0000:01:00.0 does not start"), "%s", trouble.sentence);
}

Test(vfio, paths_are_addresses_of_pci_devices)
{
    struct stria_vfio_address address;
    struct stria_trouble trouble = {0};
    cr_expect(stria_vfio_claims("vfio:0000:01:00.0") && !stria_vfio_claims("/dev/nvme0n1"));
    cr_assert(stria_vfio_parse("vfio:0000:01:00.0", &address, &trouble) == STRIA_OK);
    cr_expect_str_eq(address.device, "0000:01:00.0");
    cr_expect(address.namespace_id == 0);
    cr_assert(stria_vfio_parse("vfio:c1:1f.7/3", &address, &trouble) == STRIA_OK);
    cr_expect_str_eq(address.device, "0000:c1:1f.7");
    cr_expect(address.namespace_id == 3);
    const char *const wrong[] = {"vfio:",         "vfio:nvme0",     "vfio:0000:01:00",    "vfio:0000:01:00.8",
                                 "vfio:01:20.0",  "vfio:01:00.0/",  "vfio:01:00.0/0",     "vfio:01:00.0/1x",
                                 "vfio:01:00.0 ", "vfio:/dev/null", "vfio:0000:01:00.0.0"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        cr_expect(stria_vfio_parse(wrong[i], &address, &trouble) == STRIA_ERR_INVALID &&
                      strstr(trouble.sentence, wrong[i]),
                  "%s", wrong[i]);
}

/* A /sys with one device. */
static char folder[64];

static void device_put(const char *class, const char *driver, const char *group)
{
    char command[1024];
    snprintf(folder, sizeof(folder), "/tmp/stria-vfio-XXXXXX");
    cr_assert(mkdtemp(folder));
    snprintf(command, sizeof(command),
             "cd %s && mkdir -p bus/pci/devices/0000:01:00.0 && cd bus/pci/devices/0000:01:00.0 && "
             "echo %s > class && { [ -z '%s' ] || ln -s ../../drivers/%s driver; } && "
             "{ [ -z '%s' ] || ln -s ../../../kernel/iommu_groups/%s iommu_group; }",
             folder, class, driver, driver, group, group);
    cr_assert(system(command) == 0);
}

static int check(uint32_t *group, struct stria_trouble *trouble)
{
    const struct stria_vfio_address address = {.device = "0000:01:00.0"};
    char command[128];
    int code = stria_vfio_check(folder, "vfio:01:00.0", &address, group, trouble);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert(system(command) == 0);
    return code;
}

Test(vfio, a_device_bound_to_the_kernels_driver_is_refused_with_the_commands)
{
    struct stria_trouble trouble = {0};
    uint32_t group;
    device_put("0x010802", "nvme", "7");
    cr_expect(check(&group, &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "vfio:01:00.0 is bound to the kernel's driver 'nvme'"), "%s",
              trouble.sentence);
    cr_expect(strstr(trouble.sentence, "echo vfio-pci > /sys/bus/pci/devices/0000:01:00.0/driver_override"));
    cr_expect(
        strstr(trouble.sentence, "echo 0000:01:00.0 > /sys/bus/pci/devices/0000:01:00.0/driver/unbind"));
    cr_expect(strstr(trouble.sentence, "echo 0000:01:00.0 > /sys/bus/pci/drivers_probe"), "%s",
              trouble.sentence);
}

Test(vfio, a_device_without_a_driver_needs_no_unbinding)
{
    struct stria_trouble trouble = {0};
    uint32_t group;
    device_put("0x010802", "", "7");
    cr_expect(check(&group, &trouble) == STRIA_ERR_UNSUPPORTED);
    cr_expect(strstr(trouble.sentence, "bound to no driver") && !strstr(trouble.sentence, "unbind"), "%s",
              trouble.sentence);
}

Test(vfio, what_is_no_nvme_controller_is_refused)
{
    struct stria_trouble trouble = {0};
    uint32_t group;
    device_put("0x020000", "vfio-pci", "7");
    cr_expect(check(&group, &trouble) == STRIA_ERR_INVALID && strstr(trouble.sentence, "020000"), "%s",
              trouble.sentence);
}

Test(vfio, a_device_without_an_iommu_is_refused)
{
    struct stria_trouble trouble = {0};
    uint32_t group;
    device_put("0x010802", "vfio-pci", "");
    cr_expect(check(&group, &trouble) == STRIA_ERR_UNSUPPORTED && strstr(trouble.sentence, "intel_iommu=on"),
              "%s", trouble.sentence);
}

Test(vfio, one_that_is_ready_has_a_group)
{
    struct stria_trouble trouble = {0};
    uint32_t group = 0;
    device_put("0x010802", "vfio-pci", "7");
    cr_expect(check(&group, &trouble) == STRIA_OK && group == 7);
}

Test(vfio, a_device_that_is_not_there_is_named)
{
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    const struct stria_drive_options options = {.path = "vfio:ffff:ff:1f.7", .depth = 1};
    cr_expect(stria_drive_open(&options, &drive, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "there is no PCI device ffff:ff:1f.7"), "%s", trouble.sentence);
}
