#include "core/policy.h"

const char *stria_policy_text(uint32_t policy)
{
    switch (policy) {
    case STRIA_POLICY_RAID0:
        return "raid0";
    case STRIA_POLICY_ADAPTIVE:
        return "adaptive";
    default:
        return "unknown policy";
    }
}
