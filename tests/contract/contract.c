#include "core/digest.h"
#include "support/clock.h"
#include "tests/contract/requests.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB (1ull << 20)

/* A test over every subject. The body finds it open in `subject`, and its `drive`; skipped where this
 * machine cannot have the subject. */
#define CONTRACT(test, ...)                                                                                  \
    static void test##_body(struct subject *subject, struct stria_drive *drive);                             \
    ParameterizedTestParameters(contract, test)                                                              \
    {                                                                                                        \
        return kinds_as_parameters();                                                                        \
    }                                                                                                        \
    ParameterizedTest(const size_t *kind, contract, test)                                                    \
    {                                                                                                        \
        struct subject subject;                                                                              \
        if (!subject_open(&subject, *kind, &(struct subject_options){.depth = 8, __VA_ARGS__}))              \
            cr_skip_test("this machine cannot have: %s", subject_kinds[*kind].name);                         \
        test##_body(&subject, subject.drive);                                                                \
        subject_close(&subject);                                                                             \
    }                                                                                                        \
    static void test##_body(__attribute__((unused)) struct subject *subject, struct stria_drive *drive)

static struct criterion_test_params kinds_as_parameters(void)
{
    static size_t kinds[64];
    size_t count = 0;
    for (size_t i = 0; i < subject_kind_count; i++)
        if (subject_wanted(i))
            kinds[count++] = i;
    return cr_make_param_array(size_t, kinds, count);
}

CONTRACT(traits_are_sane)
{
    const struct stria_traits *traits = &drive->traits;
    cr_expect(traits->block_bytes >= STRIA_BLOCK_BYTES_MIN && traits->block_bytes <= STRIA_BLOCK_BYTES_MAX);
    cr_expect((traits->block_bytes & (traits->block_bytes - 1)) == 0);
    cr_expect(traits->drive_bytes == SUBJECT_BYTES);
    cr_expect(traits->memory_align_bytes >= 1 && traits->memory_align_bytes <= STRIA_PAGE_BYTES);
    cr_expect((traits->memory_align_bytes & (traits->memory_align_bytes - 1)) == 0);
    cr_expect(traits->transfer_bytes_max >= STRIA_CHUNK_BYTES_MAX);
    cr_expect(traits->transfer_bytes_max <= STRIA_TRANSFER_BYTES_MAX);
    cr_expect(traits->depth_max == 8);
    cr_expect(!traits->read_only);
    cr_expect(strcmp(traits->path, subject->path) == 0);
    cr_expect(memchr(traits->serial, 0, sizeof(traits->serial)) != NULL);
    cr_expect(memchr(traits->note, 0, sizeof(traits->note)) != NULL);
}

CONTRACT(what_was_written_is_read_back)
{
    const uint64_t block = drive->traits.block_bytes;
    const struct {
        uint64_t offset, length;
    } places[] = {{0, block},
                  {block, 3 * block},
                  {MIB - block, 2 * block},
                  {2 * MIB, MIB},
                  {SUBJECT_BYTES - block, block}};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char *written = subject_memory(places[i].length, i), *read = subject_memory(places[i].length, 99);
        struct stria_done done =
            request_run(drive, STRIA_IO_WRITE, places[i].offset, places[i].length, written);
        cr_assert(done.code == STRIA_OK && done.bytes == places[i].length);
        done = request_run(drive, STRIA_IO_READ, places[i].offset, places[i].length, read);
        cr_assert(done.code == STRIA_OK && done.bytes == places[i].length);
        if (subject->forgets)
            memset(written, 0, places[i].length);
        cr_assert(memcmp(written, read, places[i].length) == 0, "at %llu",
                  (unsigned long long)places[i].offset);
        free(written);
        free(read);
    }
}

CONTRACT(a_write_leaves_its_neighbours_alone)
{
    if (subject->forgets)
        return;
    const uint64_t block = drive->traits.block_bytes;
    char *before = subject_memory(3 * block, 1), *middle = subject_memory(block, 2),
         *after = subject_memory(3 * block, 3);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, MIB, 3 * block, before) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, MIB + block, block, middle) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, MIB, 3 * block, after) == STRIA_OK);
    memcpy(before + block, middle, block);
    cr_expect(memcmp(before, after, 3 * block) == 0);
    free(before);
    free(middle);
    free(after);
}

CONTRACT(one_more_than_the_depth_is_full_until_one_is_polled)
{
    char *data = subject_memory(MIB, 5);
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = 64u << 10, .data = data};
    for (io.tag = 0; io.tag < drive->traits.depth_max; io.tag++, io.offset += io.length)
        cr_assert(drive->backend->submit(drive, &io) == STRIA_OK, "request %d", (int)io.tag);
    cr_assert(drive->backend->submit(drive, &io) == STRIA_ERR_FULL);
    request_wait(drive);
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    for (uint32_t i = 0; i < drive->traits.depth_max; i++)
        cr_assert(request_wait(drive).code == STRIA_OK);
    struct stria_done none;
    cr_assert(drive->backend->poll(drive, &none, 1, 0) == 0);
    free(data);
}

/* Submits until the drive is full, then polls some; each request ends once and with its own tag. */
CONTRACT(every_tag_comes_back_exactly_once)
{
    enum { REQUESTS = 400 };
    const uint64_t length = 16u << 10;
    unsigned char seen[REQUESTS] = {0};
    char *data = subject_memory(length * 8, 6);
    unsigned submitted = 0, finished = 0;
    while (finished < REQUESTS) {
        struct stria_io io = {.op = submitted % 3 ? STRIA_IO_WRITE : STRIA_IO_READ, .length = length};
        io.offset = (uint64_t)submitted * 7 % (SUBJECT_BYTES / length) * length;
        io.data = data + submitted % 8 * length;
        io.tag = submitted;
        if (submitted % 50 == 49)
            io = (struct stria_io){.op = STRIA_IO_FLUSH, .tag = submitted};
        int code = submitted < REQUESTS ? drive->backend->submit(drive, &io) : STRIA_ERR_FULL;
        cr_assert(code == STRIA_OK || code == STRIA_ERR_FULL);
        if (code == STRIA_OK) {
            submitted++;
            continue;
        }
        struct stria_done done[3];
        int count = drive->backend->poll(drive, done, 3, REQUEST_WAIT_NS);
        cr_assert(count >= 0 && count <= 3);
        for (int i = 0; i < count; i++) {
            cr_assert(done[i].tag < REQUESTS && done[i].code == STRIA_OK);
            cr_assert(!seen[done[i].tag]++, "tag %d came twice", (int)done[i].tag);
            cr_assert(done[i].bytes == (done[i].tag % 50 == 49 ? 0 : length));
            finished++;
        }
    }
    free(data);
}

/* Also when more is to be gathered than is under way. */
CONTRACT(requests_that_may_coalesce_end_without_a_wait)
{
    char *data = subject_memory(8 * MIB, 5);
    for (uint32_t gather = 0; gather <= 2 * drive->traits.depth_max; gather++) {
        struct stria_io io = {.op = STRIA_IO_READ, .length = MIB, .may_coalesce = true};
        const uint64_t begin_ns = stria_clock_ns();
        for (io.tag = 0; io.tag < 8; io.tag++) {
            io.offset = io.tag * MIB % SUBJECT_BYTES;
            io.data = data + io.tag * MIB;
            cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
        }
        drive->gather = gather;
        for (unsigned i = 0, seen = 0; i < 8; i++) {
            struct stria_done done = request_wait(drive);
            cr_assert(done.code == STRIA_OK && done.bytes == MIB && done.tag < 8 && !(seen >> done.tag & 1));
            seen |= 1u << done.tag;
        }
        cr_assert(stria_clock_ns() - begin_ns < REQUEST_WAIT_NS, "%u at once", gather);
    }
    free(data);
}

CONTRACT(a_poll_waits_no_longer_than_it_may)
{
    struct stria_done done;
    uint64_t begin_ns = stria_clock_ns();
    cr_assert(drive->backend->poll(drive, &done, 1, 0) == 0);
    cr_expect(stria_clock_ns() - begin_ns < 200000000u);
    begin_ns = stria_clock_ns();
    cr_assert(drive->backend->poll(drive, &done, 1, 50000000u) == 0);
    cr_expect(stria_clock_ns() - begin_ns < 1000000000u);
}

static void *wake_later(void *argument)
{
    struct stria_drive *drive = argument;
    stria_clock_sleep_until(stria_clock_ns() + 50000000u);
    drive->backend->wake(drive);
    return NULL;
}

CONTRACT(a_wake_ends_the_wait)
{
    struct stria_done done;
    pthread_t thread = 0;
    for (int round = 0; round < 3; round++) {
        uint64_t begin_ns = stria_clock_ns();
        if (drive->backend->wake)
            cr_assert(pthread_create(&thread, NULL, wake_later, drive) == 0);
        cr_assert(drive->backend->poll(drive, &done, 1, REQUEST_WAIT_NS) == 0);
        cr_expect(stria_clock_ns() - begin_ns < REQUEST_WAIT_NS / 2);
        if (drive->backend->wake)
            pthread_join(thread, NULL);
    }
    request_drive_check(drive, subject->forgets);
}

CONTRACT(a_wake_before_the_wait_is_not_lost)
{
    if (!drive->backend->wake)
        return;
    struct stria_done done;
    drive->backend->wake(drive);
    drive->backend->wake(drive);
    uint64_t begin_ns = stria_clock_ns();
    cr_assert(drive->backend->poll(drive, &done, 1, REQUEST_WAIT_NS) == 0);
    cr_expect(stria_clock_ns() - begin_ns < REQUEST_WAIT_NS / 2);
    request_drive_check(drive, subject->forgets);
}

/* A wait that a completion ended has left the drive ready to be woken: that wake is not lost either. */
CONTRACT(a_wake_after_a_wait_that_a_request_ended_is_not_lost)
{
    if (!drive->backend->wake)
        return;
    struct stria_done done;
    char *data = subject_memory(MIB, 8);
    cr_assert(request_run(drive, STRIA_IO_WRITE, 0, MIB, data).code == STRIA_OK);
    for (unsigned i = 0; i < 3; i++) {
        drive->backend->wake(drive);
        uint64_t begin_ns = stria_clock_ns();
        cr_assert(drive->backend->poll(drive, &done, 1, REQUEST_WAIT_NS) == 0);
        cr_expect(stria_clock_ns() - begin_ns < REQUEST_WAIT_NS / 2, "wake %u", i);
        cr_assert(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_OK);
    }
    request_drive_check(drive, subject->forgets);
    free(data);
}

CONTRACT(a_flush_and_a_trim_complete_without_bytes)
{
    char *data = subject_memory(MIB, 8);
    cr_assert(request_run(drive, STRIA_IO_WRITE, 0, MIB, data).code == STRIA_OK);
    struct stria_done done = request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL);
    cr_expect(done.code == STRIA_OK && done.bytes == 0);
    done = request_run(drive, STRIA_IO_TRIM, 4 * MIB, 2 * MIB, NULL);
    cr_expect(done.code == STRIA_OK && done.bytes == 0, "trim: %s", stria_code_text(done.code));
    request_drive_check(drive, subject->forgets);
    free(data);
}

CONTRACT(a_trim_leaves_the_rest_alone)
{
    if (subject->forgets)
        return;
    char *written = subject_memory(3 * MIB, 9), *read = subject_memory(3 * MIB, 10);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, MIB, 3 * MIB, written) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_TRIM, 2 * MIB, MIB, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, MIB, 3 * MIB, read) == STRIA_OK);
    cr_expect(memcmp(written, read, MIB) == 0);
    cr_expect(memcmp(written + 2 * MIB, read + 2 * MIB, MIB) == 0);
    free(written);
    free(read);
}

CONTRACT(what_is_no_request_for_the_drive_is_refused_and_harms_nothing)
{
    const uint64_t block = drive->traits.block_bytes;
    char *data = subject_memory(MIB, 11);
    const struct stria_io refused[] = {
        {.op = STRIA_IO_WRITE, .offset = SUBJECT_BYTES - block, .length = 2 * block, .data = data},
        {.op = STRIA_IO_READ, .offset = SUBJECT_BYTES, .length = block, .data = data},
        {.op = STRIA_IO_READ, .offset = UINT64_MAX - block + 1, .length = 2 * block, .data = data},
        {.op = STRIA_IO_READ, .offset = UINT64_MAX - block + 1, .length = block, .data = data},
        {.op = STRIA_IO_WRITE, .offset = 1, .length = block, .data = data},
        {.op = STRIA_IO_WRITE, .offset = 0, .length = block - 1, .data = data},
        {.op = STRIA_IO_WRITE, .offset = 0, .length = 0, .data = data},
        {.op = STRIA_IO_WRITE, .offset = 0, .length = block, .data = NULL},
        {.op = STRIA_IO_TRIM, .offset = SUBJECT_BYTES, .length = block},
        {.op = STRIA_IO_TRIM, .offset = block / 2, .length = block},
        {.op = (enum stria_io_op)99, .offset = 0, .length = block, .data = data},
        {.op = STRIA_IO_READ,
         .length = block,
         .data = data,
         .digest_wanted = true,
         .digest_bytes = block + 1},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        cr_expect(drive->backend->submit(drive, &refused[i]) == STRIA_ERR_INVALID, "case %zu", i);
    if (drive->traits.memory_align_bytes > 1) {
        struct stria_io io = {.op = STRIA_IO_READ, .length = block, .data = data + 1};
        cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_INVALID);
    }
    struct stria_done none;
    cr_expect(drive->backend->poll(drive, &none, 1, 0) == 0);
    request_drive_check(drive, subject->forgets);
    free(data);
}

CONTRACT(data_come_from_attached_regions_and_from_elsewhere)
{
    enum { REGIONS = 5 };
    struct stria_region regions[REGIONS];
    for (size_t i = 0; i < REGIONS; i++)
        regions[i] = (struct stria_region){subject_memory(MIB / 2, 20 + i), MIB / 2};
    cr_assert(drive->backend->attach(drive, regions, REGIONS) == STRIA_OK);
    cr_expect(drive->traits.registered || drive->traits.note[0], "not registered, and no word why");
    char *elsewhere = subject_memory(MIB / 2, 30), *read = subject_memory(MIB / 2, 31);
    for (size_t i = 0; i <= REGIONS; i++)
        request_submit(drive, STRIA_IO_WRITE, i * MIB, MIB / 2, i < REGIONS ? regions[i].base : elsewhere, i);
    for (size_t i = 0; i <= REGIONS; i++)
        cr_assert(request_wait(drive).bytes == MIB / 2);
    for (size_t i = 0; i <= REGIONS && !subject->forgets; i++) {
        const void *source = i < REGIONS ? regions[i].base : elsewhere;
        cr_assert(stria_drive_run(drive, STRIA_IO_READ, i * MIB, MIB / 2, read) == STRIA_OK);
        cr_expect(memcmp(read, source, MIB / 2) == 0, "region %zu", i);
        cr_assert(stria_drive_run(drive, STRIA_IO_READ, i * MIB, MIB / 4, regions[0].base) == STRIA_OK);
        cr_expect(i == 0 || memcmp(regions[0].base, source, MIB / 4) == 0, "into a region, from %zu", i);
    }
    cr_assert(drive->backend->attach(drive, NULL, 0) == STRIA_OK);
    for (size_t i = 0; i < REGIONS; i++)
        free(regions[i].base);
    free(elsewhere);
    free(read);
}

CONTRACT(memory_may_be_attached_anew_in_place_of_what_was_there)
{
    char note[sizeof(drive->traits.note)] = "";
    for (int round = 0; round < 4; round++) {
        struct stria_region region = {
            mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), MIB};
        cr_assert(region.base != MAP_FAILED);
        cr_assert(drive->backend->attach(drive, &region, 1) == STRIA_OK);
        cr_expect(drive->traits.registered || drive->traits.note[0], "not registered, and no word why");
        cr_expect(round == 0 || strcmp(note, drive->traits.note) == 0, "the note has grown to: %s",
                  drive->traits.note);
        memcpy(note, drive->traits.note, sizeof(note));
        memset(region.base, 'a' + round, MIB);
        cr_assert(request_run(drive, STRIA_IO_WRITE, MIB, MIB, region.base).bytes == MIB);
        memset(region.base, 0, MIB);
        cr_assert(request_run(drive, STRIA_IO_READ, MIB, MIB, region.base).bytes == MIB);
        cr_expect(subject->forgets || ((char *)region.base)[MIB - 1] == 'a' + round);
        cr_assert(drive->backend->attach(drive, NULL, 0) == STRIA_OK);
        munmap(region.base, MIB);
        request_drive_check(drive, subject->forgets);
    }
}

CONTRACT(unregistered_memory_is_good_enough, .unregistered = true)
{
    struct stria_region region = {subject_memory(MIB, 40), MIB};
    cr_assert(drive->backend->attach(drive, &region, 1) == STRIA_OK);
    request_drive_check(drive, subject->forgets);
    free(region.base);
}

CONTRACT(closing_with_requests_in_flight_returns_in_time)
{
    char *data = subject_memory(MIB, 50);
    for (uint64_t tag = 0; tag < drive->traits.depth_max; tag++)
        request_submit(drive, STRIA_IO_WRITE, tag * MIB, MIB, data, tag);
    uint64_t begin_ns = stria_clock_ns();
    subject_close(subject);
    cr_expect(stria_clock_ns() - begin_ns < STRIA_CLOSE_NS_MAX);
    free(data);
}

CONTRACT(digests_are_of_what_was_written_and_read)
{
    if (!drive->traits.digests)
        return;
    char *data = subject_memory(MIB, 80), *zeroes = calloc(1, MIB);
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = MIB, .data = data, .digest_wanted = true};
    io.digest_bytes = MIB - 100;
    io.digest_seed = 7;
    const uint64_t expected = stria_digest_seeded(7, data, MIB - 100);
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    cr_expect(request_wait(drive).digest == expected);
    memset(data, 0xee, MIB);
    io.op = STRIA_IO_READ;
    cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    cr_expect(request_wait(drive).digest ==
              (subject->forgets ? stria_digest_seeded(7, zeroes, MIB - 100) : expected));
    free(data);
    free(zeroes);
}

CONTRACT(a_read_only_drive_refuses_to_be_changed, .read_only = true)
{
    cr_expect(drive->traits.read_only);
    char *data = subject_memory(MIB, 60);
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = MIB, .data = data};
    cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_PERMISSION);
    io = (struct stria_io){.op = STRIA_IO_TRIM, .length = MIB};
    cr_expect(drive->backend->submit(drive, &io) == STRIA_ERR_PERMISSION);
    cr_expect(request_run(drive, STRIA_IO_READ, 0, MIB, data).bytes == MIB);
    cr_expect(request_run(drive, STRIA_IO_FLUSH, 0, 0, NULL).code == STRIA_OK);
    free(data);
}

static void *use_elsewhere(void *argument)
{
    struct subject *subject = argument;
    request_drive_check(subject->drive, subject->forgets);
    return NULL;
}

CONTRACT(an_idle_drive_may_be_handed_to_another_thread_and_back)
{
    struct stria_region region = {subject_memory(MIB, 70), MIB};
    cr_assert(drive->backend->attach(drive, &region, 1) == STRIA_OK);
    const bool registered = drive->traits.registered;
    request_drive_check(drive, subject->forgets);
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        cr_assert(pthread_create(&thread, NULL, use_elsewhere, subject) == 0);
        pthread_join(thread, NULL);
        request_drive_check(drive, subject->forgets);
    }
    cr_expect(drive->traits.registered == registered);
    cr_assert(drive->backend->attach(drive, NULL, 0) == STRIA_OK);
    free(region.base);
}
