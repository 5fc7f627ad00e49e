#include "tests/sim/world.h"

#include "core/assert.h"
#include "core/watch.h"
#include "tests/sim/array.h"
#include "tests/sim/audit.h"
#include "tests/sim/drive.h"
#include "tests/sim/knowledge.h"
#include "tests/sim/source.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SAME_TIME_MAX 200000u /* events at one moment after which nothing moves any more */
#define MEETING_STEPS 48u     /* in which the drives are renewed when an array is opened, about */
#define WALL_NS       1700000000000000000ull

void sim_fail(struct sim_world *world, const char *format, ...)
{
    if (sim_failed(world))
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(world->failure, sizeof(world->failure), format, arguments);
    va_end(arguments);
}

bool sim_failed(const struct sim_world *world)
{
    return world->failure[0] != 0;
}

bool sim_step(struct sim_world *world)
{
    if (world->cut)
        return true;
    world->step++;
    if (world->step != world->cut_step)
        return false;
    sim_cover_fault(world, SIM_FAULT_POWER_CUT, 0);
    world->cut = true;
    return true;
}

bool sim_somebody_lied(const struct sim_world *world)
{
    bool damaged = false;
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++)
        damaged |= world->past[drive].damaged;
    return damaged && world->scenario.faults[SIM_FAULT_LYING_FLUSH];
}

enum stria_recorder_state sim_state(const struct sim_world *world)
{
    struct stria_recorder_status status;
    if (!world->recorder)
        return STRIA_RECORDER_IDLE;
    stria_recorder_status(world->recorder, &status);
    return status.state;
}

void sim_cover_fault(struct sim_world *world, enum sim_fault fault, uint32_t drive)
{
    enum stria_recorder_state state = sim_state(world);
    world->cover->count[fault][state]++;
    sim_note(&world->trace, world->now_ns, "FAULT %llu at drive %llu in recorder state %llu", fault, drive,
             state);
    if (world->trace.out)
        fprintf(world->trace.out, "                 (%s)\n", sim_faults[fault].name);
}

uint64_t sim_chunk_id(const struct sim_world *world, const struct sim_recording *recording, uint32_t chunk)
{
    uint64_t which = world->scenario.repeats ? chunk % 3 : chunk;
    uint64_t serial = world->scenario.repeats ? 0 : recording->serial;
    return sim_draw(world->scenario.seed, SIM_TOPIC_PAYLOAD, serial, which) | 1;
}

static void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);
    STRIA_ASSERT(memory);
    return memory;
}

/* What the recorder reports after the power is off nobody hears. */
static bool deaf(const struct sim_world *world)
{
    return world->cut || sim_failed(world);
}

static void on_started(void *context)
{
    struct sim_world *world = context;
    if (!deaf(world)) {
        world->recording->started = true;
        sim_know_begun(world);
        world->moved_ns = world->now_ns;
    }
}

static void on_released(void *context, uint32_t slot)
{
    struct sim_world *world = context;
    if (!deaf(world))
        sim_audit_release(world, slot);
}

static void on_watermark(void *context, uint64_t offset_bytes)
{
    struct sim_world *world = context;
    if (deaf(world))
        return;
    sim_note(&world->trace, world->now_ns, "watermark %llu%.0llu%.0llu", offset_bytes, 0, 0);
    sim_audit_watermark(world, offset_bytes);
}

static void on_gap(void *context, const struct stria_gap *gap)
{
    struct sim_world *world = context;
    if (!deaf(world))
        sim_audit_gap(world, gap);
}

static void on_gave_up(void *context, uint32_t drive, int code)
{
    struct sim_world *world = context;
    if (deaf(world))
        return;
    sim_note(&world->trace, world->now_ns, "drive %llu is given up, code -%llu%.0llu", drive, -code, 0);
    world->cover->drives_given_up++;
    world->given_up[drive] = true;
    if (code == STRIA_ERR_TIMEOUT)
        sim_audit_timeout(world, drive);
    world->moved_ns = world->now_ns;
}

static void on_full(void *context)
{
    struct sim_world *world = context;
    if (deaf(world))
        return;
    if (world->full_told)
        sim_fail(world, "the array is told to be full a second time");
    world->full_told = true;
    world->cover->drives_full++;
    if (sim_draw(world->scenario.seed, SIM_TOPIC_PRODUCER, 99, world->life) % 2)
        sim_source_stop(world);
}

static void on_finished(void *context, int code)
{
    struct sim_world *world = context;
    if (deaf(world))
        return;
    if (world->finished)
        sim_fail(world, "the recording is finished a second time");
    sim_note(&world->trace, world->now_ns, "finished, code -%llu%.0llu%.0llu", -code, 0, 0);
    world->finished = true;
    world->finish_code = code;
    if (code == STRIA_OK)
        sim_know_ended(world);
}

static void make_ring(struct sim_world *world)
{
    struct sim_ring *ring = &world->ring;
    ring->chunk_bytes = world->scenario.chunk_bytes;
    ring->filled = world->scenario.filled;
    ring->bytes = (size_t)world->scenario.slots * ring->chunk_bytes;
    ring->base =
        mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    STRIA_ASSERT(ring->base != MAP_FAILED);
}

static uint32_t all_alive(const struct sim_world *world)
{
    uint32_t mask = 0;
    for (uint32_t index = 0; index < world->scenario.drive_count; index++)
        if (!world->past[index].dead)
            mask |= 1u << index;
    return mask;
}

/* Drives that are there, some left out at random: but those that remain know together all that is known,
 * unless parts of the array go separate ways. */
static uint32_t some_drives(struct sim_world *world, uint64_t which)
{
    uint32_t mask = all_alive(world);
    for (uint32_t index = 0; index < world->scenario.drive_count; index++)
        if (sim_draw(world->scenario.seed, SIM_TOPIC_LIFE, which << 8 | index, world->life) % 3 == 0)
            mask &= ~(1u << index);
    bool enough = mask != 0 && (world->scenario.faults[SIM_FAULT_APART] || sim_know_all(world, mask));
    return enough ? mask : all_alive(world);
}

/* What only the dead know nobody else can: then they are brought back, one after the other. */
static void revive(struct sim_world *world)
{
    for (uint32_t index = 0; index < world->scenario.drive_count; index++)
        if (!sim_know_all(world, all_alive(world)))
            world->past[index].dead = false;
}

/* Leaves room for the recording's begin and end and for two losses at most. */
static void shorten(const struct sim_world *world, struct stria_catalogue *catalogue)
{
    uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_SCENARIO, 1001, world->life);
    uint32_t entries = catalogue->count + 2 + (uint32_t)(draw % 3);
    if (entries < catalogue->entries_max)
        catalogue->entries_max = entries;
}

/* Two parts of the array may each record while the other is away, and meet again: the identities must not. */
static uint64_t new_identity(const struct sim_world *world)
{
    const uint64_t next = world->array->inventory.next_recording;
    const uint64_t jump = sim_draw(world->scenario.seed, SIM_TOPIC_LIFE, 4, world->life);
    return sim_everybody_there(world->array) ? next : next + (uint32_t)jump;
}

static void make_recorder(struct sim_world *world)
{
    const struct sim_scenario *scenario = &world->scenario;
    struct sim_array *array = world->array;
    struct stria_recorder_drive drives[STRIA_DRIVES_MAX] = {0};
    struct stria_drive *bases[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < scenario->drive_count; index++) {
        const struct sim_array_drive *drive = &array->drives[index];
        drives[index] = (struct stria_recorder_drive){
            .geometry = world->past[index].super.geometry,
            .binding = stria_superblock_binding(&world->past[index].super),
            .ledger = drive->ledger,
            .extent_state = drive->extent_state,
            .staging = drive->staging,
            .checkpoint_serial = array->inventory.checkpoint_serial,
            .depth = scenario->drives[index].depth,
            .present = drive->present,
            .no_space_is_loss = index % 2,
        };
        if (drive->present)
            bases[index] = sim_drive_base(world->drives[index]);
    }
    struct stria_recorder_config config = {
        .drive_count = scenario->drive_count,
        .drives = drives,
        .catalogue = &array->catalogue,
        .policy = scenario->policy,
        .recording = new_identity(world),
        .name = "simulated",
        .wall_ns = WALL_NS + world->now_ns,
        .chunk_bytes = scenario->chunk_bytes,
        .block_bytes = scenario->block_bytes,
        .slot_count = scenario->slots,
        .window_chunks = scenario->window_chunks,
        .commit_interval_ns = scenario->commit_interval_ns,
        .deadline_ns = scenario->deadline_ns,
        .digest = true,
    };
    memcpy(config.array_uuid, world->past[0].super.array_uuid, sizeof(config.array_uuid));
    if (scenario->catalogue_short)
        shorten(world, &array->catalogue);
    world->recording = sim_model_begin(&world->model, config.recording, scenario->policy);
    world->recorder = stria_recorder_init(allocate(1, stria_recorder_memory_bytes(&config)), &config);
    void **slot_data = allocate(scenario->slots, sizeof(void *));
    for (uint32_t slot = 0; slot < scenario->slots; slot++)
        slot_data[slot] = world->ring.base + (size_t)slot * world->ring.chunk_bytes;
    struct stria_pump_config pump = {
        .recorder = world->recorder,
        .drive_count = scenario->drive_count,
        .drives = bases,
        .slot_count = scenario->slots,
        .slot_data = slot_data,
        .listener = {.context = world,
                     .started = on_started,
                     .released = on_released,
                     .watermark = on_watermark,
                     .gap = on_gap,
                     .gave_up = on_gave_up,
                     .full = on_full,
                     .finished = on_finished},
    };
    world->slot_data = slot_data;
    world->pump = stria_pump_init(allocate(1, stria_pump_memory_bytes(&pump)), &pump);
}

static void make_slots(struct sim_world *world)
{
    uint32_t count = world->scenario.slots;
    world->slots = allocate(count, sizeof(struct sim_slot));
    world->free_slots = allocate(count, sizeof(uint32_t));
    world->free_count = count;
    for (uint32_t index = 0; index < count; index++)
        world->free_slots[index] = count - 1 - index;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t next_ns(const struct sim_world *world)
{
    uint64_t due_ns = earlier(stria_pump_due_ns(world->pump), sim_source_due_ns(world));
    for (uint32_t index = 0; index < world->scenario.drive_count; index++)
        if (world->drives[index] && !world->given_up[index])
            due_ns = earlier(due_ns, sim_drive_due_ns(world->drives[index]));
    return due_ns;
}

static void turn(struct sim_world *world)
{
    stria_pump_poll(world->pump, world->now_ns);
    if (!deaf(world) && !world->finished && stria_pump_due_ns(world->pump) <= world->now_ns)
        stria_pump_feed(world->pump,
                        &(struct stria_event){.kind = STRIA_EVENT_TICK, .now_ns = world->now_ns});
    if (!deaf(world) && !world->finished)
        sim_source_run(world);
    if (!deaf(world) && !world->finished)
        sim_audit_quiet(world);
}

/* The process is stopped, suspended or starved. Of such a time as much is watched as the recorder grants at
 * most; for the rest no drive can be blamed. */
static void stop(struct sim_world *world)
{
    if (!world->scenario.faults[SIM_FAULT_STOP])
        return;
    const uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_PROCESS, world->life, world->stop_count++);
    if (!sim_chance(draw, sim_faults[SIM_FAULT_STOP].rate))
        return;
    sim_cover_fault(world, SIM_FAULT_STOP, 0);
    const uint64_t look_ns = world->scenario.deadline_ns / STRIA_WATCH_LOOKS;
    const uint64_t stop_ns = look_ns * (1 + (draw >> 20) % (4 * STRIA_WATCH_LOOKS));
    world->now_ns += stop_ns;
    world->moved_ns += stop_ns;
    world->unwatched_ns += stop_ns - look_ns;
}

static void record(struct sim_world *world)
{
    uint32_t same_time = 0;
    world->moved_ns = world->now_ns;
    sim_source_start(world);
    stria_pump_feed(world->pump, &(struct stria_event){.kind = STRIA_EVENT_BEGIN, .now_ns = world->now_ns});
    while (!deaf(world) && !world->finished) {
        uint64_t due_ns = next_ns(world);
        if (due_ns == UINT64_MAX)
            sim_fail(world, "nothing is due and the recording is not finished (state %d)", sim_state(world));
        else if (due_ns > world->now_ns)
            same_time = 0;
        else if (++same_time > SAME_TIME_MAX)
            sim_fail(world, "time stands still: something stays due and nothing comes of it");
        if (due_ns > world->now_ns && due_ns != UINT64_MAX)
            world->now_ns = due_ns;
        stop(world);
        if (!deaf(world))
            turn(world);
    }
    if (world->finished && !deaf(world))
        sim_audit_finished(world);
}

static void end_recording(struct sim_world *world)
{
    struct stria_recorder_status status;
    stria_recorder_status(world->recorder, &status);
    world->cover->simulated_bytes += status.stored_bytes;
    world->cover->displaced += status.displaced;
    world->cover->wrapped += status.off_rows && status.base_row > 0;
    world->recording->finished = world->finished && world->finish_code == STRIA_OK;
    world->recording->closed = world->recording->finished;
    world->cover->recordings++;
    world->cover->finished += world->recording->finished;
    free(world->recorder);
    free(world->pump);
    free(world->slot_data);
    free(world->slots);
    free(world->free_slots);
    world->recorder = NULL;
    world->pump = NULL;
    world->slot_data = NULL;
    world->slots = NULL;
    world->free_slots = NULL;
}

/* What is in flight and in the caches arrives or does not: after a recording that ended well as well, since
 * power may be cut at any time after it. */
static void power_down(struct sim_world *world)
{
    enum sim_cut cut = world->scenario.cut_fixed ? world->scenario.cut : SIM_CUT_MIXED;
    for (uint32_t index = 0; index < world->scenario.drive_count; index++) {
        if (world->drives[index]) {
            sim_drive_cut(world->drives[index]);
            sim_drive_free(world->drives[index]);
            world->drives[index] = NULL;
        }
        uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_CUT, index, world->life);
        sim_media_cut(world->past[index].media, cut, draw);
    }
    sim_array_free(world->array);
    world->array = NULL;
    world->cover->cuts += world->cut;
}

static void flip(struct sim_world *world, uint32_t drive, enum sim_fault fault, uint64_t offset,
                 uint64_t draw)
{
    sim_cover_fault(world, fault, drive);
    world->past[drive].damaged = true;
    sim_media_bytes(world->past[drive].media, offset)[draw % 64] ^= (uint8_t)(1u << (draw >> 8) % 8);
}

/* Something that was stored well changes by itself. */
static void rot(struct sim_world *world)
{
    uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_LIFE, 7, world->life);
    uint32_t drive = (uint32_t)(draw % world->scenario.drive_count);
    const struct stria_geometry *geometry = &world->past[drive].super.geometry;
    uint64_t position = (draw >> 8) % geometry->extent_count;
    bool stored = sim_owner(world, drive, position) != NULL;
    if (world->scenario.faults[SIM_FAULT_ROT] && stored) {
        sim_cover_fault(world, SIM_FAULT_ROT, drive);
        world->past[drive].damaged = true;
        sim_media_rot(world->past[drive].media, position, draw >> 16);
    }
    if (world->scenario.faults[SIM_FAULT_ROT_ENTRY] && stored)
        flip(world, drive, SIM_FAULT_ROT_ENTRY, stria_geometry_ledger_entry_offset(geometry, position),
             draw >> 24);
    if (world->scenario.faults[SIM_FAULT_ROT_CATALOGUE] && world->scenario.drive_count > 1)
        flip(world, drive, SIM_FAULT_ROT_CATALOGUE,
             geometry->catalogue_offset + (draw >> 32) % 16 * STRIA_CATALOGUE_ENTRY_BYTES, draw >> 24);
}

static void verify_with(struct sim_world *world, uint32_t present)
{
    struct sim_array *array = sim_failed(world) ? NULL : sim_array_load(world, present);
    if (array)
        sim_verify(world, array);
    sim_array_free(array);
}

static void plan_cut(struct sim_world *world)
{
    const struct sim_scenario *scenario = &world->scenario;
    uint64_t draw = sim_draw(scenario->seed, SIM_TOPIC_CUT, 1000, world->life);
    world->step = 0;
    world->cut = false;
    world->cut_step = 0;
    if (scenario->cut_step)
        world->cut_step = world->life == 0 ? scenario->cut_step : 0;
    else if (scenario->faults[SIM_FAULT_POWER_CUT] && scenario->faults[SIM_FAULT_APART] && draw % 4 == 1)
        world->cut_step = 1 + (draw >> 8) % MEETING_STEPS;
    else if (scenario->faults[SIM_FAULT_POWER_CUT] && draw % 4)
        world->cut_step = 1 + (draw >> 8) % (3 * (uint64_t)scenario->chunks + 60);
}

/* Recordings are removed now and then, and when the array gets full. */
static void remove_some(struct sim_world *world)
{
    const bool many = world->model.count > 40;
    for (uint32_t index = 0; index < world->model.count && !world->cut; index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        uint64_t draw = sim_draw(world->scenario.seed, SIM_TOPIC_LIFE, 8 + (uint64_t)index * 16, world->life);
        if (!recording->removed && draw % (many ? 48 : 3) == 0)
            sim_array_remove(world, world->array, recording);
    }
}

static bool open_array(struct sim_world *world)
{
    const bool *faults = world->scenario.faults;
    uint32_t present = all_alive(world);
    if (faults[SIM_FAULT_ABSENT] || faults[SIM_FAULT_APART])
        present = some_drives(world, 1);
    if (!sim_know_all(world, present))
        sim_cover_fault(world, SIM_FAULT_APART, 0);
    else if (present != all_alive(world))
        sim_cover_fault(world, SIM_FAULT_ABSENT, 0);
    world->array = sim_array_load(world, present);
    if (!world->array)
        return false;
    sim_note(&world->trace, world->now_ns, "opened with drives %llx, epoch %llu%.0llu", present,
             world->array->catalogue.epoch, 0);
    sim_verify(world, world->array);
    if (world->array->only_read || sim_failed(world)) {
        world->cover->only_read += world->array->only_read;
        return false;
    }
    sim_note_ends(world, world->array);
    const bool ready = sim_array_repair(world, world->array);
    if (!world->cut) {
        sim_know_met(world, world->array);
        sim_adopt(world, world->array);
    }
    if (!world->cut && !sim_failed(world))
        remove_some(world);
    return ready && !sim_failed(world) && sim_array_reserve(world, world->array);
}

static void live(struct sim_world *world)
{
    plan_cut(world);
    world->finished = world->full_told = false;
    memset(world->again_ns, 0, sizeof(world->again_ns));
    memset(world->failed_in_row, 0, sizeof(world->failed_in_row));
    memset(world->errands, 0, sizeof(world->errands));
    memset(world->given_up, 0, sizeof(world->given_up));
    if (open_array(world)) {
        sim_array_mark(world->array);
        for (uint32_t index = 0; index < world->scenario.drive_count; index++)
            if (world->array->drives[index].present)
                world->drives[index] = sim_drive_new(world, index);
        make_slots(world);
        make_recorder(world);
        record(world);
        end_recording(world);
    }
    power_down(world);
    rot(world);
    sim_know_lies(world);
    revive(world);
    verify_with(world, all_alive(world));
    verify_with(world, some_drives(world, 2));
}

void sim_world_run(struct sim_world *world, const struct sim_scenario *scenario)
{
    world->scenario = *scenario;
    world->now_ns = 1000000;
    make_ring(world);
    sim_array_format(world);
    for (world->life = 0; world->life < scenario->lives && !sim_failed(world); world->life++)
        live(world);
}

void sim_world_free(struct sim_world *world)
{
    for (uint32_t index = 0; index < world->scenario.drive_count; index++) {
        if (world->past[index].media)
            sim_media_free(world->past[index].media);
        free(world->past[index].owners);
    }
    sim_model_free(&world->model);
    munmap(world->ring.base, world->ring.bytes);
}
