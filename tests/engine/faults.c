/* Drives that fail while recording and while reading: nothing is lost silently, nobody waits for the dead. */
#include "engine/array_internal.h"
#include "support/clock.h"
#include "tests/contract/forbid.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK  (64 * KIB)
#define CHUNKS 100u
#define BYTES  (CHUNKS * CHUNK)

static const uint64_t three[] = {12 * MIB, 12 * MIB, 12 * MIB, 0};
static struct rig_findings findings;

/* How a test's drive is made to fail: from its sixth write on. Adaptive placement gives a drive whose thread
 * sleeps only as much as its depth, so no later write is sure to come. */
static struct rig *faulty(enum stria_policy policy, uint32_t drive, const char *script)
{
    struct rig *rig = rig_make(policy, three);
    snprintf(rig->config.drives[drive].fault, sizeof(rig->config.drives[drive].fault), "%s", script);
    rig->config.write_deadline_ns = 2 * STRIA_NS_PER_S;
    rig->config.read_deadline_ns = 2 * STRIA_NS_PER_S;
    return rig;
}

static void mend(struct rig *rig)
{
    rig_close(rig);
    for (uint32_t drive = 0; drive < rig->config.drive_count; drive++)
        rig->config.drives[drive].fault[0] = '\0';
}

static struct stria_result record(struct rig *rig, int expected)
{
    struct stria_result result;
    struct stria_writer *writer = rig_begin(rig, "first");
    int code = STRIA_OK;
    for (uint64_t offset = 0; offset < BYTES && code == STRIA_OK; offset += CHUNK) {
        void *buffer;
        code = stria_writer_acquire(writer, 20 * STRIA_NS_PER_S, &buffer);
        cr_assert(code != STRIA_ERR_TIMEOUT, "the stream stands still");
        if (code != STRIA_OK)
            break;
        rig_fill(buffer, offset, CHUNK, 1);
        stria_writer_commit(writer, buffer, CHUNK);
    }
    code = stria_writer_end(writer);
    cr_assert(code == expected, "end: %s", stria_code_text(code));
    stria_writer_result(writer, &result);
    cr_expect(result.info.length_bytes == result.info.bytes + result.info.dropped_bytes);
    uint64_t gaps = 0;
    for (uint32_t index = 0; index < result.gap_count; index++) {
        struct stria_gap_info gap;
        cr_assert(stria_writer_gap(writer, index, &gap) == STRIA_OK);
        gaps += gap.length_bytes;
    }
    cr_expect(gaps == result.info.dropped_bytes, "gaps of %llu bytes are told, %llu were dropped",
              (unsigned long long)gaps, (unsigned long long)result.info.dropped_bytes);
    stria_writer_free(writer);
    return result;
}

/* After the drives are well again: what was reported stored is proven, the rest are known gaps. */
static void expect_as_told(struct rig *rig, const struct stria_result *result)
{
    mend(rig);
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_expect(counts.ok == counts.extents && findings.count == 0, "%llu of %llu chunks are well",
              (unsigned long long)counts.ok, (unsigned long long)counts.extents);
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    /* A drive that was given up may have kept more than could be known. */
    cr_expect(read[STRIA_READ_OK] >= result->info.bytes, "%llu bytes are there, %llu were stored",
              (unsigned long long)read[STRIA_READ_OK], (unsigned long long)result->info.bytes);
    cr_expect(read[STRIA_READ_OK] + read[STRIA_READ_GAP] == result->info.length_bytes);
    cr_expect(read[STRIA_READ_MISSING] + read[STRIA_READ_CORRUPT] == 0);
    rig_free(rig);
}

Test(faults, one_bad_extent_goes_elsewhere_and_the_drive_is_kept)
{
    struct rig *rig = faulty(STRIA_POLICY_ADAPTIVE, 1, "write#6:eio");
    struct stria_result result = record(rig, STRIA_OK);
    cr_expect(result.info.bytes == BYTES && result.info.dropped_bytes == 0 && !result.degraded);
    expect_as_told(rig, &result);
}

Test(faults, short_writes_and_again_lose_nothing)
{
    struct rig *rig = faulty(STRIA_POLICY_RAID0, 0, "write,every=5:short=4KiB; any,every=7:again");
    struct stria_result result = record(rig, STRIA_OK);
    cr_expect(result.info.bytes == BYTES && result.info.plain_raid0 && !result.degraded);
    expect_as_told(rig, &result);
}

Test(faults, a_drive_lost_for_good_leaves_a_recording_on_the_others)
{
    enum stria_policy policies[] = {STRIA_POLICY_ADAPTIVE, STRIA_POLICY_RAID0};
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = faulty(policies[turn], 2, "write#6-:gone");
        struct stria_result result = record(rig, STRIA_OK);
        cr_expect(result.degraded && !result.info.plain_raid0);
        cr_expect(result.info.length_bytes == BYTES);
        struct stria_drive_info drive;
        cr_assert(stria_array_drive(rig->array, 2, &drive) == STRIA_OK);
        cr_expect(!drive.present && drive.complaint[0], "the lost drive is not complained about");
        expect_as_told(rig, &result);
    }
}

Test(faults, what_a_lost_drive_was_not_asked_for_is_not_counted_as_read)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, three);
    rig_record(rig, "first", BYTES, 1);
    rig_close(rig);
    struct stria_verify_result result;
    struct stria_trouble trouble;
    struct stria_drive_info drive;
    cr_assert(stria_array_verify(rig_open(rig, false), NULL, &result, &trouble) == STRIA_OK);
    cr_expect(result.bytes == BYTES && result.bytes_read == BYTES && !result.damaged);
    stria_verify_result_free(&result);
    cr_assert(stria_array_drive(rig->array, 1, &drive) == STRIA_OK);
    rig_close(rig);
    const uint64_t begin = drive.data_offset_bytes + 4 * CHUNK;
    snprintf(rig->config.drives[1].fault, sizeof(rig->config.drives[1].fault), "read@%llu-%llu:gone",
             (unsigned long long)begin, (unsigned long long)(begin + CHUNK));
    cr_assert(stria_array_verify(rig_open(rig, false), NULL, &result, &trouble) == STRIA_OK);
    cr_expect(result.bytes == BYTES && result.damaged && result.drives_given_up == 1,
              "%llu bytes judged, %u drives given up", (unsigned long long)result.bytes,
              result.drives_given_up);
    cr_expect(result.bytes_read > BYTES / 2 && result.bytes_read < BYTES * 4 / 5, "%llu of %llu bytes",
              (unsigned long long)result.bytes_read, (unsigned long long)BYTES);
    stria_verify_result_free(&result);
    rig_free(rig);
}

Test(faults, a_drive_that_hangs_is_given_up_at_its_deadline)
{
    struct rig *rig = faulty(STRIA_POLICY_ADAPTIVE, 0, "write#6-:lost");
    uint64_t start_ns = stria_clock_ns();
    struct stria_result result = record(rig, STRIA_OK);
    cr_expect(stria_clock_ns() - start_ns < 20 * STRIA_NS_PER_S);
    cr_expect(result.degraded, "the drive is not given up, after %.3f s",
              (double)(stria_clock_ns() - start_ns) / 1e9);
    cr_expect(result.info.length_bytes == BYTES, "%llu bytes", (unsigned long long)result.info.length_bytes);
    expect_as_told(rig, &result);
}

Test(faults, a_stall_shorter_than_the_deadline_costs_nothing)
{
    struct rig *rig = faulty(STRIA_POLICY_ADAPTIVE, 0, "write#6:stall=200ms");
    struct stria_result result = record(rig, STRIA_OK);
    cr_expect(result.info.bytes == BYTES && !result.degraded);
    expect_as_told(rig, &result);
}

/* Feeds a stream at a rate that the drives hold until they are gone. Returns how much of it was told to be
 * durable before anything was told to be lost. */
static uint64_t feed_until_gone(struct stria_writer *writer)
{
    uint64_t start_ns = stria_clock_ns();
    uint64_t durable = 0;
    int code = STRIA_OK;
    for (uint64_t chunk = 0; code == STRIA_OK; chunk++) {
        void *buffer;
        struct stria_progress progress;
        code = stria_writer_acquire(writer, 20 * STRIA_NS_PER_S, &buffer);
        if (code != STRIA_OK)
            break;
        rig_fill(buffer, chunk * CHUNK, CHUNK, 1);
        stria_writer_commit(writer, buffer, CHUNK);
        stria_writer_progress(writer, &progress);
        if (progress.dropped_bytes == 0 && !progress.degraded)
            durable = progress.durable_bytes;
        stria_clock_sleep_until(start_ns + (chunk + 1) * 5000000);
    }
    cr_expect(code == STRIA_ERR_GONE, "%s", stria_code_text(code));
    return durable;
}

/* A gap right below the watermark ends the stream as it is found: its name is on the media, but nothing tells
 * whether the lost chunk was a whole one. */
static uint64_t durable_without_gaps_at_its_end(const struct stria_writer *writer,
                                                const struct stria_result *result)
{
    uint64_t end = result->durable_bytes;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t index = 0; index < result->gap_count; index++) {
            struct stria_gap_info gap;
            cr_assert(stria_writer_gap(writer, index, &gap) == STRIA_OK);
            if (gap.offset_bytes < end && gap.offset_bytes + gap.length_bytes >= end) {
                end = gap.offset_bytes;
                moved = true;
            }
        }
    }
    return end;
}

Test(faults, what_was_durable_is_readable_when_all_drives_are_lost)
{
    static uint8_t data[36 * MIB], expected[36 * MIB]; /* all that the drives hold */
    struct rig *rig = faulty(STRIA_POLICY_ADAPTIVE, 0, "write#120-:gone");
    for (uint32_t drive = 1; drive < 3; drive++)
        memcpy(rig->config.drives[drive].fault, rig->config.drives[0].fault,
               sizeof(rig->config.drives[0].fault));
    struct stria_writer *writer = rig_begin(rig, "first");
    uint64_t durable = feed_until_gone(writer);
    cr_expect(stria_writer_end(writer) == STRIA_ERR_GONE);
    struct stria_result result;
    stria_writer_result(writer, &result);
    const uint64_t found_least = durable_without_gaps_at_its_end(writer, &result);
    stria_writer_free(writer);
    mend(rig);
    struct stria_reader *reader;
    enum stria_read_verdict verdict;
    cr_assert(stria_reader_open(rig_open(rig, false), "first", &reader, NULL) == STRIA_OK);
    cr_assert(durable > 0 && durable <= result.durable_bytes && durable < sizeof(data));
    cr_expect(stria_reader_read(reader, 0, data, durable, &verdict) == (int64_t)durable);
    rig_fill(expected, 0, durable, 1);
    cr_expect(verdict == STRIA_READ_OK && memcmp(data, expected, durable) == 0);
    stria_reader_close(reader);
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] + read[STRIA_READ_GAP] >= found_least);
    cr_expect(read[STRIA_READ_MISSING] + read[STRIA_READ_CORRUPT] == 0);
    rig_free(rig);
}

static void break_drive(struct rig *rig, uint32_t drive, const char *script)
{
    rig_close(rig);
    snprintf(rig->config.drives[drive].fault, sizeof(rig->config.drives[drive].fault), "%s", script);
    rig->config.write_deadline_ns = 2 * STRIA_NS_PER_S;
    rig->config.read_deadline_ns = 2 * STRIA_NS_PER_S;
}

/* Fills the log but for the room that a recording wants; the one that is cut off then takes some of it, so
 * that the next opening for writing has to make room. */
static void cut_off_with_a_full_log(struct rig *rig)
{
    struct stria_trouble trouble = {0};
    const struct stria_catalogue *log = &rig_open(rig, true)->catalogue;
    while (log->entries_max - log->count > STRIA_CATALOGUE_SPARE + 1) {
        const uint32_t left = log->entries_max - log->count - (STRIA_CATALOGUE_SPARE + 1);
        char name[16];
        snprintf(name, sizeof(name), "r%u", log->count);
        rig_end(rig_begin(rig, name));
        /* A recording has two cells, its removal one. */
        if (left == 3 || left >= 5)
            cr_assert(stria_array_remove(rig->array, name, &trouble) == STRIA_OK, "%s", trouble.sentence);
    }
    rig_close(rig);
#ifdef __SANITIZE_THREAD__
    cr_skip_test("the thread sanitizer ends a fork that begins threads");
#endif
    pid_t child = fork();
    if (child == 0) {
        struct stria_progress progress = {0};
        struct stria_writer *writer = rig_begin(rig, "cut");
        for (uint64_t chunk = 0; chunk < 20; chunk++)
            rig_put(writer, chunk * CHUNK, CHUNK, 1);
        while (progress.durable_bytes < 10 * CHUNK) {
            stria_clock_sleep_until(stria_clock_ns() + 1000000);
            stria_writer_progress(writer, &progress);
        }
        _exit(0);
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Whether it has an end on the media. */
static bool has_end(const struct rig *rig, const char *name)
{
    return stria_inventory_find(&rig->array->inventory, name)->complete;
}

Test(faults, a_drive_that_fails_while_an_end_is_written_for_what_was_cut_off_leaves_the_rest)
{
    static const uint64_t two[] = {4 * MIB, 4 * MIB, 0};
    struct rig *rig = rig_make_files(STRIA_POLICY_RAID0, two);
    struct stria_recording_info info;
    cut_off_with_a_full_log(rig);
    snprintf(rig->config.drives[1].fault, sizeof(rig->config.drives[1].fault), "write#1-:eio");
    cr_assert(stria_array_find(rig_open(rig, true), "cut", &info) == STRIA_OK);
    cr_expect(!info.complete && stria_array_present(rig->array) == 1);
    cr_expect(!has_end(rig, "cut"), "the drive that failed may know of more of it");
    mend(rig);
    cr_assert(stria_array_find(rig_open(rig, true), "cut", &info) == STRIA_OK);
    cr_expect(has_end(rig, "cut") && info.length_bytes >= 10 * CHUNK);
    rig_expect_whole(rig, "cut", info.length_bytes, 1);
    rig_free(rig);
}

Test(faults, no_drive_that_could_begin_says_why)
{
    static const uint64_t two[] = {12 * MIB, 12 * MIB, 0};
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_trouble trouble = {0};
    struct stria_writer *writer = NULL;
    break_drive(rig, 0, "trim:lost");
    break_drive(rig, 1, "trim:lost");
    rig->config.read_deadline_ns = STRIA_NS_PER_S / 2;
    rig->config.discard = true;
    cr_expect(stria_writer_begin(rig_open(rig, true), NULL, &writer, &trouble) == STRIA_ERR_GONE);
    for (unsigned index = 0; index < 2; index++)
        cr_expect(strstr(trouble.sentence, rig->config.drives[index].path), "%s", trouble.sentence);
    cr_expect(strstr(trouble.sentence, "a trim never ended"), "%s", trouble.sentence);
    rig_close(rig);
    break_drive(rig, 1, "write#1-:eio");
    cr_expect(stria_writer_begin(rig_open(rig, true), NULL, &writer, &trouble) == STRIA_ERR_GONE);
    for (unsigned index = 0; index < 2; index++)
        cr_expect(strstr(trouble.sentence, rig->config.drives[index].path), "%s", trouble.sentence);
    rig_free(rig);
}

Test(faults, a_removal_that_no_drive_took_leaves_an_array_that_can_be_asked)
{
    static const uint64_t one[] = {12 * MIB, 0};
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, one);
    struct stria_trouble trouble = {0};
    struct stria_reader *reader;
    uint8_t data[512];
    enum stria_read_verdict verdict;
    rig_record(rig, "first", 20 * CHUNK, 1);
    break_drive(rig, 0, "write#1-:eio");
    cr_expect(stria_array_remove(rig_open(rig, true), "first", &trouble) == STRIA_ERR_GONE);
    cr_expect(strstr(trouble.sentence, "no drive is left"), "%s", trouble.sentence);
    if (stria_reader_open(rig->array, "first", &reader, &trouble) == STRIA_OK) {
        cr_expect(stria_reader_read(reader, 0, data, sizeof(data), &verdict) >= 0);
        cr_expect(verdict == STRIA_READ_MISSING);
        stria_reader_close(reader);
    }
    mend(rig);
    rig_expect_whole(rig, "first", 20 * CHUNK, 1);
    rig_free(rig);
}

Test(faults, a_misdirected_write_is_found_at_both_ends)
{
    struct rig *rig = faulty(STRIA_POLICY_RAID0, 1, "write@1MiB-1088KiB:misdirect=64KiB");
    record(rig, STRIA_OK);
    mend(rig);
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_expect(findings.count >= 1 && counts.ok < counts.extents);
    for (uint32_t index = 0; index < findings.count; index++) {
        cr_expect(findings.list[index].drive == 1);
        cr_expect(findings.list[index].verdict == STRIA_VERDICT_STALE ||
                  findings.list[index].verdict == STRIA_VERDICT_MISPLACED);
    }
    rig_free(rig);
}

static void expect_unreadable(const char *script, bool whole_drive)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, three);
    rig_record(rig, "first", BYTES, 1);
    break_drive(rig, 1, script);
    rig_open(rig, false);
    uint64_t start_ns = stria_clock_ns();
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_expect(stria_clock_ns() - start_ns < 20 * STRIA_NS_PER_S);
    uint64_t lost = counts.unreadable;
    cr_expect(counts.ok == CHUNKS - lost && lost > 0 && lost <= CHUNKS / 3 && findings.count == lost);
    if (!whole_drive)
        cr_expect(lost == 1);
    for (uint32_t index = 0; index < findings.count; index++)
        cr_expect(findings.list[index].drive == 1 && findings.list[index].reason);
    rig_close(rig);
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] + read[STRIA_READ_CORRUPT] == BYTES && read[STRIA_READ_CORRUPT] > 0);
    cr_expect(read[STRIA_READ_OK] >= (CHUNKS - CHUNKS / 3) * CHUNK);
    rig_free(rig);
}

Test(faults, a_bad_extent_is_unreadable_and_the_rest_is_read)
{
    expect_unreadable("read@1MiB-1028KiB:eio", false);
}

Test(faults, a_drive_that_dies_while_it_is_read_costs_its_own_chunks_alone)
{
    expect_unreadable("read#4-@512KiB-8MiB:gone", true);
}

Test(faults, a_drive_that_hangs_while_it_is_read_is_given_up)
{
    expect_unreadable("read#4-@512KiB-8MiB:lost", true);
}

Test(faults, short_reads_and_again_while_reading_are_no_damage)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", BYTES, 1);
    break_drive(rig, 2, "read,every=3:short=20KiB; read,every=4:again; read,every=11:eio");
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_expect(counts.ok == CHUNKS && findings.count == 0);
    rig_close(rig);
    rig_expect_whole(rig, "first", BYTES, 1);
    rig_free(rig);
}

/* Chunks of a size that nothing else asks memory for. */
static struct rig *with_chunks_of_128_kib(void)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    rig->config.chunk_bytes = 2 * CHUNK;
    for (uint32_t drive = 0; drive < 3; drive++)
        snprintf(rig->config.drives[drive].path, sizeof(rig->config.drives[drive].path),
                 "memory:large-%u:%llu", drive, (unsigned long long)three[drive]);
    rig_create(rig);
    return rig;
}

Test(faults, a_reader_without_memory_calls_nothing_proven_that_it_has_not_read)
{
    struct rig *rig = with_chunks_of_128_kib();
    const uint64_t chunk = rig->config.chunk_bytes, chunks = 180;
    static uint8_t data[2 * CHUNK], expected[2 * CHUNK];
    struct stria_drive_info info;
    struct stria_reader *reader;
    uint64_t proven = 0, not_proven = 0;
    rig_record(rig, "first", chunks * chunk, 1);
    cr_assert(stria_array_drive(rig->array, 0, &info) == STRIA_OK);
    rig_close(rig);
    /* Every buffer has held a proven chunk before. */
    snprintf(rig->config.drives[0].fault, sizeof(rig->config.drives[0].fault),
             "read@%" PRIu64 "-%" PRIu64 ":lost", info.data_offset_bytes + 40 * chunk,
             info.data_offset_bytes + 60 * chunk);
    rig->config.read_deadline_ns = STRIA_NS_PER_S;
    cr_assert(stria_reader_open(rig_open(rig, false), "first", &reader, NULL) == STRIA_OK);
    cr_assert(stria_array_drive(rig->array, 0, &info) == STRIA_OK && info.present);
    forbid_map(chunk, ENOMEM);
    for (uint64_t offset = 0; offset < chunks * chunk; offset += chunk) {
        enum stria_read_verdict verdict;
        const int64_t count = stria_reader_read(reader, offset, data, chunk, &verdict);
        cr_assert(count == (int64_t)chunk || count == STRIA_ERR_NO_MEMORY, "%" PRId64, count);
        rig_fill(expected, offset, chunk, 1);
        const bool ok = count > 0 && verdict == STRIA_READ_OK;
        cr_expect(!ok || memcmp(data, expected, chunk) == 0, "wrong bytes at chunk %" PRIu64, offset / chunk);
        proven += ok;
        not_proven += !ok;
    }
    cr_expect(not_proven > 0 && not_proven <= chunks / 3, "%" PRIu64 " of %" PRIu64, not_proven, chunks);
    cr_expect(proven == chunks - not_proven);
    stria_reader_close(reader);
    rig_free(rig);
}
