#include "support/fabrics_url.h"

#include <stdlib.h>
#include <string.h>

#define FORM "nvme-tcp://HOST:PORT/NQN"

static const char prefix[] = STRIA_FABRICS_URL_PREFIX;
static const char digits[] = "0123456789";

bool stria_fabrics_url_is(const char *path)
{
    return strncmp(path, prefix, sizeof(prefix) - 1) == 0;
}

/* A whole number of at most most, with nothing before or behind it; zero for anything else. */
static uint32_t number_of(const char *text, uint32_t most)
{
    if (!text[0] || text[strspn(text, digits)] || strlen(text) > 10)
        return 0;
    const unsigned long long number = strtoull(text, NULL, 10);
    return number <= most ? (uint32_t)number : 0;
}

/* False if it does not fit or has what separates the kernel's options from each other. */
static bool take(char *out, size_t size, const char *from, size_t length)
{
    if (length == 0 || length >= size)
        return false;
    memcpy(out, from, length);
    out[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (out[i] <= ' ' || out[i] > '~' || out[i] == ',')
            return false;
    return true;
}

/* The host, and where what follows it begins; null for none. */
static const char *take_host(const char *text, struct stria_fabrics_url *url)
{
    if (text[0] != '[') {
        const size_t length = strcspn(text, ":/?");
        return take(url->host, sizeof(url->host), text, length) ? text + length : NULL;
    }
    const char *end = strchr(text, ']');
    if (!end || !take(url->host, sizeof(url->host), text + 1, (size_t)(end - text) - 1))
        return NULL;
    return end + 1;
}

static int take_port(const char *text, const char **rest, const char *whole, struct stria_fabrics_url *url,
                     struct stria_trouble *trouble)
{
    *rest = text;
    strcpy(url->port, "4420");
    if (text[0] != ':')
        return STRIA_OK;
    const size_t length = strcspn(text + 1, "/?");
    *rest = text + 1 + length;
    if (memchr(text + 1, ':', length))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s has more than one colon in its host: write an IPv6 address in brackets, "
                                 "nvme-tcp://[fd00::2]:4420/NQN",
                                 whole);
    if (take(url->port, sizeof(url->port), text + 1, length) && number_of(url->port, UINT16_MAX) > 0)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_INVALID,
        "%s has no port between its colon and its NQN: give one from 1 to 65535, or leave "
        "out the colon for 4420",
        whole);
}

static int take_name(const char *text, const char *whole, struct stria_fabrics_url *url,
                     struct stria_trouble *trouble)
{
    static const char discovery[] = "nqn.2014-08.org.nvmexpress.discovery";
    const size_t length = strcspn(text, "?");
    if (!take(url->nqn, sizeof(url->nqn), text, length) || strncmp(url->nqn, "nqn.", 4) != 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s does not end in the name of an NVMe subsystem, nqn.… of at most 223 "
                                 "letters without blanks and commas: write " FORM,
                                 whole);
    if (strcmp(url->nqn, discovery) == 0)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "%s names a host's list of drives, not a drive: `nvme discover` shows it, name "
            "one of the subsystems in it",
            whole);
    static const char query[] = "?nsid=";
    url->namespace_id = 0;
    if (!text[length])
        return STRIA_OK;
    if (strncmp(text + length, query, sizeof(query) - 1) == 0)
        url->namespace_id = number_of(text + length + sizeof(query) - 1, UINT32_MAX - 1);
    if (url->namespace_id > 0)
        return STRIA_OK;
    return stria_trouble_set(
        trouble, STRIA_ERR_INVALID,
        "%s has something behind its NQN that means nothing: only ?nsid= and the number of a "
        "namespace, from 1, may stand there",
        whole);
}

int stria_fabrics_url_parse(const char *text, struct stria_fabrics_url *url, struct stria_trouble *trouble)
{
    const char *rest = stria_fabrics_url_is(text) ? take_host(text + sizeof(prefix) - 1, url) : NULL;
    if (!rest)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s names no host: write " FORM, text);
    const int code = take_port(rest, &rest, text, url, trouble);
    if (code != STRIA_OK)
        return code;
    if (rest[0] != '/')
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s names no NVMe subsystem behind its host: write " FORM, text);
    return take_name(rest + 1, text, url, trouble);
}
