/* The checks made on what is found on the media, whatever happened before. */
#include "tests/sim/array.h"
#include "tests/sim/hash.h"
#include "tests/sim/knowledge.h"

static uint32_t length_of(const struct sim_world *world, uint64_t length_bytes, uint64_t chunk)
{
    uint64_t left = length_bytes - chunk * world->scenario.chunk_bytes;
    return left < world->scenario.chunk_bytes ? (uint32_t)left : world->scenario.chunk_bytes;
}

/* Reads a chunk as the product does: the first extent whose digest is right counts. What it presents has to
 * be true, and only a drive that lied may hold anything else. */
static const struct stria_map_extent *read_chunk(struct sim_world *world,
                                                 const struct sim_recording *recording, uint64_t chunk,
                                                 const struct stria_map_place *place)
{
    uint64_t id = sim_chunk_id(world, recording, (uint32_t)chunk);
    uint32_t length = recording->chunks[chunk].length_bytes;
    for (size_t index = 0; index < place->extent_count; index++) {
        const struct stria_map_extent *extent = &place->extents[index];
        const struct sim_drive_past *past = &world->past[extent->drive];
        uint64_t seed = sim_hash_seed(recording->id, extent->sequence);
        bool right =
            sim_media_digest(past->media, extent->position, extent->length_bytes, seed) == extent->digest;
        bool holds =
            extent->length_bytes == length && sim_media_holds(past->media, extent->position, id, length);
        if (right && !holds)
            sim_fail(world, "recording %llu: wrong bytes are presented as chunk %llu",
                     (unsigned long long)recording->id, (unsigned long long)chunk);
        if (!right && !past->damaged)
            sim_fail(world, "recording %llu: chunk %llu at drive %u, extent %u, is damaged for no reason",
                     (unsigned long long)recording->id, (unsigned long long)chunk, extent->drive,
                     extent->position);
        if (right)
            return extent;
    }
    return NULL;
}

/* Whether everything that was ever written of a recording can be expected to be found. */
static bool undisturbed(const struct sim_world *world, const struct sim_array *array,
                        const struct stria_map *map)
{
    for (uint32_t drive = 0; drive < array->drive_count; drive++)
        if (!array->drives[drive].present || world->past[drive].damaged)
            return false;
    return map->lost_count == 0;
}

static bool somebody_damaged(const struct sim_world *world)
{
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++)
        if (world->past[drive].damaged)
            return true;
    return false;
}

static uint64_t checkpointed_bytes(const struct sim_array *array, const struct sim_recording *recording)
{
    uint64_t furthest = 0;
    for (uint32_t index = 0; index < array->drive_count; index++) {
        const struct sim_array_drive *drive = &array->drives[index];
        if (drive->present && drive->checkpoint_valid && drive->checkpoint.recording == recording->id &&
            drive->checkpoint.watermark_bytes > furthest)
            furthest = drive->checkpoint.watermark_bytes;
    }
    return furthest;
}

/* Closed by a recovery, perhaps one that was cut off, while a drive was absent. */
static bool may_have_holes(const struct sim_recording *recording, bool complete)
{
    return recording->holes || (complete && !recording->finished);
}

static void verify_chunk(struct sim_world *world, const struct sim_array *array,
                         const struct sim_recording *recording, const struct stria_map *map, uint64_t index,
                         bool complete)
{
    const struct sim_chunk *chunk = &recording->chunks[index];
    struct stria_map_place place = stria_map_find(map, index);
    const struct stria_map_extent *found =
        place.state == STRIA_MAP_STORED ? read_chunk(world, recording, index, &place) : NULL;
    bool reachable = chunk->fate == SIM_FATE_WRITTEN && array->drives[chunk->drive].present &&
                     !world->past[chunk->drive].damaged;
    /* What a drive has lost again ends the run of sequences in a recording that has no end of its own. */
    if (place.state == STRIA_MAP_BEYOND && !recording->closed && somebody_damaged(world) &&
        (sim_somebody_lied(world) || index * map->chunk_bytes >= checkpointed_bytes(array, recording)))
        reachable = false;
    if (chunk->durable && !chunk->cause && reachable && !found)
        sim_fail(world, "recording %llu: chunk %llu was durable on drive %u and is not readable (state %d)",
                 (unsigned long long)recording->id, (unsigned long long)index, chunk->drive, place.state);
    if (found && chunk->fate == SIM_FATE_SKIPPED)
        sim_fail(world, "recording %llu: chunk %llu is presented, and was never recorded",
                 (unsigned long long)recording->id, (unsigned long long)index);
    if (place.state == STRIA_MAP_GAP && (place.cause == STRIA_GAP_NONE || place.cause > STRIA_GAP_FULL))
        sim_fail(world, "recording %llu: the gap at chunk %llu has no cause",
                 (unsigned long long)recording->id, (unsigned long long)index);
    bool unnamed = chunk->cause && world->scenario.catalogue_short;
    if (place.state == STRIA_MAP_MISSING && !unnamed && !may_have_holes(recording, complete) &&
        undisturbed(world, array, map))
        sim_fail(world, "recording %llu: chunk %llu is missing, and no drive is",
                 (unsigned long long)recording->id, (unsigned long long)index);
    if (place.state == STRIA_MAP_GAP && chunk->fate == SIM_FATE_WRITTEN && !chunk->cause && chunk->durable)
        sim_fail(world, "recording %llu: chunk %llu is stored, and called a gap",
                 (unsigned long long)recording->id, (unsigned long long)index);
}

/* Where the last chunk ends that was durable and is stored. What comes after it, up to the watermark, is
 * known not to be stored, and of a recording without an end nobody knows how far that reached. */
static uint64_t stored_end(const struct sim_world *world, const struct sim_recording *recording)
{
    for (uint32_t index = recording->chunk_count; index-- > 0;)
        if (recording->chunks[index].durable && !recording->chunks[index].cause)
            return (uint64_t)index * world->scenario.chunk_bytes + recording->chunks[index].length_bytes;
    return 0;
}

static void verify_map(struct sim_world *world, const struct sim_array *array,
                       const struct sim_recording *recording, const struct stria_recording *found)
{
    struct stria_map map;
    sim_map_make(world, array, found, &map);
    uint64_t least =
        recording->closed && (recording->ended_on & sim_present(array)) ? recording->length_bytes : 0;
    /* Its own end may come back with a drive that was away when it was closed. */
    uint64_t most = recording->length_bytes;
    if (recording->holes && recording->delivered_bytes > most)
        most = recording->delivered_bytes;
    bool there = true;
    for (uint32_t drive = 0; drive < array->drive_count; drive++)
        there &= array->drives[drive].present && !world->past[drive].damaged;
    if (!recording->closed && there)
        least = stored_end(world, recording);
    if (map.length_bytes < least || map.length_bytes > most)
        sim_fail(world, "recording %llu has %llu bytes, and is found with %llu",
                 (unsigned long long)recording->id, (unsigned long long)least,
                 (unsigned long long)map.length_bytes);
    if (map.chunks_stored + map.chunks_gap + map.chunks_lost + map.chunks_missing != map.chunk_count)
        sim_fail(world, "recording %llu: the map's sums are wrong", (unsigned long long)recording->id);
    for (uint64_t index = 0; index < recording->chunk_count && !sim_failed(world); index++)
        verify_chunk(world, array, recording, &map, index, found->complete);
    sim_map_free(&map);
}

static bool ever_begun(const struct sim_world *world, uint64_t id)
{
    for (uint32_t index = 0; index < world->model.count; index++)
        if (world->model.recordings[index].id == id)
            return true;
    return false;
}

static void verify_recording(struct sim_world *world, const struct sim_array *array,
                             const struct sim_recording *recording)
{
    const uint32_t present = sim_present(array);
    const struct stria_recording *found = stria_inventory_find_id(&array->inventory, recording->id);
    const unsigned long long id = recording->id;
    if (((recording->begun_on | recording->removed_on) & present) && array->inventory.next_recording <= id)
        sim_fail(world, "the identity of recording %llu is given out again", id);
    if (found && (recording->removed_on & present) && sim_model_find(&world->model, id) == NULL)
        sim_fail(world, "recording %llu is back after its removal", id);
    if (recording->removed)
        return;
    if (!found && (recording->begun_on & present) && !recording->removing)
        sim_fail(world, "recording %llu is not found", id);
    if (found && !found->complete && (recording->ended_on & present))
        sim_fail(world, "recording %llu is finished, and found without its end", id);
    if (found)
        verify_map(world, array, recording, found);
}

void sim_verify(struct sim_world *world, const struct sim_array *array)
{
    for (uint32_t index = 0; index < world->model.count && !sim_failed(world); index++)
        verify_recording(world, array, &world->model.recordings[index]);
    /* A removal of long ago may rot away, and what was removed be listed again. */
    for (uint32_t index = 0; index < array->inventory.recording_count && !somebody_damaged(world); index++)
        if (!ever_begun(world, array->inventory.recordings[index].id))
            sim_fail(world, "there is a recording %llu that nobody made",
                     (unsigned long long)array->inventory.recordings[index].id);
}

static void adopt_chunk(struct sim_world *world, const struct sim_array *array,
                        struct sim_recording *recording, const struct stria_map *map, uint32_t index)
{
    struct sim_chunk *chunk = &recording->chunks[index];
    struct stria_map_place place = stria_map_find(map, index);
    const struct stria_map_extent *found =
        place.state == STRIA_MAP_STORED ? read_chunk(world, recording, index, &place) : NULL;
    if (found) {
        chunk->fate = SIM_FATE_WRITTEN;
        chunk->cause = STRIA_GAP_NONE;
        chunk->drive = (uint8_t)found->drive;
        chunk->position = found->position;
        chunk->durable = true;
        sim_own(world, found->drive, found->position, recording, index);
        return;
    }
    bool away = chunk->fate == SIM_FATE_WRITTEN && chunk->durable && !chunk->cause &&
                (!array->drives[chunk->drive].present || world->past[chunk->drive].damaged);
    if (away || chunk->fate == SIM_FATE_SKIPPED)
        return;
    chunk->fate = SIM_FATE_UNKNOWN;
    chunk->durable = false;
}

/* Left without an end while a drive is away: that one may know of more, and of what the others know nobody
 * can say yet whether it belongs to the recording. But what was never durable and is not found is gone. */
static void adopt_open(struct sim_world *world, const struct sim_array *array,
                       struct sim_recording *recording, const struct stria_map *map)
{
    for (uint32_t index = 0; index < recording->chunk_count && !sim_failed(world); index++) {
        struct sim_chunk *chunk = &recording->chunks[index];
        if (chunk->durable)
            continue;
        adopt_chunk(world, array, recording, map, index);
        chunk->durable = false;
    }
}

/* An end that a recovery gave must not cut off what any drive holds, there or away. */
static void check_end(struct sim_world *world, const struct sim_recording *recording,
                      const struct stria_map *map)
{
    if (somebody_damaged(world))
        return;
    for (uint64_t index = map->chunk_count; index < recording->chunk_count; index++)
        if (recording->chunks[index].durable && !recording->chunks[index].cause)
            sim_fail(world, "recording %llu: chunk %llu was durable, and lies behind the end it was given",
                     (unsigned long long)recording->id, (unsigned long long)index);
}

void sim_note_ends(struct sim_world *world, const struct sim_array *array)
{
    for (uint32_t index = 0; index < world->model.count; index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        const struct stria_recording *found = stria_inventory_find_id(&array->inventory, recording->id);
        recording->holes |= found && !recording->closed && found->complete;
    }
}

/* Whether what is not found is gone: somebody there knew that it began, or nobody can be relied on to know.
 */
static bool knows_of(const struct sim_array *array, const struct sim_recording *recording)
{
    return recording->begun_on == 0 || (recording->begun_on & sim_present(array)) != 0;
}

void sim_adopt(struct sim_world *world, const struct sim_array *array)
{
    for (uint32_t index = 0; index < world->model.count && !sim_failed(world); index++) {
        struct sim_recording *recording = &world->model.recordings[index];
        const struct stria_recording *found = stria_inventory_find_id(&array->inventory, recording->id);
        if (recording->removed || (recording->closed && !recording->removing))
            continue;
        if (!found) {
            recording->removed |= knows_of(array, recording);
            continue;
        }
        /* A drive that is away may have got the removal, which takes effect when it is back. */
        recording->removing &= !sim_everybody_there(array);
        recording->started = true;
        if (recording->closed)
            continue;
        struct stria_map map;
        sim_map_make(world, array, found, &map);
        if (!found->complete) {
            adopt_open(world, array, recording, &map);
            sim_map_free(&map);
            continue;
        }
        check_end(world, recording, &map);
        recording->holes |= !sim_everybody_there(array);
        recording->closed = found->complete;
        recording->delivered_bytes = recording->length_bytes;
        recording->length_bytes = map.length_bytes;
        recording->chunk_count = (uint32_t)map.chunk_count;
        if (map.chunk_count > 0)
            recording->chunks[map.chunk_count - 1].length_bytes =
                length_of(world, map.length_bytes, map.chunk_count - 1);
        for (uint32_t chunk = 0; chunk < recording->chunk_count && !sim_failed(world); chunk++)
            adopt_chunk(world, array, recording, &map, chunk);
        sim_map_free(&map);
    }
}
