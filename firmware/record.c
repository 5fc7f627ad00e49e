#include "firmware/record.h"

#include "core/code.h"
#include "core/name.h"
#include "firmware/arena.h"
#include "firmware/console.h"
#include "firmware/processor.h"
#include "firmware/recording.h"
#include "firmware/text.h"

#include <string.h>

#define NS_PER_MS     UINT64_C(1000000)
#define WINDOW_CHUNKS 65536u
#define GAPS_SAID_MAX 16u

static void on_started(void *context)
{
    struct stria_bare_recording *recording = context;
    recording->started = true;
    recording->begun_ns = stria_clock_ns();
    stria_sensor_start(&recording->sensor, recording->begun_ns);
    stria_console_say("recording %s begins", recording->name);
}

static void on_released(void *context, uint32_t slot)
{
    struct stria_bare_recording *recording = context;
    recording->free_slots[(recording->free_first + recording->free_count++) % recording->slot_count] = slot;
}

static void on_watermark(void *context, uint64_t offset_bytes)
{
    struct stria_bare_recording *recording = context;
    recording->durable_bytes = offset_bytes;
}

static void on_gap(void *context, const struct stria_gap *gap)
{
    struct stria_bare_recording *recording = context;
    if (recording->gaps_left == 0)
        return;
    stria_console_say("gap at %lu: %lu bytes, cause %s", (unsigned long)gap->offset_bytes,
                      (unsigned long)gap->length_bytes, stria_gap_cause_text(gap->cause));
    if (--recording->gaps_left == 0)
        stria_console_say("further gaps are counted only");
}

static void on_gave_up(void *context, uint32_t drive, int code)
{
    const struct stria_bare_recording *recording = context;
    const struct stria_bare_drive *lost = recording->array->members[drive].drive;
    stria_console_say("drive %u (%s) is given up: %s", drive, lost ? lost->base.traits.path : "absent",
                      stria_code_text(code));
}

/* What comes now has no place any more: the stream ends here. */
static void on_full(void *context)
{
    struct stria_bare_recording *recording = context;
    recording->sensor.bytes = recording->sensor.made_bytes;
    stria_console_say("array %s is full", recording->array->name);
}

static void on_finished(void *context, int code)
{
    struct stria_bare_recording *recording = context;
    recording->finished = true;
    recording->ended_ns = stria_clock_ns();
    recording->code = code;
}

static void feed(struct stria_bare_recording *recording, struct stria_event event)
{
    event.now_ns = stria_clock_ns();
    stria_pump_feed(recording->pump, &event);
}

static void skip_missed(struct stria_bare_recording *recording)
{
    const uint64_t missed = recording->missed_bytes;
    recording->missed_bytes = 0;
    stria_meter_input(recording->meter, stria_clock_ns(), missed);
    feed(recording,
         (struct stria_event){.kind = STRIA_EVENT_SKIP, .length_bytes = missed, .cause = STRIA_GAP_BUFFER});
}

static void commit(struct stria_bare_recording *recording, uint32_t bytes)
{
    const uint32_t slot = recording->free_slots[recording->free_first];
    recording->free_first = (recording->free_first + 1) % recording->slot_count;
    recording->free_count--;
    stria_sensor_make(&recording->sensor, recording->slot_data[slot], recording->array->block_bytes);
    stria_meter_input(recording->meter, stria_clock_ns(), bytes);
    feed(recording, (struct stria_event){.kind = STRIA_EVENT_COMMIT, .slot = slot, .length_bytes = bytes});
}

/* At most one chunk, so that the drives are not kept waiting. True if something was done. */
static bool turn_sensor(struct stria_bare_recording *recording)
{
    if (!recording->started || recording->ending)
        return false;
    const uint32_t bytes = stria_sensor_due_bytes(&recording->sensor, stria_clock_ns());
    const bool accepts = stria_recorder_accepts(recording->recorder);
    if (recording->missed_bytes > 0 && accepts) {
        skip_missed(recording);
        return true;
    }
    if (bytes > 0 && accepts && recording->free_count > 0) {
        commit(recording, bytes);
        return true;
    }
    /* A short chunk at the very end waits, since only whole ones can be skipped. */
    if (bytes == recording->array->chunk_bytes && recording->sensor.rate_bytes_per_s > 0) {
        stria_sensor_make(&recording->sensor, NULL, recording->array->block_bytes);
        recording->missed_bytes += bytes;
        return true;
    }
    if (recording->sensor.made_bytes < recording->sensor.bytes || recording->missed_bytes > 0)
        return false;
    recording->ending = true;
    feed(recording, (struct stria_event){.kind = STRIA_EVENT_END});
    return true;
}

static void run(struct stria_bare_recording *recording)
{
    feed(recording, (struct stria_event){.kind = STRIA_EVENT_BEGIN});
    while (!recording->finished) {
        const uint64_t now_ns = stria_clock_ns();
        stria_pump_poll(recording->pump, now_ns);
        if (!recording->finished && now_ns >= stria_pump_due_ns(recording->pump))
            feed(recording, (struct stria_event){.kind = STRIA_EVENT_TICK});
        turn_sensor(recording);
        stria_meter_buffer(recording->meter, stria_recorder_slots_used(recording->recorder) *
                                                 (uint64_t)recording->array->chunk_bytes);
    }
    stria_meter_finish(recording->meter, recording->ended_ns);
}

static int choose_name(struct stria_bare_recording *recording)
{
    const struct stria_inventory *inventory = &recording->array->inventory;
    if (recording->options->name[0])
        memcpy(recording->name, recording->options->name, STRIA_NAME_BYTES);
    else
        stria_text_compose(recording->name, sizeof(recording->name), "bare-%lu",
                           (unsigned long)inventory->next_recording);
    if (!stria_inventory_find(inventory, recording->name))
        return STRIA_OK;
    stria_console_say("stria: array %s has a recording named %s already", recording->array->name,
                      recording->name);
    return STRIA_ERR_EXISTS;
}

static int create_ring(struct stria_bare_recording *recording)
{
    const uint64_t chunk_bytes = recording->array->chunk_bytes;
    const uint64_t slots = recording->options->buffer_bytes / chunk_bytes;
    if (slots < STRIA_SLOTS_MIN || slots > STRIA_SLOTS_MAX) {
        stria_console_say("stria: buffer=%lu: a ring is %u to %u chunks of %lu KiB",
                          (unsigned long)recording->options->buffer_bytes, STRIA_SLOTS_MIN, STRIA_SLOTS_MAX,
                          (unsigned long)(chunk_bytes >> 10));
        return STRIA_ERR_INVALID;
    }
    recording->slot_count = (uint32_t)slots;
    recording->slot_data = stria_arena_take(slots * sizeof(void *), sizeof(void *), "the ring's slots");
    recording->free_slots = stria_arena_take(slots * sizeof(uint32_t), sizeof(uint32_t), "the ring's slots");
    uint8_t *ring = stria_arena_take(slots * chunk_bytes, STRIA_PAGE_BYTES, "the ring");
    if (!recording->slot_data || !recording->free_slots || !ring)
        return STRIA_ERR_NO_MEMORY;
    for (uint32_t slot = 0; slot < slots; slot++) {
        recording->slot_data[slot] = ring + slot * chunk_bytes;
        on_released(recording, slot);
    }
    return STRIA_OK;
}

/* Two parts of an array may each record while the other is away, and meet again. */
static uint64_t new_identity(const struct stria_bare_array *array)
{
    const uint64_t next = array->inventory.next_recording;
    return array->present == array->member_count ? next : next + (uint32_t)stria_machine_seed(array->machine);
}

static int create_recorder(struct stria_bare_recording *recording)
{
    struct stria_bare_array *array = recording->array;
    struct stria_recorder_drive drives[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_bare_member *member = &array->members[index];
        drives[index] = (struct stria_recorder_drive){.geometry = member->super.geometry,
                                                      .binding = stria_superblock_binding(&member->super),
                                                      .ledger = member->ledger,
                                                      .extent_state = member->extent_state,
                                                      .staging = member->staging,
                                                      .checkpoint_serial = array->inventory.checkpoint_serial,
                                                      .depth = (uint32_t)recording->options->depth,
                                                      .present = member->drive != NULL,
                                                      .no_space_is_loss = true};
    }
    struct stria_recorder_config config = {
        .drive_count = array->member_count,
        .drives = drives,
        .catalogue = &array->catalogue,
        .policy = array->policy,
        .recording = new_identity(array),
        .name = recording->name,
        .wall_ns = stria_machine_wall_ns(array->machine),
        .chunk_bytes = array->chunk_bytes,
        .block_bytes = array->block_bytes,
        .slot_count = recording->slot_count,
        .window_chunks = WINDOW_CHUNKS,
        .commit_interval_ns = recording->options->commit_ms * NS_PER_MS,
        .deadline_ns = array->deadline_ns,
        .digest = true,
    };
    memcpy(config.array_uuid, array->uuid, STRIA_UUID_BYTES);
    void *memory = stria_arena_take(stria_recorder_memory_bytes(&config), 16, "the recorder");
    if (!memory)
        return STRIA_ERR_NO_MEMORY;
    recording->recorder = stria_recorder_init(memory, &config);
    return STRIA_OK;
}

static int create_pump(struct stria_bare_recording *recording)
{
    struct stria_bare_array *array = recording->array;
    const struct stria_meter_config measured = {
        .drive_count = array->member_count, .bins = STRIA_METER_BINS_DEFAULT, .start_ns = stria_clock_ns()};
    void *meter =
        stria_arena_take(stria_meter_bytes(measured.drive_count, measured.bins), 16, "the measurements");
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    for (uint32_t index = 0; index < array->member_count; index++)
        drives[index] = array->members[index].drive ? &array->members[index].drive->base : NULL;
    const struct stria_pump_config config = {
        .recorder = recording->recorder,
        .drive_count = array->member_count,
        .drives = drives,
        .slot_count = recording->slot_count,
        .slot_data = recording->slot_data,
        .meter = meter,
        .listener = {.context = recording,
                     .started = on_started,
                     .released = on_released,
                     .watermark = on_watermark,
                     .gap = on_gap,
                     .gave_up = on_gave_up,
                     .full = on_full,
                     .finished = on_finished},
    };
    void *memory = stria_arena_take(stria_pump_memory_bytes(&config), 16, "the pump");
    if (!meter || !memory)
        return STRIA_ERR_NO_MEMORY;
    recording->meter = stria_meter_init(meter, &measured);
    recording->pump = stria_pump_init(memory, &config);
    return STRIA_OK;
}

int stria_bare_record(struct stria_bare_array *array, const struct stria_firmware_options *options,
                      bool still, struct stria_bare_outcome *outcome)
{
    static struct stria_bare_recording recording;
    recording = (struct stria_bare_recording){.array = array,
                                              .options = options,
                                              .gaps_left = GAPS_SAID_MAX,
                                              .sensor = {.rate_bytes_per_s = options->rate_bytes_per_s,
                                                         .bytes = options->bytes,
                                                         .seed = options->seed,
                                                         .chunk_bytes = array->chunk_bytes,
                                                         .still = still}};
    int code = stria_bare_array_prepare(array);
    if (code == STRIA_OK)
        code = choose_name(&recording);
    if (code == STRIA_OK)
        code = create_ring(&recording);
    if (code == STRIA_OK)
        code = create_recorder(&recording);
    if (code == STRIA_OK)
        code = create_pump(&recording);
    if (code != STRIA_OK)
        return code;
    run(&recording);
    stria_bare_recording_report(&recording, outcome);
    return recording.started ? STRIA_OK : STRIA_ERR_GONE;
}
