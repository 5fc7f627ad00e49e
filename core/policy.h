/* Who takes the next chunk. The values are part of the on-media format. */
#ifndef STRIA_CORE_POLICY_H
#define STRIA_CORE_POLICY_H

#include <stdint.h>

enum stria_policy {
    STRIA_POLICY_RAID0 = 1,   /* fixed: chunk k on drive k mod N */
    STRIA_POLICY_ADAPTIVE = 2 /* whoever can */
};

/* "raid0" or "adaptive"; "unknown policy" for anything else. */
const char *stria_policy_text(uint32_t policy);

#endif
