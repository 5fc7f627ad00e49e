#include "tests/fuzz/image_make.h"

#include "core/bits.h"
#include "core/catalogue.h"
#include "core/checkpoint.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/name.h"
#include "core/policy.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define WALL UINT64_C(1700000000000000000)

enum { FIRST = 1, REMOVED = 2, GAPS = 3, CUT = 4 };

static struct image image;
static struct stria_catalogue catalogue;
static uint8_t halves[2][STRIA_CATALOGUE_HALF_MIN];
static uint64_t next_position[IMAGE_DRIVES];

/* No two chunks are alike. */
static void fill(uint8_t *out, uint64_t recording, uint64_t stream_offset, size_t bytes)
{
    for (size_t at = 0; at < bytes; at++) {
        const uint64_t word = (stream_offset + at) / 8;
        const uint64_t mixed = (word * 4 + recording + 1) * UINT64_C(0x9e3779b97f4a7c15);
        out[at] = (uint8_t)((mixed ^ mixed >> 29) >> (stream_offset + at) % 8 * 8);
    }
}

static void begin_drives(void)
{
    static const uint8_t array_uuid[STRIA_UUID_BYTES] = {0x5a, 1, 2, 3};
    for (uint32_t i = 0; i < IMAGE_DRIVES; i++) {
        image.drives[i] = calloc(1, IMAGE_DRIVE_BYTES);
        image.stale[i] = malloc(IMAGE_DRIVE_BYTES);
        FUZZ_CHECK(image.drives[i] && image.stale[i]);
        struct stria_superblock *super = &image.supers[i];
        *super = (struct stria_superblock){.version = STRIA_FORMAT_VERSION,
                                           .drive_index = i,
                                           .drive_count = IMAGE_DRIVES,
                                           .ledger_generation = 1,
                                           .policy = STRIA_POLICY_ADAPTIVE,
                                           .generation = 1,
                                           .created_unix_ns = WALL};
        memcpy(super->array_uuid, array_uuid, STRIA_UUID_BYTES);
        super->drive_uuid[0] = (uint8_t)(1 + i);
        stria_name_set(super->array_name, "small");
        stria_name_set(super->drive_name, i ? "right" : "left");
        FUZZ_CHECK(stria_geometry_plan(&super->geometry, IMAGE_DRIVE_BYTES, IMAGE_CHUNK, 512) == STRIA_OK);
        for (unsigned copy = 0; copy < 2; copy++)
            stria_superblock_encode(image.drives[i] + super->geometry.super_offset[copy], super);
    }
    stria_catalogue_format(&catalogue, halves[1], sizeof(halves[1]), array_uuid, WALL);
}

static void put_catalogue(void)
{
    for (uint32_t i = 0; i < IMAGE_DRIVES; i++)
        for (uint64_t half = 0; half < 2; half++)
            memcpy(image.drives[i] + stria_geometry_catalogue_half_offset(&image.supers[i].geometry, half),
                   halves[half], sizeof(halves[half]));
}

static void append(struct stria_catalogue_entry entry)
{
    entry.wall_ns = WALL + catalogue.count;
    FUZZ_CHECK(stria_catalogue_append(&catalogue, &entry) >= 0);
    put_catalogue();
}

static void begun(uint64_t recording, const char *name, enum stria_policy policy)
{
    struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_BEGUN,
                                          .recording = recording,
                                          .begun = {.policy = policy, .chunk_bytes = IMAGE_CHUNK}};
    stria_name_set(entry.begun.name, name);
    append(entry);
}

static void ended(uint64_t recording, uint64_t length_bytes, uint64_t stored_bytes, uint64_t sequence_count)
{
    append((struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_ENDED,
                                          .recording = recording,
                                          .ended = {.length_bytes = length_bytes,
                                                    .stored_bytes = stored_bytes,
                                                    .dropped_bytes = length_bytes - stored_bytes,
                                                    .sequence_count = sequence_count,
                                                    .duration_ns = 1000,
                                                    .flags = STRIA_ENDED_CLEAN}});
}

static void store_at(struct image_chunk chunk, uint8_t gap_cause)
{
    const struct stria_superblock *super = &image.supers[chunk.drive];
    uint8_t *drive = image.drives[chunk.drive];
    uint8_t *payload = drive + stria_geometry_extent_offset(&super->geometry, chunk.position);
    FUZZ_CHECK(chunk.position < super->geometry.extent_count && image.chunk_count < IMAGE_CHUNKS_MAX);
    fill(payload, chunk.recording, chunk.stream_offset, chunk.length_bytes);
    uint8_t *copy = malloc(chunk.length_bytes);
    FUZZ_CHECK(copy != NULL);
    chunk.payload = memcpy(copy, payload, chunk.length_bytes);
    const struct stria_ledger_entry entry = {
        .recording = chunk.recording,
        .sequence = chunk.sequence,
        .stream_offset = chunk.stream_offset,
        .captured_ns = chunk.sequence * 10,
        .digest = stria_digest_seeded(stria_digest_seed(chunk.recording, chunk.sequence), payload,
                                      chunk.length_bytes),
        .length_bytes = chunk.length_bytes,
        .gap_cause = gap_cause,
        .gap_drive = STRIA_GAP_DRIVE_NONE,
    };
    const struct stria_ledger_binding binding = stria_superblock_binding(super);
    stria_ledger_encode(drive + stria_geometry_ledger_entry_offset(&super->geometry, chunk.position), &entry,
                        &binding, chunk.position);
    image.chunks[image.chunk_count++] = chunk;
}

/* To the drive's next extent. */
static void store(uint32_t drive, uint64_t recording, uint64_t sequence, uint64_t chunk, uint8_t gap_cause)
{
    store_at((struct image_chunk){.recording = recording,
                                  .sequence = sequence,
                                  .stream_offset = chunk * IMAGE_CHUNK,
                                  .length_bytes = IMAGE_CHUNK,
                                  .drive = drive,
                                  .position = next_position[drive]++,
                                  .whole = recording == FIRST || recording == GAPS},
             gap_cause);
}

static void make_first(void)
{
    begun(FIRST, "first", STRIA_POLICY_RAID0);
    for (uint64_t chunk = 0; chunk < 3; chunk++)
        store(chunk % IMAGE_DRIVES, FIRST, chunk, chunk, STRIA_GAP_NONE);
    store_at((struct image_chunk){.recording = FIRST,
                                  .sequence = 3,
                                  .stream_offset = 3 * IMAGE_CHUNK,
                                  .length_bytes = 1234,
                                  .drive = 1,
                                  .position = next_position[1]++,
                                  .whole = true},
             STRIA_GAP_NONE);
    ended(FIRST, 3 * IMAGE_CHUNK + 1234, 3 * IMAGE_CHUNK + 1234, 4);
}

static void make_removed(void)
{
    begun(REMOVED, "removed", STRIA_POLICY_ADAPTIVE);
    store(0, REMOVED, 0, 0, STRIA_GAP_NONE);
    store(1, REMOVED, 1, 1, STRIA_GAP_NONE);
    ended(REMOVED, 2 * IMAGE_CHUNK, 2 * IMAGE_CHUNK, 2);
    for (uint32_t i = 0; i < IMAGE_DRIVES; i++)
        memcpy(image.stale[i], image.drives[i], IMAGE_DRIVE_BYTES);
    append((struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_REMOVED, .recording = REMOVED});
    next_position[0]--; /* taken again by the next one */
}

/* Chunks 0, 1, then one never sealed, then sequences 2 (written twice), 3 (lost), 4 (no trace), 5. */
static void make_gaps(void)
{
    begun(GAPS, "gaps", STRIA_POLICY_ADAPTIVE);
    store(0, GAPS, 0, 0, STRIA_GAP_NONE);
    store(1, GAPS, 1, 1, STRIA_GAP_NONE);
    store(0, GAPS, 2, 3, STRIA_GAP_BUFFER);
    store(1, GAPS, 2, 3, STRIA_GAP_BUFFER);
    struct stria_catalogue_entry lost = {
        .kind = STRIA_CATALOGUE_LOST, .recording = GAPS, .lost = {.cause = STRIA_GAP_DRIVE, .drive = 1}};
    lost.lost.bitmap[0] = 1u << 3;
    append(lost);
    store(0, GAPS, 5, 6, STRIA_GAP_NONE);
    ended(GAPS, 7 * IMAGE_CHUNK, 5 * IMAGE_CHUNK, 6);
}

static void compact(void)
{
    struct stria_catalogue next;
    static uint64_t scratch[STRIA_CATALOGUE_HALF_MIN / 8];
    const struct stria_catalogue_compaction how = {
        .wall_ns = WALL, .spare = STRIA_CATALOGUE_SPARE, .scratch = scratch};
    FUZZ_CHECK(stria_catalogue_compact(&catalogue, &how, halves[(catalogue.epoch + 1) & 1], &next) ==
               STRIA_OK);
    catalogue = next;
    put_catalogue();
}

static void make_cut(void)
{
    begun(CUT, "cut", STRIA_POLICY_ADAPTIVE);
    for (uint64_t chunk = 0; chunk < 5; chunk++)
        if (chunk != 3)
            store(chunk % IMAGE_DRIVES, CUT, chunk, chunk, STRIA_GAP_NONE);
    for (uint32_t i = 0; i < IMAGE_DRIVES; i++) {
        const struct stria_ledger_binding binding = stria_superblock_binding(&image.supers[i]);
        for (uint64_t serial = 1; serial <= 2; serial++) {
            const struct stria_checkpoint checkpoint = {.serial = serial,
                                                        .recording = CUT,
                                                        .watermark_bytes = serial * IMAGE_CHUNK,
                                                        .watermark_sequence = serial,
                                                        .length_bytes = 5 * IMAGE_CHUNK,
                                                        .stored_bytes = serial * IMAGE_CHUNK,
                                                        .wall_ns = WALL};
            stria_checkpoint_encode(image.drives[i] + image.supers[i].geometry.checkpoint_offset +
                                        (size_t)stria_checkpoint_page(serial) * STRIA_PAGE_BYTES,
                                    &checkpoint, &binding);
        }
    }
}

const struct image *image_made(void)
{
    if (image.chunk_count > 0)
        return &image;
    begin_drives();
    put_catalogue();
    make_first();
    make_removed();
    make_gaps();
    compact();
    make_cut();
    image.epoch = catalogue.epoch;
    return &image;
}
