/* A small array, damaged in any way: opening it, listing, verifying and reading all of it end, within bounds,
 * and nothing is presented as good that is not what came in.
 *
 * Without forgery, every byte that reads as good is the stream's at its offset, and a drive that nothing
 * happened to loses nothing by what happened to the other. With forgery a chunk may be moved, but what reads
 * as good is still one whole chunk as it came in. */
#include "backends/backend.h"
#include "core/code.h"
#include "engine/array.h"
#include "engine/reader.h"
#include "engine/verify.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image_damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Views of one recording: as many as extents and LOST entries can make, and some. */
#define VIEWS_MAX 20000u

struct seen {
    uint64_t good_bytes, bad_bytes; /* OK; corrupt or missing */
};

static struct stria_array_config config;

/* The drives go into memory drives of these names, which stay there from one input to the next. */
static void put_drive(uint32_t index, const uint8_t *bytes)
{
    char path[64];
    snprintf(path, sizeof(path), "memory:fuzzed%u:%" PRIu64, index, IMAGE_DRIVE_BYTES);
    const struct stria_drive_options options = {.path = path, .depth = 1, .direct = true};
    struct stria_drive *drive;
    struct stria_trouble trouble;
    static uint8_t *aligned;
    if (!aligned)
        aligned = aligned_alloc(STRIA_PAGE_BYTES, IMAGE_DRIVE_BYTES);
    FUZZ_CHECK(aligned != NULL);
    memcpy(aligned, bytes, IMAGE_DRIVE_BYTES);
    FUZZ_CHECK(stria_drive_open(&options, &drive, &trouble) == STRIA_OK);
    FUZZ_CHECK(stria_drive_run(drive, STRIA_IO_WRITE, 0, IMAGE_DRIVE_BYTES, aligned) == STRIA_OK);
    drive->backend->close(drive);

    struct stria_drive_config *to = &config.drives[config.drive_count++];
    snprintf(to->name, sizeof(to->name), "d%u", index);
    snprintf(to->path, sizeof(to->path), "%s", path);
    to->capacity_scale = to->rate_scale = 1;
}

static void configure(const struct image_damaged *damaged)
{
    snprintf(config.file, sizeof(config.file), "fuzzed.ini");
    snprintf(config.name, sizeof(config.name), "small");
    config.policy = STRIA_POLICY_ADAPTIVE;
    config.chunk_bytes = IMAGE_CHUNK;
    config.buffer_bytes = 4 * IMAGE_CHUNK;
    config.commit_interval_ns = 200000000;
    config.write_deadline_ns = 5000000000;
    config.read_deadline_ns = 5000000000;
    config.depth = 4;
    config.drive_count = 0;
    for (uint32_t index = 0; index < IMAGE_DRIVES; index++)
        if (!damaged->absent[index])
            put_drive(index, damaged->drives[index]);
}

/* As it came in: the chunk that the stream has at this offset or, where something was forged, any whole one.
 */
static void check_good(const struct image_damaged *damaged, const struct stria_recording_info *info,
                       uint64_t offset, const uint8_t *data, uint64_t bytes)
{
    const struct image *sound = image_made();
    bool found = false;
    FUZZ_CHECK(data != NULL);
    for (unsigned i = 0; i < sound->chunk_count && !found; i++) {
        const struct image_chunk *chunk = &sound->chunks[i];
        const bool here = chunk->recording == info->id && chunk->stream_offset == offset;
        found = (here || damaged->forged) && chunk->length_bytes == bytes &&
                memcmp(data, chunk->payload, bytes) == 0;
    }
    FUZZ_CHECK(found);
}

static struct seen read_all(const struct image_damaged *damaged, struct stria_array *array, const char *name)
{
    struct stria_reader *reader;
    struct stria_trouble trouble;
    struct stria_recording_info info;
    struct seen seen = {0};
    const int code = stria_reader_open(array, name, &reader, &trouble);
    FUZZ_CHECK(code == STRIA_OK || code == STRIA_ERR_FORMAT);
    if (code != STRIA_OK)
        return seen;
    stria_reader_describe(reader, &info);
    uint64_t offset = 0;
    for (unsigned views = 0;; views++) {
        const void *data;
        enum stria_read_verdict verdict;
        const int64_t bytes = stria_reader_view(reader, offset, &data, &verdict);
        FUZZ_CHECK(bytes >= 0 && views < VIEWS_MAX);
        if (bytes == 0)
            break;
        FUZZ_CHECK((uint64_t)bytes <= info.length_bytes - offset);
        if (verdict == STRIA_READ_OK)
            check_good(damaged, &info, offset, data, (uint64_t)bytes);
        else
            FUZZ_CHECK(data == NULL);
        seen.good_bytes += verdict == STRIA_READ_OK ? (uint64_t)bytes : 0;
        seen.bad_bytes +=
            verdict == STRIA_READ_CORRUPT || verdict == STRIA_READ_MISSING ? (uint64_t)bytes : 0;
        offset += (uint64_t)bytes;
    }
    FUZZ_CHECK(offset == info.length_bytes);
    stria_reader_close(reader);
    return seen;
}

/* What is said to be whole can be read; what can be read was said to be there. */
static void check_recording(const struct image_damaged *damaged, struct stria_array *array, uint32_t index)
{
    struct stria_recording_info info, found;
    struct stria_verify_result result;
    struct stria_trouble trouble;
    FUZZ_CHECK(stria_array_recording(array, index, &info) == STRIA_OK);
    FUZZ_CHECK(info.bytes <= info.length_bytes && info.dropped_bytes <= info.length_bytes - info.bytes);
    FUZZ_CHECK(stria_array_find(array, info.name, &found) == STRIA_OK);
    if (found.id != info.id)
        return; /* forged to have the name of another */
    const char *name = info.name;
    const struct stria_verify_options options = {.names = &name, .name_count = 1};
    const int code = stria_array_verify(array, &options, &result, &trouble);
    FUZZ_CHECK(code == STRIA_OK || code == STRIA_ERR_FORMAT);
    const struct seen seen = read_all(damaged, array, name);
    if (code != STRIA_OK)
        return;
    /* All that were forged to have this name are verified. */
    uint32_t of = 0;
    while (of < result.recording_count && result.recordings[of].info.id != info.id)
        of++;
    FUZZ_CHECK(of < result.recording_count && !result.stopped && result.drives_given_up == 0);
    const struct stria_verifier_counts *counts = &result.recordings[of].counts;
    FUZZ_CHECK(counts->ok + counts->corrupt + counts->missing + counts->misplaced == counts->extents);
    FUZZ_CHECK(counts->bytes == seen.good_bytes);
    if (!result.damaged)
        FUZZ_CHECK(seen.bad_bytes == 0);
    stria_verify_result_free(&result);
}

/* A drive that nothing happened to: its chunks of recordings that ended are all there. */
static void check_untouched(struct stria_array *array, uint32_t drive)
{
    const struct image *sound = image_made();
    for (unsigned i = 0; i < sound->chunk_count; i++) {
        const struct image_chunk *chunk = &sound->chunks[i];
        if (!chunk->whole || chunk->drive != drive)
            continue;
        struct stria_reader *reader;
        struct stria_trouble trouble;
        enum stria_read_verdict verdict;
        const void *data;
        const char *name = chunk->recording == 1 ? "first" : "gaps";
        FUZZ_CHECK(stria_reader_open(array, name, &reader, &trouble) == STRIA_OK);
        const int64_t bytes = stria_reader_view(reader, chunk->stream_offset, &data, &verdict);
        FUZZ_CHECK(bytes == chunk->length_bytes && verdict == STRIA_READ_OK);
        stria_reader_close(reader);
    }
}

static void check_array(const struct image_damaged *damaged, struct stria_array *array)
{
    struct stria_array_info info;
    struct stria_drive_info drive;
    stria_array_describe(array, &info);
    FUZZ_CHECK(info.drive_count >= 1 && info.drives_missing < info.drive_count);
    for (uint32_t index = 0; index < info.drive_count; index++) {
        FUZZ_CHECK(stria_array_drive(array, index, &drive) == STRIA_OK);
        FUZZ_CHECK(!drive.present || drive.bytes + drive.free_bytes <= drive.drive_bytes);
    }
    for (uint32_t index = 0; index < info.recording_count; index++)
        check_recording(damaged, array, index);
    for (uint32_t index = 0; index < IMAGE_DRIVES; index++)
        if (!damaged->touched[index] && !damaged->identity && !damaged->forged)
            check_untouched(array, index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct image_damaged *damaged = image_damage(data, bytes);
    struct stria_array *array;
    struct stria_trouble trouble = {0};
    configure(damaged);
    if (config.drive_count == 0)
        return 0;
    const int code = stria_array_open_config(&config, false, &array, &trouble);
    FUZZ_CHECK(code != STRIA_ERR_NO_MEMORY && (code == STRIA_OK || trouble.sentence[0]));
    for (uint32_t index = 0; index < IMAGE_DRIVES; index++)
        FUZZ_CHECK(code == STRIA_OK || damaged->touched[index] || damaged->identity || damaged->forged);
    if (code != STRIA_OK)
        return 0;
    check_array(damaged, array);
    stria_array_close(array);
    return 0;
}
