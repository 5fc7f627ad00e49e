#include "core/code.h"

const char *stria_code_text(int code)
{
    static const char *const texts[] = {
        "success",
        "try again",
        "queue full",
        "i/o error",
        "no space left",
        "drive gone",
        "timed out",
        "invalid",
        "out of memory",
        "not found",
        "already exists",
        "busy",
        "refused",
        "not in Stria's format",
        "newer format version",
        "unsupported",
        "permission denied",
        "array full",
        "stream ended",
        "system error",
        "damaged",
    };
    const unsigned count = sizeof(texts) / sizeof(texts[0]);
    if (code > 0 || (unsigned)-code >= count)
        return "unknown code";
    return texts[-code];
}
