#include "backends/vfio.h"

#include "nvme/mmio.h"
#include "support/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES      (2ull << 20)
#define PAGE_BYTES      4096ull
#define MAPPINGS_MAX    512u
#define BUS_BEGIN       (1ull << 32)         /* above all that is special, such as the window of interrupts */
#define TAKE_NS_MAX     (2 * STRIA_NS_PER_S) /* for a process that was killed to let the device go */
#define TAKE_NS         50000000ull
#define PAUSE_NS        50000ull
#define BAR_BYTES_LEAST 0x2000u

/* Memory that the device sees: whole pages. */
struct mapping {
    char *base;
    uint64_t bytes;
    uint64_t address; /* on the bus */
};

struct vfio {
    struct stria_nvme_host host;
    char path[256];
    int container, group, device;
    volatile void *bar;
    uint64_t bar_bytes;
    uint64_t bus_begin, bus_end; /* addresses that the IOMMU translates */
    char *dma;
    uint64_t dma_bytes;
    uint32_t last;          /* the mapping that was found last */
    uint32_t mapping_count; /* places in use or once in use */
    struct mapping mappings[MAPPINGS_MAX];
};

static uint32_t read32(void *context, uint32_t offset)
{
    const struct vfio *vfio = context;
    return stria_nvme_mmio_read32(vfio->bar, offset);
}

static void write32(void *context, uint32_t offset, uint32_t value)
{
    const struct vfio *vfio = context;
    stria_nvme_mmio_write32(vfio->bar, offset, value);
}

/* Memory is coherent here; what is needed is that the device sees stores in the order of the program. */
static void write_barrier(void *context)
{
    (void)context;
#if defined(__aarch64__)
    __asm__ volatile("dmb oshst" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void read_barrier(void *context)
{
    (void)context;
#if defined(__aarch64__)
    __asm__ volatile("dmb oshld" ::: "memory");
#else
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

static uint64_t time_ns(void *context)
{
    (void)context;
    return stria_clock_ns();
}

static void pause_briefly(void *context)
{
    (void)context;
    stria_clock_sleep_until(stria_clock_ns() + PAUSE_NS);
}

static bool holds(const struct mapping *mapping, const char *memory)
{
    return memory >= mapping->base && memory < mapping->base + mapping->bytes;
}

static int bus_address(void *context, const void *memory, uint64_t *address, uint64_t *run_bytes)
{
    struct vfio *vfio = context;
    uint32_t i = vfio->last;
    if (!holds(&vfio->mappings[i], memory))
        for (i = 0; i < vfio->mapping_count && !holds(&vfio->mappings[i], memory); i++)
            ;
    if (i == vfio->mapping_count)
        return STRIA_ERR_INVALID;
    vfio->last = i;
    const struct mapping *mapping = &vfio->mappings[i];
    const uint64_t at = (uint64_t)((const char *)memory - mapping->base);
    *address = mapping->address + at;
    *run_bytes = mapping->bytes - at;
    return STRIA_OK;
}

/* The lowest bus address at which bytes are free, alike to base within a huge page, so that the IOMMU can map
 * such pages as one. Zero if there is none. */
static uint64_t find_bus_gap(const struct vfio *vfio, const char *base, uint64_t bytes)
{
    const uint64_t within = (uintptr_t)base % HUGE_BYTES;
    uint64_t begin = vfio->bus_begin;
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < vfio->mapping_count && !moved; i++) {
            const struct mapping *other = &vfio->mappings[i];
            if (other->bytes == 0 || begin + within + bytes <= other->address ||
                begin + within >= other->address + other->bytes)
                continue;
            begin = (other->address + other->bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
            moved = true;
        }
    }
    return bytes <= vfio->bus_end && begin + within <= vfio->bus_end - bytes ? begin + within : 0;
}

static int map(struct stria_nvme_host *host, void *base, uint64_t bytes, uint32_t *number)
{
    struct vfio *vfio = (struct vfio *)host;
    char *const first = (char *)base - (uintptr_t)base % PAGE_BYTES;
    const uint64_t whole =
        ((uint64_t)((char *)base - first) + bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uint32_t place = 0;
    while (place < vfio->mapping_count && vfio->mappings[place].bytes)
        place++;
    const uint64_t address = find_bus_gap(vfio, first, whole);
    if (place == MAPPINGS_MAX || !address)
        return STRIA_ERR_NO_MEMORY;
    struct vfio_iommu_type1_dma_map request = {
        .argsz = sizeof(request),
        .flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        .vaddr = (uintptr_t)first,
        .iova = address,
        .size = whole,
    };
    if (ioctl(vfio->container, VFIO_IOMMU_MAP_DMA, &request) < 0)
        return stria_code_of_errno(errno);
    vfio->mappings[place] = (struct mapping){.base = first, .bytes = whole, .address = address};
    if (place == vfio->mapping_count)
        vfio->mapping_count++;
    *number = place;
    return STRIA_OK;
}

static void unmap(struct stria_nvme_host *host, uint32_t number)
{
    struct vfio *vfio = (struct vfio *)host;
    struct mapping *mapping = &vfio->mappings[number];
    struct vfio_iommu_type1_dma_unmap request = {
        .argsz = sizeof(request), .iova = mapping->address, .size = mapping->bytes};
    (void)ioctl(vfio->container, VFIO_IOMMU_UNMAP_DMA, &request);
    *mapping = (struct mapping){0};
}

static void *dma_take(struct stria_nvme_host *host, uint64_t bytes, uint64_t align_bytes)
{
    struct vfio *vfio = (struct vfio *)host;
    uint32_t number;
    if (vfio->dma || align_bytes > HUGE_BYTES)
        return NULL;
    vfio->dma_bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *memory = mmap(NULL, vfio->dma_bytes, protection, flags | MAP_HUGETLB, -1, 0);
    if (memory == MAP_FAILED) {
        /* One huge page more than needed has room for a beginning on a huge page. */
        vfio->dma_bytes += HUGE_BYTES;
        memory = mmap(NULL, vfio->dma_bytes, protection, flags, -1, 0);
    }
    if (memory == MAP_FAILED)
        return NULL;
    vfio->dma = memory;
    char *const aligned = vfio->dma + (HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES) % HUGE_BYTES;
    return map(host, aligned, bytes, &number) == STRIA_OK ? aligned : NULL;
}

/* Readable once the kernel asks for the device back. */
static bool revoked(struct stria_nvme_host *host)
{
    eventfd_t value;
    return host->event_fd >= 0 && eventfd_read(host->event_fd, &value) == 0;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void vfio_close(struct stria_nvme_host *host)
{
    struct vfio *vfio = (struct vfio *)host;
    if (vfio->bar)
        munmap((void *)vfio->bar, vfio->bar_bytes);
    /* The last descriptor of the device that closes has the kernel reset it; then its memory may go. */
    close_fd(vfio->device);
    close_fd(vfio->group);
    close_fd(vfio->container);
    close_fd(host->event_fd);
    if (vfio->dma)
        munmap(vfio->dma, vfio->dma_bytes);
    free(vfio);
}

static int failed(const struct vfio *vfio, const char *what, struct stria_trouble *trouble)
{
    const int error = errno;
    return stria_trouble_set(trouble, stria_code_of_errno(error), "%s: VFIO does not %s: %s", vfio->path,
                             what, strerror(error));
}

static int open_container(struct vfio *vfio, struct stria_trouble *trouble)
{
    vfio->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
    if (vfio->container >= 0 && ioctl(vfio->container, VFIO_GET_API_VERSION) == VFIO_API_VERSION &&
        ioctl(vfio->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) == 1)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_UNSUPPORTED,
        "%s: this system has no VFIO for an IOMMU (/dev/vfio/vfio): run `modprobe vfio-pci` "
        "as root, and as a user who may open it",
        vfio->path);
}

/* A process that was killed holds the group for a moment longer. */
static int open_group(struct vfio *vfio, uint32_t number, struct stria_trouble *trouble)
{
    char name[64];
    const uint64_t deadline_ns = stria_clock_ns() + TAKE_NS_MAX;
    snprintf(name, sizeof(name), "/dev/vfio/%u", number);
    while ((vfio->group = open(name, O_RDWR | O_CLOEXEC)) < 0 && errno == EBUSY &&
           stria_clock_ns() < deadline_ns)
        stria_clock_sleep_until(stria_clock_ns() + TAKE_NS);
    if (vfio->group < 0 && errno == EBUSY)
        return stria_trouble_set(
            trouble, STRIA_ERR_BUSY,
            "%s is in use by another process: end that use first (`fuser -v %s` names it)", vfio->path, name);
    if (vfio->group < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno),
                                 "%s: cannot open %s: %s; run as root, or `chown` it to the user who records",
                                 vfio->path, name, strerror(errno));
    struct vfio_group_status status = {.argsz = sizeof(status)};
    if (ioctl(vfio->group, VFIO_GROUP_GET_STATUS, &status) < 0)
        return failed(vfio, "tell the state of its IOMMU group", trouble);
    if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE))
        return stria_trouble_set(
            trouble, STRIA_ERR_UNSUPPORTED,
            "%s shares its IOMMU group with a device that has a kernel driver: bind all of "
            "/sys/kernel/iommu_groups/%u/devices to vfio-pci, or put the drive in another slot",
            vfio->path, number);
    return STRIA_OK;
}

/* What the IOMMU can translate: the largest range above BUS_BEGIN, or all of 39 bits, which every one has. */
static void find_bus_range(struct vfio *vfio)
{
    struct {
        struct vfio_iommu_type1_info info;
        uint8_t more[4096];
    } answer = {.info.argsz = sizeof(answer)};
    vfio->bus_begin = BUS_BEGIN;
    vfio->bus_end = 1ull << 39;
    if (ioctl(vfio->container, VFIO_IOMMU_GET_INFO, &answer) < 0 ||
        !(answer.info.flags & VFIO_IOMMU_INFO_CAPS))
        return;
    const char *const base = (const char *)&answer;
    uint64_t most_bytes = 0;
    for (uint32_t at = answer.info.cap_offset;
         at && at + sizeof(struct vfio_info_cap_header) <= sizeof(answer);) {
        const struct vfio_iommu_type1_info_cap_iova_range *cap = (const void *)(base + at);
        for (uint32_t i = 0; cap->header.id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE && i < cap->nr_iovas &&
                             (const char *)&cap->iova_ranges[i + 1] <= base + sizeof(answer);
             i++) {
            const uint64_t first = cap->iova_ranges[i].start, last = cap->iova_ranges[i].end;
            const uint64_t begin = first > BUS_BEGIN || last < BUS_BEGIN ? first : BUS_BEGIN;
            if (last <= begin || last - begin < most_bytes)
                continue;
            most_bytes = last - begin;
            vfio->bus_begin = begin ? (begin + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES : HUGE_BYTES;
            vfio->bus_end = last - PAGE_BYTES;
        }
        at = cap->header.next;
    }
}

static int open_device(struct vfio *vfio, const char *name, struct stria_trouble *trouble)
{
    if (ioctl(vfio->group, VFIO_GROUP_SET_CONTAINER, &vfio->container) < 0 ||
        ioctl(vfio->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU) < 0)
        return failed(vfio, "put it behind the IOMMU", trouble);
    find_bus_range(vfio);
    vfio->device = ioctl(vfio->group, VFIO_GROUP_GET_DEVICE_FD, name);
    return vfio->device < 0 ? failed(vfio, "hand it out", trouble) : STRIA_OK;
}

/* The device may answer at its registers and reach memory. */
static int enable_bus(struct vfio *vfio, struct stria_trouble *trouble)
{
    struct vfio_region_info region = {.argsz = sizeof(region), .index = VFIO_PCI_CONFIG_REGION_INDEX};
    uint16_t command;
    if (ioctl(vfio->device, VFIO_DEVICE_GET_REGION_INFO, &region) < 0)
        return failed(vfio, "show its configuration", trouble);
    const off_t at = (off_t)region.offset + PCI_COMMAND;
    if (pread(vfio->device, &command, sizeof(command), at) != (ssize_t)sizeof(command))
        return failed(vfio, "show its configuration", trouble);
    command |= PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER;
    if (pwrite(vfio->device, &command, sizeof(command), at) != (ssize_t)sizeof(command))
        return failed(vfio, "let it reach memory", trouble);
    return STRIA_OK;
}

static int map_registers(struct vfio *vfio, struct stria_trouble *trouble)
{
    struct vfio_region_info region = {.argsz = sizeof(region), .index = VFIO_PCI_BAR0_REGION_INDEX};
    if (ioctl(vfio->device, VFIO_DEVICE_GET_REGION_INFO, &region) < 0)
        return failed(vfio, "show its registers", trouble);
    if (region.size < BAR_BYTES_LEAST)
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                 "%s has no registers of an NVMe controller: use another drive", vfio->path);
    void *bar =
        mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, vfio->device, (off_t)region.offset);
    if (bar == MAP_FAILED)
        return failed(vfio, "map its registers", trouble);
    vfio->bar = bar;
    vfio->bar_bytes = region.size;
    return STRIA_OK;
}

/* Not every kernel can tell that it wants the device back; then only the registers tell. */
static void listen_for_removal(struct vfio *vfio)
{
    _Alignas(struct vfio_irq_set) uint8_t request[sizeof(struct vfio_irq_set) + sizeof(int32_t)];
    const struct vfio_irq_set set = {.argsz = sizeof(request),
                                     .flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                                     .index = VFIO_PCI_REQ_IRQ_INDEX,
                                     .count = 1};
    const int32_t fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    vfio->host.event_fd = fd;
    memcpy(request, &set, sizeof(set));
    memcpy(request + sizeof(set), &fd, sizeof(fd));
    if (vfio->host.event_fd < 0 || ioctl(vfio->device, VFIO_DEVICE_SET_IRQS, request) == 0)
        return;
    close(vfio->host.event_fd);
    vfio->host.event_fd = -1;
}

static int take(struct vfio *vfio, const struct stria_vfio_address *address, struct stria_trouble *trouble)
{
    uint32_t group;
    int code = stria_vfio_check("/sys", vfio->path, address, &group, trouble);
    if (code == STRIA_OK)
        code = open_container(vfio, trouble);
    if (code == STRIA_OK)
        code = open_group(vfio, group, trouble);
    if (code == STRIA_OK)
        code = open_device(vfio, address->device, trouble);
    if (code == STRIA_OK)
        code = enable_bus(vfio, trouble);
    if (code == STRIA_OK)
        code = map_registers(vfio, trouble);
    if (code == STRIA_OK)
        listen_for_removal(vfio);
    return code;
}

int stria_vfio_open(const char *path, struct stria_nvme_host **host, uint32_t *namespace_id,
                    struct stria_trouble *trouble)
{
    struct stria_vfio_address address;
    int code = stria_vfio_parse(path, &address, trouble);
    if (code < 0)
        return code;
    struct vfio *vfio = calloc(1, sizeof(*vfio));
    if (!vfio)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", path);
    vfio->host = (struct stria_nvme_host){
        .platform = {.context = vfio,
                     .read32 = read32,
                     .write32 = write32,
                     .bus_address = bus_address,
                     .write_barrier = write_barrier,
                     .read_barrier = read_barrier,
                     .time_ns = time_ns,
                     .pause = pause_briefly},
        .dma_take = dma_take,
        .map = map,
        .unmap = unmap,
        .revoked = revoked,
        .event_fd = -1,
        .close = vfio_close,
    };
    vfio->container = vfio->group = vfio->device = -1;
    snprintf(vfio->path, sizeof(vfio->path), "%s", path);
    code = take(vfio, &address, trouble);
    if (code < 0) {
        vfio_close(&vfio->host);
        return code;
    }
    *host = &vfio->host;
    *namespace_id = address.namespace_id;
    return STRIA_OK;
}
