/* Catalogues for tests. */
#ifndef STRIA_TESTS_UNIT_CATALOGUE_HELP_H
#define STRIA_TESTS_UNIT_CATALOGUE_HELP_H

#include "core/catalogue.h"
#include "core/name.h"
#include "core/policy.h"

#include <criterion/criterion.h>
#include <string.h>

#define HALF_BYTES ((size_t)STRIA_CATALOGUE_HALF_MIN)

static const uint8_t help_array_uuid[STRIA_UUID_BYTES] = {0xa0, 0xa1, 0xa2, 0xa3};

/* The catalogue region of one drive. */
struct help_region {
    uint8_t half[2][STRIA_CATALOGUE_HALF_MIN];
};

static inline void help_format(struct stria_catalogue *catalogue, struct help_region *region)
{
    memset(region, 0, sizeof(*region));
    stria_catalogue_format(catalogue, region->half[1], HALF_BYTES, help_array_uuid, 1);
}

static inline int help_load(struct stria_catalogue *catalogue, struct help_region *region)
{
    uint8_t *halves[2] = {region->half[0], region->half[1]};
    return stria_catalogue_load(catalogue, halves, HALF_BYTES, help_array_uuid);
}

static inline int help_begun(struct stria_catalogue *catalogue, uint64_t recording, const char *name)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_BEGUN,
        .recording = recording,
        .wall_ns = recording * 1000,
        .begun = {.policy = STRIA_POLICY_ADAPTIVE, .chunk_bytes = STRIA_CHUNK_BYTES_MIN},
    };
    cr_assert_eq(stria_name_set(entry.begun.name, name), 0);
    return stria_catalogue_append(catalogue, &entry);
}

static inline int help_ended(struct stria_catalogue *catalogue, uint64_t recording, uint64_t length_bytes,
                             uint64_t stored_bytes, uint64_t sequence_count)
{
    const struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_ENDED,
        .recording = recording,
        .ended = {.length_bytes = length_bytes,
                  .stored_bytes = stored_bytes,
                  .sequence_count = sequence_count,
                  .flags = STRIA_ENDED_CLEAN,
                  .gap_drive = STRIA_GAP_DRIVE_NONE},
    };
    return stria_catalogue_append(catalogue, &entry);
}

static inline int help_removed(struct stria_catalogue *catalogue, uint64_t recording)
{
    const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED, .recording = recording};
    return stria_catalogue_append(catalogue, &entry);
}

/* How many valid entries of a kind a recording has; of all recordings for 0. */
static inline uint32_t help_count(const struct stria_catalogue *catalogue, enum stria_catalogue_kind kind,
                                  uint64_t recording)
{
    uint32_t found = 0;
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);)
        found += entry.kind == kind && (recording == 0 || entry.recording == recording);
    return found;
}

/* Merged into memory that the next merge overwrites. */
static inline int help_merge(const struct stria_catalogue *replicas, uint32_t replica_count,
                             bool drive_absent, struct stria_catalogue *merged)
{
    static uint64_t memory[STRIA_CATALOGUE_HALF_MIN];
    cr_assert_leq(stria_catalogue_merge_bytes(replicas, replica_count), sizeof(memory));
    const struct stria_catalogue_meeting meeting = {
        .drive_absent = drive_absent, .wall_ns = 77, .memory = memory};
    return stria_catalogue_merge(replicas, replica_count, &meeting, merged);
}

static inline int help_compact(const struct stria_catalogue *source, struct stria_catalogue *target,
                               uint8_t *image, struct stria_catalogue_compaction how)
{
    static uint64_t scratch[STRIA_CATALOGUE_HALF_MIN / 8];
    cr_assert_leq(stria_catalogue_compact_scratch_bytes(source), sizeof(scratch));
    how.scratch = scratch;
    return stria_catalogue_compact(source, &how, image, target);
}

#endif
