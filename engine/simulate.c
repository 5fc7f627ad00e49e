#include "engine/simulate.h"

#include "core/assert.h"
#include "core/ratio.h"
#include "core/slots.h"
#include "engine/modelled_drive.h"
#include "engine/simulate_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Fine bins, so that short droughts show in the service curve; enough of them for ten minutes. */
#define INTERVAL_NS 10000000u
#define BINS        65536u
#define PEAKS       1024u

#define NEVER UINT64_MAX

/* The sensor, and the slots that are its own. */
struct source {
    uint64_t count; /* chunks that it makes in all */
    uint64_t next;  /* the chunk that begins at due_ns, when the one before it ends */
    uint64_t due_ns;
    uint32_t filling; /* the slot that takes the current chunk, or STRIA_SLOT_NONE */
    bool waits;       /* it is not paced, and there is no free slot */
    bool ended;
    uint32_t *free;
    uint32_t free_count;
};

struct run {
    const struct stria_simulate_config *config;
    struct stria_simulation *simulation;
    struct stria_simulated_array array;
    struct stria_recorder *recorder;
    struct stria_pump *pump;
    void **slot_data;
    uint32_t slot_count;
    uint64_t now_ns;
    uint64_t start_ns; /* of the stream */
    bool started, lost, finished;
    bool endless; /* the sensor has made more than anybody would wait for */
    struct source source;
};

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (memory)
        memset(memory, 0, (bytes + 63) & ~(size_t)63);
    return memory;
}

static void init_meter(struct run *run)
{
    const struct stria_meter_config config = {.drive_count = run->config->drive_count,
                                              .bins = BINS,
                                              .interval_ns = INTERVAL_NS,
                                              .start_ns = run->now_ns};
    stria_meter_init(run->simulation->meter, &config);
    stria_peaks_init(&run->simulation->buffer, run->simulation->buffer.bins, PEAKS, run->now_ns, INTERVAL_NS);
}

static void on_started(void *context)
{
    struct run *run = context;
    run->started = true;
    run->start_ns = run->source.due_ns = run->now_ns;
    init_meter(run);
}

static void on_released(void *context, uint32_t slot)
{
    struct run *run = context;
    run->simulation->payload_ns = run->now_ns - run->start_ns;
    run->source.free[run->source.free_count++] = slot;
}

static void note_loss(struct run *run, const struct stria_gap *gap)
{
    if (!run->lost || gap->offset_bytes < run->simulation->first_loss.offset_bytes)
        run->simulation->first_loss = *gap;
    run->lost = true;
}

static void on_gap(void *context, const struct stria_gap *gap)
{
    struct run *run = context;
    struct stria_gap of_stream = *gap;
    of_stream.time_ns -= run->start_ns;
    note_loss(run, &of_stream);
}

static void on_full(void *context)
{
    struct run *run = context;
    run->simulation->full = true;
    run->simulation->full_ns = run->now_ns - run->start_ns;
}

static void on_finished(void *context, int code)
{
    struct run *run = context;
    (void)code;
    run->finished = true;
}

static int create_recorder(struct run *run, struct stria_trouble *trouble)
{
    const struct stria_simulate_config *config = run->config;
    struct stria_recorder_drive drives[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < config->drive_count; index++) {
        const struct stria_simulated_member *member = &run->array.members[index];
        drives[index] = (struct stria_recorder_drive){
            .geometry = member->geometry,
            .binding = {.drive_index = index, .generation = 1},
            .ledger = member->ledger,
            .extent_state = member->extent_state,
            .staging = member->staging,
            .depth = config->depth,
            .present = true,
        };
    }
    const struct stria_recorder_config recorder = {
        .drive_count = config->drive_count,
        .drives = drives,
        .catalogue = &run->array.catalogue,
        .policy = config->policy,
        .recording = 1,
        .name = "simulated",
        .chunk_bytes = config->chunk_bytes,
        .block_bytes = STRIA_PAGE_BYTES,
        .slot_count = run->slot_count,
        .window_chunks = STRIA_WINDOW_CHUNKS_MAX,
        .commit_interval_ns = STRIA_SIMULATE_COMMIT_NS,
        .deadline_ns = STRIA_SIMULATE_DEADLINE_NS,
    };
    const size_t bytes = stria_recorder_memory_bytes(&recorder);
    void *memory = bytes > 0 ? allocate(bytes) : NULL;
    if (bytes == 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a depth of %" PRIu32 " or chunks of %" PRIu32 " KiB are out of range",
                                 config->depth, config->chunk_bytes >> 10);
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the recorder");
    run->recorder = stria_recorder_init(memory, &recorder);
    return STRIA_OK;
}

/* No payload is ever looked at, so that all slots can stand for the same place. */
static void init_slots(struct run *run)
{
    static uint8_t nowhere;
    for (uint32_t slot = 0; slot < run->slot_count; slot++) {
        run->slot_data[slot] = &nowhere;
        run->source.free[slot] = run->slot_count - 1 - slot;
    }
    run->source.free_count = run->slot_count;
    run->source.filling = STRIA_SLOT_NONE;
}

static int create_pump(struct run *run, struct stria_trouble *trouble)
{
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    for (uint32_t index = 0; index < run->config->drive_count; index++)
        drives[index] = run->array.members[index].drive;
    const size_t meter_bytes = stria_meter_bytes(run->config->drive_count, BINS);
    run->slot_data = allocate(run->slot_count * sizeof(void *));
    run->source.free = allocate(run->slot_count * sizeof(uint32_t));
    run->simulation->meter = allocate(meter_bytes);
    run->simulation->buffer.bins = allocate(PEAKS * sizeof(uint64_t));
    const struct stria_pump_config config = {
        .recorder = run->recorder,
        .drive_count = run->config->drive_count,
        .drives = drives,
        .slot_count = run->slot_count,
        .slot_data = run->slot_data,
        .meter = run->simulation->meter,
        .listener = {.context = run,
                     .started = on_started,
                     .released = on_released,
                     .gap = on_gap,
                     .full = on_full,
                     .finished = on_finished},
    };
    void *memory = allocate(stria_pump_memory_bytes(&config));
    if (!run->slot_data || !run->source.free || !config.meter || !run->simulation->buffer.bins || !memory) {
        free(memory);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for %" PRIu32 " slots",
                                 run->slot_count);
    }
    init_meter(run);
    init_slots(run);
    run->pump = stria_pump_init(memory, &config);
    return STRIA_OK;
}

static uint64_t chunks_max(const struct stria_simulate_config *config)
{
    return config->chunks_max > 0 ? config->chunks_max : STRIA_SIMULATE_CHUNKS_MAX;
}

static int refuse_endless(const struct stria_simulate_config *config, struct stria_trouble *trouble)
{
    return stria_trouble_set(
        trouble, STRIA_ERR_INVALID,
        "this sensor makes more than %" PRIu64 " chunks before the drives are full, more "
        "than can be simulated: give it a lower rate or less to record, or larger chunks",
        chunks_max(config));
}

/* Even as fast as their links, the drives would still not be full when the sensor has made too much. */
static bool surely_endless(const struct run *run)
{
    const struct stria_simulate_config *config = run->config;
    uint64_t link_bytes_per_s = 0;
    for (uint32_t index = 0; index < config->drive_count; index++)
        link_bytes_per_s += config->drives[index]->link_bytes_per_s;
    const uint64_t until_full =
        stria_ratio_scale(run->simulation->capacity_bytes, config->rate_bytes_per_s, link_bytes_per_s);
    return run->source.count > chunks_max(config) && until_full / config->chunk_bytes > chunks_max(config);
}

static int create(struct run *run, struct stria_trouble *trouble)
{
    const struct stria_simulate_config *config = run->config;
    const uint64_t slots = config->buffer_bytes / config->chunk_bytes;
    if (slots < STRIA_SLOTS_MIN || slots > STRIA_SLOTS_MAX)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a buffer of %" PRIu64 " bytes does not do for chunks of %" PRIu32
                                 " KiB: it holds %u to %u chunks",
                                 config->buffer_bytes, config->chunk_bytes >> 10, STRIA_SLOTS_MIN,
                                 STRIA_SLOTS_MAX);
    run->slot_count = (uint32_t)slots;
    int code = stria_simulated_array_create(&run->array, config, &run->now_ns, trouble);
    if (code == STRIA_OK)
        code = create_recorder(run, trouble);
    if (code == STRIA_OK)
        code = create_pump(run, trouble);
    if (code != STRIA_OK)
        return code;
    run->simulation->capacity_bytes = stria_simulate_capacity_bytes(config);
    const uint64_t size_bytes = config->size_bytes ? config->size_bytes : run->simulation->capacity_bytes;
    run->source.count = size_bytes / config->chunk_bytes + (size_bytes % config->chunk_bytes > 0);
    return surely_endless(run) ? refuse_endless(config, trouble) : STRIA_OK;
}

static void feed(struct run *run, enum stria_event_kind kind, uint32_t slot)
{
    const struct stria_event event = {.kind = kind,
                                      .now_ns = run->now_ns,
                                      .slot = slot,
                                      .length_bytes = run->config->chunk_bytes,
                                      .cause = STRIA_GAP_BUFFER};
    stria_pump_feed(run->pump, &event);
}

static void note_buffer(struct run *run)
{
    const uint64_t used = (uint64_t)(run->slot_count - run->source.free_count) * run->config->chunk_bytes;
    stria_peaks_set(&run->simulation->buffer, run->now_ns, used);
    stria_meter_buffer(run->simulation->meter, used);
}

static void end_stream(struct run *run)
{
    run->source.ended = true;
    run->simulation->source_ns = run->now_ns - run->start_ns;
    feed(run, STRIA_EVENT_END, 0);
}

static bool time_is_up(const struct run *run)
{
    const uint64_t duration_ns = run->config->duration_ns;
    return duration_ns > 0 && run->now_ns - run->start_ns >= duration_ns;
}

static void commit(struct run *run, uint32_t slot)
{
    stria_meter_input(run->simulation->meter, run->now_ns, run->config->chunk_bytes);
    feed(run, STRIA_EVENT_COMMIT, slot);
}

/* A sensor that waits: it fills every slot as soon as it is free. */
static void run_unpaced(struct run *run)
{
    struct source *source = &run->source;
    while (source->next < source->count && source->free_count > 0 && !run->simulation->full &&
           !time_is_up(run) && stria_recorder_accepts(run->recorder)) {
        source->next++;
        const uint32_t slot = source->free[--source->free_count];
        note_buffer(run);
        commit(run, slot);
    }
    if (source->next == source->count || run->simulation->full || time_is_up(run))
        end_stream(run);
}

/* The current chunk finds no slot. */
static void skip(struct run *run)
{
    note_loss(run, &(struct stria_gap){.offset_bytes = (run->source.next - 1) * run->config->chunk_bytes,
                                       .length_bytes = run->config->chunk_bytes,
                                       .cause = STRIA_GAP_BUFFER,
                                       .drive = stria_recorder_culprit(run->recorder),
                                       .time_ns = run->now_ns - run->start_ns});
    feed(run, STRIA_EVENT_SKIP, 0);
}

/* The moment between two chunks of a sensor that does not wait: the one that ends is committed, and the next
 * gets a slot, or none. */
static void run_boundary(struct run *run)
{
    struct source *source = &run->source;
    if (source->filling != STRIA_SLOT_NONE)
        commit(run, source->filling);
    source->filling = STRIA_SLOT_NONE;
    if (source->next == source->count || run->simulation->full || time_is_up(run)) {
        end_stream(run);
        return;
    }
    run->endless = source->next++ == chunks_max(run->config);
    if (source->free_count > 0) {
        source->filling = source->free[--source->free_count];
        note_buffer(run);
    } else {
        skip(run);
    }
    source->due_ns = run->start_ns + stria_ratio_scale(source->next * run->config->chunk_bytes,
                                                       STRIA_SECOND_NS, run->config->rate_bytes_per_s);
}

/* What the recorder does not accept yet is held back, in order. */
static void run_source(struct run *run)
{
    if (run->config->rate_bytes_per_s == 0) {
        if (!run->source.ended)
            run_unpaced(run);
        return;
    }
    while (!run->source.ended && !run->endless && run->source.due_ns <= run->now_ns &&
           stria_recorder_accepts(run->recorder))
        run_boundary(run);
}

static uint64_t next_ns(const struct run *run)
{
    uint64_t due_ns = stria_pump_due_ns(run->pump);
    if (run->started && !run->source.ended && run->config->rate_bytes_per_s > 0 &&
        run->source.due_ns < due_ns)
        due_ns = run->source.due_ns;
    for (uint32_t index = 0; index < run->config->drive_count; index++) {
        const uint64_t drive_ns = stria_modelled_drive_due_ns(run->array.members[index].drive);
        due_ns = drive_ns < due_ns ? drive_ns : due_ns;
    }
    return due_ns;
}

static void turn(struct run *run)
{
    stria_pump_poll(run->pump, run->now_ns);
    if (!run->finished && stria_pump_due_ns(run->pump) <= run->now_ns)
        feed(run, STRIA_EVENT_TICK, 0);
    if (run->started && !run->finished)
        run_source(run);
}

static int record(struct run *run, struct stria_trouble *trouble)
{
    feed(run, STRIA_EVENT_BEGIN, 0);
    while (!run->finished && !run->endless && !(run->lost && run->config->stop_at_loss)) {
        const uint64_t due_ns = next_ns(run);
        STRIA_ASSERT(due_ns != NEVER);
        if (due_ns > run->now_ns)
            run->now_ns = due_ns;
        turn(run);
    }
    return run->endless ? refuse_endless(run->config, trouble) : STRIA_OK;
}

static void conclude_drive(const struct run *run, uint32_t index)
{
    struct stria_simulated_drive *drive = &run->simulation->drives[index];
    const struct stria_simulated_member *member = &run->array.members[index];
    const struct stria_model *model = stria_modelled_drive_model(member->drive);
    stria_recorder_drive_status(run->recorder, index, &drive->status);
    drive->capacity_bytes = member->geometry.extent_count * run->config->chunk_bytes;
    drive->stalled_ns = model->state.stall_ns;
    drive->throttled_ns = model->state.throttled_ns;
    drive->temperature_mc = stria_model_temperature_mc(model);
}

/* A stream that found the array full lost all that would have come. */
static void conclude(struct run *run)
{
    struct stria_simulation *simulation = run->simulation;
    struct stria_recorder_status status;
    stria_recorder_status(run->recorder, &status);
    stria_meter_finish(simulation->meter, run->now_ns);
    simulation->duration_ns = run->now_ns - run->start_ns;
    simulation->drive_count = run->config->drive_count;
    simulation->stored_bytes = status.stored_bytes;
    simulation->dropped_bytes = status.dropped_bytes;
    simulation->stream_bytes = status.length_bytes;
    if (simulation->full && run->config->size_bytes > 0 && run->config->rate_bytes_per_s > 0) {
        simulation->stream_bytes = run->source.count * run->config->chunk_bytes;
        simulation->dropped_bytes = simulation->stream_bytes - simulation->stored_bytes;
    }
    simulation->lossless = !run->lost && simulation->dropped_bytes == 0;
    for (uint32_t index = 0; index < run->config->drive_count; index++)
        conclude_drive(run, index);
}

int stria_simulate(const struct stria_simulate_config *config, struct stria_simulation *simulation,
                   struct stria_trouble *trouble)
{
    struct run run = {.config = config, .simulation = simulation};
    *simulation = (struct stria_simulation){0};
    int code = create(&run, trouble);
    if (code == STRIA_OK)
        code = record(&run, trouble);
    if (code == STRIA_OK)
        conclude(&run);
    else
        stria_simulation_clear(simulation);
    stria_simulated_array_destroy(&run.array);
    free(run.recorder);
    free(run.pump);
    free(run.slot_data);
    free(run.source.free);
    return code;
}

void stria_simulation_clear(struct stria_simulation *simulation)
{
    free(simulation->meter);
    free(simulation->buffer.bins);
    *simulation = (struct stria_simulation){0};
}

struct stria_curve stria_simulation_curve(const struct stria_simulation *simulation, uint64_t bytes,
                                          uint64_t *duration_ns)
{
    struct stria_curve curve = stria_curve_of_series(&simulation->meter->stored.series);
    uint64_t stored = 0;
    uint32_t bin = 0;
    *duration_ns = simulation->source_ns;
    if (bytes == 0) {
        const uint64_t whole = simulation->source_ns / curve.interval_ns;
        curve.count = whole < curve.count ? (uint32_t)whole : curve.count;
        return curve;
    }
    while (bin < curve.count && stored + curve.bins[bin] < bytes)
        stored += curve.bins[bin++];
    const uint64_t begin_ns = bin * curve.interval_ns;
    const bool whole = bin < curve.count;
    const uint64_t bin_ns = whole ? curve.interval_ns : simulation->payload_ns - begin_ns;
    const uint64_t bin_bytes = whole ? curve.bins[bin] : simulation->stored_bytes - stored;
    *duration_ns = bytes >= simulation->stored_bytes
                       ? simulation->payload_ns
                       : begin_ns + stria_ratio_scale(bytes - stored, bin_ns, bin_bytes);
    curve.count = bin;
    return curve;
}

/* The windows up to the moment itself at which all but a buffer of the recording is stored, which lies within
 * a bin: what has come by then is the recording less what was stored when they began. */
static bool lower_to_last(const struct stria_curve *curve, uint64_t recorded_bytes, uint64_t end_ns,
                          bool known, uint64_t *bytes_per_s)
{
    uint64_t stored_bytes = 0;
    for (uint32_t bin = 0; bin * curve->interval_ns < end_ns; bin++) {
        const uint64_t rate =
            stria_ratio_bytes_per_s(recorded_bytes - stored_bytes, end_ns - bin * curve->interval_ns);
        if (!known || rate < *bytes_per_s)
            *bytes_per_s = rate;
        known = true;
        if (bin == curve->count)
            break;
        stored_bytes += curve->bins[bin];
    }
    return known;
}

bool stria_simulation_lossless(const struct stria_simulation *simulation, uint64_t bytes,
                               uint64_t buffer_bytes, uint64_t *bytes_per_s)
{
    struct stria_curve_limit limit = {0};
    uint64_t duration_ns;
    if (bytes > 0 && bytes <= buffer_bytes)
        return false;
    const uint64_t before_end = bytes > 0 ? bytes - buffer_bytes : 0;
    const struct stria_curve curve = stria_simulation_curve(simulation, before_end, &duration_ns);
    const bool known = stria_curve_lossless(&curve, buffer_bytes, &limit);
    if (known)
        *bytes_per_s = limit.bytes_per_s;
    return bytes > 0 ? lower_to_last(&curve, bytes, duration_ns, known, bytes_per_s) : known;
}
