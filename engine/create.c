#define _GNU_SOURCE
#include "engine/create.h"

#include "engine/array_internal.h"
#include "engine/gang.h"
#include "engine/stack.h"
#include "support/clock.h"
#include "support/units.h"
#include "support/uuid.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Blank metadata are written in pieces of this size. */
#define BLANK_BYTES ((uint64_t)4 << 20)

struct creation {
    const struct stria_array_config *config;
    struct stria_bell bell;
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    struct stria_superblock supers[STRIA_DRIVES_MAX];
    uint32_t block_bytes;
    uint8_t *blank; /* BLANK_BYTES of zeroes */
    uint8_t *log;   /* a new catalogue */
    size_t log_bytes;
    uint8_t *pages; /* one superblock page for each drive */
};

static int open_drives(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_stack_options options = {
        .writable = true,
        .depth = creation->config->depth + STRIA_DEPTH_EXTRA,
        .bell = &creation->bell,
    };
    creation->block_bytes = STRIA_BLOCK_BYTES_MIN;
    for (uint32_t index = 0; index < creation->config->drive_count; index++) {
        int code =
            stria_stack_open(&creation->config->drives[index], &options, &creation->drives[index], trouble);
        if (code != STRIA_OK)
            return code;
        const struct stria_traits *traits = &creation->drives[index]->traits;
        if (traits->block_bytes > creation->block_bytes)
            creation->block_bytes = traits->block_bytes;
        if (traits->transfer_bytes_max < creation->config->chunk_bytes)
            return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                     "%s takes at most %" PRIu64
                                     " KiB at once: give [array] a chunk of that size or less",
                                     traits->path, traits->transfer_bytes_max >> 10);
    }
    return STRIA_OK;
}

static int plan_drives(struct creation *creation, struct stria_trouble *trouble)
{
    const struct stria_array_config *config = creation->config;
    uint8_t array_uuid[STRIA_UUID_BYTES];
    uint64_t created_unix_ns = stria_clock_wall_ns();
    stria_uuid_draw(array_uuid);
    for (uint32_t index = 0; index < config->drive_count; index++) {
        struct stria_superblock *super = &creation->supers[index];
        const struct stria_traits *traits = &creation->drives[index]->traits;
        *super = (struct stria_superblock){
            .version = STRIA_FORMAT_VERSION,
            .drive_index = index,
            .drive_count = config->drive_count,
            .ledger_generation = 1,
            .policy = config->policy,
            .generation = 1,
            .created_unix_ns = created_unix_ns,
        };
        memcpy(super->array_uuid, array_uuid, STRIA_UUID_BYTES);
        memcpy(super->array_name, config->name, STRIA_NAME_BYTES);
        memcpy(super->drive_name, config->drives[index].name, STRIA_NAME_BYTES);
        stria_uuid_draw(super->drive_uuid);
        int code = stria_geometry_plan(&super->geometry, traits->drive_bytes, config->chunk_bytes,
                                       creation->block_bytes);
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

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int prepare_memory(struct creation *creation, struct stria_trouble *trouble)
{
    creation->log_bytes = STRIA_CATALOGUE_HALF_MAX;
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        if (creation->supers[index].geometry.catalogue_bytes / 2 < creation->log_bytes)
            creation->log_bytes = creation->supers[index].geometry.catalogue_bytes / 2;
    creation->blank = map(BLANK_BYTES);
    creation->log = map(creation->log_bytes);
    creation->pages = map((size_t)STRIA_DRIVES_MAX * STRIA_PAGE_BYTES);
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
    stria_gang_run(jobs, count, &creation->bell, creation->config->write_deadline_ns);
    for (uint32_t index = 0; index < count; index++)
        if (jobs[index].drive && jobs[index].code != STRIA_OK)
            return stria_trouble_set(trouble, jobs[index].code, "%s cannot be written: %s",
                                     creation->drives[index]->traits.path, stria_code_text(jobs[index].code));
    return STRIA_OK;
}

static int flush(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        jobs[index] = (struct stria_gang_job){.drive = creation->drives[index], .op = STRIA_IO_FLUSH};
    return run(creation, jobs, trouble);
}

/* Zeroes from the drive's start to the data area, piece by piece on all drives at once: whatever was there
 * must not be taken for metadata, nor for a file system. */
static int blank_metadata(struct creation *creation, struct stria_trouble *trouble)
{
    for (uint64_t offset = 0;; offset += BLANK_BYTES) {
        struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
        bool any = false;
        for (uint32_t index = 0; index < creation->config->drive_count; index++) {
            uint64_t end = creation->supers[index].geometry.data_offset;
            if (offset >= end)
                continue;
            any = true;
            jobs[index] =
                (struct stria_gang_job){.drive = creation->drives[index],
                                        .op = STRIA_IO_WRITE,
                                        .offset = offset,
                                        .length = end - offset < BLANK_BYTES ? end - offset : BLANK_BYTES,
                                        .data = creation->blank};
        }
        if (!any)
            return STRIA_OK;
        int code = run(creation, jobs, trouble);
        if (code != STRIA_OK)
            return code;
    }
}

/* So must what lies behind the data. */
static int blank_tail(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < creation->config->drive_count; index++) {
        const struct stria_geometry *geometry = &creation->supers[index].geometry;
        uint64_t start = geometry->super_offset[1];
        uint64_t end = geometry->drive_bytes & ~(uint64_t)(geometry->block_bytes - 1);
        jobs[index] = (struct stria_gang_job){.drive = creation->drives[index],
                                              .op = STRIA_IO_WRITE,
                                              .offset = start,
                                              .length = end - start < BLANK_BYTES ? end - start : BLANK_BYTES,
                                              .data = creation->blank};
    }
    return run(creation, jobs, trouble);
}

static int write_catalogues(struct creation *creation, struct stria_trouble *trouble)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        jobs[index] = (struct stria_gang_job){
            .drive = creation->drives[index],
            .op = STRIA_IO_WRITE,
            .offset = stria_geometry_catalogue_half_offset(&creation->supers[index].geometry, 1),
            .length = creation->log_bytes,
            .data = creation->log};
    return run(creation, jobs, trouble);
}

static int write_superblocks(struct creation *creation, unsigned copy, struct stria_trouble *trouble)
{
    struct stria_gang_job jobs[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        jobs[index] = (struct stria_gang_job){.drive = creation->drives[index],
                                              .op = STRIA_IO_WRITE,
                                              .offset = creation->supers[index].geometry.super_offset[copy],
                                              .length = STRIA_PAGE_BYTES,
                                              .data = creation->pages + index * STRIA_PAGE_BYTES};
    return run(creation, jobs, trouble);
}

static int write_all(struct creation *creation, struct stria_trouble *trouble)
{
    int code = blank_tail(creation, trouble);
    if (code == STRIA_OK)
        code = blank_metadata(creation, trouble);
    if (code == STRIA_OK)
        code = write_catalogues(creation, trouble);
    if (code == STRIA_OK)
        code = flush(creation, trouble);
    for (unsigned copy = 0; copy < 2 && code == STRIA_OK; copy++)
        code = write_superblocks(creation, copy, trouble);
    return code == STRIA_OK ? flush(creation, trouble) : code;
}

static void describe(const struct creation *creation, struct stria_created *created)
{
    memset(created, 0, sizeof(*created));
    stria_uuid_text(creation->supers[0].array_uuid, created->uuid);
    created->block_bytes = creation->block_bytes;
    for (uint32_t index = 0; index < creation->config->drive_count; index++) {
        created->drives[index].drive_bytes = creation->supers[index].geometry.drive_bytes;
        created->drives[index].extents = creation->supers[index].geometry.extent_count;
    }
}

static void clean_up(struct creation *creation)
{
    for (uint32_t index = 0; index < creation->config->drive_count; index++)
        stria_stack_close(creation->drives[index]);
    if (creation->blank)
        munmap(creation->blank, BLANK_BYTES);
    if (creation->log)
        munmap(creation->log, creation->log_bytes);
    if (creation->pages)
        munmap(creation->pages, (size_t)STRIA_DRIVES_MAX * STRIA_PAGE_BYTES);
    free(creation);
}

int stria_array_create(const struct stria_array_config *config, struct stria_created *created,
                       struct stria_trouble *trouble)
{
    struct creation *creation = calloc(1, sizeof(*creation));
    if (!creation)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while making the array");
    creation->config = config;
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
