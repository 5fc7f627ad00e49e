#include "tests/sim/source.h"

#define LOSES_PARTS 700u /* how often the source itself loses a few chunks, of 65536 */

static uint64_t source_draw(const struct sim_world *world, uint64_t what, uint64_t number)
{
    return sim_draw(world->scenario.seed, SIM_TOPIC_PRODUCER, (uint64_t)world->life << 8 | what, number);
}

static uint64_t interval_ns(const struct sim_world *world)
{
    return (uint64_t)world->scenario.chunk_bytes * 1000 / (world->scenario.source_bytes_per_s / 1000000);
}

void sim_source_start(struct sim_world *world)
{
    uint32_t count = world->scenario.chunks;
    if (source_draw(world, 1, 0) % 5 == 0)
        count = (uint32_t)(source_draw(world, 2, 0) % (count + 1));
    world->source = (struct sim_source){.due_ns = world->now_ns, .count = count};
}

void sim_source_stop(struct sim_world *world)
{
    world->source.count = world->source.next;
    world->source.blocked = false;
}

uint64_t sim_source_due_ns(const struct sim_world *world)
{
    return world->source.blocked || world->source.ended ? UINT64_MAX : world->source.due_ns;
}

static uint32_t delivered_bytes(const struct sim_world *world)
{
    const struct sim_source *source = &world->source;
    uint32_t chunk_bytes = world->scenario.chunk_bytes;
    if (!world->scenario.tail || source->next + 1 != source->count)
        return chunk_bytes;
    return 1 + (uint32_t)(source_draw(world, 3, 0) % (chunk_bytes - 1));
}

static void tell_skipped(struct sim_world *world)
{
    struct sim_source *source = &world->source;
    if (source->skipped_bytes == 0)
        return;
    struct sim_chunk chunk = {.fate = SIM_FATE_SKIPPED, .length_bytes = world->scenario.chunk_bytes};
    for (uint64_t at = 0; at < source->skipped_bytes; at += world->scenario.chunk_bytes)
        sim_recording_append(world->recording, chunk);
    world->recording->length_bytes += source->skipped_bytes;
    world->cover->overruns += source->skipped_cause == STRIA_GAP_BUFFER;
    struct stria_event event = {.kind = STRIA_EVENT_SKIP,
                                .now_ns = world->now_ns,
                                .length_bytes = source->skipped_bytes,
                                .cause = source->skipped_cause};
    source->skipped_bytes = 0;
    stria_pump_feed(world->pump, &event);
}

static void deliver(struct sim_world *world)
{
    uint32_t index = world->free_slots[--world->free_count];
    struct sim_recording *recording = world->recording;
    struct sim_slot *slot = &world->slots[index];
    uint32_t block = world->scenario.block_bytes;
    slot->held = true;
    slot->given_ns = 0;
    slot->chunk = recording->chunk_count;
    slot->length_bytes = delivered_bytes(world);
    slot->padded_bytes = (slot->length_bytes + block - 1) / block * block;
    slot->id = sim_chunk_id(world, recording, slot->chunk);
    sim_ring_fill(&world->ring, index, slot->id, slot->length_bytes, slot->padded_bytes);
    sim_recording_append(recording,
                         (struct sim_chunk){.fate = SIM_FATE_COMMITTED, .length_bytes = slot->length_bytes});
    recording->length_bytes += slot->length_bytes;
    world->cover->chunks++;
    sim_note(&world->trace, world->now_ns, "source: chunk %llu in slot %llu, %llu bytes", slot->chunk, index,
             slot->length_bytes);
    stria_pump_feed(world->pump, &(struct stria_event){.kind = STRIA_EVENT_COMMIT,
                                                       .now_ns = world->now_ns,
                                                       .slot = index,
                                                       .length_bytes = slot->length_bytes,
                                                       .captured_ns = world->source.due_ns});
}

static void skip(struct sim_world *world, uint32_t chunks, enum stria_gap_cause cause)
{
    struct sim_source *source = &world->source;
    source->skipped_bytes += (uint64_t)chunks * world->scenario.chunk_bytes;
    source->skipped_cause = cause;
    sim_note(&world->trace, world->now_ns, "source: skips %llu chunks, cause %llu, in front of %llu", chunks,
             cause, source->next);
}

/* One chunk, or the end; false if it has to wait. */
static bool run_once(struct sim_world *world)
{
    struct sim_source *source = &world->source;
    bool welcome = stria_recorder_accepts(world->recorder);
    if (source->next >= source->count) {
        if (source->skipped_bytes > 0 && !welcome)
            return false;
        tell_skipped(world);
        source->ended = true;
        sim_note(&world->trace, world->now_ns, "source: ends after %llu chunks%.0llu%.0llu", source->next, 0,
                 0);
        stria_pump_feed(world->pump, &(struct stria_event){.kind = STRIA_EVENT_END, .now_ns = world->now_ns});
        return true;
    }
    uint64_t draw = source_draw(world, 4, source->next);
    if (sim_chance(draw, LOSES_PARTS) && source->skipped_bytes == 0 && !source->blocked)
        skip(world, 1 + (uint32_t)(draw >> 20) % 3, STRIA_GAP_SOURCE);
    if (welcome && world->free_count > 0) {
        tell_skipped(world);
        deliver(world);
    } else if (world->scenario.overrun == SIM_OVERRUN_DROP && world->recording->started &&
               (source->skipped_bytes == 0 || source->skipped_cause == STRIA_GAP_BUFFER)) {
        skip(world, 1, STRIA_GAP_BUFFER);
    } else {
        return false;
    }
    source->next++;
    return true;
}

void sim_source_run(struct sim_world *world)
{
    struct sim_source *source = &world->source;
    while (!source->ended && !world->cut && !world->finished && !sim_failed(world) &&
           source->due_ns <= world->now_ns) {
        if (!run_once(world)) {
            source->blocked = true;
            return;
        }
        if (source->blocked)
            source->due_ns = world->now_ns;
        source->blocked = false;
        source->due_ns += interval_ns(world);
    }
}
