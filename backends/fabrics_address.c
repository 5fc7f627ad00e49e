#include "backends/fabrics_internal.h"
#include "support/clock.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROBE_MS 3000

int fabrics_address_resolve(const struct stria_fabrics_url *url,
                            struct fabrics_address addresses[FABRICS_ADDRESSES_MAX], unsigned *count,
                            struct stria_trouble *trouble)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    const int error = getaddrinfo(url->host, url->port, &hints, &list);
    *count = 0;
    for (const struct addrinfo *one = list; one && *count < FABRICS_ADDRESSES_MAX; one = one->ai_next) {
        struct fabrics_address *address = &addresses[*count];
        if (one->ai_addrlen > sizeof(address->socket) ||
            getnameinfo(one->ai_addr, one->ai_addrlen, address->host, sizeof(address->host), NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        memcpy(&address->socket, one->ai_addr, one->ai_addrlen);
        address->length = one->ai_addrlen;
        (*count)++;
    }
    if (list)
        freeaddrinfo(list);
    if (*count > 0)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                             "there is no host %s (%s): correct the name, or give its address", url->host,
                             error ? gai_strerror(error) : "it has no address");
}

bool fabrics_address_is(const struct fabrics_address *address, const char *host, const char *port)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    if (getaddrinfo(host, port, &hints, &list) != 0)
        return false;
    const bool same =
        list->ai_addrlen == address->length && memcmp(list->ai_addr, &address->socket, address->length) == 0;
    freeaddrinfo(list);
    return same;
}

/* Zero, or the errno value of what came of it. */
static int probe(const struct fabrics_address *address)
{
    const int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int error = connect(fd, (const struct sockaddr *)&address->socket, address->length) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        socklen_t size = sizeof(error);
        const uint64_t end_ns = stria_clock_ns() + PROBE_MS * STRIA_NS_PER_S / 1000;
        int ready;
        do
            ready = poll(&wait, 1, PROBE_MS);
        while (ready < 0 && errno == EINTR && stria_clock_ns() < end_ns);
        if (ready <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
            error = ready < 0 ? errno : ETIMEDOUT;
    }
    close(fd);
    return error;
}

int fabrics_address_probe(const struct stria_fabrics_url *url, const struct fabrics_address *addresses,
                          unsigned count, const struct fabrics_address **answers,
                          struct stria_trouble *trouble)
{
    int error = 0;
    for (unsigned i = 0; i < count; i++) {
        error = probe(&addresses[i]);
        *answers = &addresses[i];
        if (error == 0)
            return STRIA_OK;
    }
    if (error == ECONNREFUSED)
        return stria_trouble_set(
            trouble, STRIA_ERR_NOT_FOUND,
            "nobody listens at port %s of %s: set up its NVMe target there, or correct the port", url->port,
            url->host);
    return stria_trouble_set(
        trouble, STRIA_ERR_NOT_FOUND,
        "%s does not answer at port %s (%s): see to its power, the network between, and firewalls", url->host,
        url->port, stria_errno_text(error));
}
