/* A new log of everything that some logs say, for merging and compacting. */
#ifndef STRIA_CORE_CATALOGUE_UNITE_H
#define STRIA_CORE_CATALOGUE_UNITE_H

#include "core/catalogue.h"

struct stria_catalogue_union {
    const struct stria_catalogue *sources; /* image null: does not count */
    uint32_t source_count;                 /* 1 to STRIA_DRIVES_MAX */
    struct stria_catalogue_head head;      /* of the new log, whose entries_max must be enough */
    uint64_t wall_ns;                      /* of HEAD, and of the removal below */
    uint64_t remove;                       /* a recording that is removed by this; 0: none */
    bool drive_absent; /* a drive that is not among the sources may hold what is removed: no removal is
                          forgotten. Else those are that every source which has the recording knows of */
};

/* Cells in use, but for those of HEAD. */
uint32_t stria_catalogue_cells_used(const struct stria_catalogue *sources, uint32_t source_count);

/* Scratch memory for stria_catalogue_unite(), aligned to 8 bytes. */
size_t stria_catalogue_unite_scratch_bytes(const struct stria_catalogue *sources, uint32_t source_count);

/* Entries by recording; of a removed one its removal at most; what several say once. Into target, whose image
 * and array_uuid are set. */
void stria_catalogue_unite(const struct stria_catalogue_union *of, void *scratch,
                           struct stria_catalogue *target);

#endif
