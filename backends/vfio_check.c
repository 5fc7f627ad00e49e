#include "backends/vfio.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX     "vfio:"
#define NVME_CLASS 0x010802u

bool stria_vfio_claims(const char *path)
{
    return strncmp(path, PREFIX, sizeof(PREFIX) - 1) == 0;
}

int stria_vfio_parse(const char *path, struct stria_vfio_address *address, struct stria_trouble *trouble)
{
    const char *text = path + sizeof(PREFIX) - 1;
    unsigned domain = 0, bus, device, function, namespace_id = 0;
    int used = 0;
    *address = (struct stria_vfio_address){0};
    bool right = sscanf(text, "%4x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &used) == 4 && used > 0;
    if (!right) {
        domain = 0;
        right = sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &used) == 3 && used > 0;
    }
    if (right && text[used] == '/') {
        int digits = 0;
        right = sscanf(text + used, "/%9u%n", &namespace_id, &digits) == 1 && namespace_id > 0;
        used += digits;
    }
    if (!right || text[used] || device > 31 || function > 7)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s is no address of a PCI device: write vfio:0000:01:00.0 as "
            "`lspci -D` shows it, with /2 behind it for another namespace than the first",
            path);
    snprintf(address->device, sizeof(address->device), "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff,
             device, function);
    address->namespace_id = namespace_id;
    return STRIA_OK;
}

/* The last part of what a link in the device's folder leads to; false if there is none. */
static bool link_name(const char *sys, const char *device, const char *link, char *name, size_t size)
{
    char path[PATH_MAX], target[PATH_MAX];
    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/%s", sys, device, link);
    const ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = 0;
    const char *slash = strrchr(target, '/');
    snprintf(name, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
    return true;
}

static bool read_class(const char *sys, const char *device, unsigned *class)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/class", sys, device);
    FILE *file = fopen(path, "re");
    const bool read = file && fscanf(file, "%x", class) == 1;
    if (file)
        fclose(file);
    return read;
}

static int not_bound(const char *path, const char *device, const char *driver, struct stria_trouble *trouble)
{
    char unbind[128] = "";
    if (driver)
        snprintf(unbind, sizeof(unbind), "echo %s > /sys/bus/pci/devices/%s/driver/unbind && ", device,
                 device);
    return stria_trouble_set(
        trouble, driver ? STRIA_ERR_BUSY : STRIA_ERR_UNSUPPORTED,
        "%s is %s%s%s: if nothing on it is in use, hand it over, as root, with `modprobe vfio-pci && "
        "echo vfio-pci > /sys/bus/pci/devices/%s/driver_override && %secho %s > /sys/bus/pci/drivers_probe`",
        path, driver ? "bound to the kernel's driver '" : "bound to no driver", driver ? driver : "",
        driver ? "'" : "", device, unbind, device);
}

int stria_vfio_check(const char *sys, const char *path, const struct stria_vfio_address *address,
                     uint32_t *group, struct stria_trouble *trouble)
{
    char driver[64], number[64];
    unsigned class;
    if (!read_class(sys, address->device, &class))
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "%s: there is no PCI device %s: `lspci -D -d ::0108` lists the NVMe drives",
                                 path, address->device);
    if (class != NVME_CLASS)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s is not an NVMe controller (PCI class %06x): `lspci -D -d ::0108` lists them", path, class);
    const bool bound = link_name(sys, address->device, "driver", driver, sizeof(driver));
    if (!bound || strcmp(driver, "vfio-pci") != 0)
        return not_bound(path, address->device, bound ? driver : NULL, trouble);
    if (!link_name(sys, address->device, "iommu_group", number, sizeof(number)))
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                 "%s has no IOMMU before it: switch on VT-d or AMD-Vi in the firmware and "
                                 "boot with intel_iommu=on or amd_iommu=on",
                                 path);
    *group = (uint32_t)strtoul(number, NULL, 10);
    return STRIA_OK;
}
