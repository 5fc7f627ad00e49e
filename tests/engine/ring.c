/* The ring's memory: there, and locked, before anything is recorded into it. */
#include "engine/ring.h"

#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A line of /proc/self/status or /proc/meminfo. */
static unsigned long value_in(const char *path, const char *key)
{
    char line[256];
    unsigned long value = 0;
    FILE *file = fopen(path, "r");
    cr_assert(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lu", &value);
    fclose(file);
    return value;
}

static unsigned long locked_kib(void)
{
    return value_in("/proc/self/status", "VmLck:");
}

static size_t pages_absent(const uint8_t *base, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *in = malloc(bytes / page);
    size_t absent = 0;
    cr_assert(in && mincore((void *)base, bytes, in) == 0);
    for (size_t index = 0; index < bytes / page; index++)
        absent += !(in[index] & 1);
    free(in);
    return absent;
}

/* Whether this process may lock so much more. */
static bool may_lock(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    const bool may = mlock(memory, bytes) == 0;
    munmap(memory, bytes);
    return may;
}

/* Sanitizers leave mlock out, and say that it was done. */
static bool locks_are_done(void)
{
    const unsigned long before = locked_kib();
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *memory = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    const bool done = mlock(memory, page) == 0 && locked_kib() > before;
    munmap(memory, page);
    return done;
}

Test(ring, is_there_and_locked_where_the_limit_allows_and_given_back)
{
    const unsigned long before = locked_kib();
    const bool may = may_lock(8 * MIB);
    struct stria_ring ring;
    struct stria_trouble trouble = {0};
    cr_assert(stria_ring_create(&ring, 5 * MIB, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(ring.owned && ring.bytes >= 5 * MIB && (uintptr_t)ring.base % STRIA_PAGE_BYTES == 0);
    cr_expect(pages_absent(ring.base, ring.bytes) == 0, "pages would be faulted in while recording");
    cr_expect(ring.locked == (may || ring.huge));
    if (ring.locked && !ring.huge && locks_are_done())
        cr_expect(locked_kib() - before == ring.bytes / KIB);
    stria_ring_destroy(&ring);
    cr_expect(locked_kib() == before);
}

/* For rings of up to 6 MiB; they are not counted as locked, but never paged out either. */
static bool huge_pages_to_spare(void)
{
    return value_in("/proc/meminfo", "HugePages_Free:") >= value_in("/proc/meminfo", "HugePages_Rsvd:") + 3;
}

Test(ring, lies_on_huge_pages_where_the_system_has_some)
{
    if (!huge_pages_to_spare())
        cr_skip_test("this machine has no huge pages to spare: sysctl vm.nr_hugepages=8");
    struct stria_ring ring;
    struct stria_trouble trouble = {0};
    cr_assert(stria_ring_create(&ring, 5 * MIB, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(ring.huge && pages_absent(ring.base, ring.bytes) == 0);
    stria_ring_destroy(&ring);
}

Test(ring, larger_than_the_machine_is_a_sentence)
{
    struct stria_ring ring;
    struct stria_trouble trouble = {0};
    cr_expect(stria_ring_create(&ring, (size_t)1 << 46, &trouble) == STRIA_ERR_NO_MEMORY);
    cr_expect(strstr(trouble.sentence, "smaller buffer"), "%s", trouble.sentence);
}

static const uint64_t two[] = {12 * MIB, 12 * MIB, 0};

Test(ring, is_ready_when_a_recording_was_begun)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    struct stria_progress progress;
    void *buffer;
    rig_open(rig, true);
    const unsigned long before = locked_kib();
    const bool counted = !huge_pages_to_spare() && locks_are_done();
    if (!may_lock(2 * rig->config.buffer_bytes))
        cr_skip_test("this process may not lock memory: raise ulimit -l");
    struct stria_writer *writer = rig_begin(rig, "first");
    cr_assert(stria_writer_acquire(writer, 0, &buffer) == STRIA_OK);
    cr_expect(pages_absent(buffer, rig->config.chunk_bytes) == 0);
    stria_writer_progress(writer, &progress);
    cr_expect(!counted || locked_kib() >= before + progress.buffer_bytes / KIB, "%lu KiB before, %lu now",
              before, locked_kib());
    memset(buffer, 0, 512);
    stria_writer_commit(writer, buffer, 512);
    rig_end(writer);
    cr_expect(locked_kib() == before);
    rig_free(rig);
}

/* Records into the caller's memory, which it has locked or not. */
static void expect_lock_kept(bool locked)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    const size_t bytes = rig->config.buffer_bytes;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct stria_writer *writer;
    struct stria_trouble trouble = {0};
    cr_assert(memory != MAP_FAILED);
    if (locked && mlock(memory, bytes) != 0)
        cr_skip_test("this process may not lock memory: raise ulimit -l");
    rig_open(rig, true);
    const unsigned long before = locked_kib();
    const struct stria_writer_options options = {.name = "first", .memory = memory, .memory_bytes = bytes};
    cr_assert(stria_writer_begin(rig->array, &options, &writer, &trouble) == STRIA_OK, "%s",
              trouble.sentence);
    cr_expect(pages_absent(memory, bytes) == 0);
    cr_expect(locked_kib() == before);
    rig_end(writer);
    cr_expect(locked_kib() == before, "%lu KiB were locked, %lu are", before, locked_kib());
    munmap(memory, bytes);
    rig_free(rig);
}

Test(ring, in_the_callers_memory_leaves_its_lock_as_it_is)
{
    expect_lock_kept(true);
    expect_lock_kept(false);
}
