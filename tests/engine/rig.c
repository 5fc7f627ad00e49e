#include "tests/engine/rig.h"

#include "backends/backend.h"
#include "support/clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rig *rig_new(enum stria_policy policy, const uint64_t *sizes)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    cr_assert(rig);
    struct stria_array_config *config = &rig->config;
    snprintf(config->file, sizeof(config->file), "rig.ini");
    snprintf(config->name, sizeof(config->name), "rig");
    config->policy = policy;
    config->chunk_bytes = 64 * KIB;
    config->buffer_bytes = 16 * config->chunk_bytes;
    config->commit_interval_ns = 20000000;
    config->write_deadline_ns = 5 * STRIA_NS_PER_S;
    config->read_deadline_ns = 5 * STRIA_NS_PER_S;
    config->depth = 4;
    for (uint32_t index = 0; sizes[index]; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->name, sizeof(drive->name), "d%u", index);
        drive->size_bytes = sizes[index];
        drive->capacity_scale = drive->rate_scale = 1;
    }
    return rig;
}

void rig_create(struct rig *rig)
{
    struct stria_trouble trouble = {0};
    struct stria_created created;
    cr_assert(stria_array_create(&rig->config, NULL, &created, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_assert(strlen(created.uuid) == 36);
}

struct rig *rig_make(enum stria_policy policy, const uint64_t *sizes)
{
    struct rig *rig = rig_new(policy, sizes);
    static unsigned rigs;
    rigs++;
    for (uint32_t index = 0; index < rig->config.drive_count; index++)
        snprintf(rig->config.drives[index].path, sizeof(rig->config.drives[index].path), "memory:r%u-%u:%llu",
                 rigs, index, (unsigned long long)sizes[index]);
    rig_create(rig);
    return rig;
}

struct rig *rig_make_files(enum stria_policy policy, const uint64_t *sizes)
{
    struct rig *rig = rig_new(policy, sizes);
    const char *parent = getenv("TMPDIR");
    snprintf(rig->folder, sizeof(rig->folder), "%s/stria-engine-XXXXXX", parent && *parent ? parent : "/tmp");
    cr_assert(mkdtemp(rig->folder), "%s: %s", rig->folder, strerror(errno));
    for (uint32_t index = 0; index < rig->config.drive_count; index++) {
        char *path = rig->config.drives[index].path;
        snprintf(path, sizeof(rig->config.drives[index].path), "%s/d%u.img", rig->folder, index);
        int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
        cr_assert(fd >= 0 && posix_fallocate(fd, 0, (off_t)sizes[index]) == 0, "%s", path);
        close(fd);
    }
    rig_create(rig);
    return rig;
}

struct stria_array *rig_open(struct rig *rig, bool writable)
{
    if (rig->array)
        return rig->array;
    struct stria_trouble trouble = {0};
    int code = stria_array_open_config(&rig->config, writable, &rig->array, &trouble);
    cr_assert(code == STRIA_OK, "%s", trouble.sentence);
    return rig->array;
}

void rig_close(struct rig *rig)
{
    stria_array_close(rig->array);
    rig->array = NULL;
}

void rig_free(struct rig *rig)
{
    rig_close(rig);
    for (uint32_t index = 0; rig->folder[0] && index < rig->config.drive_count; index++)
        unlink(rig->config.drives[index].path);
    if (rig->folder[0])
        rmdir(rig->folder);
    free(rig);
}

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

void rig_fill(void *out, uint64_t offset, uint64_t bytes, uint64_t stream)
{
    uint8_t *to = out;
    for (uint64_t at = 0; at < bytes;) {
        uint64_t word = mix((offset + at) / 8 + (stream << 40) + 1);
        uint64_t skip = (offset + at) % 8;
        uint64_t take = bytes - at < 8 - skip ? bytes - at : 8 - skip;
        memcpy(to + at, (uint8_t *)&word + skip, take);
        at += take;
    }
}

struct stria_writer *rig_begin(struct rig *rig, const char *name)
{
    struct stria_trouble trouble = {0};
    struct stria_writer *writer = NULL;
    const struct stria_writer_options options = {.name = name};
    int code = stria_writer_begin(rig_open(rig, true), &options, &writer, &trouble);
    cr_assert(code == STRIA_OK, "%s", trouble.sentence);
    return writer;
}

void rig_put(struct stria_writer *writer, uint64_t offset, uint64_t bytes, uint64_t stream)
{
    void *buffer = NULL;
    int code = stria_writer_acquire(writer, 20 * STRIA_NS_PER_S, &buffer);
    cr_assert(code == STRIA_OK, "acquire: %s", stria_code_text(code));
    rig_fill(buffer, offset, bytes, stream);
    cr_assert(stria_writer_commit(writer, buffer, bytes) == STRIA_OK);
}

struct stria_result rig_end(struct stria_writer *writer)
{
    struct stria_result result;
    int code = stria_writer_end(writer);
    cr_assert(code == STRIA_OK, "end: %s", stria_code_text(code));
    stria_writer_result(writer, &result);
    stria_writer_free(writer);
    return result;
}

void rig_record(struct rig *rig, const char *name, uint64_t bytes, uint64_t stream)
{
    struct stria_writer *writer = rig_begin(rig, name);
    uint64_t chunk = rig->config.chunk_bytes;
    for (uint64_t offset = 0; offset < bytes; offset += chunk)
        rig_put(writer, offset, bytes - offset < chunk ? bytes - offset : chunk, stream);
    struct stria_result result = rig_end(writer);
    cr_assert(result.info.length_bytes == bytes && result.info.bytes == bytes &&
              result.info.dropped_bytes == 0 && result.durable_bytes == bytes);
    cr_assert(result.gap_count == 0 && strcmp(result.info.name, name) == 0);
}

static struct stria_drive *open_drive(struct rig *rig, uint32_t drive, bool read_only)
{
    struct stria_drive_options options = {
        .path = rig->config.drives[drive].path, .depth = 4, .direct = true, .read_only = read_only};
    struct stria_trouble trouble = {0};
    struct stria_drive *open = NULL;
    cr_assert(!rig->array, "close the array before you go behind its back");
    cr_assert(stria_drive_open(&options, &open, &trouble) == STRIA_OK, "%s", trouble.sentence);
    return open;
}

static void transfer(struct rig *rig, uint32_t index, enum stria_io_op op, uint64_t offset, uint64_t bytes,
                     void *data)
{
    struct stria_drive *drive = open_drive(rig, index, op == STRIA_IO_READ);
    cr_assert(stria_drive_run(drive, op, offset, bytes, data) == STRIA_OK);
    drive->backend->close(drive);
}

void rig_peek(struct rig *rig, uint32_t drive, uint64_t offset, uint64_t bytes, void *data)
{
    void *copy = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    transfer(rig, drive, STRIA_IO_READ, offset, bytes, copy);
    memcpy(data, copy, bytes);
    free(copy);
}

void rig_poke(struct rig *rig, uint32_t drive, uint64_t offset, uint64_t bytes, const void *data)
{
    void *copy = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memcpy(copy, data, bytes);
    transfer(rig, drive, STRIA_IO_WRITE, offset, bytes, copy);
    free(copy);
}

void rig_flip(struct rig *rig, uint32_t drive, uint64_t offset)
{
    uint8_t block[512];
    rig_peek(rig, drive, offset / 512 * 512, sizeof(block), block);
    block[offset % 512] ^= 0x10;
    rig_poke(rig, drive, offset / 512 * 512, sizeof(block), block);
}

uint64_t rig_random(uint64_t limit)
{
    static uint64_t state = 1;
    return mix(state++) % limit;
}

static void expect_zero(const uint8_t *data, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at++)
        cr_assert(data[at] == 0, "a hole is not zero");
}

void rig_read(struct rig *rig, const char *name, uint64_t stream, uint64_t counts[4])
{
    struct stria_trouble trouble = {0};
    struct stria_reader *reader = NULL;
    int code = stria_reader_open(rig_open(rig, false), name, &reader, &trouble);
    cr_assert(code == STRIA_OK, "%s", trouble.sentence);
    memset(counts, 0, 4 * sizeof(*counts));
    uint64_t most = 3 * rig->config.chunk_bytes;
    uint8_t *data = malloc(most), *expected = malloc(most);
    uint64_t offset = 0;
    for (;;) {
        enum stria_read_verdict verdict;
        uint64_t wanted = 1 + rig_random(most);
        int64_t count = stria_reader_read(reader, offset, data, wanted, &verdict);
        cr_assert(count >= 0 && (uint64_t)count <= wanted);
        if (count == 0)
            break;
        counts[verdict] += (uint64_t)count;
        if (verdict != STRIA_READ_OK)
            expect_zero(data, (uint64_t)count);
        rig_fill(expected, offset, (uint64_t)count, stream);
        if (verdict == STRIA_READ_OK)
            cr_assert(memcmp(data, expected, (size_t)count) == 0, "wrong bytes at %llu",
                      (unsigned long long)offset);
        offset += (uint64_t)count;
    }
    free(data);
    free(expected);
    stria_reader_close(reader);
}

void rig_expect_whole(struct rig *rig, const char *name, uint64_t bytes, uint64_t stream)
{
    uint64_t counts[4];
    rig_read(rig, name, stream, counts);
    cr_expect(counts[STRIA_READ_OK] == bytes, "%s has %llu good bytes of %llu", name,
              (unsigned long long)counts[STRIA_READ_OK], (unsigned long long)bytes);
    cr_expect(counts[STRIA_READ_GAP] + counts[STRIA_READ_MISSING] + counts[STRIA_READ_CORRUPT] == 0);
}

static bool keep_finding(void *context, const struct stria_verify_progress *progress)
{
    (void)context;
    return progress->bytes <= progress->bytes_total;
}

static void note_finding(void *context, const struct stria_verify_finding *finding)
{
    struct rig_findings *findings = context;
    cr_assert(findings->count < RIG_FINDINGS_MAX);
    uint32_t index = findings->count++;
    findings->list[index] = *finding;
    findings->list[index].recording = NULL;
    if (finding->other)
        findings->list[index].other = strcpy(findings->others[index], finding->other);
}

struct stria_verifier_counts rig_verify(struct rig *rig, const char *name, struct rig_findings *findings)
{
    struct stria_verify_result result;
    struct stria_trouble trouble = {0};
    const struct stria_verify_options options = {.names = &name,
                                                 .name_count = name ? 1 : 0,
                                                 .context = findings,
                                                 .progress = keep_finding,
                                                 .finding = note_finding};
    findings->count = 0;
    int code = stria_array_verify(rig_open(rig, false), &options, &result, &trouble);
    cr_assert(code == STRIA_OK, "%s", trouble.sentence);
    struct stria_verifier_counts sum = {0};
    for (uint32_t index = 0; index < result.recording_count; index++) {
        const struct stria_verifier_counts *counts = &result.recordings[index].counts;
        cr_expect(counts->extents == counts->ok + counts->corrupt + counts->missing + counts->misplaced);
        sum.extents += counts->extents;
        sum.ok += counts->ok;
        sum.corrupt += counts->corrupt;
        sum.missing += counts->missing;
        sum.misplaced += counts->misplaced;
        sum.stale += counts->stale;
        sum.unreadable += counts->unreadable;
        sum.bytes += counts->bytes;
        sum.gap_bytes += counts->gap_bytes;
    }
    cr_expect(result.damaged == (sum.ok < sum.extents) && !result.stopped);
    stria_verify_result_free(&result);
    return sum;
}
