#include "backends/fabrics_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A controller that this process uses, by however many drives. */
struct fabrics_link {
    struct fabrics_link *next;
    struct stria_fabrics_url url; /* of the one that came first; the namespace is not looked at */
    struct fabrics_controller controller;
    unsigned users;
};

/* The kernel has each controller once, so the process has one list of them. */
static struct {
    pthread_mutex_t lock;
    struct fabrics_link *first;
    unsigned keepers;
} links = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct stria_fabrics_url *a, const struct stria_fabrics_url *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0 && strcmp(a->nqn, b->nqn) == 0;
}

/* Ends the links that nobody uses: all of them, or those whose controller is gone. */
static void sweep(bool gone_only)
{
    for (struct fabrics_link **at = &links.first; *at;) {
        struct fabrics_link *link = *at;
        if (link->users > 0 || (gone_only && fabrics_controller_is_there(&link->controller, &link->url))) {
            at = &link->next;
            continue;
        }
        *at = link->next;
        fabrics_controller_put(&link->controller, &link->url);
        free(link);
    }
}

static int make_link(const struct stria_fabrics_url *url, struct fabrics_link **out,
                     struct stria_trouble *trouble)
{
    struct fabrics_address addresses[FABRICS_ADDRESSES_MAX];
    unsigned count;
    int code = fabrics_address_resolve(url, addresses, &count, trouble);
    if (code != STRIA_OK)
        return code;
    struct fabrics_link *link = calloc(1, sizeof(*link));
    if (!link)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to connect %s", url->nqn);
    link->url = *url;
    code = fabrics_controller_get(url, addresses, count, &link->controller, trouble);
    if (code != STRIA_OK) {
        free(link);
        return code;
    }
    link->next = links.first;
    links.first = link;
    *out = link;
    return STRIA_OK;
}

static int get_link(const struct stria_fabrics_url *url, struct fabrics_link **link,
                    struct stria_trouble *trouble)
{
    sweep(true);
    for (struct fabrics_link *one = links.first; one; one = one->next) {
        if (!is_same(&one->url, url))
            continue;
        *link = one;
        return STRIA_OK;
    }
    return make_link(url, link, trouble);
}

int stria_fabrics_reach(const char *text, struct stria_fabrics_reach *reach, struct stria_trouble *trouble)
{
    struct stria_fabrics_url url;
    int code = stria_fabrics_url_parse(text, &url, trouble);
    if (code != STRIA_OK)
        return code;
    pthread_mutex_lock(&links.lock);
    code = get_link(&url, &reach->link, trouble);
    if (code == STRIA_OK)
        code = fabrics_namespace_find(&reach->link->controller, &url, reach->device, sizeof(reach->device),
                                      trouble);
    if (code == STRIA_OK)
        reach->link->users++;
    else
        sweep(links.keepers > 0);
    pthread_mutex_unlock(&links.lock);
    return code;
}

void stria_fabrics_leave(struct stria_fabrics_reach *reach)
{
    pthread_mutex_lock(&links.lock);
    reach->link->users--;
    reach->link = NULL;
    sweep(links.keepers > 0);
    pthread_mutex_unlock(&links.lock);
}

void stria_fabrics_keep(void)
{
    pthread_mutex_lock(&links.lock);
    links.keepers++;
    pthread_mutex_unlock(&links.lock);
}

void stria_fabrics_let_go(void)
{
    pthread_mutex_lock(&links.lock);
    links.keepers--;
    sweep(links.keepers > 0);
    pthread_mutex_unlock(&links.lock);
}
