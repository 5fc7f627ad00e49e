#include "backends/threaded.h"

#include "core/digest.h"
#include "support/bell.h"
#include "support/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BLOCK   4096u
#define WAIT_NS 10000000000ull

/* A drive whose every step the test decides: submit can hang or fail, requests end when the test says so. */
struct puppet {
    struct stria_drive drive;
    _Atomic bool hang;       /* submit does not return */
    _Atomic bool hold;       /* nothing ends, but … */
    _Atomic unsigned let_go; /* … so many requests */
    _Atomic int fails;       /* the code that submit, and poll, give */
    _Atomic int poll_fails;
    _Atomic unsigned hung; /* how often submit hung */
    _Atomic unsigned closed;
    _Atomic unsigned submitted;
    _Atomic unsigned waits;  /* how often poll began to wait */
    _Atomic unsigned gather; /* as it was then */
    _Atomic unsigned wakes;
    const struct stria_region *regions; /* as attached last */
    struct stria_bell bell;
    uint32_t count;
    struct stria_done done[STRIA_DEPTH_MAX];
};

static int puppet_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    ((struct puppet *)drive)->regions = regions;
    strcpy(drive->traits.note, "attached");
    drive->traits.registered = count == 3;
    return count == 3 ? STRIA_OK : STRIA_ERR_NO_MEMORY;
}

static int puppet_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct puppet *puppet = (struct puppet *)drive;
    atomic_fetch_add(&puppet->submitted, 1);
    if (atomic_load(&puppet->hang))
        atomic_fetch_add(&puppet->hung, 1);
    while (atomic_load(&puppet->hang))
        stria_clock_sleep_until(stria_clock_ns() + 1000000u);
    if (atomic_load(&puppet->fails))
        return atomic_load(&puppet->fails);
    if (puppet->count == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    puppet->done[puppet->count++] = (struct stria_done){.tag = io->tag, .bytes = io->length};
    return STRIA_OK;
}

static int puppet_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct puppet *puppet = (struct puppet *)drive;
    uint32_t ticket = stria_bell_listen(&puppet->bell);
    if (atomic_load(&puppet->poll_fails))
        return atomic_load(&puppet->poll_fails);
    if (atomic_load(&puppet->hold) && puppet->count && max && atomic_load(&puppet->let_go)) {
        atomic_fetch_sub(&puppet->let_go, 1);
        done[0] = puppet->done[--puppet->count];
        return 1;
    }
    if (atomic_load(&puppet->hold) || !puppet->count) {
        atomic_store(&puppet->gather, drive->gather);
        atomic_fetch_add(&puppet->waits, 1);
        stria_bell_wait(&puppet->bell, ticket, wait_ns);
        return 0;
    }
    unsigned count = 0;
    while (count < max && puppet->count)
        done[count++] = puppet->done[--puppet->count];
    return (int)count;
}

static void puppet_wake(struct stria_drive *drive)
{
    atomic_fetch_add(&((struct puppet *)drive)->wakes, 1);
    stria_bell_ring(&((struct puppet *)drive)->bell);
}

static void puppet_close(struct stria_drive *drive)
{
    atomic_fetch_add(&((struct puppet *)drive)->closed, 1);
}

static const struct stria_backend puppet_backend = {
    .name = "puppet",
    .attach = puppet_attach,
    .submit = puppet_submit,
    .poll = puppet_poll,
    .wake = puppet_wake,
    .close = puppet_close,
};

static struct puppet puppet;
static struct stria_bell notified;
static _Atomic unsigned notifications;
static _Atomic uint64_t notified_ns; /* when last */
_Alignas(4096) static char data[BLOCK];

static void notify(void *context)
{
    atomic_store(&notified_ns, stria_clock_ns());
    atomic_fetch_add(&notifications, 1);
    stria_bell_ring(context);
}

static struct stria_drive *puppet_wrap(uint32_t depth)
{
    puppet.drive.backend = &puppet_backend;
    puppet.drive.traits = (struct stria_traits){.drive_bytes = 1u << 20,
                                                .block_bytes = BLOCK,
                                                .memory_align_bytes = BLOCK,
                                                .transfer_bytes_max = 1u << 20,
                                                .depth_max = depth,
                                                .may_block = true,
                                                .path = "/dev/disk/by-id/puppet-with-a-long-name"};
    struct stria_drive *drive;
    cr_assert(stria_threaded_wrap(&puppet.drive, notify, &notified, &drive, NULL) == STRIA_OK);
    return drive;
}

static int write_submit(struct stria_drive *drive, uint64_t tag)
{
    struct stria_io io = {.op = STRIA_IO_WRITE, .length = BLOCK, .data = data, .tag = tag};
    return drive->backend->submit(drive, &io);
}

static int poll_one(struct stria_drive *drive, struct stria_done *done)
{
    int count = 0;
    for (uint64_t end_ns = stria_clock_ns() + WAIT_NS; count == 0 && stria_clock_ns() < end_ns;)
        count = drive->backend->poll(drive, done, 1, WAIT_NS);
    return count;
}

static void until(_Atomic unsigned *counter, unsigned value)
{
    for (uint64_t end_ns = stria_clock_ns() + WAIT_NS; atomic_load(counter) < value;) {
        cr_assert(stria_clock_ns() < end_ns, "it did not happen");
        stria_clock_sleep_until(stria_clock_ns() + 100000u);
    }
}

Test(threaded, traits_are_those_of_the_drive_inside_that_cannot_block_any_more)
{
    struct stria_drive *drive = puppet_wrap(4);
    cr_expect(drive->traits.digests && !drive->traits.may_block);
    cr_expect(drive->traits.depth_max == 4 && drive->traits.block_bytes == BLOCK);
    struct stria_region regions[3] = {{data, BLOCK}};
    cr_expect(drive->backend->attach(drive, regions, 3) == STRIA_OK && drive->traits.registered);
    cr_expect(strcmp(drive->traits.note, "attached") == 0);
    cr_expect(puppet.regions != regions && puppet.regions[0].base == data,
              "it may come back to the list when the caller's is gone");
    cr_expect(drive->backend->attach(drive, regions, 2) == STRIA_ERR_NO_MEMORY && !drive->traits.registered);
    drive->backend->close(drive);
    cr_expect(atomic_load(&puppet.closed) == 1);
}

Test(threaded, submit_returns_at_once_while_the_drive_hangs_in_it)
{
    atomic_store(&puppet.hang, true);
    struct stria_drive *drive = puppet_wrap(4);
    uint64_t begin_ns = stria_clock_ns();
    for (uint64_t tag = 0; tag < 4; tag++)
        cr_assert(write_submit(drive, tag) == STRIA_OK);
    cr_expect(write_submit(drive, 4) == STRIA_ERR_FULL);
    struct stria_done done;
    cr_expect(drive->backend->poll(drive, &done, 1, 10000000u) == 0);
    cr_expect(stria_clock_ns() - begin_ns < 1000000000u);
    atomic_store(&puppet.hang, false);
    for (int i = 0; i < 4; i++)
        cr_assert(poll_one(drive, &done) == 1 && done.code == STRIA_OK && done.bytes == BLOCK);
    drive->backend->close(drive);
}

Test(threaded, what_a_revoked_drive_has_not_taken_ends_at_once_and_is_not_touched_again)
{
    enum { COUNT = 4 };
    char *pages = mmap(NULL, COUNT * BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(pages != MAP_FAILED);
    atomic_store(&puppet.hang, true);
    struct stria_drive *drive = puppet_wrap(COUNT);
    for (uint64_t tag = 0; tag < COUNT; tag++) {
        struct stria_io io = {.op = STRIA_IO_WRITE,
                              .length = BLOCK,
                              .data = pages + tag * BLOCK,
                              .tag = tag,
                              .digest_wanted = true,
                              .digest_bytes = BLOCK};
        cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    }
    until(&puppet.hung, 1);
    drive->backend->revoke(drive);
    cr_expect(write_submit(drive, COUNT) == STRIA_ERR_GONE);
    struct stria_done done[COUNT];
    cr_assert(drive->backend->poll(drive, done, COUNT, 0) == COUNT - 1);
    for (uint64_t i = 0; i < COUNT - 1; i++)
        cr_expect(done[i].tag == i + 1 && done[i].code == STRIA_ERR_GONE);
    cr_assert(mprotect(pages + BLOCK, (COUNT - 1) * BLOCK, PROT_NONE) == 0);
    atomic_store(&puppet.hang, false);
    cr_assert(poll_one(drive, done) == 1 && done[0].tag == 0 && done[0].code == STRIA_OK);
    cr_expect(atomic_load(&puppet.submitted) == 1);
    drive->backend->close(drive);
    munmap(pages, COUNT * BLOCK);
}

Test(threaded, a_request_that_a_full_drive_did_not_take_ends_when_it_is_revoked)
{
    atomic_store(&puppet.hold, true);
    atomic_store(&puppet.fails, STRIA_ERR_FULL);
    struct stria_drive *drive = puppet_wrap(4);
    struct stria_done done;
    for (uint64_t tag = 0; tag < 2; tag++)
        cr_assert(write_submit(drive, tag) == STRIA_OK);
    until(&puppet.submitted, 1);
    drive->backend->revoke(drive);
    for (unsigned i = 0; i < 2; i++)
        cr_assert(poll_one(drive, &done) == 1 && done.code == STRIA_ERR_GONE);
    const uint64_t begin_ns = stria_clock_ns();
    drive->backend->close(drive);
    cr_expect(stria_clock_ns() - begin_ns < STRIA_CLOSE_NS_MAX / 2);
}

Test(threaded, whoever_waits_for_many_drives_is_notified)
{
    struct stria_drive *drive = puppet_wrap(4);
    for (uint64_t tag = 0; tag < 100; tag++) {
        uint32_t ticket = stria_bell_listen(&notified);
        struct stria_done done;
        uint64_t begin_ns = stria_clock_ns();
        cr_assert(write_submit(drive, tag) == STRIA_OK);
        while (drive->backend->poll(drive, &done, 1, 0) == 0) {
            stria_bell_wait(&notified, ticket, WAIT_NS);
            ticket = stria_bell_listen(&notified);
        }
        cr_assert(done.tag == tag && stria_clock_ns() - begin_ns < WAIT_NS);
    }
    cr_expect(atomic_load(&notifications) >= 1 && atomic_load(&notifications) <= 100);
    drive->backend->close(drive);
}

/* With half of the depth inside, the thread is not woken for more; but it must not take for ever. */
Test(threaded, requests_reach_a_drive_that_holds_its_half_full_queue)
{
    atomic_store(&puppet.hold, true);
    struct stria_drive *drive = puppet_wrap(4);
    for (uint64_t tag = 0; tag < 4; tag++)
        cr_assert(write_submit(drive, tag) == STRIA_OK);
    until(&puppet.submitted, 4);
    atomic_store(&puppet.hold, false);
    puppet_wake(&puppet.drive);
    struct stria_done done;
    for (int i = 0; i < 4; i++)
        cr_assert(poll_one(drive, &done) == 1);
    drive->backend->close(drive);
}

static void submit_held(struct stria_drive *drive, unsigned count)
{
    const unsigned before = atomic_load(&puppet.submitted);
    atomic_store(&puppet.hold, true);
    for (unsigned tag = 0; tag < count; tag++)
        cr_assert(write_submit(drive, tag) == STRIA_OK);
    until(&puppet.submitted, before + count);
}

static void take_all(struct stria_drive *drive, unsigned count)
{
    struct stria_done done;
    atomic_store(&puppet.hold, false);
    puppet_wake(&puppet.drive);
    for (unsigned taken = 0; taken < count; taken++)
        cr_assert(poll_one(drive, &done) == 1);
}

/* Whether the thread is woken for a fifth request, while it waits with four inside. */
static bool fifth_wakes(struct stria_drive *drive)
{
    submit_held(drive, 4);
    until(&puppet.waits, atomic_load(&puppet.waits) + 1);
    const unsigned wakes = atomic_load(&puppet.wakes), submitted = atomic_load(&puppet.submitted);
    cr_assert(write_submit(drive, 4) == STRIA_OK);
    until(&puppet.submitted, submitted + 1);
    const bool woken = atomic_load(&puppet.wakes) > wakes;
    take_all(drive, 5);
    return woken;
}

/* Whatever depth the drive would allow. */
Test(threaded, is_not_woken_for_more_than_half_of_what_its_caller_has_had_under_way)
{
    static const struct stria_region regions[3] = {{data, 512}, {data, 512}, {data, 512}};
    struct stria_drive *drive = puppet_wrap(32);
    cr_expect_not(fifth_wakes(drive));
    submit_held(drive, 16);
    take_all(drive, 16);
    cr_expect(fifth_wakes(drive), "four are little for this caller");
    cr_assert(drive->backend->attach(drive, regions, 3) == STRIA_OK);
    cr_expect_not(fifth_wakes(drive), "a caller who attaches anew is another one");
    drive->backend->close(drive);
}

static void reads_submit(struct stria_drive *drive, unsigned count, bool may_coalesce)
{
    struct stria_io io = {.op = STRIA_IO_READ, .length = BLOCK, .data = data, .may_coalesce = may_coalesce};
    const unsigned before = atomic_load(&puppet.submitted);
    for (unsigned tag = 0; tag < count; tag++)
        cr_assert(drive->backend->submit(drive, &io) == STRIA_OK);
    until(&puppet.submitted, before + count);
}

/* Lets requests end, one poll each, and returns how long after the first of them the caller was notified. */
static uint64_t let_go_until_notified(unsigned count)
{
    const unsigned before = atomic_load(&notifications);
    const uint64_t begin_ns = stria_clock_ns();
    atomic_store(&puppet.let_go, count);
    puppet_wake(&puppet.drive);
    until(&notifications, before + 1);
    return atomic_load(&notified_ns) - begin_ns;
}

/* A wait of 20 ms ends no sooner on a machine that is busy, so that these hold on any. */
Test(threaded, ends_that_may_coalesce_are_told_late_while_more_than_half_is_under_way)
{
    atomic_store(&puppet.hold, true);
    struct stria_drive *drive = puppet_wrap(8);
    reads_submit(drive, 8, true);
    cr_expect(let_go_until_notified(1) >= 20000000u);
    struct stria_done done;
    cr_expect(drive->backend->poll(drive, &done, 1, 0) == 1, "whoever looks finds them");
    take_all(drive, 7);
    drive->backend->close(drive);
}

/* Sooner than the wait would end: of many times once, for the machine may be busy. */
Test(threaded, ends_that_may_coalesce_are_told_at_once_when_half_is_left_or_one_may_not)
{
    struct stria_drive *drive = puppet_wrap(8);
    uint64_t half_ns = UINT64_MAX, hurried_ns = UINT64_MAX;
    for (unsigned turn = 0; turn < 100 && (half_ns >= 20000000u || hurried_ns >= 20000000u); turn++) {
        const bool hurried = turn % 2;
        atomic_store(&puppet.hold, true);
        reads_submit(drive, 8, !hurried);
        const uint64_t took_ns = let_go_until_notified(hurried ? 1 : 4);
        uint64_t *least_ns = hurried ? &hurried_ns : &half_ns;
        *least_ns = took_ns < *least_ns ? took_ns : *least_ns;
        take_all(drive, 8);
    }
    cr_expect(half_ns < 20000000u);
    cr_expect(hurried_ns < 20000000u);
    drive->backend->close(drive);
}

/* How many ends the thread waits for at once. */
static unsigned gathered(void)
{
    until(&puppet.waits,
          atomic_load(&puppet.waits) + 2); /* one may have begun before the last request came */
    return atomic_load(&puppet.gather);
}

Test(threaded, waits_for_many_ends_at_once_unless_one_may_not_coalesce)
{
    struct stria_drive *drive = puppet_wrap(8);
    submit_held(drive, 1);
    cr_expect(gathered() <= 1, "one alone, out of whose wait the thread can be woken");
    take_all(drive, 1);
    atomic_store(&puppet.hold, true);
    reads_submit(drive, 7, true);
    cr_expect(gathered() == 4, "%u of 7", gathered());
    reads_submit(drive, 1, false);
    cr_expect(gathered() == 1, "a request that does not may be the next to end");
    take_all(drive, 8);
    submit_held(drive, 8);
    cr_expect(gathered() == 1);
    take_all(drive, 8);
    drive->backend->close(drive);
}

Test(threaded, a_drive_that_refuses_for_good_fails_the_request_and_those_after_it)
{
    atomic_store(&puppet.fails, STRIA_ERR_GONE);
    struct stria_drive *drive = puppet_wrap(4);
    struct stria_done done;
    cr_assert(write_submit(drive, 5) == STRIA_OK);
    cr_assert(poll_one(drive, &done) == 1 && done.tag == 5 && done.code == STRIA_ERR_GONE);
    while (drive->backend->poll(drive, &done, 1, 0) == 0)
        continue;
    cr_expect(drive->backend->poll(drive, &done, 1, WAIT_NS) == STRIA_ERR_GONE);
    cr_expect(write_submit(drive, 6) == STRIA_ERR_GONE);
    drive->backend->close(drive);
    cr_expect(atomic_load(&puppet.closed) == 1);
}

Test(threaded, a_drive_that_breaks_in_poll_breaks_outside_too)
{
    atomic_store(&puppet.poll_fails, STRIA_ERR_SYSTEM);
    struct stria_drive *drive = puppet_wrap(4);
    struct stria_done done;
    cr_assert(write_submit(drive, 5) == STRIA_OK);
    cr_expect(poll_one(drive, &done) == STRIA_ERR_SYSTEM);
    cr_expect(write_submit(drive, 6) == STRIA_ERR_SYSTEM);
    drive->backend->close(drive);
}

Test(threaded, a_broken_drive_costs_no_processor_time)
{
    atomic_store(&puppet.hang, true);
    struct stria_drive *drive = puppet_wrap(4);
    for (uint64_t tag = 0; tag < 3; tag++)
        cr_assert(write_submit(drive, tag) == STRIA_OK);
    until(&puppet.hung, 1);
    atomic_store(&puppet.fails, STRIA_ERR_GONE);
    atomic_store(&puppet.hang, false);
    struct stria_done done;
    while (drive->backend->poll(drive, &done, 1, WAIT_NS) >= 0)
        continue;
    uint64_t begin_ns = stria_clock_cpu_ns();
    stria_clock_sleep_until(stria_clock_ns() + 300000000u);
    cr_expect(stria_clock_cpu_ns() - begin_ns < 100000000u);
    drive->backend->close(drive);
}

Test(threaded, closing_waits_for_what_is_in_flight)
{
    atomic_store(&puppet.hold, true);
    struct stria_drive *drive = puppet_wrap(4);
    cr_assert(write_submit(drive, 1) == STRIA_OK);
    uint64_t begin_ns = stria_clock_ns();
    drive->backend->close(drive);
    cr_expect(stria_clock_ns() - begin_ns >= 500000000u, "it did not wait");
    cr_expect(stria_clock_ns() - begin_ns < STRIA_CLOSE_NS_MAX);
    cr_expect(atomic_load(&puppet.closed) == 1);
}

Test(threaded, a_thread_that_hangs_in_the_system_is_left_behind_and_ends_by_itself)
{
    atomic_store(&puppet.hang, true);
    struct stria_drive *drive = puppet_wrap(4);
    cr_assert(write_submit(drive, 1) == STRIA_OK);
    cr_assert(write_submit(drive, 2) == STRIA_OK);
    until(&puppet.hung, 1);
    uint64_t begin_ns = stria_clock_ns();
    drive->backend->close(drive);
    cr_expect(stria_clock_ns() - begin_ns < STRIA_CLOSE_NS_MAX);
    cr_expect(atomic_load(&puppet.closed) == 0);
    unsigned notified_before = atomic_load(&notifications);
    atomic_store(&puppet.hang, false);
    until(&puppet.closed, 1);
    cr_expect(atomic_load(&notifications) == notified_before, "notified after close");
    cr_expect(atomic_load(&puppet.submitted) == 1, "submitted after close");
}

/* Four drives, one pump, random rests: every request ends once, with the digest of its own bytes. */
Test(threaded, nothing_is_lost_under_stress)
{
    enum { DRIVES = 4, REQUESTS = 5000, DEPTH = 6 };
    static struct stria_drive *drives[DRIVES];
    static unsigned submitted[DRIVES], finished[DRIVES];
    static unsigned char seen[DRIVES][REQUESTS];
    _Alignas(4096) static char blocks[DEPTH][BLOCK];
    for (size_t i = 0; i < sizeof(blocks); i++)
        ((char *)blocks)[i] = (char)(i * 31 / 7);
    for (int i = 0; i < DRIVES; i++) {
        struct stria_drive_options options = {.path = i % 2 ? "memory:1MiB" : "null:1MiB", .depth = DEPTH};
        struct stria_drive *inner;
        cr_assert(stria_drive_open(&options, &inner, NULL) == STRIA_OK);
        cr_assert(stria_threaded_wrap(inner, notify, &notified, &drives[i], NULL) == STRIA_OK);
    }
    unsigned left = DRIVES * REQUESTS;
    uint32_t random = 1;
    while (left) {
        uint32_t ticket = stria_bell_listen(&notified);
        unsigned moved = 0;
        for (int i = 0; i < DRIVES; i++) {
            struct stria_done done[8];
            int count = drives[i]->backend->poll(drives[i], done, 1 + (random >> 8) % 8, 0);
            cr_assert(count >= 0);
            moved += (unsigned)count;
            left -= (unsigned)count;
            finished[i] += (unsigned)count;
            for (int k = 0; k < count; k++) {
                cr_assert(done[k].code == STRIA_OK && done[k].tag < REQUESTS && !seen[i][done[k].tag]++);
                cr_assert(done[k].digest ==
                          stria_digest_seeded(done[k].tag, blocks[done[k].tag % DEPTH], BLOCK));
            }
            random = random * 1664525u + 1013904223u;
            for (unsigned n = (random >> 16) % DEPTH; n && submitted[i] < REQUESTS; n--) {
                struct stria_io io = {.op = STRIA_IO_WRITE,
                                      .length = BLOCK,
                                      .data = blocks[submitted[i] % DEPTH],
                                      .tag = submitted[i],
                                      .digest_wanted = true,
                                      .digest_bytes = BLOCK,
                                      .digest_seed = submitted[i]};
                int code = drives[i]->backend->submit(drives[i], &io);
                cr_assert(code == (submitted[i] - finished[i] < DEPTH ? STRIA_OK : STRIA_ERR_FULL));
                moved += code == STRIA_OK;
                submitted[i] += code == STRIA_OK;
            }
        }
        if (!moved && random % 3)
            stria_bell_wait(&notified, ticket, 1000000u);
    }
    for (int i = 0; i < DRIVES; i++)
        drives[i]->backend->close(drives[i]);
}
