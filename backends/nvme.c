#include "backends/list.h"
#include "backends/nvme_host.h"
#include "backends/vfio.h"
#include "nvme/drive.h"
#include "support/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define COMMANDS       127u /* in flight at the controller: deep requests of many pieces keep it busy */
#define SPINS          16u  /* looks without a nap in between */
#define NAP_NS_MIN     10000ull
#define NAP_NS_MAX     100000ull
#define CLOSE_NS_DRAIN (STRIA_CLOSE_NS_MAX / 5)
#define CLOSE_NS_STOP  (STRIA_CLOSE_NS_MAX / 5)
#define REGIONS_MAX    64u
#define NO_LOAN        UINT32_MAX

/* A request of the caller's; its number is the driver's tag. */
struct nvme_slot {
    uint64_t tag;
    uint32_t loan; /* of its data; NO_LOAN for what was attached */
};

/* Memory that was not attached, mapped for as long as requests use it. No two of them overlap: the bus
 * address of a byte would be that of either, and go with the first. */
struct nvme_loan {
    char *base; /* whole pages */
    uint64_t bytes;
    uint32_t mapping;
    uint32_t users; /* zero: free */
};

struct nvme_drive {
    struct stria_drive drive;
    struct stria_nvme_host *host;
    int wake_fd;
    int broken; /* the code that made the drive unusable; STRIA_OK while it is not */
    bool unregistered;
    struct stria_region regions[REGIONS_MAX];
    uint32_t mappings[REGIONS_MAX];
    unsigned region_count;
    uint32_t free_count;
    uint32_t free_slots[STRIA_NVME_REQUESTS_MAX];
    struct nvme_slot slots[STRIA_NVME_REQUESTS_MAX];
    struct nvme_loan loans[STRIA_NVME_REQUESTS_MAX];
    struct stria_nvme_drive nvme;
};

static bool nvme_claims(const char *path)
{
    return stria_vfio_claims(path);
}

static void nvme_free(struct nvme_drive *nvme)
{
    if (nvme->wake_fd >= 0)
        close(nvme->wake_fd);
    nvme->host->close(nvme->host);
    free(nvme);
}

static void describe(struct nvme_drive *nvme, const struct stria_drive_options *options)
{
    const struct stria_nvme_identity *identity = &nvme->nvme.controller.identity;
    const uint64_t atomic_bytes = identity->atomic_blocks * identity->block_bytes;
    struct stria_traits *traits = &nvme->drive.traits;
    *traits = (struct stria_traits){
        .drive_bytes = nvme->nvme.drive_bytes,
        .block_bytes = nvme->nvme.block_bytes,
        .memory_align_bytes = nvme->nvme.block_bytes,
        .transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX,
        .depth_max = options->depth,
        .atomic_write_bytes = (uint32_t)(atomic_bytes < UINT32_MAX ? atomic_bytes : UINT32_MAX),
        .volatile_cache = identity->volatile_cache,
        .trims = identity->deallocates,
        .read_only = options->read_only,
        .may_block = true, /* resetting a controller takes a while */
        .block_device = true,
    };
    snprintf(traits->path, sizeof(traits->path), "%s", options->path);
    snprintf(traits->serial, sizeof(traits->serial), "%s", identity->serial);
}

static int start(struct nvme_drive *nvme, uint32_t namespace_id, const struct stria_drive_options *options,
                 struct stria_trouble *trouble)
{
    const struct stria_nvme_platform *platform = &nvme->host->platform;
    struct stria_nvme_config config = {
        .namespace_id = namespace_id, .depth = COMMANDS, .stop_ns = CLOSE_NS_STOP};
    uint32_t align_bytes;
    int code = stria_nvme_dma_bytes(platform, config.depth, &config.dma_bytes, &align_bytes);
    if (code == STRIA_ERR_GONE)
        return stria_trouble_set(trouble, code, "%s %s: look at its slot and its power, then rescan the bus",
                                 options->path, stria_nvme_trouble_text(STRIA_NVME_GONE));
    if (code < 0)
        return stria_trouble_set(trouble, code, "%s %s: use another drive, or the kernel's driver",
                                 options->path, stria_nvme_trouble_text(STRIA_NVME_PAGES));
    config.dma = nvme->host->dma_take(nvme->host, config.dma_bytes, align_bytes);
    if (!config.dma)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "%s: no %llu KiB of memory can be locked for its queues: raise the limit "
                                 "(ulimit -l, LimitMEMLOCK=)",
                                 options->path, (unsigned long long)config.dma_bytes >> 10);
    stria_nvme_drive_start(&nvme->nvme, platform, &config);
    code = stria_nvme_drive_settle(&nvme->nvme);
    if (code < 0)
        return stria_trouble_set(
            trouble, code, "%s %s (status %#x): use another drive, or the kernel's driver", options->path,
            stria_nvme_trouble_text(nvme->nvme.controller.trouble), nvme->nvme.controller.status);
    return STRIA_OK;
}

int stria_nvme_open_on(struct stria_nvme_host *host, uint32_t namespace_id,
                       const struct stria_drive_options *options, struct stria_drive **drive,
                       struct stria_trouble *trouble)
{
    struct nvme_drive *nvme = calloc(1, sizeof(*nvme));
    if (!nvme) {
        host->close(host);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    }
    nvme->drive.backend = &stria_backend_nvme;
    nvme->host = host;
    nvme->unregistered = options->unregistered;
    for (uint32_t i = 0; i < STRIA_NVME_REQUESTS_MAX; i++)
        nvme->free_slots[nvme->free_count++] = i;
    nvme->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = nvme->wake_fd >= 0 ? start(nvme, namespace_id, options, trouble)
                                  : stria_trouble_set(trouble, stria_code_of_errno(errno),
                                                      "%s: no file descriptor is left: raise the limit "
                                                      "(ulimit -n, LimitNOFILE=)",
                                                      options->path);
    if (code < 0) {
        nvme_free(nvme);
        return code;
    }
    describe(nvme, options);
    *drive = &nvme->drive;
    return STRIA_OK;
}

static int nvme_open(const struct stria_drive_options *options, struct stria_drive **drive,
                     struct stria_trouble *trouble)
{
    struct stria_nvme_host *host;
    uint32_t namespace_id;
    int code = stria_vfio_open(options->path, &host, &namespace_id, trouble);
    return code < 0 ? code : stria_nvme_open_on(host, namespace_id, options, drive, trouble);
}

static void unmap_regions(struct nvme_drive *nvme)
{
    for (unsigned i = 0; i < nvme->region_count; i++)
        nvme->host->unmap(nvme->host, nvme->mappings[i]);
    nvme->region_count = 0;
    nvme->drive.traits.registered = false;
}

static int map_regions(struct nvme_drive *nvme, const struct stria_region *regions, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        int code = nvme->host->map(nvme->host, regions[i].base, regions[i].bytes, &nvme->mappings[i]);
        if (code < 0)
            return code;
        nvme->regions[nvme->region_count++] = regions[i];
    }
    return STRIA_OK;
}

static int nvme_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct nvme_drive *nvme = (struct nvme_drive *)drive;
    if (nvme->nvme.busy_count)
        return STRIA_ERR_INVALID;
    unmap_regions(nvme);
    if (nvme->unregistered || count == 0)
        return STRIA_OK;
    int code = count <= REGIONS_MAX ? map_regions(nvme, regions, count) : STRIA_ERR_NO_MEMORY;
    drive->traits.registered = code == STRIA_OK;
    if (code == STRIA_OK)
        return STRIA_OK;
    /* Works all the same: each request maps its own data. */
    unmap_regions(nvme);
    stria_traits_note(&drive->traits, "memory is mapped anew for every request: %s",
                      code == STRIA_ERR_NO_MEMORY ? "the locked-memory limit is too low (ulimit -l)"
                                                  : stria_code_text(code));
    return STRIA_OK;
}

static bool is_attached(const struct nvme_drive *nvme, const void *data, uint64_t bytes)
{
    const uintptr_t at = (uintptr_t)data;
    for (unsigned i = 0; i < nvme->region_count; i++) {
        const uintptr_t base = (uintptr_t)nvme->regions[i].base;
        if (at >= base && at - base < nvme->regions[i].bytes)
            return bytes <= nvme->regions[i].bytes - (at - base);
    }
    return false;
}

/* Maps data, or shares what is mapped already. STRIA_ERR_FULL where it overlaps another loan in part: that
 * one has to end first. */
static int borrow(struct nvme_drive *nvme, void *data, uint64_t bytes, uint32_t *number)
{
    char *const base = (char *)data - (uintptr_t)data % STRIA_PAGE_BYTES;
    const uint64_t whole = (uint64_t)((char *)data - base) + bytes + STRIA_PAGE_BYTES - 1;
    char *const end = base + whole / STRIA_PAGE_BYTES * STRIA_PAGE_BYTES;
    uint32_t place = NO_LOAN;
    for (uint32_t i = 0; i < STRIA_NVME_REQUESTS_MAX; i++) {
        struct nvme_loan *loan = &nvme->loans[i];
        if (loan->users == 0) {
            place = i;
        } else if (base >= loan->base && end <= loan->base + loan->bytes) {
            loan->users++;
            *number = i;
            return STRIA_OK;
        } else if (base < loan->base + loan->bytes && end > loan->base) {
            return STRIA_ERR_FULL;
        }
    }
    struct nvme_loan *loan = &nvme->loans[place];
    *loan = (struct nvme_loan){.base = base, .bytes = (uint64_t)(end - base)};
    int code = nvme->host->map(nvme->host, base, loan->bytes, &loan->mapping);
    if (code < 0)
        return code;
    loan->users = 1;
    *number = place;
    return STRIA_OK;
}

static void give_back(struct nvme_drive *nvme, uint32_t number)
{
    if (number != NO_LOAN && --nvme->loans[number].users == 0)
        nvme->host->unmap(nvme->host, nvme->loans[number].mapping);
}

static int hand_on(struct nvme_drive *nvme, const struct stria_io *io, uint32_t index)
{
    static const enum stria_nvme_op ops[] = {
        [STRIA_IO_READ] = STRIA_NVME_READ,
        [STRIA_IO_WRITE] = STRIA_NVME_WRITE,
        [STRIA_IO_FLUSH] = STRIA_NVME_FLUSH,
        [STRIA_IO_TRIM] = STRIA_NVME_TRIM,
    };
    const struct stria_nvme_request request = {
        .op = ops[io->op], .offset = io->offset, .bytes = io->length, .data = io->data, .tag = index};
    struct nvme_slot *slot = &nvme->slots[index];
    *slot = (struct nvme_slot){.tag = io->tag, .loan = NO_LOAN};
    int code = STRIA_OK;
    if ((io->op == STRIA_IO_READ || io->op == STRIA_IO_WRITE) && !is_attached(nvme, io->data, io->length))
        code = borrow(nvme, io->data, io->length, &slot->loan);
    if (code == STRIA_OK)
        code = stria_nvme_drive_submit(&nvme->nvme, &request);
    if (code < 0)
        give_back(nvme, slot->loan);
    return code;
}

static int nvme_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct nvme_drive *nvme = (struct nvme_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    if (nvme->broken)
        return nvme->broken;
    if (nvme->nvme.busy_count == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    code = hand_on(nvme, io, nvme->free_slots[nvme->free_count - 1]);
    if (code == STRIA_OK)
        nvme->free_count--;
    return code;
}

/* Takes what the driver has finished. */
static int reap(struct nvme_drive *nvme, struct stria_done *done, unsigned max)
{
    struct stria_nvme_done one;
    unsigned count = 0;
    while (count < max) {
        int taken = stria_nvme_drive_poll(&nvme->nvme, &one, 1);
        if (taken < 0) {
            nvme->broken = taken;
            stria_traits_note(&nvme->drive.traits, "it %s",
                              stria_nvme_trouble_text(nvme->nvme.controller.trouble));
        }
        if (taken <= 0)
            break;
        const uint32_t index = (uint32_t)one.tag;
        struct nvme_slot *slot = &nvme->slots[index];
        give_back(nvme, slot->loan);
        done[count++] = (struct stria_done){.tag = slot->tag, .code = one.code, .bytes = one.bytes};
        nvme->free_slots[nvme->free_count++] = index;
    }
    return (int)count;
}

static void check_revoked(struct nvme_drive *nvme)
{
    struct stria_nvme_host *host = nvme->host;
    if (nvme->broken || !host->revoked || !host->revoked(host))
        return;
    nvme->broken = STRIA_ERR_GONE;
    stria_traits_note(&nvme->drive.traits, "the system takes the drive away");
}

/* Sleeps until a wake or a revocation, but no longer than that. True if it was one of them. */
static bool nap(struct nvme_drive *nvme, uint64_t wait_ns)
{
    struct pollfd fds[] = {{.fd = nvme->wake_fd, .events = POLLIN},
                           {.fd = nvme->host->event_fd, .events = POLLIN}};
    const struct timespec wait = {.tv_sec = (time_t)(wait_ns / STRIA_NS_PER_S),
                                  .tv_nsec = (long)(wait_ns % STRIA_NS_PER_S)};
    if (ppoll(fds, 2, &wait, NULL) <= 0)
        return false;
    eventfd_t value;
    if (fds[0].revents)
        (void)eventfd_read(nvme->wake_fd, &value);
    check_revoked(nvme);
    return true;
}

/* Looks again and again, first at once and then with naps in between that grow: a request of a megabyte takes
 * hundreds of microseconds, and burning them would take the processor from whoever fills the next. */
static int wait_for(struct nvme_drive *nvme, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    const uint64_t deadline_ns = stria_clock_ns() + wait_ns;
    uint64_t nap_ns = NAP_NS_MIN;
    int count = 0;
    for (unsigned look = 0; count == 0 && !nvme->broken; look++) {
        const uint64_t now_ns = stria_clock_ns();
        if (now_ns >= deadline_ns)
            break;
        const uint64_t left_ns = deadline_ns - now_ns;
        const bool idle = nvme->nvme.busy_count == 0;
        if (idle || look >= SPINS) {
            const uint64_t most_ns = idle ? left_ns : nap_ns;
            if (nap(nvme, most_ns < left_ns ? most_ns : left_ns))
                break;
            nap_ns = 2 * nap_ns < NAP_NS_MAX ? 2 * nap_ns : NAP_NS_MAX;
        }
        count = reap(nvme, done, max);
    }
    return count;
}

static int nvme_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct nvme_drive *nvme = (struct nvme_drive *)drive;
    if (nvme->broken)
        return nvme->broken;
    int count = reap(nvme, done, max);
    if (count == 0 && max > 0 && wait_ns > 0 && !nvme->broken)
        count = wait_for(nvme, done, max, wait_ns);
    return count == 0 && nvme->broken ? nvme->broken : count;
}

static void nvme_wake(struct stria_drive *drive)
{
    struct nvme_drive *nvme = (struct nvme_drive *)drive;
    eventfd_write(nvme->wake_fd, 1);
}

static void nvme_close(struct stria_drive *drive)
{
    struct nvme_drive *nvme = (struct nvme_drive *)drive;
    const uint64_t deadline_ns = stria_clock_ns() + CLOSE_NS_DRAIN;
    struct stria_done done;
    while (nvme->nvme.busy_count && !nvme->broken && stria_clock_ns() < deadline_ns)
        if (nvme_poll(drive, &done, 1, NAP_NS_MAX) < 0)
            break;
    stria_nvme_drive_stop(&nvme->nvme);
    (void)stria_nvme_drive_settle(&nvme->nvme);
    unmap_regions(nvme);
    nvme_free(nvme);
}

const struct stria_backend stria_backend_nvme = {
    .name = "nvme",
    .claims = nvme_claims,
    .open = nvme_open,
    .attach = nvme_attach,
    .submit = nvme_submit,
    .poll = nvme_poll,
    .wake = nvme_wake,
    .close = nvme_close,
};
