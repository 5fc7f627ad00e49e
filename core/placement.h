/* Who takes the next chunk. Two questions, asked separately: has this chunk a drive of its own
 * (RAID0 says so), and if not, which of the drives that can take one now should. */
#ifndef STRIA_CORE_PLACEMENT_H
#define STRIA_CORE_PLACEMENT_H

#include "core/policy.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the policy gives each chunk a drive and a row of its own. */
bool stria_placement_fixed(enum stria_policy policy);

/* One drive as placement sees it. */
struct stria_share {
    bool can_take;  /* alive, with room in its queue and a free extent */
    uint64_t taken; /* extents given to this recording so far */
    uint64_t left;  /* extents that were free when the recording began; at most 2^32 */
};

#define STRIA_PLACEMENT_NONE UINT32_MAX

/* Among the drives that can take a chunk, the one that has given the smallest part of what it had left,
 * so that unequal drives fill up together; the lower index when equal. avoid is chosen only when it is
 * the only one (pass STRIA_PLACEMENT_NONE for none). STRIA_PLACEMENT_NONE when no drive can. */
uint32_t stria_placement_choose(const struct stria_share *shares, uint32_t count, uint32_t avoid);

#endif
