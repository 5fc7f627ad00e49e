/* NVMe controllers of this machine through VFIO: Linux hands a PCI device, behind its IOMMU, to a process. */
#ifndef STRIA_BACKENDS_VFIO_H
#define STRIA_BACKENDS_VFIO_H

#include "backends/nvme_host.h"

/* "vfio:0000:01:00.0", the domain may be left out, and "/2" behind it chooses namespace 2. */
bool stria_vfio_claims(const char *path);

struct stria_vfio_address {
    char device[16];       /* as /sys/bus/pci/devices has it: "0000:01:00.0" */
    uint32_t namespace_id; /* zero: the first */
};

/* STRIA_ERR_INVALID with a sentence for what is no such path. */
int stria_vfio_parse(const char *path, struct stria_vfio_address *address, struct stria_trouble *trouble);

/* Whether /sys, or the folder given in its place, has that device, it is an NVMe controller, and it is bound
 * to vfio-pci and has an IOMMU: *group is then its IOMMU group. Otherwise the sentence has the commands that
 * make it so; nothing is changed. */
int stria_vfio_check(const char *sys, const char *path, const struct stria_vfio_address *address,
                     uint32_t *group, struct stria_trouble *trouble);

/* Takes the device at path. It is the process's own until the host is closed; somebody else who has it is
 * STRIA_ERR_BUSY, after waiting a little for one that was killed a moment ago. */
int stria_vfio_open(const char *path, struct stria_nvme_host **host, uint32_t *namespace_id,
                    struct stria_trouble *trouble);

#endif
