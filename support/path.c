#include "support/path.h"

#include "support/fabrics_url.h"

#include <string.h>

bool stria_path_is_prefixed(const char *path)
{
    const size_t letters = strspn(path, "abcdefghijklmnopqrstuvwxyz");
    return (letters >= 2 && path[letters] == ':') || stria_fabrics_url_is(path);
}

const char *stria_path_plain(const char *path)
{
    static const char prefix[] = STRIA_PASSTHROUGH_PREFIX;
    while (strncmp(path, prefix, sizeof(prefix) - 1) == 0 && path[sizeof(prefix) - 1])
        path += sizeof(prefix) - 1;
    return path;
}
