#include "backends/fabrics_internal.h"
#include "support/clock.h"
#include "support/tree.h"

#include <endian.h>
#include <libnvme.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEVICE_NS (10 * STRIA_NS_PER_S) /* the kernel looks for namespaces after it has connected */
#define LOOK_NS   (10 * STRIA_NS_PER_S / 1000)

struct search {
    const char *controller;
    uint32_t namespace_id;
    char *device;
    size_t size;
};

/* A namespace of a controller is nvme3n1; or, with native multipath, nvme3c4n1 stands for a path to nvme3n1.
 */
static bool look_at(const char *name, void *user)
{
    struct search *search = user;
    unsigned subsystem, path, space;
    int end = 0;
    int64_t id;
    struct stat status;
    if (sscanf(name, "nvme%uc%un%u%n", &subsystem, &path, &space, &end) != 3 || name[end]) {
        end = 0;
        if (sscanf(name, "nvme%un%u%n", &subsystem, &space, &end) != 2 || name[end])
            return true;
    }
    if (!stria_tree_number("", &id, "/sys/class/nvme/%s/%s/nsid", search->controller, name) ||
        id != search->namespace_id)
        return true;
    snprintf(search->device, search->size, "/dev/nvme%un%u", subsystem, space);
    if (stat(search->device, &status) != 0 || !S_ISBLK(status.st_mode))
        search->device[0] = '\0';
    return false;
}

static int none_chosen(const struct stria_fabrics_url *url, const struct nvme_ns_list *list, unsigned count,
                       struct stria_trouble *trouble)
{
    char ids[160] = "";
    for (unsigned i = 0; i < count; i++) {
        const size_t used = strlen(ids);
        snprintf(ids + used, sizeof(ids) - used, "%s%u", i ? ", " : "", le32toh(list->ns[i]));
    }
    if (count == 0)
        return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                                 "%s at %s has no namespace: add and enable one there", url->nqn, url->host);
    if (url->namespace_id == 0)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s at %s has the namespaces %s: choose one by ?nsid=%u or the like behind the NQN", url->nqn,
            url->host, ids, le32toh(list->ns[0]));
    return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND, "%s at %s has no namespace %u: it has %s",
                             url->nqn, url->host, url->namespace_id, ids);
}

/* The number of the namespace that is meant, as the other host has it. */
static int choose(const struct fabrics_controller *controller, const struct stria_fabrics_url *url,
                  uint32_t *id, struct stria_trouble *trouble)
{
    struct nvme_ns_list list;
    unsigned count = 0;
    if (nvme_identify_active_ns_list(controller->fd, 0, &list) != 0)
        return stria_trouble_set(trouble, STRIA_ERR_GONE,
                                 "%s at %s does not tell its namespaces: see to that host", url->nqn,
                                 url->host);
    while (count < NVME_ID_NS_LIST_MAX && list.ns[count])
        count++;
    *id = url->namespace_id ? url->namespace_id : count == 1 ? le32toh(list.ns[0]) : 0;
    for (unsigned i = 0; i < count; i++)
        if (le32toh(list.ns[i]) == *id)
            return STRIA_OK;
    return none_chosen(url, &list, count, trouble);
}

int fabrics_namespace_find(const struct fabrics_controller *controller, const struct stria_fabrics_url *url,
                           char *device, size_t size, struct stria_trouble *trouble)
{
    struct search search = {.controller = controller->name, .device = device, .size = size};
    char folder[64];
    const int code = choose(controller, url, &search.namespace_id, trouble);
    if (code != STRIA_OK)
        return code;
    snprintf(folder, sizeof(folder), "/sys/class/nvme/%s", controller->name);
    const uint64_t end_ns = stria_clock_ns() + DEVICE_NS;
    device[0] = '\0';
    for (;;) {
        stria_tree_each("", folder, look_at, &search);
        if (device[0])
            return STRIA_OK;
        if (stria_clock_ns() >= end_ns)
            return stria_trouble_set(trouble, STRIA_ERR_TIMEOUT,
                                     "namespace %u of %s at %s does not become a device of this host: the "
                                     "kernel's log (dmesg) says why",
                                     search.namespace_id, url->nqn, url->host);
        stria_clock_sleep_until(stria_clock_ns() + LOOK_NS);
    }
}
