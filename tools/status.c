#include "tools/status.h"

#include <stdio.h>

enum stria_status stria_status_of(int code)
{
    switch (code) {
    case STRIA_OK:
        return STRIA_STATUS_OK;
    case STRIA_ERR_INVALID:
    case STRIA_ERR_NOT_FOUND:
    case STRIA_ERR_EXISTS:
    case STRIA_ERR_BUSY:
    case STRIA_ERR_REFUSED:
    case STRIA_ERR_FORMAT:
    case STRIA_ERR_VERSION:
    case STRIA_ERR_UNSUPPORTED:
    case STRIA_ERR_PERMISSION:
    case STRIA_ERR_ARRAY_FULL:
        return STRIA_STATUS_USAGE;
    case STRIA_ERR_DAMAGED:
        return STRIA_STATUS_NOT_WHOLE;
    default:
        return STRIA_STATUS_SYSTEM;
    }
}

int stria_status_fail(const char *command, const struct stria_trouble *trouble)
{
    fprintf(stderr, "stria %s: %s\n", command, trouble->sentence);
    return stria_status_of(trouble->code);
}

int stria_status_fail_all(const char *command, int code, const struct stria_problems *problems)
{
    char prefix[64];
    snprintf(prefix, sizeof(prefix), "stria %s: ", command);
    stria_problems_print(problems, prefix, stderr);
    return stria_status_of(code);
}
