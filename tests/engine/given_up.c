/* A drive that hangs in submission is given up; whose memory it may touch after that, and for how long. */
#include "backends/threaded.h"
#include "engine/array_internal.h"
#include "support/clock.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK   (64 * KIB)
#define PIECES  24u
#define WAIT_NS (20 * STRIA_NS_PER_S)

static const uint64_t two[] = {12 * MIB, 12 * MIB, 0};

/* Around a drive: chunks do not get past its submission while it is shut. */
struct gate {
    struct stria_drive drive;
    struct stria_drive *inner;
    _Atomic bool shut;
    _Atomic unsigned waiting;
    _Atomic unsigned submitted; /* chunks, all in all */
};

static int gate_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct gate *gate = (struct gate *)drive;
    return gate->inner->backend->attach(gate->inner, regions, count);
}

static int gate_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct gate *gate = (struct gate *)drive;
    if (io->length == CHUNK)
        atomic_fetch_add(&gate->submitted, 1);
    if (io->length == CHUNK && atomic_load(&gate->shut)) {
        atomic_fetch_add(&gate->waiting, 1);
        while (atomic_load(&gate->shut))
            stria_clock_sleep_until(stria_clock_ns() + 1000000u);
    }
    return gate->inner->backend->submit(gate->inner, io);
}

static int gate_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct gate *gate = (struct gate *)drive;
    return gate->inner->backend->poll(gate->inner, done, max, wait_ns);
}

static void gate_close(struct stria_drive *drive)
{
    struct gate *gate = (struct gate *)drive;
    gate->inner->backend->close(gate->inner);
}

static const struct stria_backend gate_backend = {
    .name = "gate", .attach = gate_attach, .submit = gate_submit, .poll = gate_poll, .close = gate_close};

static void ring(void *bell)
{
    stria_bell_ring(bell);
}

/* Puts the gate, and a thread, around the first drive of an open array. */
static void put_gate(struct gate *gate, struct stria_array *array)
{
    struct stria_member *member = &array->members[0];
    *gate = (struct gate){.drive = {.backend = &gate_backend, .traits = member->drive->traits},
                          .inner = member->drive,
                          .shut = true};
    cr_assert(stria_threaded_wrap(&gate->drive, ring, &array->bell, &member->drive, NULL) == STRIA_OK);
}

static void reclaim_until(struct stria_writer *writer, unsigned *reclaimed, unsigned wanted)
{
    for (uint64_t end_ns = stria_clock_ns() + WAIT_NS; *reclaimed < wanted;) {
        void *piece = stria_writer_reclaim(writer);
        /* Nobody may touch it any more. */
        if (piece)
            cr_assert(++*reclaimed && mprotect(piece, CHUNK, PROT_NONE) == 0);
        else
            stria_clock_sleep_until(stria_clock_ns() + 1000000u);
        cr_assert(stria_clock_ns() < end_ns, "%u of %u pieces came back", *reclaimed, wanted);
    }
}

Test(given_up, own_memory_comes_back_when_the_drive_that_hangs_cannot_touch_it_any_more)
{
    static struct gate gate;
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    rig->config.write_deadline_ns = STRIA_NS_PER_S / 2;
    put_gate(&gate, rig_open(rig, true));
    uint8_t *memory = mmap(NULL, PIECES * CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    struct stria_writer *writer = rig_begin(rig, "first");
    unsigned reclaimed = 0;
    for (unsigned index = 0; index < PIECES; index++) {
        uint8_t *piece = memory + index * CHUNK;
        rig_fill(piece, index * CHUNK, CHUNK, 1);
        int code;
        while ((code = stria_writer_commit_own(writer, piece, CHUNK, WAIT_NS)) == STRIA_ERR_TIMEOUT)
            reclaim_until(writer, &reclaimed, reclaimed + 1);
        cr_assert(code == STRIA_OK, "%s", stria_code_text(code));
    }
    reclaim_until(writer, &reclaimed, PIECES - 1);
    cr_assert(atomic_load(&gate.waiting) == 1);
    stria_clock_sleep_until(stria_clock_ns() + STRIA_NS_PER_S / 10);
    cr_expect(stria_writer_reclaim(writer) == NULL, "the drive still holds it");
    struct stria_drive_progress drive;
    cr_assert(stria_writer_drive_progress(writer, 0, &drive) == STRIA_OK);
    cr_expect(drive.lost && drive.lost_code == STRIA_ERR_TIMEOUT && drive.lost_ns >= STRIA_NS_PER_S / 2);
    atomic_store(&gate.shut, false);
    reclaim_until(writer, &reclaimed, PIECES);
    struct stria_result result = rig_end(writer);
    cr_expect(result.info.bytes == PIECES * CHUNK && result.info.dropped_bytes == 0 && result.degraded);
    munmap(memory, PIECES * CHUNK);
    rig_close(rig);
    rig_expect_whole(rig, "first", PIECES * CHUNK, 1);
    rig_free(rig);
}

Test(given_up, reads_that_wait_behind_one_that_hangs_are_not_made_once_the_drive_is_given_up)
{
    static struct gate gate;
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, two);
    rig_record(rig, "first", PIECES * CHUNK, 1);
    rig_close(rig);
    rig->config.read_deadline_ns = STRIA_NS_PER_S / 2;
    put_gate(&gate, rig_open(rig, false));
    uint64_t counts[4] = {0};
    struct stria_reader *reader;
    static uint8_t buffer[CHUNK];
    cr_assert(stria_reader_open(rig->array, "first", &reader, NULL) == STRIA_OK);
    for (uint64_t offset = 0; offset < PIECES * CHUNK; offset += CHUNK) {
        enum stria_read_verdict verdict;
        cr_assert(stria_reader_read(reader, offset, buffer, CHUNK, &verdict) == CHUNK);
        counts[verdict]++;
    }
    cr_expect(counts[STRIA_READ_CORRUPT] > 1 && counts[STRIA_READ_OK] > 1);
    cr_expect(atomic_load(&gate.submitted) == 1);
    atomic_store(&gate.shut, false);
    stria_clock_sleep_until(stria_clock_ns() + STRIA_NS_PER_S / 5);
    cr_expect(atomic_load(&gate.submitted) == 1, "more was read from a drive that was given up");
    stria_reader_close(reader);
    rig_free(rig);
}
