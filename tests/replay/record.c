#include "tests/replay/record.h"

#include "core/random.h"
#include "engine/create.h"
#include "support/clock.h"
#include "tests/replay/tape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK STRIA_CHUNK_BYTES_MIN

/* The last of them is recorded after a cut. */
const char *const replay_names[REPLAY_RECORDINGS] = {"first", "second", "third", "afterwards"};
const uint64_t replay_bytes[REPLAY_RECORDINGS] = {30 * CHUNK + 777, 25 * CHUNK, 40 * CHUNK + 1,
                                                  5 * CHUNK + 9};

void replay_must(bool holds, const char *format, ...)
{
    if (holds)
        return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\n");
    exit(1);
}

void replay_fill(uint8_t *out, uint32_t recording, uint64_t offset, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at++) {
        const uint64_t mixed = ((offset + at) / 8 * 8 + recording + 1) * UINT64_C(0x9e3779b97f4a7c15);
        out[at] = (uint8_t)((mixed ^ mixed >> 31) >> (offset + at) % 8 * 8);
    }
}

void replay_configure(struct stria_array_config *config, const char *folder, enum stria_policy policy,
                      uint64_t drive_bytes)
{
    memset(config, 0, sizeof(*config));
    snprintf(config->file, sizeof(config->file), "%s/array.ini", folder);
    snprintf(config->name, sizeof(config->name), "replayed");
    config->policy = policy;
    config->chunk_bytes = CHUNK;
    config->buffer_bytes = 8 * CHUNK;
    config->commit_interval_ns = 3000000;
    config->write_deadline_ns = 60 * STRIA_NS_PER_S;
    config->read_deadline_ns = 60 * STRIA_NS_PER_S;
    config->depth = 4;
    config->drive_count = REPLAY_DRIVES;
    for (uint32_t i = 0; i < REPLAY_DRIVES; i++) {
        struct stria_drive_config *drive = &config->drives[i];
        snprintf(drive->name, sizeof(drive->name), "d%u", i);
        snprintf(drive->path, sizeof(drive->path), "%s/drive%u.img", folder, i);
        drive->size_bytes = drive_bytes;
        drive->capacity_scale = drive->rate_scale = 1;
    }
}

static void mark_durable(struct stria_writer *writer)
{
    struct stria_progress progress;
    stria_writer_progress(writer, &progress);
    tape_mark(MARK_DURABLE, progress.durable_bytes);
}

void replay_record(struct stria_array *array, uint32_t recording)
{
    struct stria_trouble trouble = {0};
    struct stria_writer *writer = NULL;
    struct stria_random random;
    const struct stria_writer_options options = {.name = replay_names[recording]};
    replay_must(stria_writer_begin(array, &options, &writer, &trouble) == STRIA_OK, "%s", trouble.sentence);
    tape_mark(MARK_BEGUN, recording);
    stria_random_seed(&random, recording);
    for (uint64_t offset = 0; offset < replay_bytes[recording]; offset += CHUNK) {
        const uint64_t left = replay_bytes[recording] - offset, bytes = left < CHUNK ? left : CHUNK;
        void *buffer;
        int code = stria_writer_acquire(writer, 60 * STRIA_NS_PER_S, &buffer);
        replay_must(code == STRIA_OK, "%s: %s", replay_names[recording], stria_code_text(code));
        replay_fill(buffer, recording, offset, bytes);
        replay_must(stria_writer_commit(writer, buffer, bytes) == STRIA_OK, "a chunk is not taken");
        /* So that commits fall between the chunks, and find few or many of them. */
        if (stria_random_below(&random, 3) == 0)
            stria_clock_sleep_until(stria_clock_ns() + stria_random_below(&random, 6000000));
        mark_durable(writer);
    }
    int code = stria_writer_end(writer);
    replay_must(code == STRIA_OK, "%s: %s", replay_names[recording], stria_code_text(code));
    mark_durable(writer);
    tape_mark(MARK_ENDED, recording);
    stria_writer_free(writer);
}

void replay_live(const struct stria_array_config *config)
{
    struct stria_trouble trouble = {0};
    struct stria_array *array;
    tape_start();
    replay_must(stria_array_create(config, NULL, NULL, &trouble) == STRIA_OK, "%s", trouble.sentence);
    tape_mark(MARK_MADE, 0);
    for (uint32_t recording = 0; recording < REPLAY_RECORDINGS - 1; recording++) {
        int code = stria_array_open_config(config, true, &array, &trouble);
        replay_must(code == STRIA_OK, "%s", trouble.sentence);
        replay_record(array, recording);
        if (recording == 1) {
            code = stria_array_remove(array, replay_names[0], &trouble);
            replay_must(code == STRIA_OK, "%s", trouble.sentence);
            tape_mark(MARK_REMOVED, 0);
        }
        stria_array_close(array);
    }
    tape_stop();
}
