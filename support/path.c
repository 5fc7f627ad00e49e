#include "support/path.h"

#include <string.h>

bool stria_path_is_prefixed(const char *path)
{
    const size_t letters = strspn(path, "abcdefghijklmnopqrstuvwxyz");
    return letters >= 2 && path[letters] == ':';
}
