#include "core/creation.h"

#include "core/assert.h"
#include "core/bits.h"

#include <string.h>

/* In this order: a step may count on all those in front of it. */
enum stage {
    STAGE_BLANK_TAIL,
    STAGE_BLANK_HEAD, /* as many steps as it takes */
    STAGE_LOG,
    STAGE_FLUSH_BLANK,
    STAGE_SUPERBLOCK_A,
    STAGE_SUPERBLOCK_B,
    STAGE_FLUSH_ALL,
    STAGE_END
};

int stria_creation_plan(struct stria_superblock *super, const struct stria_creation_config *config,
                        uint32_t index, uint64_t drive_bytes, const char drive_name[STRIA_NAME_BYTES],
                        const uint8_t drive_uuid[STRIA_UUID_BYTES])
{
    *super = (struct stria_superblock){
        .version = STRIA_FORMAT_VERSION,
        .drive_index = index,
        .drive_count = config->drive_count,
        .ledger_generation = 1,
        .policy = config->policy,
        .generation = 1,
        .created_unix_ns = config->wall_ns,
    };
    memcpy(super->array_uuid, config->array_uuid, STRIA_UUID_BYTES);
    memcpy(super->array_name, config->name, STRIA_NAME_BYTES);
    memcpy(super->drive_name, drive_name, STRIA_NAME_BYTES);
    memcpy(super->drive_uuid, drive_uuid, STRIA_UUID_BYTES);
    return stria_geometry_plan(&super->geometry, drive_bytes, config->chunk_bytes, config->block_bytes);
}

size_t stria_creation_log_bytes(const struct stria_superblock *supers, uint32_t drive_count)
{
    uint64_t bytes = STRIA_CATALOGUE_HALF_MAX;
    for (uint32_t index = 0; index < drive_count; index++)
        if (supers[index].geometry.catalogue_bytes / 2 < bytes)
            bytes = supers[index].geometry.catalogue_bytes / 2;
    return (size_t)bytes;
}

static struct stria_creation_request blank(uint64_t start, uint64_t end)
{
    if (start >= end)
        return (struct stria_creation_request){.op = STRIA_CREATION_NOTHING};
    const uint64_t bytes =
        end - start < STRIA_CREATION_BLANK_BYTES ? end - start : STRIA_CREATION_BLANK_BYTES;
    return (struct stria_creation_request){STRIA_CREATION_BLANK, start, bytes};
}

static struct stria_creation_request request_of(const struct stria_creation *creation,
                                                const struct stria_superblock *super, size_t log_bytes)
{
    const struct stria_geometry *geometry = &super->geometry;
    switch ((enum stage)creation->stage) {
    case STAGE_BLANK_TAIL:
        /* Less than 128 KiB and so one piece: from superblock B to the drive's last whole block. */
        return blank(geometry->super_offset[1],
                     stria_align_down(geometry->drive_bytes, geometry->block_bytes));
    case STAGE_BLANK_HEAD:
        /* Whatever was there must not be taken for metadata, nor for a file system. */
        return blank(creation->blanked_bytes, geometry->data_offset);
    case STAGE_LOG:
        return (struct stria_creation_request){STRIA_CREATION_LOG,
                                               stria_geometry_catalogue_half_offset(geometry, 1), log_bytes};
    case STAGE_SUPERBLOCK_A:
    case STAGE_SUPERBLOCK_B:
        return (struct stria_creation_request){STRIA_CREATION_SUPERBLOCK,
                                               geometry->super_offset[creation->stage - STAGE_SUPERBLOCK_A],
                                               STRIA_PAGE_BYTES};
    case STAGE_FLUSH_BLANK:
    case STAGE_FLUSH_ALL:
        return (struct stria_creation_request){.op = STRIA_CREATION_FLUSH};
    case STAGE_END:
        break;
    }
    return (struct stria_creation_request){.op = STRIA_CREATION_NOTHING};
}

static void advance(struct stria_creation *creation, bool all_idle)
{
    if (creation->stage == STAGE_BLANK_HEAD && !all_idle)
        creation->blanked_bytes += STRIA_CREATION_BLANK_BYTES;
    else
        creation->stage++;
}

bool stria_creation_next(struct stria_creation *creation, const struct stria_superblock *supers,
                         uint32_t drive_count, struct stria_creation_request requests[STRIA_DRIVES_MAX])
{
    STRIA_ASSERT(drive_count >= 1 && drive_count <= STRIA_DRIVES_MAX);
    const size_t log_bytes = stria_creation_log_bytes(supers, drive_count);
    while (creation->stage < STAGE_END) {
        bool all_idle = true;
        for (uint32_t index = 0; index < drive_count; index++) {
            requests[index] = request_of(creation, &supers[index], log_bytes);
            all_idle &= requests[index].op == STRIA_CREATION_NOTHING;
        }
        advance(creation, all_idle);
        if (!all_idle)
            return true;
    }
    return false;
}
