/* The catalogue's two halves on each of two drives, whatever their bytes, with right checks or wrong ones:
 * loading, walking, merging, appending and compacting stay within the image and keep their promises.
 *
 * The input is a row of records of 131 bytes: which drive, which half and whether the check is to be set
 * right (1 byte), which cell (2 bytes), its bytes. */
#include "core/catalogue.h"

#include "core/bits.h"
#include "core/catalogue_cell.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/name.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define DRIVES       2u
#define HALF_BYTES   ((size_t)STRIA_CATALOGUE_HALF_MIN)
#define CELLS        (HALF_BYTES / STRIA_CATALOGUE_ENTRY_BYTES)
#define RECORD_BYTES (3u + STRIA_CATALOGUE_ENTRY_BYTES)

enum { DRIVE = 1, HALF = 2, RIGHT = 4 };

static const uint8_t array_uuid[STRIA_UUID_BYTES] = {9, 8, 7};

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    size_t bytes = 0;
    const uint64_t epoch = 1 + stria_random_below(random, 3);
    for (uint64_t index = 0; bytes + RECORD_BYTES <= FUZZ_INPUT_BYTES_MAX && index < 100; index++) {
        struct stria_catalogue_entry entry = {
            .kind = (enum stria_catalogue_kind)(2 + stria_random_below(random, 4)),
            .recording = 1 + index / 4,
            .ordinal = index};
        if (index == 0) {
            entry = (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_HEAD,
                                                   .head = {.epoch = epoch,
                                                            .next_recording = 1,
                                                            .format = STRIA_CATALOGUE_FORMAT,
                                                            .entries_max = (uint32_t)CELLS}};
        } else if (entry.kind == STRIA_CATALOGUE_BEGUN) {
            stria_name_set(entry.begun.name, "take");
            entry.begun.chunk_bytes = STRIA_CHUNK_BYTES_MIN;
        } else if (entry.kind == STRIA_CATALOGUE_ENDED) {
            entry.ended.length_bytes = stria_random_next(random) >> 1;
        }
        uint8_t *record = out + bytes;
        record[0] = (uint8_t)(stria_random_below(random, 2) * DRIVE + (epoch & 1) * HALF + RIGHT);
        stria_store_u16(record + 1, (uint16_t)index);
        stria_catalogue_cell_encode(record + 3, &entry, stria_catalogue_cell_seed(array_uuid, epoch));
        bytes += RECORD_BYTES;
    }
    return bytes;
}

/* A HEAD names its own epoch, by which all checks of its half are seeded. */
static void put(uint8_t *half, const uint8_t *record)
{
    uint8_t *cell = half + stria_load_u16(record + 1) % CELLS * STRIA_CATALOGUE_ENTRY_BYTES;
    memcpy(cell, record + 3, STRIA_CATALOGUE_ENTRY_BYTES);
    if (!(record[0] & RIGHT))
        return;
    const uint64_t epoch = stria_load_u64((cell == half ? cell : half) + 32);
    stria_store_u64(cell + 24, (uint64_t)(cell - half) / STRIA_CATALOGUE_ENTRY_BYTES);
    stria_store_u64(cell + 120, stria_digest_seeded(stria_catalogue_cell_seed(array_uuid, epoch), cell, 120));
}

static uint32_t count_sound(const struct stria_catalogue *log)
{
    struct stria_catalogue_entry entry;
    uint32_t index = 0, count = 0;
    while (stria_catalogue_next(log, &index, &entry)) {
        FUZZ_CHECK(index <= log->count && entry.ordinal == index - 1);
        FUZZ_CHECK((entry.kind == STRIA_CATALOGUE_HEAD) == (index == 1));
        if (entry.kind == STRIA_CATALOGUE_BEGUN)
            FUZZ_CHECK(stria_name_valid(entry.begun.name));
        if (entry.kind == STRIA_CATALOGUE_ENDED)
            FUZZ_CHECK(entry.ended.length_bytes <= INT64_MAX);
        FUZZ_CHECK(entry.recording < log->next_recording);
        count++;
    }
    return count;
}

static void check_log(const struct stria_catalogue *log)
{
    FUZZ_CHECK(log->entries_max > 0 && log->entries_max <= CELLS);
    FUZZ_CHECK(log->count > 0 && log->count <= log->entries_max && log->damaged_count < log->count);
    FUZZ_CHECK(count_sound(log) + log->damaged_count <= log->count);
}

/* What is appended can be read; nothing else changes. */
static void check_append(struct stria_catalogue *log)
{
    const uint32_t before = count_sound(log);
    const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED, .recording = 5};
    const int index = stria_catalogue_append(log, &entry);
    FUZZ_CHECK(index >= 0 || (index == STRIA_ERR_FULL && log->count == log->entries_max));
    if (index >= 0)
        FUZZ_CHECK(count_sound(log) == before + 1);
    check_log(log);
}

static void check_compacted(const struct stria_catalogue *log)
{
    static uint8_t image[HALF_BYTES];
    struct stria_catalogue compacted;
    struct stria_catalogue_compaction how = {.wall_ns = 1, .spare = STRIA_CATALOGUE_SPARE};
    how.scratch = malloc(stria_catalogue_compact_scratch_bytes(log) + 1);
    FUZZ_CHECK(how.scratch != NULL);
    const int code = stria_catalogue_compact(log, &how, image, &compacted);
    free(how.scratch);
    if (code != STRIA_OK)
        return;
    check_log(&compacted);
    FUZZ_CHECK(compacted.epoch == log->epoch + 1 && compacted.damaged_count == 0);
    FUZZ_CHECK(compacted.next_recording >= log->next_recording);
    FUZZ_CHECK(compacted.entries_max - compacted.count >= STRIA_CATALOGUE_SPARE);
    FUZZ_CHECK(count_sound(&compacted) <= count_sound(log));
}

static bool has(const struct stria_catalogue *log, enum stria_catalogue_kind kind, uint64_t recording)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; log->image && stria_catalogue_next(log, &index, &entry);)
        if (entry.kind == kind && entry.recording == recording)
            return true;
    return false;
}

/* What any replica knows of is in the merged log, unless some replica knows that it is removed. */
static void check_keeps(const struct stria_catalogue *merged, const struct stria_catalogue *replicas,
                        const struct stria_catalogue *replica)
{
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; replica->image && stria_catalogue_next(replica, &index, &entry);) {
        bool removed = false;
        for (unsigned i = 0; i < DRIVES; i++)
            removed |= has(&replicas[i], STRIA_CATALOGUE_REMOVED, entry.recording);
        if (entry.kind == STRIA_CATALOGUE_BEGUN && removed)
            FUZZ_CHECK(has(merged, STRIA_CATALOGUE_REMOVED, entry.recording) ||
                       !has(merged, STRIA_CATALOGUE_BEGUN, entry.recording));
        else if (entry.kind == STRIA_CATALOGUE_BEGUN)
            FUZZ_CHECK(has(merged, STRIA_CATALOGUE_BEGUN, entry.recording));
    }
}

/* What lies in the way of the log is known to it, cell by cell; else it goes by the other half. */
static void check_renewals(const struct stria_catalogue *merged, const struct stria_catalogue *replicas)
{
    for (unsigned i = 0; i < DRIVES; i++) {
        if (!replicas[i].image)
            continue;
        const enum stria_catalogue_renewal renewal = stria_catalogue_renewal(merged, &replicas[i]);
        FUZZ_CHECK(merged->epoch >= replicas[i].epoch);
        if (renewal == STRIA_RENEWAL_BY_OTHER_HALF)
            FUZZ_CHECK(merged->epoch >= replicas[i].epoch + 2);
        if (renewal == STRIA_RENEWAL_NONE)
            FUZZ_CHECK(merged->epoch == replicas[i].epoch);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t *halves[DRIVES][2];
    struct stria_catalogue replicas[DRIVES] = {{0}};
    for (unsigned i = 0; i < DRIVES * 2; i++) {
        /* Each by itself, so that a sanitizer sees where it ends. */
        halves[i / 2][i % 2] = calloc(1, HALF_BYTES);
        FUZZ_CHECK(halves[i / 2][i % 2] != NULL);
    }
    for (; bytes >= RECORD_BYTES; bytes -= RECORD_BYTES, data += RECORD_BYTES)
        put(halves[data[0] & DRIVE ? 1 : 0][data[0] & HALF ? 1 : 0], data);
    for (unsigned i = 0; i < DRIVES; i++) {
        if (stria_catalogue_load(&replicas[i], halves[i], HALF_BYTES, array_uuid) == STRIA_OK)
            check_log(&replicas[i]);
        else
            replicas[i].image = NULL;
    }
    struct stria_catalogue merged;
    struct stria_catalogue_meeting meeting = {.wall_ns = 1, .drive_absent = (bytes & 1) != 0};
    meeting.memory = malloc(stria_catalogue_merge_bytes(replicas, DRIVES) + 1);
    FUZZ_CHECK(meeting.memory != NULL);
    const int code = stria_catalogue_merge(replicas, DRIVES, &meeting, &merged);
    FUZZ_CHECK(code == STRIA_OK || code == STRIA_ERR_FULL || code == STRIA_ERR_NOT_FOUND);
    for (unsigned i = 0; i < DRIVES && code != STRIA_ERR_NOT_FOUND; i++)
        check_keeps(&merged, replicas, &replicas[i]);
    if (code == STRIA_OK) {
        check_log(&merged);
        check_renewals(&merged, replicas);
        check_compacted(&merged);
        check_append(&merged);
    }
    free(meeting.memory);
    for (unsigned i = 0; i < DRIVES * 2; i++)
        free(halves[i / 2][i % 2]);
    return 0;
}
