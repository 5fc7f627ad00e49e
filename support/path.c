#include "support/path.h"

#include "support/fabrics_url.h"

#include <string.h>

bool stria_path_is_prefixed(const char *path)
{
    const size_t letters = strspn(path, "abcdefghijklmnopqrstuvwxyz");
    return (letters >= 2 && path[letters] == ':') || stria_fabrics_url_is(path);
}
