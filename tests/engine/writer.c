/* The writer's interface: buffers held and handed over in any order, the caller's own memory, skips, ends. */
#include "support/clock.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64 * KIB)

static const uint64_t two[] = {12 * MIB, 12 * MIB, 0};
static struct rig_findings findings;

struct handed {
    struct stria_writer *writer;
    void *buffers[8];
    unsigned count;
};

static void *commit_backwards(void *context)
{
    struct handed *handed = context;
    for (unsigned index = handed->count; index > 0; index--)
        cr_assert(stria_writer_commit(handed->writer, handed->buffers[index - 1], CHUNK) == STRIA_OK);
    return NULL;
}

Test(writer, buffers_follow_each_other_as_acquired_however_they_are_committed)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    for (unsigned round = 0; round < 8; round++) {
        struct handed handed[2] = {{.writer = writer}, {.writer = writer}};
        for (unsigned index = 0; index < 8; index++) {
            struct handed *half = &handed[index % 2];
            void **buffer = &half->buffers[half->count++];
            cr_assert(stria_writer_acquire(writer, UINT64_MAX, buffer) == STRIA_OK);
            rig_fill(*buffer, (round * 8 + index) * CHUNK, CHUNK, 1);
        }
        pthread_t threads[2];
        for (unsigned index = 0; index < 2; index++)
            cr_assert(pthread_create(&threads[index], NULL, commit_backwards, &handed[index]) == 0);
        for (unsigned index = 0; index < 2; index++)
            pthread_join(threads[index], NULL);
    }
    rig_end(writer);
    rig_expect_whole(rig, "first", 64 * CHUNK, 1);
    rig_free(rig);
}

Test(writer, what_is_committed_behind_a_buffer_that_never_was_is_recorded_at_its_offset)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    struct stria_result result;
    struct stria_gap_info gap;
    void *buffers[5];
    for (unsigned index = 0; index < 5; index++) {
        cr_assert(stria_writer_acquire(writer, 0, &buffers[index]) == STRIA_OK);
        rig_fill(buffers[index], index * CHUNK, CHUNK, 1);
    }
    cr_assert(stria_writer_commit(writer, buffers[3], CHUNK) == STRIA_OK);
    cr_assert(stria_writer_commit(writer, buffers[0], CHUNK) == STRIA_OK);
    cr_assert(stria_writer_end(writer) == STRIA_OK);
    cr_expect(stria_writer_commit(writer, buffers[1], CHUNK) == STRIA_ERR_CLOSED);
    cr_expect(stria_writer_commit(writer, buffers[4], CHUNK) == STRIA_ERR_CLOSED);
    stria_writer_result(writer, &result);
    cr_expect(result.info.length_bytes == 4 * CHUNK && result.info.bytes == 2 * CHUNK);
    cr_expect(result.info.dropped_bytes == 2 * CHUNK && result.durable_bytes == 4 * CHUNK);
    cr_assert(result.gap_count == 1 && stria_writer_gap(writer, 0, &gap) == STRIA_OK);
    cr_expect(gap.offset_bytes == CHUNK && gap.length_bytes == 2 * CHUNK && gap.cause == STRIA_GAP_SOURCE);
    stria_writer_free(writer);
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] == 2 * CHUNK && read[STRIA_READ_GAP] == 2 * CHUNK);
    rig_free(rig);
}

/* Commits until the stream ends without it. */
static void *commit_late(void *context)
{
    struct handed *handed = context;
    unsigned accepted = 0;
    while (accepted < handed->count &&
           stria_writer_commit(handed->writer, handed->buffers[accepted], CHUNK) == STRIA_OK)
        accepted++;
    handed->count = accepted;
    return NULL;
}

Test(writer, a_commit_that_was_accepted_while_the_stream_ended_is_recorded)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    for (unsigned round = 0; round < 40; round++) {
        char name[16];
        snprintf(name, sizeof(name), "round%u", round);
        struct stria_writer *writer = rig_begin(rig, name);
        struct handed handed = {.writer = writer, .count = 8};
        for (unsigned index = 0; index < 8; index++)
            cr_assert(stria_writer_acquire(writer, UINT64_MAX, &handed.buffers[7 - index]) == STRIA_OK);
        for (unsigned index = 0; index < 8; index++)
            rig_fill(handed.buffers[7 - index], index * CHUNK, CHUNK, 1);
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, commit_late, &handed) == 0);
        cr_assert(stria_writer_end(writer) == STRIA_OK);
        pthread_join(thread, NULL);
        struct stria_result result;
        stria_writer_result(writer, &result);
        cr_expect(result.info.bytes == handed.count * CHUNK, "%u accepted", handed.count);
        cr_expect(result.info.length_bytes == (handed.count ? 8 * CHUNK : 0));
        stria_writer_free(writer);
        struct stria_trouble trouble;
        cr_assert(stria_array_remove(rig->array, name, &trouble) == STRIA_OK, "%s", trouble.sentence);
    }
    rig_free(rig);
}

Test(writer, buffers_are_aligned_and_a_full_ring_times_out)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    void *buffers[16], *none = NULL;
    for (unsigned index = 0; index < 16; index++) {
        cr_assert(stria_writer_acquire(writer, 0, &buffers[index]) == STRIA_OK);
        cr_expect((uintptr_t)buffers[index] % 4096 == 0);
    }
    cr_expect(stria_writer_acquire(writer, 0, &none) == STRIA_ERR_TIMEOUT);
    uint64_t start_ns = stria_clock_ns();
    cr_expect(stria_writer_acquire(writer, 50000000, &none) == STRIA_ERR_TIMEOUT);
    uint64_t waited_ns = stria_clock_ns() - start_ns;
    cr_expect(waited_ns >= 50000000 && waited_ns < 10 * STRIA_NS_PER_S);
    for (unsigned index = 0; index < 16; index++) {
        rig_fill(buffers[index], index * CHUNK, CHUNK, 1);
        cr_assert(stria_writer_commit(writer, buffers[index], CHUNK) == STRIA_OK);
    }
    cr_expect(stria_writer_acquire(writer, 10 * STRIA_NS_PER_S, &none) == STRIA_OK);
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.length_bytes == 16 * CHUNK, "what was not committed is left out");
    rig_expect_whole(rig, "first", 16 * CHUNK, 1);
    rig_free(rig);
}

Test(writer, a_short_chunk_ends_the_stream)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    rig_put(writer, 0, CHUNK, 1);
    rig_put(writer, CHUNK, 5, 1);
    void *buffer;
    cr_expect(stria_writer_acquire(writer, UINT64_MAX, &buffer) == STRIA_ERR_CLOSED);
    cr_expect(stria_writer_skip(writer, CHUNK, STRIA_GAP_SOURCE) == STRIA_ERR_CLOSED);
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.length_bytes == CHUNK + 5 && result.info.bytes == CHUNK + 5);
    rig_close(rig);
    rig_expect_whole(rig, "first", CHUNK + 5, 1);
    rig_free(rig);
}

Test(writer, wrong_lengths_and_buffers_are_refused)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    void *buffer;
    cr_assert(stria_writer_acquire(writer, 0, &buffer) == STRIA_OK);
    cr_expect(stria_writer_commit(writer, buffer, 0) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_commit(writer, buffer, CHUNK + 1) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_commit(writer, (char *)buffer + 1, CHUNK) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_commit(writer, &buffer, CHUNK) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_skip(writer, CHUNK / 2, STRIA_GAP_SOURCE) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_skip(writer, 0, STRIA_GAP_SOURCE) == STRIA_ERR_INVALID);
    rig_fill(buffer, 0, CHUNK, 1);
    cr_expect(stria_writer_commit(writer, buffer, CHUNK) == STRIA_OK);
    rig_end(writer);
    rig_expect_whole(rig, "first", CHUNK, 1);
    rig_free(rig);
}

Test(writer, a_buffer_is_committed_once_and_only_when_it_was_acquired)
{
    enum { SLOTS = 16, CHUNKS = 3 * SLOTS };
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    struct stria_progress progress;
    void *buffer;
    for (unsigned chunk = 0; chunk < CHUNKS; chunk++) {
        cr_assert(stria_writer_acquire(writer, 20 * STRIA_NS_PER_S, &buffer) == STRIA_OK);
        rig_fill(buffer, chunk * CHUNK, CHUNK, 1);
        cr_assert(stria_writer_commit(writer, buffer, CHUNK) == STRIA_OK);
        do /* it is taken, and in the drives' hands */
            stria_writer_progress(writer, &progress);
        while (progress.length_bytes < (chunk + 1) * CHUNK);
        cr_expect(stria_writer_commit(writer, buffer, CHUNK) == STRIA_ERR_INVALID);
        cr_expect(stria_writer_commit(writer, buffer, 1) == STRIA_ERR_INVALID);
        if (chunk == 0)
            for (ptrdiff_t other = 1; other < SLOTS; other++)
                cr_expect(stria_writer_commit(writer, (char *)buffer + other * (ptrdiff_t)CHUNK, CHUNK) ==
                          STRIA_ERR_INVALID);
    }
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.length_bytes == CHUNKS * CHUNK);
    rig_expect_whole(rig, "first", CHUNKS * CHUNK, 1);
    rig_free(rig);
}

Test(writer, what_was_accepted_is_recorded_and_a_short_chunk_is_the_last)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    void *buffers[3];
    for (unsigned index = 0; index < 3; index++) {
        cr_assert(stria_writer_acquire(writer, 0, &buffers[index]) == STRIA_OK);
        rig_fill(buffers[index], index * CHUNK, CHUNK, 1);
    }
    cr_assert(stria_writer_commit(writer, buffers[1], 100) == STRIA_OK);
    cr_expect(stria_writer_commit(writer, buffers[2], CHUNK) == STRIA_ERR_CLOSED);
    cr_expect(stria_writer_skip(writer, CHUNK, STRIA_GAP_SOURCE) == STRIA_ERR_CLOSED);
    cr_expect(stria_writer_acquire(writer, UINT64_MAX, &buffers[2]) == STRIA_ERR_CLOSED);
    cr_expect(stria_writer_commit(writer, buffers[0], 100) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_commit(writer, buffers[0], CHUNK) == STRIA_OK);
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.length_bytes == CHUNK + 100 && result.info.bytes == CHUNK + 100);
    rig_close(rig);
    rig_expect_whole(rig, "first", CHUNK + 100, 1);
    rig_free(rig);
}

Test(writer, skips_beyond_what_a_stream_can_have_are_refused)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    cr_expect(stria_writer_skip(writer, 0 - CHUNK, STRIA_GAP_SOURCE) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_skip(writer, 1ull << 63, STRIA_GAP_SOURCE) == STRIA_ERR_INVALID);
    cr_assert(stria_writer_skip(writer, 1ull << 61, STRIA_GAP_SOURCE) == STRIA_OK);
    cr_assert(stria_writer_skip(writer, 1ull << 61, STRIA_GAP_SOURCE) == STRIA_OK);
    cr_expect(stria_writer_skip(writer, CHUNK, STRIA_GAP_SOURCE) == STRIA_ERR_INVALID);
    rig_put(writer, 1ull << 62, CHUNK, 1);
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.bytes == CHUNK && result.info.length_bytes == (1ull << 62) + CHUNK);
    rig_free(rig);
}

Test(writer, a_skip_is_a_gap_at_its_offset)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    rig_put(writer, 0, CHUNK, 1);
    cr_assert(stria_writer_skip(writer, 3 * CHUNK, STRIA_GAP_SOURCE) == STRIA_OK);
    rig_put(writer, 4 * CHUNK, CHUNK, 1);
    cr_assert(stria_writer_skip(writer, 2 * CHUNK, STRIA_GAP_BUFFER) == STRIA_OK);
    cr_assert(stria_writer_end(writer) == STRIA_OK);
    struct stria_result result;
    struct stria_gap_info gap;
    stria_writer_result(writer, &result);
    cr_expect(result.info.bytes == 2 * CHUNK && result.info.dropped_bytes == 5 * CHUNK);
    cr_expect(result.info.length_bytes == 7 * CHUNK);
    cr_expect(result.durable_bytes == 7 * CHUNK, "durable: %llu", (unsigned long long)result.durable_bytes);
    cr_assert(result.gap_count == 2 && stria_writer_gap(writer, 2, &gap) == STRIA_ERR_NOT_FOUND);
    cr_assert(stria_writer_gap(writer, 0, &gap) == STRIA_OK);
    cr_expect(gap.offset_bytes == CHUNK && gap.length_bytes == 3 * CHUNK && gap.cause == STRIA_GAP_SOURCE);
    cr_expect(gap.drive == -1);
    cr_assert(stria_writer_gap(writer, 1, &gap) == STRIA_OK);
    cr_expect(gap.offset_bytes == 5 * CHUNK && gap.length_bytes == 2 * CHUNK);
    cr_expect(gap.cause == STRIA_GAP_BUFFER);
    stria_writer_free(writer);
    rig_close(rig);
    struct stria_recording_info info;
    cr_assert(stria_array_find(rig_open(rig, false), "first", &info) == STRIA_OK);
    cr_expect(info.complete && info.bytes == 2 * CHUNK && info.dropped_bytes == 5 * CHUNK);
    struct stria_verifier_counts counts = rig_verify(rig, NULL, &findings);
    cr_expect(counts.ok == 2 && counts.extents == 2 && counts.gap_bytes == 5 * CHUNK && findings.count == 0);
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] == 2 * CHUNK && read[STRIA_READ_GAP] == 5 * CHUNK);
    rig_free(rig);
}

Test(writer, own_memory_is_recorded_without_a_copy_and_comes_back)
{
    enum { OWN = 8 };
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    uint8_t *memory = aligned_alloc(4096, OWN * CHUNK);
    uint8_t *free_pieces[OWN];
    unsigned free_count = OWN;
    for (unsigned index = 0; index < OWN; index++)
        free_pieces[index] = memory + index * CHUNK;
    cr_expect(stria_writer_commit_own(writer, memory + 1, CHUNK, 0) == STRIA_ERR_INVALID);
    cr_expect(stria_writer_reclaim(writer) == NULL);
    uint64_t bytes = 60 * CHUNK + 4321;
    for (uint64_t offset = 0; offset < bytes; offset += CHUNK) {
        void *back;
        while ((back = stria_writer_reclaim(writer)) || free_count == 0)
            if (back)
                free_pieces[free_count++] = back;
        uint8_t *piece = free_pieces[--free_count];
        uint64_t length = bytes - offset < CHUNK ? bytes - offset : CHUNK;
        rig_fill(piece, offset, length, 1);
        cr_assert(stria_writer_commit_own(writer, piece, length, 10 * STRIA_NS_PER_S) == STRIA_OK);
    }
    cr_assert(stria_writer_end(writer) == STRIA_OK);
    while (stria_writer_reclaim(writer))
        free_count++;
    cr_expect(free_count == OWN, "%u of %u pieces came back", free_count, OWN);
    stria_writer_free(writer);
    free(memory);
    rig_expect_whole(rig, "first", bytes, 1);
    rig_free(rig);
}

Test(writer, the_ring_may_lie_in_the_callers_memory)
{
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, two);
    size_t bytes = 8 * CHUNK;
    uint8_t *memory = aligned_alloc(4096, bytes + 4096);
    struct stria_writer *writer;
    struct stria_trouble trouble = {0};
    struct stria_writer_options options = {.name = "first", .memory = memory + 8, .memory_bytes = bytes};
    cr_expect(stria_writer_begin(rig_open(rig, true), &options, &writer, &trouble) == STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "aligned"), "%s", trouble.sentence);
    options.memory = memory;
    options.memory_bytes = 2 * CHUNK;
    cr_expect(stria_writer_begin(rig->array, &options, &writer, &trouble) == STRIA_ERR_INVALID);
    options.memory_bytes = bytes;
    cr_assert(stria_writer_begin(rig->array, &options, &writer, &trouble) == STRIA_OK);
    for (unsigned chunk = 0; chunk < 30; chunk++) {
        void *buffer;
        cr_assert(stria_writer_acquire(writer, UINT64_MAX, &buffer) == STRIA_OK);
        cr_assert((uint8_t *)buffer >= memory && (uint8_t *)buffer + CHUNK <= memory + bytes);
        rig_fill(buffer, chunk * CHUNK, CHUNK, 1);
        stria_writer_commit(writer, buffer, CHUNK);
    }
    rig_end(writer);
    free(memory);
    rig_expect_whole(rig, "first", 30 * CHUNK, 1);
    rig_free(rig);
}

Test(writer, names_are_checked_and_made_up)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer;
    struct stria_trouble trouble = {0};
    struct stria_writer_options options = {.name = "../etc/passwd"};
    cr_expect(stria_writer_begin(rig_open(rig, true), &options, &writer, &trouble) == STRIA_ERR_INVALID);
    cr_expect(strstr(trouble.sentence, "../etc/passwd"), "%s", trouble.sentence);
    rig_record(rig, "first", CHUNK, 1);
    options.name = "first";
    cr_expect(stria_writer_begin(rig->array, &options, &writer, &trouble) == STRIA_ERR_EXISTS);
    cr_assert(stria_writer_begin(rig->array, NULL, &writer, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(strlen(rig_end(writer).info.name) > 10);
    struct stria_array_info info;
    stria_array_describe(rig->array, &info);
    cr_expect(info.recording_count == 2);
    rig_free(rig);
}

Test(writer, an_empty_recording_is_one_too)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, two);
    struct stria_result result = rig_end(rig_begin(rig, "empty"));
    cr_expect(result.info.complete && result.info.length_bytes == 0 && !result.degraded);
    rig_close(rig);
    rig_expect_whole(rig, "empty", 0, 1);
    cr_expect(rig_verify(rig, "empty", &findings).extents == 0);
    rig_free(rig);
}

Test(writer, a_full_array_keeps_what_it_took_and_names_the_rest)
{
    static const uint64_t unequal[] = {3 * MIB, 5 * MIB, 0};
    enum stria_policy policies[] = {STRIA_POLICY_ADAPTIVE, STRIA_POLICY_RAID0};
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = rig_make(policies[turn], unequal);
        struct stria_writer *writer = rig_begin(rig, "first");
        struct stria_array_info info;
        stria_array_describe(rig->array, &info);
        int code = STRIA_OK;
        uint64_t offset = 0;
        for (void *buffer; (code = stria_writer_acquire(writer, UINT64_MAX, &buffer)) == STRIA_OK;) {
            rig_fill(buffer, offset, CHUNK, 1);
            stria_writer_commit(writer, buffer, CHUNK);
            offset += CHUNK;
        }
        cr_expect(code == STRIA_ERR_ARRAY_FULL, "%s", stria_code_text(code));
        struct stria_result result = rig_end(writer);
        cr_expect(result.full && result.info.bytes + result.info.dropped_bytes == offset);
        uint64_t room = policies[turn] == STRIA_POLICY_ADAPTIVE ? info.extents : info.extents * 3 / 8;
        cr_expect(result.info.bytes >= room * CHUNK / 2 && result.info.bytes <= info.extents * CHUNK);
        if (policies[turn] == STRIA_POLICY_ADAPTIVE)
            cr_expect(result.info.bytes == info.extents * CHUNK);
        rig_close(rig);
        uint64_t read[4];
        rig_read(rig, "first", 1, read);
        cr_expect(read[STRIA_READ_OK] == result.info.bytes && read[STRIA_READ_MISSING] == 0);
        cr_expect(read[STRIA_READ_GAP] == result.info.dropped_bytes && read[STRIA_READ_CORRUPT] == 0);
        rig_free(rig);
    }
}

Test(writer, onlookers_see_how_it_stands)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_writer *writer = rig_begin(rig, "first");
    for (unsigned chunk = 0; chunk < 20; chunk++)
        rig_put(writer, chunk * CHUNK, CHUNK, 1);
    struct stria_progress progress = {0};
    uint64_t deadline_ns = stria_clock_ns() + 10 * STRIA_NS_PER_S;
    while (progress.durable_bytes < 20 * CHUNK && stria_clock_ns() < deadline_ns)
        stria_writer_progress(writer, &progress);
    cr_expect(progress.durable_bytes == 20 * CHUNK && progress.stored_bytes == 20 * CHUNK);
    cr_expect(progress.drive_count == 2 && !progress.degraded && !progress.full);
    struct stria_drive_progress drives[2], none;
    for (uint32_t drive = 0; drive < 2; drive++)
        cr_expect(stria_writer_drive_progress(writer, drive, &drives[drive]) == STRIA_OK);
    cr_expect(stria_writer_drive_progress(writer, 2, &none) == STRIA_ERR_NOT_FOUND);
    cr_expect(drives[0].bytes + drives[1].bytes == 20 * CHUNK && !drives[0].lost);
    rig_end(writer);
    rig_free(rig);
}
