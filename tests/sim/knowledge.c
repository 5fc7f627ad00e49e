#include "tests/sim/knowledge.h"

#include "core/assert.h"
#include "core/catalogue_cell.h"

#include <stdlib.h>
#include <string.h>

uint32_t sim_present(const struct sim_array *array)
{
    uint32_t present = 0;
    for (uint32_t index = 0; index < array->drive_count; index++)
        present |= (uint32_t)array->drives[index].present << index;
    return present;
}

static bool holds_cell(struct sim_world *world, uint32_t drive, uint32_t cell)
{
    const struct stria_catalogue *log = &world->array->catalogue;
    const struct sim_drive_past *past = &world->past[drive];
    const uint64_t offset = stria_geometry_catalogue_half_offset(&past->super.geometry, log->epoch) +
                            (uint64_t)cell * STRIA_CATALOGUE_ENTRY_BYTES;
    return memcmp(sim_media_bytes(past->media, offset), stria_catalogue_cell_at(log, cell),
                  STRIA_CATALOGUE_ENTRY_BYTES) == 0;
}

/* The last entry of a kind about the running recording; 0: there is none. */
static uint32_t find_cell(const struct sim_world *world, enum stria_catalogue_kind kind)
{
    const struct stria_catalogue *log = &world->array->catalogue;
    struct stria_catalogue_entry entry;
    for (uint32_t cell = log->count; cell-- > 1;)
        if (stria_catalogue_read(log, cell, &entry) && entry.kind == kind &&
            entry.recording == world->recording->id)
            return cell;
    return 0;
}

/* Which of the drives still written to hold the entry. */
static uint32_t holders(struct sim_world *world, enum stria_catalogue_kind kind, const char *what)
{
    uint32_t drives = 0;
    const uint32_t cell = find_cell(world, kind);
    if (cell == 0)
        sim_fail(world, "recording %llu is said to have %s, and no entry says so",
                 (unsigned long long)world->recording->id, what);
    for (uint32_t index = 0; index < world->scenario.drive_count && !sim_failed(world); index++) {
        struct stria_drive_status status;
        stria_recorder_drive_status(world->recorder, index, &status);
        if (status.state == STRIA_DRIVE_LOST)
            continue;
        if (holds_cell(world, index, cell) && holds_cell(world, index, 0))
            drives |= 1u << index;
        else if (!world->past[index].damaged)
            sim_fail(world, "recording %llu is said to have %s, and drive %u does not hold that",
                     (unsigned long long)world->recording->id, what, index);
    }
    return drives;
}

void sim_know_begun(struct sim_world *world)
{
    world->recording->begun_on |= holders(world, STRIA_CATALOGUE_BEGUN, "begun");
    sim_note(&world->trace, world->now_ns, "recording %llu has begun, as drives %llx know%.0llu",
             world->recording->id, world->recording->begun_on, 0);
}

void sim_know_ended(struct sim_world *world)
{
    world->recording->ended_on |= holders(world, STRIA_CATALOGUE_ENDED, "ended");
    sim_note(&world->trace, world->now_ns, "recording %llu has ended, as drives %llx know%.0llu",
             world->recording->id, world->recording->ended_on, 0);
}

void sim_know_removed(const struct sim_array *array, struct sim_recording *recording)
{
    recording->removed_on |= sim_present(array);
}

static void spread(uint32_t *known, uint32_t present)
{
    if (*known & present)
        *known |= present;
}

void sim_know_met(struct sim_world *world, const struct sim_array *array)
{
    const uint32_t present = sim_present(array);
    for (uint32_t index = 0; index < world->model.count; index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        const struct stria_recording *found = stria_inventory_find_id(&array->inventory, recording->id);
        spread(&recording->begun_on, present);
        spread(&recording->ended_on, present);
        spread(&recording->removed_on, present);
        if (recording->removed)
            continue;
        if (found)
            recording->begun_on |= present;
        if (found && found->complete)
            recording->ended_on |= present;
        /* A removal that was cut off and was not lost. */
        if (!found && recording->removing && (recording->begun_on & present))
            recording->removed_on |= present;
    }
}

/* What one drive's log says of a recording. */
struct said {
    bool begun, ended, removed;
};

static struct said said_of(const struct stria_catalogue *log, uint64_t recording)
{
    struct said said = {0};
    struct stria_catalogue_entry entry;
    for (uint32_t cell = 1; cell < log->count; cell++) {
        if (!stria_catalogue_read(log, cell, &entry) || entry.recording != recording)
            continue;
        said.begun |= entry.kind == STRIA_CATALOGUE_BEGUN;
        said.ended |= entry.kind == STRIA_CATALOGUE_ENDED;
        said.removed |= entry.kind == STRIA_CATALOGUE_REMOVED;
    }
    said.removed |= !said.begun && recording < stria_catalogue_head_next(log);
    return said;
}

static void set_bit(uint32_t *drives, uint32_t drive, bool value)
{
    *drives = (*drives & ~(1u << drive)) | (uint32_t)value << drive;
}

static void look(struct sim_world *world, uint32_t drive)
{
    struct sim_drive_past *past = &world->past[drive];
    const struct stria_geometry *geometry = &past->super.geometry;
    const size_t half_bytes = (size_t)geometry->catalogue_bytes / 2;
    uint8_t *memory = malloc(2 * half_bytes);
    STRIA_ASSERT(memory);
    memcpy(memory, sim_media_bytes(past->media, geometry->catalogue_offset), 2 * half_bytes);
    uint8_t *halves[2] = {memory, memory + half_bytes};
    struct stria_catalogue log;
    const bool readable = stria_catalogue_load(&log, halves, half_bytes, past->super.array_uuid) == STRIA_OK;
    for (uint32_t index = 0; index < world->model.count; index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        const struct said said = readable ? said_of(&log, recording->id) : (struct said){0};
        set_bit(&recording->begun_on, drive, said.begun && recording->started);
        set_bit(&recording->ended_on, drive, said.ended && recording->closed);
        set_bit(&recording->removed_on, drive, said.removed && recording->removed);
    }
    free(memory);
}

void sim_know_lies(struct sim_world *world)
{
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++)
        if (world->past[drive].damaged)
            look(world, drive);
    for (uint32_t index = 0; index < world->model.count; index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        if (recording->ended_on == 0)
            recording->finished = recording->closed = false;
    }
}

static bool knows(uint32_t known, uint32_t drives)
{
    return known == 0 || (known & drives) != 0;
}

bool sim_know_all(const struct sim_world *world, uint32_t drives)
{
    bool all = drives != 0;
    for (uint32_t index = 0; index < world->model.count; index++) {
        const struct sim_recording *recording = &world->model.recordings[index];
        all &= knows(recording->begun_on, drives) && knows(recording->ended_on, drives) &&
               knows(recording->removed_on, drives);
    }
    return all;
}
