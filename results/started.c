#define _GNU_SOURCE

#include "results/started.h"

#include <stddef.h>
#include <time.h>

bool stria_started_parse(const char *text, uint64_t *ns)
{
    struct tm utc = {0};
    const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    if (!rest)
        return false;
    uint64_t fraction = 0;
    if (*rest == '.') {
        uint64_t place = 100000000;
        for (rest++; *rest >= '0' && *rest <= '9'; rest++, place /= 10)
            fraction += (uint64_t)(*rest - '0') * place;
    }
    const time_t seconds = timegm(&utc);
    if (rest[0] != 'Z' || rest[1] != '\0' || seconds < 0 || seconds > 9000000000)
        return false;
    *ns = (uint64_t)seconds * 1000000000 + fraction;
    return true;
}
