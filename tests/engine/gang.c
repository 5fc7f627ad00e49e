/* Jobs side by side, against a drive that answers as the test wants it to. */
#include "engine/gang.h"

#include <criterion/criterion.h>

#define MIB      (UINT64_C(1) << 20)
#define GIB      (UINT64_C(1) << 30)
#define DEADLINE UINT64_C(200000000)
#define QUEUE    8u

struct scripted {
    struct stria_drive base;
    struct stria_io queue[QUEUE];
    unsigned queued;
    unsigned refusals; /* so many submissions are answered with refusal first … */
    int refusal;
    unsigned agains;      /* … and so many requests with "again" */
    unsigned agains_each; /* zero, or: before each request that ends well */
    bool silent;
    bool revoked;
    unsigned ended;
    uint64_t longest, bytes;
};

static int submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct scripted *scripted = (struct scripted *)drive;
    if (scripted->refusals > 0) {
        scripted->refusals--;
        return scripted->refusal;
    }
    cr_assert(scripted->queued < QUEUE);
    scripted->queue[scripted->queued++] = *io;
    return STRIA_OK;
}

static int poll_one(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    (void)max, (void)wait_ns;
    struct scripted *scripted = (struct scripted *)drive;
    if (scripted->silent || scripted->queued == 0)
        return 0;
    const struct stria_io io = scripted->queue[--scripted->queued];
    *done = (struct stria_done){.tag = io.tag, .code = STRIA_OK, .bytes = io.length};
    if (scripted->agains > 0) {
        scripted->agains--;
        *done = (struct stria_done){.tag = io.tag, .code = STRIA_ERR_AGAIN};
        return 1;
    }
    scripted->agains = scripted->agains_each;
    scripted->ended++;
    scripted->bytes += io.length;
    scripted->longest = io.length > scripted->longest ? io.length : scripted->longest;
    return 1;
}

static void revoke(struct stria_drive *drive)
{
    ((struct scripted *)drive)->revoked = true;
}

static const struct stria_backend backend = {
    .name = "scripted", .submit = submit, .poll = poll_one, .revoke = revoke};

static struct scripted drive_of(uint64_t bytes)
{
    return (struct scripted){
        .base = {
            .backend = &backend,
            .traits = {.drive_bytes = bytes, .block_bytes = 512, .transfer_bytes_max = MIB, .depth_max = 4}}};
}

static void run(struct stria_gang_job *jobs, unsigned count)
{
    struct stria_bell bell = {0};
    stria_gang_run(jobs, count, &bell, DEADLINE);
}

static int run_one(struct scripted *scripted, enum stria_io_op op, uint64_t length)
{
    static uint8_t data[4 * MIB];
    bool transfers = op == STRIA_IO_READ || op == STRIA_IO_WRITE;
    struct stria_gang_job job = {
        .drive = &scripted->base, .op = op, .length = length, .data = transfers ? data : NULL};
    run(&job, 1);
    return job.code;
}

Test(gang, a_long_trim_goes_in_pieces_that_a_deadline_can_be_held_against)
{
    struct scripted drive = drive_of(1000 * GIB);
    cr_assert(run_one(&drive, STRIA_IO_TRIM, 999 * GIB) == STRIA_OK);
    cr_expect(drive.bytes == 999 * GIB && drive.longest == STRIA_TRIM_BYTES_MAX);
}

Test(gang, a_flush_goes_once)
{
    struct scripted drive = drive_of(GIB);
    cr_assert(run_one(&drive, STRIA_IO_FLUSH, 0) == STRIA_OK);
    cr_expect(drive.ended == 1 && drive.bytes == 0);
}

Test(gang, a_drive_that_says_again_often_is_asked_again)
{
    struct scripted drive = drive_of(GIB);
    drive.agains = drive.agains_each = 150;
    cr_assert(run_one(&drive, STRIA_IO_READ, 4 * MIB) == STRIA_OK);
    cr_expect(drive.ended == 4 && drive.bytes == 4 * MIB);
}

Test(gang, a_queue_that_is_full_is_tried_later)
{
    struct scripted drive = drive_of(GIB);
    drive.refusals = 5;
    drive.refusal = STRIA_ERR_FULL;
    cr_assert(run_one(&drive, STRIA_IO_WRITE, 3 * MIB) == STRIA_OK);
    cr_expect(drive.bytes == 3 * MIB);
}

Test(gang, a_drive_that_only_ever_says_again_fails)
{
    struct scripted drive = drive_of(GIB);
    drive.agains = 1000000;
    cr_expect(run_one(&drive, STRIA_IO_READ, MIB) == STRIA_ERR_AGAIN);
}

Test(gang, a_silent_drive_ends_at_its_deadline_however_busy_another_is)
{
    static uint8_t data[MIB];
    struct scripted silent = drive_of(GIB), busy = drive_of(GIB);
    silent.silent = true;
    busy.agains = 450;
    struct stria_gang_job jobs[] = {
        {.drive = &silent.base, .op = STRIA_IO_READ, .length = MIB, .data = data},
        {.drive = &busy.base, .op = STRIA_IO_READ, .length = MIB, .data = data},
        {.drive = NULL, .op = STRIA_IO_READ, .length = MIB},
    };
    run(jobs, 3);
    cr_expect(jobs[0].code == STRIA_ERR_TIMEOUT && jobs[1].code == STRIA_OK &&
              jobs[2].code == STRIA_ERR_GONE);
    cr_expect(silent.revoked && !busy.revoked, "what was on its way there may still be carried out");
    cr_expect(busy.agains == 0,
              "the silent drive was waited for longer than its deadline, or the busy one cut off");
}
