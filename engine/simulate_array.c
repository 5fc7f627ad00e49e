/* The array of a simulation: geometry, ledgers and catalogue as on media, in memory. */
#include "engine/array_internal.h"
#include "engine/modelled_drive.h"
#include "engine/simulate_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int plan(const struct stria_simulate_config *config, uint32_t index, struct stria_geometry *geometry)
{
    const uint64_t bytes = config->drives[index]->capacity_bytes;
    return stria_geometry_plan(geometry, bytes - bytes % STRIA_PAGE_BYTES, config->chunk_bytes,
                               STRIA_PAGE_BYTES);
}

uint64_t stria_simulate_capacity_bytes(const struct stria_simulate_config *config)
{
    uint64_t extents = 0, least = UINT64_MAX;
    for (uint32_t index = 0; index < config->drive_count; index++) {
        struct stria_geometry geometry;
        if (plan(config, index, &geometry) != STRIA_OK)
            return 0;
        extents += geometry.extent_count;
        least = geometry.extent_count < least ? geometry.extent_count : least;
    }
    if (stria_placement_fixed(config->policy))
        extents = least * config->drive_count;
    return extents * config->chunk_bytes;
}

static int create_member(struct stria_simulated_member *member, const struct stria_simulate_config *config,
                         uint32_t index, const uint64_t *clock_ns, struct stria_trouble *trouble)
{
    if (plan(config, index, &member->geometry) != STRIA_OK)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "drive %" PRIu32 " of %" PRIu64 " bytes is too small for chunks of %" PRIu32
                                 " KiB: it needs at least %" PRIu64 " bytes",
                                 index + 1, config->drives[index]->capacity_bytes, config->chunk_bytes >> 10,
                                 stria_geometry_drive_bytes_min(config->chunk_bytes));
    member->ledger = calloc(1, member->geometry.ledger_bytes);
    member->extent_state = calloc(1, member->geometry.extent_count);
    member->staging = aligned_alloc(STRIA_PAGE_BYTES, STRIA_STAGING_BYTES);
    member->drive = stria_modelled_drive_create(config->drives[index], config->seed + index,
                                                config->depth + STRIA_DEPTH_EXTRA, clock_ns);
    if (!member->ledger || !member->extent_state || !member->staging || !member->drive)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "out of memory for a ledger of %" PRIu64 " bytes",
                                 member->geometry.ledger_bytes);
    return STRIA_OK;
}

static int create_catalogue(struct stria_simulated_array *array, uint32_t drive_count,
                            struct stria_trouble *trouble)
{
    static const uint8_t uuid[STRIA_UUID_BYTES] = {0};
    uint64_t half_bytes = STRIA_CATALOGUE_HALF_MAX;
    for (uint32_t index = 0; index < drive_count; index++)
        if (array->members[index].geometry.catalogue_bytes / 2 < half_bytes)
            half_bytes = array->members[index].geometry.catalogue_bytes / 2;
    array->log = aligned_alloc(STRIA_PAGE_BYTES, half_bytes);
    if (!array->log)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for a catalogue");
    stria_catalogue_format(&array->catalogue, array->log, half_bytes, uuid, 0);
    return STRIA_OK;
}

int stria_simulated_array_create(struct stria_simulated_array *array,
                                 const struct stria_simulate_config *config, const uint64_t *clock_ns,
                                 struct stria_trouble *trouble)
{
    int code = STRIA_OK;
    for (uint32_t index = 0; code == STRIA_OK && index < config->drive_count; index++)
        code = create_member(&array->members[index], config, index, clock_ns, trouble);
    return code == STRIA_OK ? create_catalogue(array, config->drive_count, trouble) : code;
}

void stria_simulated_array_destroy(struct stria_simulated_array *array)
{
    for (uint32_t index = 0; index < STRIA_DRIVES_MAX; index++) {
        struct stria_simulated_member *member = &array->members[index];
        free(member->ledger);
        free(member->extent_state);
        free(member->staging);
        if (member->drive)
            member->drive->backend->close(member->drive);
    }
    free(array->log);
}
