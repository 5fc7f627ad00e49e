#include "core/superblock.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/name.h"

#include <string.h>

/* The page on media. Magic, version, features and check stay where they are in every later version. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_COMPAT = 16,
    AT_RO_COMPAT = 24,
    AT_INCOMPAT = 32,
    AT_ARRAY_UUID = 40,
    AT_DRIVE_UUID = 56,
    AT_DRIVE_INDEX = 72,
    AT_DRIVE_COUNT = 76,
    AT_CHUNK = 80,
    AT_BLOCK = 84,
    AT_DRIVE_BYTES = 88,
    AT_SUPER_FIRST = 96,
    AT_SUPER_SECOND = 104,
    AT_CHECKPOINT = 112,
    AT_CATALOGUE = 120,
    AT_CATALOGUE_BYTES = 128,
    AT_LEDGER = 136,
    AT_LEDGER_BYTES = 144,
    AT_DATA = 152,
    AT_EXTENTS = 160,
    AT_LEDGER_GENERATION = 168,
    AT_POLICY = 172,
    AT_GENERATION = 176,
    AT_CREATED = 184,
    AT_ARRAY_NAME = 192,
    AT_DRIVE_NAME = 256,
    AT_RESERVED = 320,
    AT_CHECK = 4088,
    AT_END = 4096
};
_Static_assert(AT_ARRAY_NAME + STRIA_NAME_BYTES == AT_DRIVE_NAME, "names are 64 bytes on media");
_Static_assert(AT_DRIVE_NAME + STRIA_NAME_BYTES == AT_RESERVED, "names are 64 bytes on media");
_Static_assert(AT_END == STRIA_PAGE_BYTES, "a superblock is one page");

static const uint8_t magic[8] = {'S', 'T', 'R', 'I', 'A', 'S', 'B', '1'};

static bool plausible(const struct stria_superblock *super)
{
    return super->version != 0 && super->drive_count != 0 && super->drive_count <= STRIA_DRIVES_MAX &&
           super->drive_index < super->drive_count && super->ledger_generation != 0 &&
           super->generation != 0 && stria_name_valid(super->array_name) &&
           stria_name_valid(super->drive_name) && stria_geometry_check(&super->geometry) == STRIA_OK;
}

static void geometry_store(uint8_t *out, const struct stria_geometry *geometry)
{
    stria_store_u32(out + AT_CHUNK, geometry->chunk_bytes);
    stria_store_u32(out + AT_BLOCK, geometry->block_bytes);
    stria_store_u64(out + AT_DRIVE_BYTES, geometry->drive_bytes);
    stria_store_u64(out + AT_SUPER_FIRST, geometry->super_offset[0]);
    stria_store_u64(out + AT_SUPER_SECOND, geometry->super_offset[1]);
    stria_store_u64(out + AT_CHECKPOINT, geometry->checkpoint_offset);
    stria_store_u64(out + AT_CATALOGUE, geometry->catalogue_offset);
    stria_store_u64(out + AT_CATALOGUE_BYTES, geometry->catalogue_bytes);
    stria_store_u64(out + AT_LEDGER, geometry->ledger_offset);
    stria_store_u64(out + AT_LEDGER_BYTES, geometry->ledger_bytes);
    stria_store_u64(out + AT_DATA, geometry->data_offset);
    stria_store_u64(out + AT_EXTENTS, geometry->extent_count);
}

static struct stria_geometry geometry_load(const uint8_t *in)
{
    return (struct stria_geometry){
        .chunk_bytes = stria_load_u32(in + AT_CHUNK),
        .block_bytes = stria_load_u32(in + AT_BLOCK),
        .drive_bytes = stria_load_u64(in + AT_DRIVE_BYTES),
        .super_offset = {stria_load_u64(in + AT_SUPER_FIRST), stria_load_u64(in + AT_SUPER_SECOND)},
        .checkpoint_offset = stria_load_u64(in + AT_CHECKPOINT),
        .catalogue_offset = stria_load_u64(in + AT_CATALOGUE),
        .catalogue_bytes = stria_load_u64(in + AT_CATALOGUE_BYTES),
        .ledger_offset = stria_load_u64(in + AT_LEDGER),
        .ledger_bytes = stria_load_u64(in + AT_LEDGER_BYTES),
        .data_offset = stria_load_u64(in + AT_DATA),
        .extent_count = stria_load_u64(in + AT_EXTENTS),
    };
}

void stria_superblock_encode(uint8_t out[STRIA_PAGE_BYTES], const struct stria_superblock *super)
{
    STRIA_ASSERT(plausible(super));
    memset(out, 0, STRIA_PAGE_BYTES);
    memcpy(out + AT_MAGIC, magic, sizeof(magic));
    stria_store_u32(out + AT_VERSION, super->version);
    stria_store_u64(out + AT_COMPAT, super->feature_compat);
    stria_store_u64(out + AT_RO_COMPAT, super->feature_ro_compat);
    stria_store_u64(out + AT_INCOMPAT, super->feature_incompat);
    memcpy(out + AT_ARRAY_UUID, super->array_uuid, STRIA_UUID_BYTES);
    memcpy(out + AT_DRIVE_UUID, super->drive_uuid, STRIA_UUID_BYTES);
    stria_store_u32(out + AT_DRIVE_INDEX, super->drive_index);
    stria_store_u32(out + AT_DRIVE_COUNT, super->drive_count);
    geometry_store(out, &super->geometry);
    stria_store_u32(out + AT_LEDGER_GENERATION, super->ledger_generation);
    stria_store_u32(out + AT_POLICY, super->policy);
    stria_store_u64(out + AT_GENERATION, super->generation);
    stria_store_u64(out + AT_CREATED, super->created_unix_ns);
    memcpy(out + AT_ARRAY_NAME, super->array_name, STRIA_NAME_BYTES);
    memcpy(out + AT_DRIVE_NAME, super->drive_name, STRIA_NAME_BYTES);
    stria_store_u64(out + AT_CHECK, stria_digest_seeded(0, out, AT_CHECK));
}

static bool newer(const uint8_t *in, struct stria_superblock_unknown *unknown)
{
    const uint32_t version = stria_load_u32(in + AT_VERSION);
    if (version > STRIA_FORMAT_VERSION)
        unknown->version = version;
    unknown->incompat = stria_load_u64(in + AT_INCOMPAT) & ~STRIA_FEATURES_INCOMPAT;
    unknown->ro_compat = stria_load_u64(in + AT_RO_COMPAT) & ~STRIA_FEATURES_RO_COMPAT;
    return unknown->version != 0 || unknown->incompat != 0;
}

static struct stria_superblock fields_load(const uint8_t *in)
{
    struct stria_superblock super = {
        .version = stria_load_u32(in + AT_VERSION),
        .feature_compat = stria_load_u64(in + AT_COMPAT),
        .feature_ro_compat = stria_load_u64(in + AT_RO_COMPAT),
        .feature_incompat = stria_load_u64(in + AT_INCOMPAT),
        .drive_index = stria_load_u32(in + AT_DRIVE_INDEX),
        .drive_count = stria_load_u32(in + AT_DRIVE_COUNT),
        .geometry = geometry_load(in),
        .ledger_generation = stria_load_u32(in + AT_LEDGER_GENERATION),
        .policy = stria_load_u32(in + AT_POLICY),
        .generation = stria_load_u64(in + AT_GENERATION),
        .created_unix_ns = stria_load_u64(in + AT_CREATED),
    };
    memcpy(super.array_uuid, in + AT_ARRAY_UUID, STRIA_UUID_BYTES);
    memcpy(super.drive_uuid, in + AT_DRIVE_UUID, STRIA_UUID_BYTES);
    memcpy(super.array_name, in + AT_ARRAY_NAME, STRIA_NAME_BYTES);
    memcpy(super.drive_name, in + AT_DRIVE_NAME, STRIA_NAME_BYTES);
    return super;
}

enum stria_superblock_verdict stria_superblock_decode(const uint8_t in[STRIA_PAGE_BYTES],
                                                      struct stria_superblock *super,
                                                      struct stria_superblock_unknown *unknown)
{
    *unknown = (struct stria_superblock_unknown){0};
    if (memcmp(in + AT_MAGIC, magic, sizeof(magic)) != 0)
        return STRIA_SUPERBLOCK_NOT_OURS;
    if (stria_load_u64(in + AT_CHECK) != stria_digest_seeded(0, in, AT_CHECK))
        return STRIA_SUPERBLOCK_DAMAGED;
    if (newer(in, unknown))
        return STRIA_SUPERBLOCK_NEWER;
    const struct stria_superblock found = fields_load(in);
    if (!plausible(&found))
        return STRIA_SUPERBLOCK_DAMAGED;
    *super = found;
    return STRIA_SUPERBLOCK_VALID;
}

int stria_superblock_code(enum stria_superblock_verdict verdict)
{
    switch (verdict) {
    case STRIA_SUPERBLOCK_VALID:
        return STRIA_OK;
    case STRIA_SUPERBLOCK_NEWER:
        return STRIA_ERR_VERSION;
    case STRIA_SUPERBLOCK_NOT_OURS:
    case STRIA_SUPERBLOCK_DAMAGED:
        break;
    }
    return STRIA_ERR_FORMAT;
}

int stria_superblock_choose(const struct stria_superblock *first, const struct stria_superblock *second)
{
    if (!first && !second)
        return STRIA_ERR_NOT_FOUND;
    if (!first || !second)
        return first ? 0 : 1;
    if (memcmp(first->array_uuid, second->array_uuid, STRIA_UUID_BYTES) == 0)
        return second->generation > first->generation;
    return second->created_unix_ns > first->created_unix_ns;
}

uint64_t stria_superblock_second_offset(const struct stria_superblock *first, uint64_t drive_bytes,
                                        uint64_t offset)
{
    return first && first->geometry.drive_bytes <= drive_bytes ? first->geometry.super_offset[1] : offset;
}

struct stria_ledger_binding stria_superblock_binding(const struct stria_superblock *super)
{
    struct stria_ledger_binding binding = {
        .drive_index = super->drive_index,
        .generation = super->ledger_generation,
    };
    memcpy(binding.array_uuid, super->array_uuid, STRIA_UUID_BYTES);
    return binding;
}
