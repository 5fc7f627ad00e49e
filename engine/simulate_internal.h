/* A simulated array in memory, and the run over it. */
#ifndef STRIA_ENGINE_SIMULATE_INTERNAL_H
#define STRIA_ENGINE_SIMULATE_INTERNAL_H

#include "core/catalogue.h"
#include "engine/pump.h"
#include "engine/simulate.h"

struct stria_simulated_member {
    struct stria_geometry geometry;
    struct stria_drive *drive;
    uint8_t *ledger, *extent_state, *staging;
};

struct stria_simulated_array {
    struct stria_simulated_member members[STRIA_DRIVES_MAX];
    struct stria_catalogue catalogue;
    uint8_t *log; /* the catalogue's image */
};

/* An array as init makes it, over drives whose clock is *clock_ns. On failure what was made stays for
 * stria_simulated_array_destroy. */
int stria_simulated_array_create(struct stria_simulated_array *array,
                                 const struct stria_simulate_config *config, const uint64_t *clock_ns,
                                 struct stria_trouble *trouble);
void stria_simulated_array_destroy(struct stria_simulated_array *array);

#endif
