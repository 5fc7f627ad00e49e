#include "tests/sim/audit.h"

#include "core/checkpoint.h"
#include "tests/sim/array.h"

#include <string.h>

#define SOUND_EXTENTS_MAX 4000u /* larger worlds are checked at one step of SOUND_EVERY */
#define SOUND_EVERY       4096u
#define FAILED_IN_ROW_MAX 8u /* writes of a drive, after which the recorder gives it up */

static const struct stria_geometry *geometry_of(const struct sim_world *world, uint32_t drive)
{
    return &world->past[drive].super.geometry;
}

static bool in_region(uint64_t offset, uint64_t length, uint64_t start, uint64_t bytes)
{
    return offset >= start && offset + length <= start + bytes;
}

static uint32_t slot_of(const struct sim_world *world, const void *data, uint64_t *offset)
{
    size_t at = (size_t)((const uint8_t *)data - world->ring.base);
    *offset = at % world->ring.chunk_bytes;
    return (uint32_t)(at / world->ring.chunk_bytes);
}

static uint64_t watched_ns(const struct sim_world *world)
{
    return world->now_ns - world->unwatched_ns;
}

static void audit_payload(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    const struct stria_geometry *geometry = geometry_of(world, drive);
    uint64_t position = (io->offset - geometry->data_offset) / geometry->chunk_bytes;
    uint64_t within = (io->offset - geometry->data_offset) % geometry->chunk_bytes;
    uint64_t slot_offset;
    uint32_t index = slot_of(world, io->data, &slot_offset);
    const uint8_t *base = io->data;
    if (base < world->ring.base || base >= world->ring.base + world->ring.bytes) {
        sim_fail(world, "drive %u gets payload that is not in the ring", drive);
        return;
    }
    struct sim_slot *slot = &world->slots[index];
    if (slot->given_ns == 0 || slot->drive != drive)
        slot->given_ns = watched_ns(world);
    slot->drive = drive;
    if (!slot->held)
        sim_fail(world, "drive %u writes slot %u, which is the source's", drive, index);
    if (position >= geometry->extent_count || within != slot_offset ||
        slot_offset + io->length != slot->padded_bytes)
        sim_fail(world, "drive %u writes chunk %u of slot %u to a wrong range", drive, slot->chunk, index);
    const struct sim_chunk *owner = sim_owner(world, drive, position);
    if (owner && owner != &world->recording->chunks[slot->chunk] && !world->past[drive].damaged &&
        !sim_somebody_lied(world))
        sim_fail(world, "drive %u: chunk %u is written over a stored chunk at extent %llu", drive,
                 slot->chunk, (unsigned long long)position);
    if (sim_state(world) != STRIA_RECORDER_RECORDING && sim_state(world) != STRIA_RECORDER_DRAINING)
        sim_fail(world, "payload is written before the recording exists, or after its end");
}

/* Whether an entry describes a chunk that is still to be found by it. */
static bool entry_counts(struct sim_world *world, uint32_t drive, uint64_t position,
                         const struct stria_ledger_entry *entry)
{
    const struct sim_recording *recording = sim_model_find(&world->model, entry->recording);
    uint64_t chunk = entry->stream_offset / world->scenario.chunk_bytes;
    return recording && chunk < recording->chunk_count &&
           sim_owner(world, drive, position) == &recording->chunks[chunk];
}

/* An entry of the running recording is only written when what it describes is durable. */
static void audit_entry(struct sim_world *world, uint32_t drive, uint64_t position, const uint8_t *cell)
{
    struct sim_drive_past *past = &world->past[drive];
    struct stria_ledger_binding binding = stria_superblock_binding(&past->super);
    struct stria_ledger_entry entry, old;
    enum stria_ledger_verdict verdict = stria_ledger_decode(cell, &entry, &binding, position);
    const uint8_t *durable =
        sim_media_bytes(past->media, stria_geometry_ledger_entry_offset(&past->super.geometry, position));
    if (memcmp(durable, cell, STRIA_LEDGER_ENTRY_BYTES) != 0 &&
        stria_ledger_decode(durable, &old, &binding, position) == STRIA_LEDGER_VALID &&
        entry_counts(world, drive, position, &old) && !past->damaged && !sim_somebody_lied(world))
        sim_fail(world, "drive %u: the entry of a stored chunk at extent %llu is written over", drive,
                 (unsigned long long)position);
    if (verdict == STRIA_LEDGER_EMPTY)
        return;
    if (verdict != STRIA_LEDGER_VALID) {
        sim_fail(world, "drive %u: the entry written for extent %llu does not validate", drive,
                 (unsigned long long)position);
        return;
    }
    const struct sim_recording *recording = world->recording;
    if (entry.recording != recording->id || past->damaged)
        return;
    uint64_t chunk = entry.stream_offset / world->scenario.chunk_bytes;
    if (chunk >= recording->chunk_count ||
        !sim_media_holds(past->media, position, sim_chunk_id(world, recording, (uint32_t)chunk),
                         recording->chunks[chunk].length_bytes))
        sim_fail(world, "drive %u: the entry of chunk %llu is written before its payload is durable", drive,
                 (unsigned long long)chunk);
}

static void audit_ledger(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    const struct stria_geometry *geometry = geometry_of(world, drive);
    uint64_t position = (io->offset - geometry->ledger_offset) / STRIA_LEDGER_ENTRY_BYTES;
    const uint8_t *cell = io->data;
    for (uint64_t at = 0; at < io->length && position < geometry->extent_count && !sim_failed(world);
         at += STRIA_LEDGER_ENTRY_BYTES, position++)
        audit_entry(world, drive, position, cell + at);
}

/* Whether a chunk survives whatever happens now. */
static bool chunk_durable(struct sim_world *world, uint32_t index)
{
    struct sim_recording *recording = world->recording;
    const struct sim_chunk *chunk = &recording->chunks[index];
    if (chunk->cause)
        return true;
    if (chunk->fate != SIM_FATE_WRITTEN)
        return false;
    struct sim_drive_past *past = &world->past[chunk->drive];
    struct stria_ledger_binding binding = stria_superblock_binding(&past->super);
    struct stria_ledger_entry entry;
    if (past->damaged)
        return true;
    if (!sim_media_holds(past->media, chunk->position, sim_chunk_id(world, recording, index),
                         chunk->length_bytes))
        return false;
    const uint8_t *cell = sim_media_bytes(
        past->media, stria_geometry_ledger_entry_offset(&past->super.geometry, chunk->position));
    return stria_ledger_decode(cell, &entry, &binding, chunk->position) == STRIA_LEDGER_VALID &&
           entry.recording == recording->id && entry.length_bytes == chunk->length_bytes &&
           entry.stream_offset == (uint64_t)index * world->scenario.chunk_bytes;
}

/* Everything below a watermark, told or about to be written down, is durable. What is only written down
 * counts as promised when it is told. */
static void audit_below(struct sim_world *world, uint64_t offset_bytes)
{
    const struct sim_recording *recording = world->recording;
    if (offset_bytes > recording->length_bytes) {
        sim_fail(world, "a watermark of %llu in a stream of %llu", (unsigned long long)offset_bytes,
                 (unsigned long long)recording->length_bytes);
        return;
    }
    uint32_t chunk_bytes = world->scenario.chunk_bytes;
    for (uint64_t index = recording->watermark_bytes / chunk_bytes; index * chunk_bytes < offset_bytes;
         index++)
        if (!chunk_durable(world, (uint32_t)index))
            sim_fail(world, "the watermark %llu lies above chunk %llu, which is not durable (fate %u)",
                     (unsigned long long)offset_bytes, (unsigned long long)index,
                     recording->chunks[index].fate);
}

static void audit_checkpoint(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    struct stria_ledger_binding binding = stria_superblock_binding(&world->past[drive].super);
    uint32_t page = io->offset != geometry_of(world, drive)->checkpoint_offset;
    struct stria_checkpoint checkpoint;
    if (stria_checkpoint_decode(io->data, &checkpoint, &binding, page) != STRIA_CHECKPOINT_VALID)
        sim_fail(world, "drive %u: a checkpoint is written that does not validate", drive);
    else
        audit_below(world, checkpoint.watermark_bytes);
}

static void send_errand(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    struct sim_errand *errand = &world->errands[drive];
    if (errand->given_ns == 0 || errand->op != io->op || errand->offset != io->offset)
        *errand = (struct sim_errand){.op = io->op, .offset = io->offset, .given_ns = watched_ns(world)};
}

/* A drive may be given up for its silence only when somebody waited for it all the time. */
void sim_audit_timeout(struct sim_world *world, uint32_t drive)
{
    uint64_t oldest_ns = watched_ns(world);
    for (uint32_t index = 0; index < world->scenario.slots; index++) {
        const struct sim_slot *slot = &world->slots[index];
        if (slot->held && slot->given_ns != 0 && slot->drive == drive && slot->given_ns < oldest_ns)
            oldest_ns = slot->given_ns;
    }
    if (world->errands[drive].given_ns != 0 && world->errands[drive].given_ns < oldest_ns)
        oldest_ns = world->errands[drive].given_ns;
    if (watched_ns(world) - oldest_ns < world->scenario.deadline_ns)
        sim_fail(world, "drive %u is given up after %llu us of a deadline of %llu", drive,
                 (unsigned long long)((watched_ns(world) - oldest_ns) / 1000),
                 (unsigned long long)(world->scenario.deadline_ns / 1000));
}

static void audit_meta(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    const struct stria_geometry *geometry = geometry_of(world, drive);
    if (in_region(io->offset, io->length, geometry->ledger_offset, geometry->ledger_bytes))
        audit_ledger(world, drive, io);
    else if (in_region(io->offset, io->length, geometry->checkpoint_offset, STRIA_CHECKPOINT_BYTES))
        audit_checkpoint(world, drive, io);
    else if (!in_region(io->offset, io->length, geometry->catalogue_offset, geometry->catalogue_bytes))
        sim_fail(world, "drive %u: %llu bytes at offset %llu are written where nothing is to be written",
                 drive, (unsigned long long)io->length, (unsigned long long)io->offset);
}

static bool is_payload(const struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    return io->op == STRIA_IO_WRITE && io->offset >= geometry_of(world, drive)->data_offset;
}

void sim_audit_submit(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    sim_note(&world->trace, world->now_ns, "drive %llu: op %llu at %llx", drive, io->op, io->offset);
    sim_note(&world->trace, world->now_ns, "    of %llu bytes, tag %llx, recorder state %llu", io->length,
             io->tag, sim_state(world));
    if (is_payload(world, drive, io)) {
        audit_payload(world, drive, io);
        return;
    }
    send_errand(world, drive, io);
    if (io->op == STRIA_IO_WRITE)
        audit_meta(world, drive, io);
}

void sim_audit_failed(struct sim_world *world, uint32_t drive, const struct stria_io *io)
{
    if (!is_payload(world, drive, io) || !stria_recorder_awaits(world->recorder, io->tag))
        return;
    world->failed_in_row[drive]++;
    world->moved_ns = world->now_ns;
}

void sim_audit_done(struct sim_world *world, uint32_t drive, const struct stria_io *io, uint64_t bytes)
{
    const struct stria_geometry *geometry = geometry_of(world, drive);
    const bool payload = is_payload(world, drive, io);
    if (!payload && bytes == (io->op == STRIA_IO_WRITE ? io->length : 0))
        world->errands[drive].given_ns = 0;
    if (!payload || bytes < io->length || !stria_recorder_awaits(world->recorder, io->tag))
        return;
    uint64_t slot_offset;
    const struct sim_slot *slot = &world->slots[slot_of(world, io->data, &slot_offset)];
    struct sim_chunk *chunk = &world->recording->chunks[slot->chunk];
    uint64_t position = (io->offset - geometry->data_offset) / geometry->chunk_bytes;
    chunk->fate = SIM_FATE_WRITTEN;
    chunk->drive = (uint8_t)drive;
    chunk->position = (uint32_t)position;
    sim_own(world, drive, position, world->recording, slot->chunk);
    world->failed_in_row[drive] = 0;
    world->moved_ns = world->now_ns;
}

void sim_audit_watermark(struct sim_world *world, uint64_t offset_bytes)
{
    struct sim_recording *recording = world->recording;
    if (offset_bytes < recording->watermark_bytes) {
        sim_fail(world, "the watermark went back from %llu to %llu",
                 (unsigned long long)recording->watermark_bytes, (unsigned long long)offset_bytes);
        return;
    }
    audit_below(world, offset_bytes);
    uint32_t chunk_bytes = world->scenario.chunk_bytes;
    for (uint64_t index = recording->watermark_bytes / chunk_bytes;
         index * chunk_bytes < offset_bytes && !sim_failed(world); index++)
        recording->chunks[index].durable = true;
    recording->watermark_bytes = offset_bytes;
    world->moved_ns = world->now_ns;
}

static void audit_gap_chunk(struct sim_world *world, const struct stria_gap *gap, uint64_t index)
{
    struct sim_chunk *chunk = &world->recording->chunks[index];
    if (chunk->cause)
        sim_fail(world, "chunk %llu is told to be missing a second time", (unsigned long long)index);
    if (chunk->durable)
        sim_fail(world, "chunk %llu was reported durable and is a gap now", (unsigned long long)index);
    bool skipped = chunk->fate == SIM_FATE_SKIPPED;
    if (skipped != (gap->cause == STRIA_GAP_BUFFER || gap->cause == STRIA_GAP_SOURCE))
        sim_fail(world, "the gap at chunk %llu has the wrong cause %u", (unsigned long long)index,
                 gap->cause);
    chunk->cause = (uint8_t)gap->cause;
    world->recording->dropped_bytes += chunk->length_bytes;
}

void sim_audit_gap(struct sim_world *world, const struct stria_gap *gap)
{
    struct sim_recording *recording = world->recording;
    uint32_t chunk_bytes = world->scenario.chunk_bytes;
    uint64_t end = gap->offset_bytes + gap->length_bytes;
    sim_note(&world->trace, world->now_ns, "gap at %llu of %llu bytes, cause %llu", gap->offset_bytes,
             gap->length_bytes, gap->cause);
    if (gap->length_bytes == 0 || gap->offset_bytes % chunk_bytes != 0 || end > recording->length_bytes ||
        (end % chunk_bytes != 0 && end != recording->length_bytes)) {
        sim_fail(world, "a gap is told that is none: %llu bytes at %llu",
                 (unsigned long long)gap->length_bytes, (unsigned long long)gap->offset_bytes);
        return;
    }
    if (gap->cause == STRIA_GAP_NONE || gap->cause > STRIA_GAP_FULL || gap->time_ns > world->now_ns ||
        (gap->drive != STRIA_GAP_DRIVE_NONE && gap->drive >= world->scenario.drive_count))
        sim_fail(world, "the gap at %llu has no proper cause", (unsigned long long)gap->offset_bytes);
    for (uint64_t index = gap->offset_bytes / chunk_bytes; index * chunk_bytes < end; index++)
        audit_gap_chunk(world, gap, index);
    world->moved_ns = world->now_ns;
    if (gap->cause == STRIA_GAP_DRIVE || gap->cause == STRIA_GAP_FULL)
        world->cover->losses++;
}

void sim_audit_release(struct sim_world *world, uint32_t slot)
{
    if (slot >= world->scenario.slots || !world->slots[slot].held) {
        sim_fail(world, "slot %u is released and was not held", slot);
        return;
    }
    world->slots[slot].held = false;
    world->free_slots[world->free_count++] = slot;
    world->moved_ns = world->now_ns;
}

/* Adaptive: no drive with room stands idle while a chunk waits. */
static void audit_work(struct sim_world *world, const struct stria_recorder_status *status)
{
    uint32_t in_flight = 0;
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++) {
        struct stria_drive_status of_drive;
        stria_recorder_drive_status(world->recorder, drive, &of_drive);
        in_flight += of_drive.in_flight;
    }
    if (status->slots_used <= in_flight || world->scenario.policy != STRIA_POLICY_ADAPTIVE)
        return;
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++) {
        struct stria_drive_status of_drive;
        stria_recorder_drive_status(world->recorder, drive, &of_drive);
        bool patient = world->again_ns[drive] != 0 && world->now_ns - world->again_ns[drive] <= 2000000;
        if (of_drive.state == STRIA_DRIVE_LIVE && of_drive.in_flight < world->scenario.drives[drive].depth &&
            !patient)
            sim_fail(world, "drive %u has room for a write while %u chunks wait", drive,
                     status->slots_used - in_flight);
    }
}

static bool sound_due(const struct sim_world *world)
{
    uint64_t extents = 0;
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++)
        extents += world->scenario.drives[drive].extents;
    return extents <= SOUND_EXTENTS_MAX || world->trace.events % SOUND_EVERY == 0;
}

static void audit_failures(struct sim_world *world)
{
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++)
        if (world->failed_in_row[drive] >= FAILED_IN_ROW_MAX && !world->given_up[drive])
            sim_fail(world, "drive %u has failed %u writes in a row and is still used", drive,
                     world->failed_in_row[drive]);
}

void sim_audit_quiet(struct sim_world *world)
{
    struct stria_recorder_status status;
    stria_recorder_status(world->recorder, &status);
    uint32_t held = world->scenario.slots - world->free_count;
    if (sound_due(world) && !stria_recorder_sound(world->recorder))
        sim_fail(world, "the recorder's books do not balance");
    if (status.slots_used != held)
        sim_fail(world, "%u slots are held, the recorder says %u", held, status.slots_used);
    if (status.length_bytes != world->recording->length_bytes)
        sim_fail(world, "%llu bytes came in, the recorder says %llu",
                 (unsigned long long)world->recording->length_bytes, (unsigned long long)status.length_bytes);
    audit_work(world, &status);
    audit_failures(world);
    uint64_t patience_ns = 4 * (world->scenario.deadline_ns + world->scenario.commit_interval_ns);
    bool waits = held > 0 || status.watermark_bytes + status.dropped_bytes < status.length_bytes ||
                 status.state != STRIA_RECORDER_RECORDING;
    if (!waits)
        world->moved_ns = world->now_ns;
    if (world->now_ns - world->moved_ns > patience_ns)
        sim_fail(world, "nothing has moved for %llu ms", (unsigned long long)(patience_ns / 1000000));
}

void sim_audit_finished(struct sim_world *world)
{
    struct sim_recording *recording = world->recording;
    struct stria_recorder_status status;
    stria_recorder_status(world->recorder, &status);
    uint64_t stored_bytes = 0;
    for (uint32_t index = 0; index < recording->chunk_count; index++) {
        const struct sim_chunk *chunk = &recording->chunks[index];
        if (!chunk->cause && chunk->fate != SIM_FATE_WRITTEN)
            sim_fail(world, "chunk %u is neither stored nor in a gap when all is over", index);
        if (!chunk->cause)
            stored_bytes += chunk->length_bytes;
    }
    if (stored_bytes != status.stored_bytes || recording->dropped_bytes != status.dropped_bytes ||
        stored_bytes + recording->dropped_bytes != recording->length_bytes)
        sim_fail(world, "%llu bytes in, but %llu stored and %llu in gaps (the recorder: %llu, %llu)",
                 (unsigned long long)recording->length_bytes, (unsigned long long)stored_bytes,
                 (unsigned long long)recording->dropped_bytes, (unsigned long long)status.stored_bytes,
                 (unsigned long long)status.dropped_bytes);
    if (world->free_count != world->scenario.slots)
        sim_fail(world, "%u slots are not given back", world->scenario.slots - world->free_count);
    bool live = false;
    for (uint32_t drive = 0; drive < world->scenario.drive_count; drive++) {
        struct stria_drive_status of_drive;
        stria_recorder_drive_status(world->recorder, drive, &of_drive);
        live |= of_drive.state != STRIA_DRIVE_LOST;
    }
    if (live != (world->finish_code == STRIA_OK))
        sim_fail(world, "the recording ended with code %d", world->finish_code);
    for (uint32_t index = recording->chunk_count; live && index-- > 0;) {
        if (recording->chunks[index].cause)
            continue;
        if (!recording->chunks[index].durable)
            sim_fail(world, "chunk %u is stored, and not durable when all is over", index);
        break;
    }
}
