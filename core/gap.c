#include "core/gap.h"

const char *stria_gap_cause_text(uint32_t cause)
{
    static const char *const texts[] = {"none", "buffer", "source", "drive", "full"};
    return cause < sizeof(texts) / sizeof(texts[0]) ? texts[cause] : "unknown";
}
