#include "engine/create.h"

#include "core/assert.h"
#include "core/creation.h"
#include "engine/array_internal.h"
#include "engine/gang.h"
#include "engine/stack.h"
#include "support/clock.h"
#include "support/pages.h"
#include "support/units.h"
#include "support/uuid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct creation {
    const struct stria_array_config *config;
    const bool *held; /* by drive; null: none */
    struct stria_bell bell;
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    struct stria_superblock supers[STRIA_DRIVES_MAX];
    uint32_t block_bytes;
    uint8_t *blank; /* STRIA_CREATION_BLANK_BYTES of zeroes */
    uint8_t *log;   /* a new catalogue */
    size_t log_bytes;
    uint8_t *pages; /* one superblock page for each drive */
};

static int open_drives(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_stack_options options = {
        .writable = true,
        .depth = stria_depth_with_extra(creation->config->depth),
        .bell = &creation->bell,
    };
    creation->block_bytes = STRIA_BLOCK_BYTES_MIN;
    for (uint32_t index = 0; index < creation->config->drive_count; index++) {
        options.held = creation->held && creation->held[index];
        int code =
            stria_stack_open(&creation->config->drives[index], &options, &creation->drives[index], trouble);
        if (code != STRIA_OK)
            return code;
        creation->block_bytes =
            stria_block_bytes_larger(creation->block_bytes, creation->drives[index]->traits.block_bytes);
    }
    return STRIA_OK;
}

static int plan_drives(struct creation *creation, struct stria_trouble *trouble)
{
    const struct stria_array_config *config = creation->config;
    struct stria_creation_config common = {
        .drive_count = config->drive_count,
        .chunk_bytes = config->chunk_bytes,
        .block_bytes = creation->block_bytes,
        .policy = config->policy,
        .wall_ns = stria_clock_wall_ns(),
    };
    memcpy(common.name, config->name, STRIA_NAME_BYTES);
    stria_uuid_draw(common.array_uuid);
    for (uint32_t index = 0; index < config->drive_count; index++) {
        const struct stria_traits *traits = &creation->drives[index]->traits;
        uint8_t drive_uuid[STRIA_UUID_BYTES];
        stria_uuid_draw(drive_uuid);
        int code = stria_creation_plan(&creation->supers[index], &common, index, traits->drive_bytes,
                                       config->drives[index].name, drive_uuid);
        if (code == STRIA_ERR_NO_SPACE)
            return stria_trouble_set(trouble, code,
                                     "%s has %" PRIu64 " MiB: with chunks of %" PRIu32
                                     " KiB a drive needs at least %" PRIu64 " MiB",
                                     traits->path, traits->drive_bytes >> 20, config->chunk_bytes >> 10,
                                     (stria_geometry_drive_bytes_min(config->chunk_bytes) + 0xfffff) >> 20);
        if (code != STRIA_OK)
            return stria_trouble_set(trouble, code, "%s: a drive of %" PRIu64 " bytes cannot be laid out",
                                     traits->path, traits->drive_bytes);
    }
    return STRIA_OK;
}

static int prepare_memory(struct creation *creation, struct stria_trouble *trouble)
{
    creation->log_bytes = stria_creation_log_bytes(creation->supers, creation->config->drive_count);
    creation->blank = stria_pages_map(STRIA_CREATION_BLANK_BYTES);
    creation->log = stria_pages_map(creation->log_bytes);
    creation->pages = stria_pages_map((size_t)STRIA_DRIVES_MAX * STRIA_PAGE_BYTES);
    if (!creation->blank || !creation->log || !creation->pages)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while making the array");
    struct stria_catalogue catalogue;
    stria_catalogue_format(&catalogue, creation->log, creation->log_bytes, creation->supers[0].array_uuid,
                           stria_clock_wall_ns());
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        stria_superblock_encode(creation->pages + index * STRIA_PAGE_BYTES, &creation->supers[index]);
    return STRIA_OK;
}

/* One request to each drive that has something at this step; the first failure is told. */
static int run(struct creation *creation, struct stria_gang_job jobs[STRIA_DRIVES_MAX],
               struct stria_trouble *trouble)
{
    uint32_t count = creation->config->drive_count;
    stria_gang_run(jobs, count, &creation->bell, creation->config->read_deadline_ns);
    for (uint32_t index = 0; index < count; index++)
        if (jobs[index].drive && jobs[index].code != STRIA_OK)
            return stria_trouble_set(trouble, jobs[index].code, "%s cannot be written: %s",
                                     creation->drives[index]->traits.path, stria_code_text(jobs[index].code));
    return STRIA_OK;
}

static struct stria_gang_job job_of(const struct creation *creation, uint32_t index,
                                    const struct stria_creation_request *request)
{
    struct stria_gang_job job = {.drive = creation->drives[index],
                                 .op = STRIA_IO_WRITE,
                                 .offset = request->offset,
                                 .length = request->length_bytes};
    switch (request->op) {
    case STRIA_CREATION_NOTHING:
        job.drive = NULL;
        break;
    case STRIA_CREATION_BLANK:
        job.data = creation->blank;
        break;
    case STRIA_CREATION_LOG:
        job.data = creation->log;
        break;
    case STRIA_CREATION_SUPERBLOCK:
        job.data = creation->pages + index * STRIA_PAGE_BYTES;
        break;
    case STRIA_CREATION_FLUSH:
        job.op = STRIA_IO_FLUSH;
        break;
    }
    return job;
}

static int write_all(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_creation order = {0};
    struct stria_creation_request requests[STRIA_DRIVES_MAX];
    uint32_t count = creation->config->drive_count;
    int code = STRIA_OK;
    while (code == STRIA_OK && stria_creation_next(&order, creation->supers, count, requests)) {
        struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
        for (uint32_t index = 0; index < count; index++)
            jobs[index] = job_of(creation, index, &requests[index]);
        code = run(creation, jobs, trouble);
    }
    return code;
}

static void describe(const struct creation *creation, struct stria_created *created)
{
    memset(created, 0, sizeof(*created));
    stria_uuid_text(creation->supers[0].array_uuid, created->uuid);
    created->block_bytes = creation->block_bytes;
    for (uint32_t index = 0; index < creation->config->drive_count; index++) {
        const struct stria_drive *drive = creation->drives[index];
        STRIA_ASSERT(drive);
        created->drives[index].drive_bytes = creation->supers[index].geometry.drive_bytes;
        created->drives[index].extents = creation->supers[index].geometry.extent_count;
        created->drives[index].block_bytes = drive->traits.block_bytes;
        snprintf(created->drives[index].serial, sizeof(created->drives[index].serial), "%s",
                 drive->traits.serial);
    }
}

static void clean_up(struct creation *creation)
{
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        stria_stack_close(creation->drives[index]);
    stria_pages_unmap(creation->blank, STRIA_CREATION_BLANK_BYTES);
    stria_pages_unmap(creation->log, creation->log_bytes);
    stria_pages_unmap(creation->pages, (size_t)STRIA_DRIVES_MAX * STRIA_PAGE_BYTES);
    free(creation);
}

int stria_array_create(const struct stria_array_config *config, const bool *held,
                       struct stria_created *created, struct stria_trouble *trouble)
{
    struct creation *creation = calloc(1, sizeof(*creation));
    if (!creation)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while making the array");
    creation->config = config;
    creation->held = held;
    int code = open_drives(creation, trouble);
    if (code == STRIA_OK)
        code = plan_drives(creation, trouble);
    if (code == STRIA_OK)
        code = prepare_memory(creation, trouble);
    if (code == STRIA_OK)
        code = write_all(creation, trouble);
    if (code == STRIA_OK && created)
        describe(creation, created);
    clean_up(creation);
    return code;
}
