/* Reading an array, and keeping its catalogue: what the engine does with drives that are opened by name. */
#include "firmware/array.h"

#include "core/code.h"
#include "core/digest.h"
#include "core/recorder.h"
#include "core/space.h"
#include "firmware/arena.h"
#include "firmware/console.h"

#include <string.h>

/* Cells that one recording may need: begun, ended, and its losses. */
#define CATALOGUE_ENTRIES 64u

static void drop(struct stria_bare_array *array, uint32_t index, const char *what, int code)
{
    struct stria_bare_member *member = &array->members[index];
    stria_console_say("stria: %s is left out: %s: %s", member->drive->base.traits.path, what,
                      stria_code_text(code));
    member->drive = NULL;
    array->present--;
}

/* The superblock of one drive; false when it has none that counts, and the reason was said. */
static bool identify(struct stria_bare_drive *drive, uint8_t *page, uint64_t deadline_ns,
                     struct stria_superblock *super)
{
    uint64_t offsets[2];
    struct stria_superblock copies[2];
    bool valid[2] = {false, false}, newer = false;
    const char *path = drive->base.traits.path;
    if (stria_geometry_super_offsets(drive->base.traits.drive_bytes, offsets) != STRIA_OK) {
        stria_console_say("stria: %s is too small to carry an array", path);
        return false;
    }
    for (unsigned copy = 0; copy < 2; copy++) {
        struct stria_superblock_unknown unknown;
        struct stria_bare_job job = {.drive = drive,
                                     .op = STRIA_IO_READ,
                                     .offset = offsets[copy],
                                     .length_bytes = STRIA_PAGE_BYTES,
                                     .data = page};
        stria_bare_jobs_run(&job, 1, deadline_ns);
        if (job.code != STRIA_OK)
            continue;
        const enum stria_superblock_verdict verdict = stria_superblock_decode(page, &copies[copy], &unknown);
        valid[copy] = verdict == STRIA_SUPERBLOCK_VALID && unknown.ro_compat == 0;
        newer |= verdict == STRIA_SUPERBLOCK_NEWER ||
                 (verdict == STRIA_SUPERBLOCK_VALID && unknown.ro_compat != 0);
        if (copy == 0)
            offsets[1] = stria_superblock_second_offset(verdict == STRIA_SUPERBLOCK_VALID ? &copies[0] : NULL,
                                                        drive->base.traits.drive_bytes, offsets[1]);
    }
    const int chosen = stria_superblock_choose(valid[0] ? &copies[0] : NULL, valid[1] ? &copies[1] : NULL);
    if (chosen < 0 || newer || copies[chosen].geometry.drive_bytes > drive->base.traits.drive_bytes) {
        stria_console_say("stria: %s %s", path,
                          newer        ? "is of a newer format than this image knows"
                          : chosen < 0 ? "carries no array: make one with 'init'"
                                       : "is shorter than when its array was made");
        return false;
    }
    *super = copies[chosen];
    return true;
}

static bool agrees(const struct stria_superblock *a, const struct stria_superblock *b)
{
    return memcmp(a->array_uuid, b->array_uuid, STRIA_UUID_BYTES) == 0 && a->drive_count == b->drive_count &&
           a->geometry.chunk_bytes == b->geometry.chunk_bytes &&
           a->geometry.block_bytes == b->geometry.block_bytes;
}

static void adopt(struct stria_bare_array *array, const struct stria_superblock *super, uint64_t policy)
{
    memcpy(array->uuid, super->array_uuid, STRIA_UUID_BYTES);
    memcpy(array->name, super->array_name, STRIA_NAME_BYTES);
    array->member_count = super->drive_count;
    array->policy = policy ? (enum stria_policy)policy : (enum stria_policy)super->policy;
    array->chunk_bytes = super->geometry.chunk_bytes;
    array->block_bytes = super->geometry.block_bytes;
}

/* The first drive that carries an array says which one; the others have to agree. */
static int find_members(struct stria_bare_array *array, const struct stria_bare_drives *drives,
                        uint64_t policy)
{
    uint8_t *page = stria_arena_take(STRIA_PAGE_BYTES, STRIA_PAGE_BYTES, "a superblock");
    struct stria_superblock first, super;
    if (!page)
        return STRIA_ERR_NO_MEMORY;
    for (uint32_t index = 0; index < drives->count; index++) {
        struct stria_bare_drive *drive = drives->list[index];
        if (!identify(drive, page, array->deadline_ns, &super))
            continue;
        if (array->member_count == 0) {
            first = super;
            adopt(array, &first, policy);
        }
        struct stria_bare_member *member = &array->members[super.drive_index];
        if (!agrees(&first, &super) || member->drive) {
            stria_console_say("stria: %s is of another array, named %s, or a copy of a drive: it is left out",
                              drive->base.traits.path, super.array_name);
            continue;
        }
        member->drive = drive;
        member->super = super;
        array->present++;
        array->block_bytes = stria_block_bytes_larger(array->block_bytes, drive->base.traits.block_bytes);
    }
    if (array->present == 0) {
        stria_console_say("stria: no drive carries an array");
        return STRIA_ERR_FORMAT;
    }
    return STRIA_OK;
}

static int take_images(struct stria_bare_member *member)
{
    const struct stria_geometry *geometry = &member->super.geometry;
    const size_t half_bytes = (size_t)geometry->catalogue_bytes / 2;
    member->checkpoints = stria_arena_take(STRIA_CHECKPOINT_BYTES, STRIA_PAGE_BYTES, "checkpoints");
    member->halves[0] = stria_arena_take(2 * half_bytes, STRIA_PAGE_BYTES, "a drive's catalogue");
    member->ledger = stria_arena_take(geometry->ledger_bytes, STRIA_PAGE_BYTES, "a drive's ledger");
    member->staging = stria_arena_take(STRIA_STAGING_BYTES, STRIA_PAGE_BYTES, "a drive's metadata");
    member->extent_state = stria_arena_take(geometry->extent_count, 64, "the state of a drive's extents");
    if (!member->checkpoints || !member->halves[0] || !member->ledger || !member->staging ||
        !member->extent_state)
        return STRIA_ERR_NO_MEMORY;
    member->halves[1] = member->halves[0] + half_bytes;
    return STRIA_OK;
}

enum region { REGION_CHECKPOINTS, REGION_CATALOGUE, REGION_LEDGER, REGIONS };

static struct stria_bare_job read_of(const struct stria_bare_member *member, enum region region)
{
    const struct stria_geometry *geometry = &member->super.geometry;
    struct stria_bare_job job = {.drive = member->drive, .op = STRIA_IO_READ};
    switch (region) {
    case REGION_CHECKPOINTS:
        job.offset = geometry->checkpoint_offset;
        job.length_bytes = STRIA_CHECKPOINT_BYTES;
        job.data = member->checkpoints;
        break;
    case REGION_CATALOGUE:
        job.offset = geometry->catalogue_offset;
        job.length_bytes = geometry->catalogue_bytes;
        job.data = member->halves[0];
        break;
    case REGION_LEDGER:
    case REGIONS:
        job.offset = geometry->ledger_offset;
        job.length_bytes = geometry->ledger_bytes;
        job.data = member->ledger;
        break;
    }
    return job;
}

static void only_read(struct stria_bare_array *array, const char *reason)
{
    array->read_only = true;
    stria_console_say("stria: array %s is only read: %s", array->name, reason);
}

static int load(struct stria_bare_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive && take_images(&array->members[index]) != STRIA_OK)
            return STRIA_ERR_NO_MEMORY;
    for (enum region region = 0; region < REGIONS; region++) {
        struct stria_bare_job jobs[STRIA_DRIVES_MAX];
        for (uint32_t index = 0; index < array->member_count; index++)
            jobs[index] = read_of(&array->members[index], region);
        stria_bare_jobs_run(jobs, array->member_count, array->deadline_ns);
        for (uint32_t index = 0; index < array->member_count; index++)
            if (jobs[index].drive && jobs[index].code != STRIA_OK)
                drop(array, index, "its metadata cannot be read", jobs[index].code);
    }
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_bare_member *member = &array->members[index];
        if (!member->drive)
            continue;
        const struct stria_ledger_binding binding = stria_superblock_binding(&member->super);
        member->checkpoint_valid =
            stria_checkpoint_choose(member->checkpoints, &member->checkpoint, &binding) == STRIA_OK;
        const int code =
            stria_catalogue_load(&member->catalogue, member->halves,
                                 (size_t)member->super.geometry.catalogue_bytes / 2, array->uuid);
        if (code != STRIA_OK)
            stria_console_say("stria: %s: its catalogue does not count: %s", member->drive->base.traits.path,
                              stria_code_text(code));
        if (code == STRIA_ERR_VERSION)
            only_read(array, "a newer Stria wrote to it");
    }
    return STRIA_OK;
}

#define ALL_DRIVES UINT32_MAX

static size_t log_bytes(const struct stria_bare_array *array)
{
    return (size_t)array->catalogue.entries_max * STRIA_CATALOGUE_ENTRY_BYTES;
}

static int merge(struct stria_bare_array *array)
{
    struct stria_catalogue replicas[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive)
            replicas[index] = array->members[index].catalogue;
    const struct stria_catalogue_meeting meeting = {
        .drive_absent = array->present < array->member_count,
        .wall_ns = stria_machine_wall_ns(array->machine),
        .memory = stria_arena_take(stria_catalogue_merge_bytes(replicas, array->member_count),
                                   STRIA_PAGE_BYTES, "the catalogue"),
    };
    if (!meeting.memory)
        return STRIA_ERR_NO_MEMORY;
    const int code = stria_catalogue_merge(replicas, array->member_count, &meeting, &array->catalogue);
    if (code == STRIA_ERR_NOT_FOUND) {
        stria_console_say("stria: array %s: no drive has a catalogue that counts", array->name);
        return STRIA_ERR_FORMAT;
    }
    if (code != STRIA_OK)
        only_read(array, "its drives recorded apart from each other, and their catalogues have no room for "
                         "all that they know together");
    return STRIA_OK;
}

static int mark_extents(struct stria_bare_array *array, uint32_t index)
{
    struct stria_bare_member *member = &array->members[index];
    const uint64_t count = member->super.geometry.extent_count;
    const size_t before = stria_arena_used_bytes();
    uint8_t *bitmap = stria_arena_take((size_t)(count + 7) / 8, 8, "a bitmap");
    if (!bitmap)
        return STRIA_ERR_NO_MEMORY;
    member->free_extents = count - stria_inventory_used(&array->inventory, &array->input, index, bitmap);
    for (uint64_t position = 0; position < count; position++)
        member->extent_state[position] =
            bitmap[position / 8] >> (position % 8) & 1 ? STRIA_EXTENT_USED : STRIA_EXTENT_FREE;
    stria_arena_return(before);
    return STRIA_OK;
}

static int take_stock(struct stria_bare_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_bare_member *member = &array->members[index];
        array->input_drives[index] =
            (struct stria_inventory_drive){.present = member->drive != NULL,
                                           .ledger = member->ledger,
                                           .geometry = &member->super.geometry,
                                           .binding = stria_superblock_binding(&member->super),
                                           .checkpoint_valid = member->checkpoint_valid,
                                           .checkpoint = member->checkpoint};
    }
    array->input = (struct stria_inventory_input){
        .catalogue = &array->catalogue, .drives = array->input_drives, .drive_count = array->member_count};
    const uint32_t capacity = stria_inventory_recordings_max(&array->catalogue);
    struct stria_recording *table =
        stria_arena_take((capacity + 1) * sizeof(*table), _Alignof(struct stria_recording), "the recordings");
    const size_t before = stria_arena_used_bytes();
    uint8_t *scratch = stria_arena_take(STRIA_INVENTORY_SCRATCH_BYTES, 16, "the inventory");
    if (!table || !scratch)
        return STRIA_ERR_NO_MEMORY;
    int code = stria_inventory_build(&array->inventory, &array->input, table, capacity, scratch);
    stria_arena_return(before);
    for (uint32_t index = 0; index < array->member_count && code == STRIA_OK; index++)
        if (array->members[index].drive)
            code = mark_extents(array, index);
    return code;
}

int stria_bare_array_open(struct stria_bare_array *array, const struct stria_bare_drives *drives,
                          const struct stria_machine *machine, const struct stria_firmware_options *options)
{
    *array = (struct stria_bare_array){.machine = machine, .deadline_ns = options->deadline_ms * 1000000};
    int code = find_members(array, drives, options->policy);
    if (code == STRIA_OK)
        code = load(array);
    if (code == STRIA_OK)
        code = merge(array);
    if (code == STRIA_OK)
        code = take_stock(array);
    return code;
}

/* Some cells of a log to the drives that want them, a bit each, and a flush. */
static int write_cells(struct stria_bare_array *array, const struct stria_catalogue *log, uint32_t first,
                       uint32_t count, uint32_t drives)
{
    struct stria_bare_job jobs[STRIA_DRIVES_MAX];
    for (unsigned flush = 0; flush < 2; flush++) {
        for (uint32_t index = 0; index < array->member_count; index++) {
            const struct stria_bare_member *member = &array->members[index];
            const bool wanted = member->drive && (drives >> index & 1);
            jobs[index] =
                (struct stria_bare_job){.drive = wanted ? member->drive : NULL, .op = STRIA_IO_FLUSH};
            if (flush || !wanted)
                continue;
            const struct stria_catalogue_pages pages =
                stria_catalogue_pages(log, &member->super.geometry, first, count);
            jobs[index].op = STRIA_IO_WRITE;
            jobs[index].offset = pages.drive_offset_bytes;
            jobs[index].length_bytes = pages.length_bytes;
            jobs[index].data = log->image + pages.image_offset_bytes;
        }
        stria_bare_jobs_run(jobs, array->member_count, array->deadline_ns);
        for (uint32_t index = 0; index < array->member_count; index++)
            if (jobs[index].drive && jobs[index].code != STRIA_OK)
                drop(array, index, "its catalogue cannot be written", jobs[index].code);
    }
    return array->present > 0 ? STRIA_OK : STRIA_ERR_GONE;
}

/* All of a log to the half that does not count; its HEAD, which makes it count, only when all else is there.
 */
static int write_log(struct stria_bare_array *array, const struct stria_catalogue *log, uint32_t drives)
{
    uint8_t head[STRIA_CATALOGUE_ENTRY_BYTES];
    memcpy(head, log->image, sizeof(head));
    memset(log->image, 0, sizeof(head));
    const int code = write_cells(array, log, 0, log->entries_max, drives);
    memcpy(log->image, head, sizeof(head));
    return code == STRIA_OK ? write_cells(array, log, 0, 1, drives) : code;
}

/* Brings every drive's replica up to the merged log, none of them through a state in which it knows less. */
static int renew_replicas(struct stria_bare_array *array)
{
    uint32_t by_other_half = 0, whole = 0, in_place = 0;
    for (uint32_t index = 0; index < array->member_count; index++) {
        if (!array->members[index].drive)
            continue;
        const enum stria_catalogue_renewal renewal =
            stria_catalogue_renewal(&array->catalogue, &array->members[index].catalogue);
        by_other_half |= (uint32_t)(renewal == STRIA_RENEWAL_BY_OTHER_HALF) << index;
        whole |= (uint32_t)(renewal == STRIA_RENEWAL_WHOLE) << index;
        in_place |= (uint32_t)(renewal == STRIA_RENEWAL_IN_PLACE) << index;
    }
    if (by_other_half != 0) {
        struct stria_catalogue copy;
        uint8_t *image = stria_arena_take(log_bytes(array), STRIA_PAGE_BYTES, "the catalogue");
        if (!image)
            return STRIA_ERR_NO_MEMORY;
        stria_catalogue_copy(&array->catalogue, array->catalogue.epoch - 1,
                             stria_machine_wall_ns(array->machine), image, &copy);
        const int code = write_log(array, &copy, by_other_half);
        if (code != STRIA_OK)
            return code;
    }
    int code = STRIA_OK;
    if (in_place != 0)
        code = write_cells(array, &array->catalogue, 0, array->catalogue.entries_max, in_place);
    whole |= by_other_half;
    return code == STRIA_OK && whole != 0 ? write_log(array, &array->catalogue, whole) : code;
}

static int make_room(struct stria_bare_array *array)
{
    const uint32_t wanted = CATALOGUE_ENTRIES + stria_inventory_open_ended(&array->inventory, &array->input);
    if (array->catalogue.entries_max - array->catalogue.count >= wanted)
        return STRIA_OK;
    struct stria_catalogue compacted;
    uint8_t *image = stria_arena_take(log_bytes(array), STRIA_PAGE_BYTES, "the catalogue");
    if (!image)
        return STRIA_ERR_NO_MEMORY;
    const struct stria_catalogue_compaction how = {
        .next_recording = array->inventory.next_recording,
        .wall_ns = stria_machine_wall_ns(array->machine),
        .spare = wanted,
        .drive_absent = array->present < array->member_count,
        .scratch = stria_arena_take(stria_catalogue_compact_scratch_bytes(&array->catalogue) + 1, 8,
                                    "the catalogue"),
    };
    if (!how.scratch)
        return STRIA_ERR_NO_MEMORY;
    if (stria_catalogue_compact(&array->catalogue, &how, image, &compacted) != STRIA_OK) {
        stria_console_say("stria: array %s holds as many recordings as its catalogue can list: remove some",
                          array->name);
        return STRIA_ERR_ARRAY_FULL;
    }
    array->catalogue = compacted;
    return write_log(array, &array->catalogue, ALL_DRIVES);
}

int stria_bare_array_prepare(struct stria_bare_array *array)
{
    if (array->read_only)
        return STRIA_ERR_PERMISSION;
    for (uint32_t index = 0; index < array->member_count; index++)
        if (array->members[index].drive &&
            !stria_catalogue_fits(&array->catalogue, &array->members[index].super.geometry))
            drop(array, index, "its catalogue is smaller than the array's", STRIA_ERR_FORMAT);
    int code = renew_replicas(array);
    if (code == STRIA_OK)
        code = make_room(array);
    const uint32_t first = array->catalogue.count;
    if (code == STRIA_OK)
        code = stria_inventory_close(&array->inventory, &array->input, &array->catalogue,
                                     stria_machine_wall_ns(array->machine));
    if (code == STRIA_OK && array->catalogue.count > first)
        code = write_cells(array, &array->catalogue, first, array->catalogue.count - first, ALL_DRIVES);
    return code == STRIA_OK ? take_stock(array) : code;
}
