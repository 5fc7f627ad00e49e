/* Drives of other hosts, as array.ini and the command line name them:
 *
 *     nvme-tcp://HOST[:PORT]/NQN[?nsid=NUMBER]
 *
 * HOST is a name, an IPv4 address, or an IPv6 address in brackets. */
#ifndef STRIA_SUPPORT_FABRICS_URL_H
#define STRIA_SUPPORT_FABRICS_URL_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_FABRICS_URL_PREFIX "nvme-tcp://"

struct stria_fabrics_url {
    char host[256];        /* without brackets */
    char port[8];          /* decimal; 4420, which is NVMe's own, where none is named */
    char nqn[224];         /* of the subsystem; the specification allows 223 bytes */
    uint32_t namespace_id; /* zero: not named, so the only one there is */
};

/* True for what begins like one, well formed or not. */
bool stria_fabrics_url_is(const char *path);

/* STRIA_ERR_INVALID with a sentence for what is no such URL; *url is undefined then. */
int stria_fabrics_url_parse(const char *text, struct stria_fabrics_url *url, struct stria_trouble *trouble);

#endif
