/* Making an array out of drives. */
#ifndef STRIA_ENGINE_CREATE_H
#define STRIA_ENGINE_CREATE_H

#include "config/array.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

/* What was made, for the person who asked. */
struct stria_created {
    char uuid[37];
    uint32_t block_bytes; /* of the array: the largest that a drive needs */
    struct {
        uint64_t drive_bytes, extents;
        uint32_t block_bytes; /* that this drive needs by itself */
        char serial[64];      /* empty: it has none */
    } drives[STRIA_DRIVES_MAX];
};

/* Makes an array on the drives of a configuration: writes catalogue, empty ledger and superblocks, in this
 * order, so that an init cut short leaves no array that looks whole. The drives exist, have their size, and
 * may be overwritten: whoever calls has checked that (backends/guard.h). held, if not null, says of each
 * drive whether the caller holds it (stria_guard_hold) until this returns. */
int stria_array_create(const struct stria_array_config *config, const bool *held,
                       struct stria_created *created, struct stria_trouble *trouble);

#endif
