/* What the parts of backends/fabrics.h have between them. */
#ifndef STRIA_BACKENDS_FABRICS_INTERNAL_H
#define STRIA_BACKENDS_FABRICS_INTERNAL_H

#include "backends/fabrics.h"

#include <stddef.h>
#include <sys/socket.h>

#define FABRICS_ADDRESSES_MAX 8u

/* Where a host listens. */
struct fabrics_address {
    struct sockaddr_storage socket;
    socklen_t length;
    char host[64]; /* in numbers, as the kernel wants it */
};

/* What a host's name stands for. *count is at least 1 on success. */
int fabrics_address_resolve(const struct stria_fabrics_url *url,
                            struct fabrics_address addresses[FABRICS_ADDRESSES_MAX], unsigned *count,
                            struct stria_trouble *trouble);

/* Whether a host in numbers and a port, as the kernel prints them, are this address. */
bool fabrics_address_is(const struct fabrics_address *address, const char *host, const char *port);

/* The first of the addresses at which somebody accepts a connection. The kernel would wait for minutes, and
 * not say why. */
int fabrics_address_probe(const struct stria_fabrics_url *url, const struct fabrics_address *addresses,
                          unsigned count, const struct fabrics_address **answers,
                          struct stria_trouble *trouble);

/* One controller of this host's kernel. */
struct fabrics_controller {
    char name[32];           /* "nvme3"; empty: none */
    int fd;                  /* its device file, with a shared lock on it; −1: none */
    struct nvme_root *made;  /* libnvme's tree around it if we connected it, else null */
    struct nvme_ctrl *owned; /* the controller in that tree */
};

/* Finds the controller of that name at one of these addresses, or connects it. */
int fabrics_controller_get(const struct stria_fabrics_url *url, const struct fabrics_address *addresses,
                           unsigned count, struct fabrics_controller *controller,
                           struct stria_trouble *trouble);

/* Whether the kernel still has it. */
bool fabrics_controller_is_there(const struct fabrics_controller *controller,
                                 const struct stria_fabrics_url *url);

/* Disconnects it if we connected it and no other process uses it. */
void fabrics_controller_put(struct fabrics_controller *controller, const struct stria_fabrics_url *url);

/* The block device of the namespace that the URL means, once it is there. */
int fabrics_namespace_find(const struct fabrics_controller *controller, const struct stria_fabrics_url *url,
                           char *device, size_t size, struct stria_trouble *trouble);

#endif
