#include "tests/sim/array.h"

#include "core/assert.h"
#include "tests/sim/knowledge.h"

#include <stdlib.h>
#include <string.h>

#define CATALOGUE_LOW     80u     /* free cells below which it is compacted */
#define COMMON_RECORDINGS 3u      /* of drives that then went separate ways … */
#define COMMON_FIRST      100000u /* … with identities above this one */
#define SMALL_CATALOGUE   512u    /* cells that are filled up in no time */

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    STRIA_ASSERT(memory);
    return memory;
}

/* Requests are made out of it, so it is aligned as they have to be. */
static uint8_t *allocate_pages(size_t bytes)
{
    const size_t whole = (bytes + STRIA_PAGE_BYTES - 1) & ~(size_t)(STRIA_PAGE_BYTES - 1);
    uint8_t *memory = aligned_alloc(STRIA_PAGE_BYTES, whole);
    STRIA_ASSERT(memory);
    memset(memory, 0, whole);
    return memory;
}

static size_t half_bytes_of(const struct stria_geometry *geometry)
{
    return (size_t)geometry->catalogue_bytes / 2;
}

/* The size of a drive that has room for so many extents. */
static struct stria_geometry plan(const struct sim_scenario *scenario, uint64_t extents)
{
    struct stria_geometry geometry = {0};
    uint64_t bytes = stria_geometry_drive_bytes_min(scenario->chunk_bytes);
    if (extents > STRIA_EXTENTS_MIN)
        bytes += (extents - STRIA_EXTENTS_MIN) * ((uint64_t)scenario->chunk_bytes + STRIA_LEDGER_ENTRY_BYTES);
    int code = stria_geometry_plan(&geometry, bytes, scenario->chunk_bytes, scenario->block_bytes);
    STRIA_ASSERT(code == STRIA_OK);
    return geometry;
}

static void format_drive(struct sim_world *world, uint32_t index)
{
    struct sim_scenario_drive *kind = &world->scenario.drives[index];
    struct sim_drive_past *past = &world->past[index];
    struct stria_superblock super = {.version = STRIA_FORMAT_VERSION,
                                     .array_uuid = {1, 2, 3},
                                     .drive_uuid = {4, (uint8_t)index},
                                     .drive_index = index,
                                     .drive_count = world->scenario.drive_count,
                                     .geometry = plan(&world->scenario, kind->extents),
                                     .ledger_generation = 1,
                                     .policy = world->scenario.policy,
                                     .generation = 1,
                                     .created_unix_ns = 1,
                                     .array_name = "simulated",
                                     .drive_name = "drive"};
    kind->extents = super.geometry.extent_count;
    past->super = super;
    past->media = sim_media_new(&super.geometry, &world->ring);
    past->owners = allocate(super.geometry.extent_count, sizeof(uint64_t));
    for (uint32_t copy = 0; copy < 2; copy++)
        stria_superblock_encode(sim_media_bytes(past->media, super.geometry.super_offset[copy]), &super);
}

/* Recordings of long ago, all removed, that leave the log nearly full. */
static void crowd(struct sim_world *world, struct stria_catalogue *catalogue)
{
    uint32_t left = 10 + (uint32_t)(sim_draw(world->scenario.seed, SIM_TOPIC_SCENARIO, 1000, 0) % 100);
    for (uint64_t id = 1; catalogue->entries_max - catalogue->count > left + 2; id++) {
        struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_BEGUN, .recording = id};
        entry.begun.name[0] = 'x';
        entry.begun.policy = STRIA_POLICY_ADAPTIVE;
        entry.begun.chunk_bytes = world->scenario.chunk_bytes;
        stria_catalogue_append(catalogue, &entry);
        entry = (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_REMOVED, .recording = id};
        stria_catalogue_append(catalogue, &entry);
    }
}

static bool lived_apart(const struct sim_world *world)
{
    return world->scenario.faults[SIM_FAULT_APART] && world->scenario.drive_count > 1;
}

/* An empty recording. */
static void append_ended(const struct sim_world *world, struct stria_catalogue *catalogue, uint64_t id)
{
    struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_BEGUN, .recording = id};
    entry.begun.name[0] = 'y';
    entry.begun.policy = STRIA_POLICY_ADAPTIVE;
    entry.begun.chunk_bytes = world->scenario.chunk_bytes;
    stria_catalogue_append(catalogue, &entry);
    entry = (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_ENDED,
                                           .recording = id,
                                           .ended.flags = STRIA_ENDED_CLEAN,
                                           .ended.gap_drive = STRIA_GAP_DRIVE_NONE};
    stria_catalogue_append(catalogue, &entry);
}

static void model_ended(struct sim_world *world, uint64_t id, uint32_t drives)
{
    struct sim_recording *recording = sim_model_begin(&world->model, id, STRIA_POLICY_ADAPTIVE);
    recording->started = recording->finished = recording->closed = true;
    recording->begun_on = recording->ended_on = drives;
}

/* What all drives recorded together, of which each may have removed some when it was alone. */
static void live_together(struct sim_world *world, struct stria_catalogue *catalogue, uint32_t drive)
{
    for (uint64_t id = 1; id <= COMMON_RECORDINGS; id++)
        append_ended(world, catalogue, COMMON_FIRST + id);
    for (uint64_t id = 1; id <= COMMON_RECORDINGS; id++) {
        struct sim_recording *recording = &world->model.recordings[id - 1];
        if (sim_draw(world->scenario.seed, SIM_TOPIC_SCENARIO, 1004 + id, drive) % 4 != 0)
            continue;
        const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED,
                                                    .recording = COMMON_FIRST + id};
        stria_catalogue_append(catalogue, &entry);
        recording->removing = recording->removed = true;
        recording->removed_on |= 1u << drive;
    }
}

/* Recordings that a drive made while it was alone: hardly any, or so many that what all of them know together
 * just fits into one log, or just does not. */
static void live_alone(struct sim_world *world, struct stria_catalogue *catalogue, uint32_t drive)
{
    const struct sim_scenario *scenario = &world->scenario;
    const bool many = sim_draw(scenario->seed, SIM_TOPIC_SCENARIO, 1002, 0) % 4 == 0 &&
                      catalogue->entries_max <= SMALL_CATALOGUE;
    const uint64_t draw = sim_draw(scenario->seed, SIM_TOPIC_SCENARIO, 1003, drive);
    const uint32_t left = catalogue->entries_max - catalogue->count;
    const uint64_t percent = (60 + draw % 80) / scenario->drive_count;
    const uint64_t count = many ? left * (percent < 70 ? percent : 70) / 200 : draw % 4;
    for (uint64_t made = 0; made < count && made < left / 2; made++) {
        const uint64_t id = catalogue->next_recording + (uint32_t)sim_mix(draw + made);
        append_ended(world, catalogue, id);
        model_ended(world, id, 1u << drive);
    }
}

static void format_catalogue(struct sim_world *world, uint32_t index, size_t half_bytes)
{
    struct sim_drive_past *past = &world->past[index];
    struct stria_catalogue catalogue, later;
    uint8_t *image = allocate(1, half_bytes);
    uint8_t *later_image = allocate(1, half_bytes);
    stria_catalogue_format(&catalogue, image, half_bytes, past->super.array_uuid, 1);
    if (world->scenario.catalogue_crowded)
        crowd(world, &catalogue);
    uint64_t epoch = 1;
    if (lived_apart(world)) {
        live_together(world, &catalogue, index);
        live_alone(world, &catalogue, index);
        epoch += sim_draw(world->scenario.seed, SIM_TOPIC_SCENARIO, 1004, index) % 3;
    }
    stria_catalogue_copy(&catalogue, epoch, 1, later_image, &later);
    uint64_t offset = stria_geometry_catalogue_half_offset(&past->super.geometry, later.epoch);
    memcpy(sim_media_bytes(past->media, offset), later_image, half_bytes);
    free(image);
    free(later_image);
}

void sim_array_format(struct sim_world *world)
{
    size_t smallest = SIZE_MAX;
    for (uint32_t index = 0; index < world->scenario.drive_count; index++) {
        format_drive(world, index);
        size_t half_bytes = half_bytes_of(&world->past[index].super.geometry);
        if (half_bytes < smallest)
            smallest = half_bytes;
    }
    for (uint64_t id = 1; lived_apart(world) && id <= COMMON_RECORDINGS; id++)
        model_ended(world, COMMON_FIRST + id, (1u << world->scenario.drive_count) - 1);
    for (uint32_t index = 0; index < world->scenario.drive_count; index++)
        format_catalogue(world, index, smallest);
}

static void load_drive(struct sim_world *world, struct sim_array *array, uint32_t index,
                       struct stria_catalogue *replica)
{
    struct sim_drive_past *past = &world->past[index];
    struct sim_array_drive *drive = &array->drives[index];
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    const uint8_t *page = sim_media_bytes(past->media, past->super.geometry.super_offset[index % 2]);
    if (stria_superblock_decode(page, &super, &unknown) != STRIA_SUPERBLOCK_VALID) {
        sim_fail(world, "drive %u: its superblock is damaged", index);
        return;
    }
    const struct stria_geometry *geometry = &past->super.geometry;
    drive->present = true;
    drive->ledger = allocate(1, geometry->ledger_bytes);
    memcpy(drive->ledger, sim_media_bytes(past->media, geometry->ledger_offset), geometry->ledger_bytes);
    size_t half_bytes = half_bytes_of(geometry);
    for (uint32_t half = 0; half < 2; half++) {
        drive->halves[half] = allocate(1, half_bytes);
        uint64_t offset = stria_geometry_catalogue_half_offset(geometry, half);
        memcpy(drive->halves[half], sim_media_bytes(past->media, offset), half_bytes);
    }
    /* Of a drive whose HEAD changed by itself while the other half was being written nothing counts. */
    if (stria_catalogue_load(replica, drive->halves, half_bytes, super.array_uuid) != STRIA_OK &&
        !past->damaged)
        sim_fail(world, "drive %u: its catalogue is damaged", index);
    struct stria_ledger_binding binding = stria_superblock_binding(&super);
    drive->checkpoint_valid =
        stria_checkpoint_choose(sim_media_bytes(past->media, geometry->checkpoint_offset), &drive->checkpoint,
                                &binding) == STRIA_OK;
}

static void take_inventory(struct sim_world *world, struct sim_array *array)
{
    for (uint32_t index = 0; index < array->drive_count; index++) {
        const struct sim_array_drive *drive = &array->drives[index];
        array->inventory_drives[index] =
            (struct stria_inventory_drive){.present = drive->present,
                                           .ledger = drive->ledger,
                                           .geometry = &world->past[index].super.geometry,
                                           .binding = stria_superblock_binding(&world->past[index].super),
                                           .checkpoint_valid = drive->checkpoint_valid,
                                           .checkpoint = drive->checkpoint};
    }
    array->input = (struct stria_inventory_input){
        .catalogue = &array->catalogue, .drives = array->inventory_drives, .drive_count = array->drive_count};
    uint32_t capacity = stria_inventory_recordings_max(&array->catalogue);
    static uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES];
    free(array->table);
    array->table = allocate(capacity + 1, sizeof(struct stria_recording));
    if (stria_inventory_build(&array->inventory, &array->input, array->table, capacity, scratch) != STRIA_OK)
        sim_fail(world, "no inventory can be made");
}

bool sim_everybody_there(const struct sim_array *array)
{
    for (uint32_t index = 0; index < array->drive_count; index++)
        if (!array->drives[index].present)
            return false;
    return true;
}

struct sim_array *sim_array_load(struct sim_world *world, uint32_t present)
{
    struct sim_array *array = allocate(1, sizeof(*array));
    struct stria_catalogue replicas[STRIA_DRIVES_MAX] = {0};
    array->drive_count = world->scenario.drive_count;
    for (uint32_t index = 0; index < array->drive_count && !sim_failed(world); index++)
        if (present >> index & 1)
            load_drive(world, array, index, &replicas[index]);
    const struct stria_catalogue_meeting meeting = {
        .drive_absent = !sim_everybody_there(array),
        .wall_ns = 1,
        .memory = allocate_pages(stria_catalogue_merge_bytes(replicas, array->drive_count)),
    };
    if (!sim_failed(world)) {
        const int code = stria_catalogue_merge(replicas, array->drive_count, &meeting, &array->catalogue);
        array->only_read = code == STRIA_ERR_FULL;
        array->unknown = code == STRIA_ERR_NOT_FOUND;
        if (code != STRIA_OK && !array->only_read && !array->unknown)
            sim_fail(world, "the replicas of the catalogue cannot be merged");
    }
    if (sim_failed(world) || array->unknown) {
        free(meeting.memory);
        array->catalogue.image = NULL;
        sim_array_free(array);
        return NULL;
    }
    memcpy(array->replicas, replicas, sizeof(replicas));
    array->half_bytes = (size_t)array->catalogue.entries_max * STRIA_CATALOGUE_ENTRY_BYTES;
    array->spare_half = allocate_pages(array->half_bytes);
    take_inventory(world, array);
    return array;
}

void sim_array_free(struct sim_array *array)
{
    if (!array)
        return;
    for (uint32_t index = 0; index < array->drive_count; index++) {
        struct sim_array_drive *drive = &array->drives[index];
        free(drive->halves[0]);
        free(drive->halves[1]);
        free(drive->ledger);
        free(drive->extent_state);
        free(drive->staging);
    }
    free(array->catalogue.image);
    free(array->spare_half);
    free(array->table);
    free(array);
}

/* Writes part of a log's image to its half on one drive; power may be cut before. */
static void write_image(struct sim_world *world, const struct stria_catalogue *log, uint32_t index,
                        size_t start, size_t bytes)
{
    if (bytes == 0 || sim_step(world))
        return;
    struct sim_drive_past *past = &world->past[index];
    uint64_t offset = stria_geometry_catalogue_half_offset(&past->super.geometry, log->epoch);
    struct sim_payload payload = sim_media_capture(past->media, log->image + start, bytes);
    sim_media_write(past->media, offset + start, bytes, &payload);
}

static void flush(struct sim_world *world, uint32_t index)
{
    if (!sim_step(world))
        sim_media_flush(world->past[index].media, sim_media_barrier(world->past[index].media));
}

/* All of a log to the half that does not count, its HEAD last. */
static void write_whole(struct sim_world *world, const struct stria_catalogue *log, uint32_t index)
{
    uint8_t head[STRIA_CATALOGUE_ENTRY_BYTES];
    memcpy(head, log->image, sizeof(head));
    memset(log->image, 0, sizeof(head));
    write_image(world, log, index, 0, (size_t)log->entries_max * STRIA_CATALOGUE_ENTRY_BYTES);
    flush(world, index);
    memcpy(log->image, head, sizeof(head));
    write_image(world, log, index, 0, STRIA_PAGE_BYTES);
    flush(world, index);
}

static void write_cells(struct sim_world *world, const struct sim_array *array, uint32_t first,
                        uint32_t count)
{
    for (uint32_t index = 0; index < array->drive_count; index++) {
        if (!array->drives[index].present)
            continue;
        struct stria_catalogue_pages pages =
            stria_catalogue_pages(&array->catalogue, &world->past[index].super.geometry, first, count);
        write_image(world, &array->catalogue, index, pages.image_offset_bytes, pages.length_bytes);
    }
    for (uint32_t index = 0; index < array->drive_count; index++)
        if (array->drives[index].present)
            flush(world, index);
}

static void repair_replicas(struct sim_world *world, struct sim_array *array)
{
    struct stria_catalogue copy;
    stria_catalogue_copy(&array->catalogue, array->catalogue.epoch - 1, 1, array->spare_half, &copy);
    for (uint32_t index = 0; index < array->drive_count; index++) {
        if (!array->drives[index].present)
            continue;
        const enum stria_catalogue_renewal renewal =
            stria_catalogue_renewal(&array->catalogue, &array->replicas[index]);
        if (renewal == STRIA_RENEWAL_BY_OTHER_HALF)
            write_whole(world, &copy, index);
        if (renewal == STRIA_RENEWAL_IN_PLACE) {
            write_image(world, &array->catalogue, index, 0, array->half_bytes);
            flush(world, index);
        } else if (renewal != STRIA_RENEWAL_NONE) {
            write_whole(world, &array->catalogue, index);
        }
    }
}

/* Rewrites the catalogue without what is removed; what is removed by that itself, or 0. */
static int compact(struct sim_world *world, struct sim_array *array, uint64_t remove, uint32_t spare)
{
    struct stria_catalogue target;
    const struct stria_catalogue_compaction how = {
        .next_recording = array->inventory.next_recording,
        .wall_ns = 1,
        .remove = remove,
        .spare = spare,
        .drive_absent = !sim_everybody_there(array),
        .scratch = allocate(1, stria_catalogue_compact_scratch_bytes(&array->catalogue) + 1),
    };
    const int code = stria_catalogue_compact(&array->catalogue, &how, array->spare_half, &target);
    free(how.scratch);
    if (code != STRIA_OK)
        return code;
    array->spare_half = array->catalogue.image;
    array->catalogue = target;
    for (uint32_t index = 0; index < array->drive_count; index++)
        if (array->drives[index].present)
            write_whole(world, &array->catalogue, index);
    world->cover->compactions++;
    if (!sim_failed(world))
        take_inventory(world, array);
    return STRIA_OK;
}

bool sim_array_reserve(struct sim_world *world, struct sim_array *array)
{
    const uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_LIFE, 3, world->life);
    const bool low = array->catalogue.entries_max - array->catalogue.count <= CATALOGUE_LOW;
    const bool tidy = world->scenario.faults[SIM_FAULT_APART] && draw % 4 == 0;
    if (world->cut || (!low && !tidy))
        return !world->cut;
    if (compact(world, array, 0, CATALOGUE_LOW) == STRIA_OK)
        return true;
    if (!world->scenario.faults[SIM_FAULT_APART])
        sim_fail(world, "the catalogue cannot be compacted");
    return false;
}

/* A recording that a cut left without an end gets one, so that what was found of it stays as it was found. */
static void close_recordings(struct sim_world *world, struct sim_array *array)
{
    uint32_t first = array->catalogue.count;
    if (stria_inventory_close(&array->inventory, &array->input, &array->catalogue, 1) == STRIA_OK)
        world->cover->recovered += array->catalogue.count - first;
    if (array->catalogue.count > first) {
        write_cells(world, array, first, array->catalogue.count - first);
        if (!sim_failed(world))
            take_inventory(world, array);
    }
}

bool sim_array_repair(struct sim_world *world, struct sim_array *array)
{
    repair_replicas(world, array);
    if (!sim_array_reserve(world, array))
        return false;
    close_recordings(world, array);
    return !world->cut;
}

void sim_array_remove(struct sim_world *world, struct sim_array *array, struct sim_recording *recording)
{
    struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED, .recording = recording->id};
    if (world->cut || !stria_inventory_find_id(&array->inventory, recording->id))
        return;
    recording->removing = true;
    int index = stria_catalogue_append(&array->catalogue, &entry);
    if (index >= 0)
        write_cells(world, array, (uint32_t)index, 1);
    else if (compact(world, array, recording->id, 0) != STRIA_OK)
        sim_fail(world, "recording %llu cannot be removed", (unsigned long long)recording->id);
    if (world->cut)
        return;
    recording->removed = true;
    sim_know_removed(array, recording);
    world->cover->removals++;
    take_inventory(world, array);
}

void sim_array_mark(struct sim_array *array)
{
    for (uint32_t index = 0; index < array->drive_count; index++) {
        struct sim_array_drive *drive = &array->drives[index];
        if (!drive->present)
            continue;
        uint64_t count = array->inventory_drives[index].geometry->extent_count;
        uint8_t *bitmap = allocate(1, (size_t)(count + 7) / 8);
        stria_inventory_used(&array->inventory, &array->input, index, bitmap);
        drive->extent_state = allocate(count, 1);
        for (uint64_t position = 0; position < count; position++)
            if (bitmap[position / 8] >> position % 8 & 1)
                drive->extent_state[position] = STRIA_EXTENT_USED;
        free(bitmap);
        drive->staging = allocate_pages(STRIA_STAGING_BYTES);
    }
}

void sim_map_make(struct sim_world *world, const struct sim_array *array,
                  const struct stria_recording *recording, struct stria_map *map)
{
    struct stria_map_memory memory = {
        .extents = allocate(recording->extent_count + 1, sizeof(struct stria_map_extent)),
        .extent_capacity = recording->extent_count,
        .lost = allocate(recording->lost_entry_count + 1, sizeof(struct stria_catalogue_lost)),
        .lost_capacity = recording->lost_entry_count,
    };
    map->extents = memory.extents;
    map->lost = memory.lost;
    if (stria_map_build(map, &array->input, recording, &memory) != STRIA_OK)
        sim_fail(world, "no map can be made of recording %llu", (unsigned long long)recording->id);
    STRIA_ASSERT(map->extents == memory.extents && map->lost == memory.lost);
}

void sim_map_free(struct stria_map *map)
{
    free(map->extents);
    free(map->lost);
}

const struct sim_chunk *sim_owner(struct sim_world *world, uint32_t drive, uint64_t position)
{
    uint64_t owner = world->past[drive].owners[position];
    if (owner == 0)
        return NULL;
    const struct sim_recording *recording = &world->model.recordings[(owner - 1) >> 32];
    uint32_t index = (uint32_t)(owner - 1);
    if (recording->removed || index >= recording->chunk_count)
        return NULL;
    const struct sim_chunk *chunk = &recording->chunks[index];
    bool here = chunk->fate == SIM_FATE_WRITTEN && chunk->drive == drive && chunk->position == position;
    return here && !chunk->cause ? chunk : NULL;
}

void sim_own(struct sim_world *world, uint32_t drive, uint64_t position,
             const struct sim_recording *recording, uint32_t chunk)
{
    uint64_t index = (uint64_t)(recording - world->model.recordings);
    world->past[drive].owners[position] = (index << 32 | chunk) + 1;
}
