#include "backends/fabrics_internal.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct stria_fabrics_url url_of(const char *host, const char *port)
{
    struct stria_fabrics_url url = {.nqn = "nqn.2014-08.org.example:far1"};
    snprintf(url.host, sizeof(url.host), "%s", host);
    snprintf(url.port, sizeof(url.port), "%s", port);
    return url;
}

static struct fabrics_address address_of(const char *host, const char *port)
{
    struct fabrics_address addresses[FABRICS_ADDRESSES_MAX];
    struct stria_trouble trouble = {0};
    unsigned count;
    const struct stria_fabrics_url url = url_of(host, port);
    cr_assert_eq(fabrics_address_resolve(&url, addresses, &count, &trouble), STRIA_OK, "%s",
                 trouble.sentence);
    cr_assert_geq(count, 1);
    return addresses[0];
}

/* A socket of 127.0.0.1 that has a port, which is printed. */
static int bound(char port[8])
{
    struct sockaddr_in socket_address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(socket_address);
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&socket_address, length), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&socket_address, &length), 0);
    snprintf(port, 8, "%u", ntohs(socket_address.sin_port));
    return fd;
}

Test(fabrics_address, is_the_same_however_it_is_written)
{
    const struct fabrics_address address = address_of("fd00:0:0:0:0:0:0:2", "4420");
    cr_assert_str_eq(address.host, "fd00::2");
    cr_assert(fabrics_address_is(&address, "fd00::2", "4420"));
    cr_assert(fabrics_address_is(&address, "fd00:0::0:2", "4420"));
}

Test(fabrics_address, is_another_one_at_another_port_or_host)
{
    const struct fabrics_address address = address_of("127.0.0.1", "4420");
    cr_assert(fabrics_address_is(&address, "127.0.0.1", "4420"));
    cr_assert(!fabrics_address_is(&address, "127.0.0.1", "4421"));
    cr_assert(!fabrics_address_is(&address, "127.0.0.2", "4420"));
    cr_assert(!fabrics_address_is(&address, "::1", "4420"));
    cr_assert(!fabrics_address_is(&address, "no number", "4420"));
}

Test(fabrics_address, a_host_that_does_not_exist_is_named)
{
    struct fabrics_address addresses[FABRICS_ADDRESSES_MAX];
    struct stria_trouble trouble = {0};
    unsigned count;
    const struct stria_fabrics_url url = url_of("300.1.2.3.invalid", "4420");
    cr_assert_eq(fabrics_address_resolve(&url, addresses, &count, &trouble), STRIA_ERR_NOT_FOUND);
    cr_assert(strstr(trouble.sentence, "300.1.2.3.invalid"), "%s", trouble.sentence);
}

Test(fabrics_address, whoever_listens_answers)
{
    char port[8];
    const struct fabrics_address *answers = NULL;
    struct stria_trouble trouble = {0};
    const int fd = bound(port);
    cr_assert_eq(listen(fd, 1), 0);
    const struct stria_fabrics_url url = url_of("127.0.0.1", port);
    const struct fabrics_address address = address_of("127.0.0.1", port);
    cr_assert_eq(fabrics_address_probe(&url, &address, 1, &answers, &trouble), STRIA_OK, "%s",
                 trouble.sentence);
    cr_assert_eq(answers, &address);
    close(fd);
}

Test(fabrics_address, a_closed_port_is_named_with_what_to_do)
{
    char port[8];
    const struct fabrics_address *answers = NULL;
    struct stria_trouble trouble = {0};
    const int fd = bound(port);
    const struct stria_fabrics_url url = url_of("127.0.0.1", port);
    const struct fabrics_address address = address_of("127.0.0.1", port);
    cr_assert_eq(fabrics_address_probe(&url, &address, 1, &answers, &trouble), STRIA_ERR_NOT_FOUND);
    cr_assert(strstr(trouble.sentence, port) && strstr(trouble.sentence, "nobody listens"), "%s",
              trouble.sentence);
    close(fd);
}

Test(fabrics_address, the_first_that_answers_is_taken)
{
    char closed[8], open[8];
    const struct fabrics_address *answers = NULL;
    struct stria_trouble trouble = {0};
    const int closed_fd = bound(closed), fd = bound(open);
    cr_assert_eq(listen(fd, 1), 0);
    const struct stria_fabrics_url url = url_of("127.0.0.1", open);
    const struct fabrics_address addresses[] = {address_of("127.0.0.1", closed),
                                                address_of("127.0.0.1", open)};
    cr_assert_eq(fabrics_address_probe(&url, addresses, 2, &answers, &trouble), STRIA_OK, "%s",
                 trouble.sentence);
    cr_assert_eq(answers, &addresses[1]);
    close(fd);
    close(closed_fd);
}
