#include "core/inventory_scan.h"

#include <string.h>

#define WINDOW ((uint64_t)STRIA_WINDOW_CHUNKS_MAX)

static void mark(uint8_t *scratch, uint64_t base, uint64_t sequence)
{
    if (sequence >= base && sequence - base < WINDOW)
        scratch[(sequence - base) / 8] |= (uint8_t)(1u << (sequence - base) % 8);
}

static void mark_lost(uint8_t *scratch, uint64_t base, const struct stria_recording *recording,
                      const struct stria_catalogue *catalogue)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);) {
        if (entry.kind != STRIA_CATALOGUE_LOST || entry.recording != recording->id)
            continue;
        for (uint32_t i = 0; i < STRIA_LOST_SEQUENCES; i++)
            if (entry.lost.bitmap[i / 8] >> i % 8 & 1)
                mark(scratch, base, entry.lost.base_sequence + i);
    }
}

/* The first sequence not before base that is neither found nor known as lost. Each window but the last is
 * full, so that there are no more of them than the extents found can fill. */
static uint64_t settled_end(const struct stria_recording *recording, uint64_t base,
                            const struct stria_inventory_input *input, uint8_t *scratch)
{
    for (;;) {
        memset(scratch, 0, STRIA_INVENTORY_SCRATCH_BYTES);
        struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
        for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);)
            if (stria_inventory_found_plausible(&found, recording, input))
                mark(scratch, base, found.entry.sequence);
        if (recording->lost_entry_count > 0)
            mark_lost(scratch, base, recording, input->catalogue);
        uint64_t count = 0;
        while (count < WINDOW && (scratch[count / 8] >> count % 8 & 1))
            count++;
        base += count;
        if (count < WINDOW)
            return base;
    }
}

static void reach(struct stria_catalogue_reached *furthest, const struct stria_recording *recording,
                  struct stria_catalogue_reached other)
{
    const uint64_t chunks = stria_inventory_chunks(other.watermark_bytes, recording->chunk_bytes);
    if (other.watermark_bytes <= INT64_MAX && other.watermark_sequence <= chunks &&
        other.watermark_bytes >= furthest->watermark_bytes)
        *furthest = other;
}

struct stria_catalogue_reached stria_inventory_noted(const struct stria_recording *recording,
                                                     const struct stria_catalogue *catalogue)
{
    struct stria_catalogue_reached furthest = {0};
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);)
        if (entry.kind == STRIA_CATALOGUE_REACHED && entry.recording == recording->id)
            reach(&furthest, recording, entry.reached);
    return furthest;
}

struct stria_catalogue_reached stria_inventory_reached(const struct stria_recording *recording,
                                                       const struct stria_inventory_input *input)
{
    struct stria_catalogue_reached furthest = stria_inventory_noted(recording, input->catalogue);
    for (uint32_t i = 0; i < input->drive_count; i++) {
        const struct stria_inventory_drive *drive = &input->drives[i];
        if (!drive->present || !drive->checkpoint_valid || drive->checkpoint.recording != recording->id ||
            drive->checkpoint.stream != 0)
            continue;
        reach(&furthest, recording,
              (struct stria_catalogue_reached){
                  .watermark_bytes = drive->checkpoint.watermark_bytes,
                  .watermark_sequence = drive->checkpoint.watermark_sequence,
              });
    }
    return furthest;
}

/* One more than the highest sequence below limit that is found; 0 when none is. */
static uint64_t found_end(const struct stria_recording *recording, const struct stria_inventory_input *input,
                          uint64_t limit)
{
    uint64_t end = 0;
    struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
    for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);)
        if (stria_inventory_found_plausible(&found, recording, input) && found.entry.sequence >= end &&
            found.entry.sequence < limit)
            end = found.entry.sequence + 1;
    return end;
}

/* How many sequences count, given the watermark's. */
static uint64_t recovered_end(const struct stria_recording *recording, uint64_t watermark_sequence,
                              const struct stria_inventory_input *input, uint8_t *scratch)
{
    if (recording->extent_count == 0)
        return watermark_sequence;
    /* What is durable may end in a run of sequences that only an absent drive knows, and the checkpoint lags
     * behind what was reported: then everything found counts, with holes. */
    uint64_t limit = UINT64_MAX;
    if (!stria_inventory_drive_absent(input))
        limit = settled_end(recording, watermark_sequence, input, scratch);
    /* Lost chunks at the very end say nothing about the offset at which they ended: they are left out. */
    const uint64_t end = found_end(recording, input, limit);
    return end > watermark_sequence ? end : watermark_sequence;
}

static uint64_t lost_before(const struct stria_recording *recording, const struct stria_catalogue *catalogue)
{
    uint64_t count = 0;
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(catalogue, &index, &entry);) {
        if (entry.kind != STRIA_CATALOGUE_LOST || entry.recording != recording->id)
            continue;
        for (uint32_t i = 0; i < STRIA_LOST_SEQUENCES; i++)
            count += (entry.lost.bitmap[i / 8] >> i % 8 & 1) &&
                     entry.lost.base_sequence + i < recording->sequence_count;
    }
    return count;
}

static void sum_up(struct stria_recording *recording, const struct stria_inventory_input *input)
{
    struct stria_inventory_scan scan = stria_inventory_scan_begin(input, recording->id);
    for (struct stria_inventory_found found; stria_inventory_scan_next(&scan, &found);) {
        const struct stria_ledger_entry *entry = &found.entry;
        if (!stria_inventory_found_plausible(&found, recording, input) ||
            entry->sequence >= recording->sequence_count)
            continue;
        recording->stored_bytes += entry->length_bytes;
        const uint64_t end = entry->stream_offset + entry->length_bytes;
        if (entry->sequence == recording->sequence_count - 1 && end > recording->length_bytes)
            recording->length_bytes = end;
    }
}

void stria_inventory_recover(struct stria_recording *recording, const struct stria_inventory_input *input,
                             uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES])
{
    const struct stria_catalogue_reached reached = stria_inventory_reached(recording, input);
    recording->length_bytes = reached.watermark_bytes;
    recording->sequence_count = recovered_end(recording, reached.watermark_sequence, input, scratch);
    sum_up(recording, input);

    const uint64_t chunks = stria_inventory_chunks(recording->length_bytes, recording->chunk_bytes);
    if (recording->sequence_count > chunks)
        recording->sequence_count = chunks;
    uint64_t dropped_chunks = chunks - recording->sequence_count;
    if (recording->lost_entry_count > 0)
        dropped_chunks += lost_before(recording, input->catalogue);
    if (recording->stored_bytes > recording->length_bytes)
        recording->stored_bytes = recording->length_bytes;
    const uint64_t rest = recording->length_bytes - recording->stored_bytes;
    const uint64_t dropped_bytes = dropped_chunks * recording->chunk_bytes;
    recording->dropped_bytes = dropped_bytes < rest ? dropped_bytes : rest;
}
