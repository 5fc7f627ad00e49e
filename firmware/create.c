/* Making an array. What is written, and in which order, is core's. */
#include "core/code.h"
#include "core/creation.h"
#include "core/digest.h"
#include "core/random.h"
#include "firmware/arena.h"
#include "firmware/array.h"
#include "firmware/console.h"
#include "firmware/text.h"

#include <string.h>

struct creation {
    const struct stria_bare_drives *drives;
    struct stria_superblock *supers;
    uint8_t *blank, *log, *pages;
    uint64_t deadline_ns;
};

/* Serial numbers too, for a machine whose boot loader draws nothing and that has no calendar. */
static void seed_random(struct stria_random *random, const struct stria_machine *machine,
                        const struct stria_bare_drives *drives)
{
    uint64_t seed = stria_machine_seed(machine);
    for (uint32_t index = 0; index < drives->count; index++)
        seed = stria_digest_seeded(seed, drives->list[index]->base.traits.serial,
                                   sizeof(drives->list[index]->base.traits.serial));
    stria_random_seed(random, seed);
}

/* RFC 9562, version 4. */
static void draw_uuid(struct stria_random *random, uint8_t uuid[STRIA_UUID_BYTES])
{
    for (uint32_t half = 0; half < 2; half++) {
        const uint64_t bits = stria_random_next(random);
        memcpy(uuid + 8 * half, &bits, sizeof(bits));
    }
    uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
    uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static int plan(struct creation *creation, const struct stria_machine *machine,
                const struct stria_firmware_options *options)
{
    struct stria_creation_config common = {
        .drive_count = creation->drives->count,
        .chunk_bytes = (uint32_t)options->chunk_bytes,
        .block_bytes = STRIA_BLOCK_BYTES_MIN,
        .policy = options->policy ? (uint32_t)options->policy : STRIA_POLICY_ADAPTIVE,
        .wall_ns = stria_machine_wall_ns(machine),
    };
    struct stria_random random;
    seed_random(&random, machine, creation->drives);
    memcpy(common.name, options->array, STRIA_NAME_BYTES);
    draw_uuid(&random, common.array_uuid);
    for (uint32_t index = 0; index < common.drive_count; index++)
        if (creation->drives->list[index]->base.traits.block_bytes > common.block_bytes)
            common.block_bytes = creation->drives->list[index]->base.traits.block_bytes;
    for (uint32_t index = 0; index < common.drive_count; index++) {
        const struct stria_traits *traits = &creation->drives->list[index]->base.traits;
        char name[STRIA_NAME_BYTES] = "";
        uint8_t uuid[STRIA_UUID_BYTES];
        stria_text_compose(name, sizeof(name), "drive%u", index);
        draw_uuid(&random, uuid);
        const int code =
            stria_creation_plan(&creation->supers[index], &common, index, traits->drive_bytes, name, uuid);
        if (code != STRIA_OK) {
            stria_console_say(
                "stria: %s has %lu MiB: with chunks of %u KiB a drive needs at least %lu MiB", traits->path,
                (unsigned long)(traits->drive_bytes >> 20), common.chunk_bytes >> 10,
                (unsigned long)((stria_geometry_drive_bytes_min(common.chunk_bytes) + 0xfffff) >> 20));
            return code;
        }
    }
    return STRIA_OK;
}

static int prepare_memory(struct creation *creation, const struct stria_machine *machine)
{
    const uint32_t count = creation->drives->count;
    const size_t log_bytes = stria_creation_log_bytes(creation->supers, count);
    creation->blank = stria_arena_take(STRIA_CREATION_BLANK_BYTES, STRIA_PAGE_BYTES, "blanking");
    creation->log = stria_arena_take(log_bytes, STRIA_PAGE_BYTES, "the catalogue");
    creation->pages = stria_arena_take((size_t)count * STRIA_PAGE_BYTES, STRIA_PAGE_BYTES, "superblocks");
    if (!creation->blank || !creation->log || !creation->pages)
        return STRIA_ERR_NO_MEMORY;
    struct stria_catalogue catalogue;
    stria_catalogue_format(&catalogue, creation->log, log_bytes, creation->supers[0].array_uuid,
                           stria_machine_wall_ns(machine));
    for (uint32_t index = 0; index < count; index++)
        stria_superblock_encode(creation->pages + (size_t)index * STRIA_PAGE_BYTES, &creation->supers[index]);
    return STRIA_OK;
}

static struct stria_bare_job job_of(const struct creation *creation, uint32_t index,
                                    const struct stria_creation_request *request)
{
    struct stria_bare_job job = {.drive = creation->drives->list[index],
                                 .op = STRIA_IO_WRITE,
                                 .offset = request->offset,
                                 .length_bytes = request->length_bytes};
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
        job.data = creation->pages + (size_t)index * STRIA_PAGE_BYTES;
        break;
    case STRIA_CREATION_FLUSH:
        job.op = STRIA_IO_FLUSH;
        break;
    }
    return job;
}

static int write_all(const struct creation *creation)
{
    struct stria_creation order = {0};
    struct stria_creation_request requests[STRIA_DRIVES_MAX];
    const uint32_t count = creation->drives->count;
    while (stria_creation_next(&order, creation->supers, count, requests)) {
        struct stria_bare_job jobs[STRIA_BARE_DRIVES_MAX];
        for (uint32_t index = 0; index < count; index++)
            jobs[index] = job_of(creation, index, &requests[index]);
        stria_bare_jobs_run(jobs, count, creation->deadline_ns);
        for (uint32_t index = 0; index < count; index++) {
            if (!jobs[index].drive || jobs[index].code == STRIA_OK)
                continue;
            stria_console_say("stria: %s cannot be written: %s", jobs[index].drive->base.traits.path,
                              stria_code_text(jobs[index].code));
            return jobs[index].code;
        }
    }
    return STRIA_OK;
}

int stria_bare_array_create(const struct stria_bare_drives *drives, const struct stria_machine *machine,
                            const struct stria_firmware_options *options)
{
    struct creation creation = {.drives = drives, .deadline_ns = options->deadline_ms * 1000000};
    creation.supers = stria_arena_take(drives->count * sizeof(*creation.supers),
                                       _Alignof(struct stria_superblock), "superblocks");
    if (!creation.supers)
        return STRIA_ERR_NO_MEMORY;
    int code = plan(&creation, machine, options);
    if (code == STRIA_OK)
        code = prepare_memory(&creation, machine);
    if (code == STRIA_OK)
        code = write_all(&creation);
    if (code == STRIA_OK)
        stria_console_say("array %s made of %u drives, %s, chunks of %u KiB", options->array, drives->count,
                          stria_policy_text((enum stria_policy)creation.supers[0].policy),
                          creation.supers[0].geometry.chunk_bytes >> 10);
    return code;
}
