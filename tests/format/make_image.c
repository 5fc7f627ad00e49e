/* make_image FOLDER SEED: writes images of an array's drives, with recordings of every fate, through core
 * alone, and prints what they hold as core sees it, in the words of read_image.py. */
#include "core/code.h"
#include "core/digest.h"
#include "core/map.h"
#include "core/name.h"
#include "core/policy.h"
#include "core/random.h"
#include "core/superblock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIVES      3u
#define CHUNK       ((uint64_t)STRIA_CHUNK_BYTES_MIN)
#define DRIVE_BYTES ((uint64_t)12 << 20)
#define WALL        UINT64_C(1700000000000000000)

struct drive {
    int file;
    struct stria_superblock super;
    uint8_t *ledger;
    uint8_t halves[2][STRIA_CATALOGUE_HALF_MIN];
    uint8_t checkpoint[STRIA_CHECKPOINT_BYTES];
    uint64_t position_next;
};

struct image {
    struct drive drives[DRIVES];
    struct stria_catalogue catalogue;
    uint8_t halves[2][STRIA_CATALOGUE_HALF_MIN];
    struct stria_random random;
    uint64_t checkpoint_serial;
};

static void must(bool done, const char *what)
{
    if (done)
        return;
    fprintf(stderr, "make_image: %s\n", what);
    exit(2);
}

static void put(const struct drive *drive, uint64_t offset, const void *data, size_t bytes)
{
    must(pwrite(drive->file, data, bytes, (off_t)offset) == (ssize_t)bytes, "an image cannot be written");
}

static void begin(struct image *image, const char *folder, uint64_t seed)
{
    stria_random_seed(&image->random, seed);
    uint8_t array_uuid[STRIA_UUID_BYTES];
    for (unsigned i = 0; i < STRIA_UUID_BYTES; i++)
        array_uuid[i] = (uint8_t)stria_random_next(&image->random);
    for (uint32_t i = 0; i < DRIVES; i++) {
        struct drive *drive = &image->drives[i];
        char path[4096];
        snprintf(path, sizeof(path), "%s/drive%u.img", folder, i);
        drive->file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        must(drive->file >= 0 && ftruncate(drive->file, (off_t)(DRIVE_BYTES + (uint64_t)i * 12345)) == 0,
             path);
        drive->super = (struct stria_superblock){.version = STRIA_FORMAT_VERSION,
                                                 .drive_index = i,
                                                 .drive_count = DRIVES,
                                                 .ledger_generation = 3,
                                                 .policy = STRIA_POLICY_ADAPTIVE,
                                                 .generation = 1,
                                                 .created_unix_ns = WALL};
        memcpy(drive->super.array_uuid, array_uuid, STRIA_UUID_BYTES);
        stria_name_set(drive->super.array_name, "rig");
        stria_name_set(drive->super.drive_name, path + strlen(folder) + 1);
        must(stria_geometry_plan(&drive->super.geometry, DRIVE_BYTES + (uint64_t)i * 12345, CHUNK, 4096) ==
                 STRIA_OK,
             "the drive cannot be laid out");
        drive->ledger = calloc(1, drive->super.geometry.ledger_bytes);
        must(drive->ledger != NULL, "out of memory");
    }
    stria_catalogue_format(&image->catalogue, image->halves[1], sizeof(image->halves[1]), array_uuid, WALL);
}

static void append(struct image *image, struct stria_catalogue_entry entry)
{
    entry.wall_ns = WALL + image->catalogue.count;
    must(stria_catalogue_append(&image->catalogue, &entry) >= 0, "the catalogue is full");
}

static void begun(struct image *image, uint64_t id, const char *name, uint32_t policy)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_BEGUN, .recording = id, .begun = {.policy = policy, .chunk_bytes = CHUNK}};
    stria_name_set(entry.begun.name, name);
    append(image, entry);
}

/* Payload, digest and entry of one chunk, to the next extent of a drive. */
static void store(struct image *image, uint32_t drive_index, struct stria_ledger_entry entry)
{
    static uint8_t payload[CHUNK];
    struct drive *drive = &image->drives[drive_index];
    for (size_t at = 0; at < sizeof(payload); at += 8) {
        const uint64_t word = entry.recording << 48 ^ entry.sequence << 24 ^ at * 0x9e3779b97f4a7c15;
        memcpy(payload + at, &word, 8);
    }
    entry.digest =
        stria_digest_seeded(stria_digest_seed(entry.recording, entry.sequence), payload, entry.length_bytes);
    const uint64_t position = drive->position_next++;
    const struct stria_ledger_binding binding = stria_superblock_binding(&drive->super);
    stria_ledger_encode(drive->ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry, &binding, position);
    put(drive, stria_geometry_extent_offset(&drive->super.geometry, position), payload, sizeof(payload));
}

static struct stria_ledger_entry entry_of(uint64_t id, uint64_t sequence, uint64_t chunk)
{
    return (struct stria_ledger_entry){.gap_drive = STRIA_GAP_DRIVE_NONE,
                                       .recording = id,
                                       .sequence = sequence,
                                       .stream_offset = chunk * CHUNK,
                                       .length_bytes = CHUNK,
                                       .captured_ns = sequence * 1000};
}

static void ended(struct image *image, uint64_t id, uint64_t length_bytes, uint64_t sequence_count)
{
    append(image, (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_ENDED,
                                                 .recording = id,
                                                 .ended = {.length_bytes = length_bytes,
                                                           .sequence_count = sequence_count,
                                                           .flags = STRIA_ENDED_CLEAN,
                                                           .gap_cause = STRIA_GAP_FULL,
                                                           .gap_drive = 2}});
}

static void clean_raid0(struct image *image, uint64_t id, const char *name, uint64_t chunks)
{
    begun(image, id, name, STRIA_POLICY_RAID0);
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        struct stria_ledger_entry entry = entry_of(id, chunk, chunk);
        if (chunk == chunks - 1)
            entry.length_bytes = 4321;
        store(image, stria_raid0_place(chunk, DRIVES).drive, entry);
    }
    ended(image, id, (chunks - 1) * CHUNK + 4321, chunks);
}

static void lost(struct image *image, uint64_t id, uint64_t sequence, uint32_t drive)
{
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_LOST,
        .recording = id,
        .lost = {.cause = STRIA_GAP_DRIVE,
                 .drive = drive,
                 .base_sequence = sequence / STRIA_LOST_SEQUENCES * STRIA_LOST_SEQUENCES}};
    entry.lost.bitmap[sequence % STRIA_LOST_SEQUENCES / 8] |= (uint8_t)(1u << sequence % 8);
    append(image, entry);
}

/* Chunks stored, stored twice, dropped before sealing, lost, or missing without a word. */
static uint64_t troubled(struct image *image, uint64_t id, const char *name, uint64_t chunks)
{
    begun(image, id, name, STRIA_POLICY_ADAPTIVE);
    uint64_t sequence = 0;
    uint8_t cause = STRIA_GAP_NONE;
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t fate = stria_random_below(&image->random, 12);
        if (fate == 0) {
            cause = (uint8_t)(1 + stria_random_below(&image->random, 5));
            continue;
        }
        struct stria_ledger_entry entry = entry_of(id, sequence, chunk);
        entry.gap_cause = cause;
        cause = STRIA_GAP_NONE;
        if (fate == 1)
            lost(image, id, sequence, (uint32_t)stria_random_below(&image->random, DRIVES));
        else if (fate > 2)
            store(image, (uint32_t)stria_random_below(&image->random, DRIVES), entry);
        if (fate == 3)
            store(image, (uint32_t)stria_random_below(&image->random, DRIVES), entry);
        sequence++;
    }
    return sequence;
}

static void checkpoint(struct image *image, uint64_t id, uint64_t watermark_sequence,
                       uint64_t watermark_bytes)
{
    for (uint32_t i = 0; i < DRIVES; i++) {
        struct drive *drive = &image->drives[i];
        const struct stria_checkpoint found = {.serial = ++image->checkpoint_serial,
                                               .recording = id,
                                               .watermark_bytes = watermark_bytes,
                                               .watermark_sequence = watermark_sequence,
                                               .length_bytes = watermark_bytes};
        const struct stria_ledger_binding binding = stria_superblock_binding(&drive->super);
        stria_checkpoint_encode(drive->checkpoint +
                                    (size_t)stria_checkpoint_page(found.serial) * STRIA_PAGE_BYTES,
                                &found, &binding);
    }
}

static void compact(struct image *image)
{
    struct stria_catalogue next;
    static uint64_t scratch[STRIA_CATALOGUE_HALF_MIN / 8];
    const struct stria_catalogue_compaction how = {
        .wall_ns = WALL, .spare = STRIA_CATALOGUE_SPARE, .scratch = scratch};
    must(stria_catalogue_compact(&image->catalogue, &how, image->halves[(image->catalogue.epoch + 1) & 1],
                                 &next) == STRIA_OK,
         "the catalogue cannot be compacted");
    image->catalogue = next;
}

static void fill(struct image *image)
{
    clean_raid0(image, 1, "clean", 20);
    clean_raid0(image, 2, "removed and forgotten", 5);
    append(image, (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_REMOVED, .recording = 2});
    const uint64_t sealed = troubled(image, 3, "troubled", 60);
    ended(image, 3, 62 * CHUNK - 7, sealed);
    compact(image);
    clean_raid0(image, 4, "removed", 4);
    append(image, (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_REMOVED, .recording = 4});
    troubled(image, 5, "crashed \xc3\xa9", 40);
    checkpoint(image, 9, 1, CHUNK);
    checkpoint(image, 5, 6, 9 * CHUNK);
    begun(image, 6, "crashed at once", STRIA_POLICY_ADAPTIVE);
}

/* What may be wrong with a drive without harm: one replica lags behind, one copy of the superblock is bad. */
static void write_out(struct image *image)
{
    for (uint32_t i = 0; i < DRIVES; i++) {
        struct drive *drive = &image->drives[i];
        const struct stria_geometry *geometry = &drive->super.geometry;
        uint8_t page[STRIA_PAGE_BYTES];
        memcpy(drive->halves, image->halves, sizeof(drive->halves));
        if (i == 1)
            memset(drive->halves[0] + (size_t)30 * STRIA_CATALOGUE_ENTRY_BYTES, 0, 4096);
        if (i == 2)
            memset(drive->halves[0], 0, sizeof(drive->halves[0]));
        for (uint64_t half = 0; half < 2; half++)
            put(drive, stria_geometry_catalogue_half_offset(geometry, half), drive->halves[half],
                sizeof(drive->halves[half]));
        drive->ledger[(size_t)STRIA_LEDGER_ENTRY_BYTES * (2 + i) + 60] ^= 1;
        put(drive, geometry->ledger_offset, drive->ledger, geometry->ledger_bytes);
        put(drive, geometry->checkpoint_offset, drive->checkpoint, sizeof(drive->checkpoint));
        stria_superblock_encode(page, &drive->super);
        put(drive, geometry->super_offset[i == 0], page, sizeof(page));
        page[2000] ^= i == 0;
        put(drive, geometry->super_offset[i != 0], page, sizeof(page));
    }
}

static void print_blame(uint32_t cause, uint32_t drive)
{
    printf(" %s ", stria_gap_cause_text(cause));
    if (drive == STRIA_GAP_DRIVE_NONE)
        printf("-\n");
    else
        printf("%u\n", drive);
}

static void print_map(const struct stria_map *map)
{
    static const char *const states[] = {"stored", "gap", "lost", "missing"};
    for (uint64_t chunk = 0; chunk < map->chunk_count;) {
        const struct stria_map_place place = stria_map_find(map, chunk);
        if (place.state == STRIA_MAP_STORED) {
            printf("  %llu stored %llu at", (unsigned long long)chunk,
                   (unsigned long long)place.extents->sequence);
            for (size_t i = 0; i < place.extent_count; i++)
                printf(" %u:%u", place.extents[i].drive, place.extents[i].position);
            printf("\n");
        } else {
            printf("  %llu %s %llu", (unsigned long long)chunk, states[place.state],
                   (unsigned long long)place.chunk_count);
            if (place.state == STRIA_MAP_MISSING)
                printf("\n");
            else
                print_blame(place.cause, place.drive);
        }
        chunk += place.chunk_count;
    }
}

static void print_recording(const struct stria_inventory_input *input,
                            const struct stria_recording *recording)
{
    printf("recording %llu %s %s %llu bytes %llu chunks sealed: %s\n", (unsigned long long)recording->id,
           stria_policy_text(recording->policy), recording->complete ? "complete" : "recovered",
           (unsigned long long)recording->length_bytes, (unsigned long long)recording->sequence_count,
           recording->name);
    const struct stria_map_memory memory = {
        .extents = calloc(recording->extent_count + 1, sizeof(struct stria_map_extent)),
        .extent_capacity = recording->extent_count,
        .lost = calloc(recording->lost_entry_count + 1, sizeof(struct stria_catalogue_lost)),
        .lost_capacity = recording->lost_entry_count,
    };
    struct stria_map map;
    must(memory.extents && memory.lost && stria_map_build(&map, input, recording, &memory) == STRIA_OK,
         "the map cannot be made");
    print_map(&map);
    free(memory.extents);
    free(memory.lost);
}

static void print(struct image *image)
{
    struct stria_catalogue replicas[DRIVES];
    struct stria_inventory_drive drives[DRIVES];
    for (uint32_t i = 0; i < DRIVES; i++) {
        struct drive *drive = &image->drives[i];
        uint8_t *halves[2] = {drive->halves[0], drive->halves[1]};
        stria_catalogue_load(&replicas[i], halves, sizeof(drive->halves[0]), drive->super.array_uuid);
        drives[i] = (struct stria_inventory_drive){.present = true,
                                                   .ledger = drive->ledger,
                                                   .geometry = &drive->super.geometry,
                                                   .binding = stria_superblock_binding(&drive->super)};
        drives[i].checkpoint_valid =
            stria_checkpoint_choose(drive->checkpoint, &drives[i].checkpoint, &drives[i].binding) == STRIA_OK;
    }
    static uint64_t memory[(STRIA_CATALOGUE_HALF_MIN * 2 * DRIVES) / 8];
    const struct stria_catalogue_meeting meeting = {.wall_ns = WALL, .memory = memory};
    struct stria_catalogue merged;
    must(stria_catalogue_merge(replicas, DRIVES, &meeting, &merged) == STRIA_OK,
         "the catalogues cannot be merged");
    const struct stria_inventory_input input = {
        .catalogue = &merged, .drives = drives, .drive_count = DRIVES};
    static struct stria_recording table[16];
    static uint8_t scratch[STRIA_INVENTORY_SCRATCH_BYTES];
    struct stria_inventory inventory;
    must(stria_inventory_build(&inventory, &input, table, 16, scratch) == STRIA_OK, "no inventory");
    printf("array ");
    for (unsigned i = 0; i < STRIA_UUID_BYTES; i++)
        printf("%02x", image->drives[0].super.array_uuid[i]);
    printf(" %s: %u of %u drives, chunks of %llu, %llu ledger entries damaged\n",
           image->drives[0].super.array_name, DRIVES, DRIVES, (unsigned long long)CHUNK,
           (unsigned long long)inventory.entries_damaged);
    for (uint32_t i = 0; i < inventory.recording_count; i++)
        print_recording(&input, &inventory.recordings[i]);
}

int main(int argc, char **argv)
{
    must(argc == 3, "usage: make_image FOLDER SEED");
    static struct image image;
    begin(&image, argv[1], strtoull(argv[2], NULL, 10));
    fill(&image);
    write_out(&image);
    print(&image);
    for (uint32_t i = 0; i < DRIVES; i++) {
        free(image.drives[i].ledger);
        must(close(image.drives[i].file) == 0, "an image cannot be written");
    }
    return 0;
}
