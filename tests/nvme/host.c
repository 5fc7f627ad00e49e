#include "tests/nvme/host.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct model_host {
    struct stria_nvme_host host;
    void *dma;
    uint32_t mapping_count;
    void *mappings[MODEL_RANGES_MAX];
    struct model model;
};

static struct model_host *last;

static void *dma_take(struct stria_nvme_host *host, uint64_t bytes, uint64_t align_bytes)
{
    struct model_host *self = (struct model_host *)host;
    self->dma = aligned_alloc(align_bytes, (bytes + align_bytes - 1) / align_bytes * align_bytes);
    cr_assert(self->dma);
    memset(self->dma, 0, bytes);
    model_map(&self->model, self->dma, bytes, true);
    return self->dma;
}

static int map(struct stria_nvme_host *host, void *base, uint64_t bytes, uint32_t *mapping)
{
    struct model_host *self = (struct model_host *)host;
    uint32_t place = 0;
    while (place < self->mapping_count && self->mappings[place])
        place++;
    cr_assert(place < MODEL_RANGES_MAX);
    self->mapping_count += place == self->mapping_count;
    self->mappings[place] = base;
    model_map(&self->model, base, bytes, false);
    *mapping = place;
    return STRIA_OK;
}

static void unmap(struct stria_nvme_host *host, uint32_t mapping)
{
    struct model_host *self = (struct model_host *)host;
    model_unmap(&self->model, self->mappings[mapping]);
    self->mappings[mapping] = NULL;
}

static bool revoked(struct stria_nvme_host *host)
{
    eventfd_t value;
    return eventfd_read(host->event_fd, &value) == 0;
}

static void host_close(struct stria_nvme_host *host)
{
    struct model_host *self = (struct model_host *)host;
    cr_expect(self->model.violation[0] == 0, "%s", self->model.violation);
    model_close(&self->model);
    close(host->event_fd);
    free(self->dma);
    if (last == self)
        last = NULL;
    free(self);
}

int model_host_open(const struct model_options *model, const struct stria_drive_options *options,
                    struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct model_host *self = calloc(1, sizeof(*self));
    cr_assert(self);
    model_open(&self->model, model);
    self->host = (struct stria_nvme_host){
        .platform = self->model.platform,
        .dma_take = dma_take,
        .map = map,
        .unmap = unmap,
        .revoked = revoked,
        .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .close = host_close,
    };
    last = self;
    return stria_nvme_open_on(&self->host, 0, options, drive, trouble);
}

void model_host_revoke(struct stria_drive *drive)
{
    (void)drive;
    eventfd_write(last->host.event_fd, 1);
}

struct model *model_host_last(void)
{
    return &last->model;
}
