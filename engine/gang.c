#include "engine/gang.h"

#include "core/watch.h"
#include "support/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define PIECE_BYTES ((uint64_t)1 << 20)
#define RETRIES_MAX 500u /* in a row without a piece that ended well */
#define RETRY_NS    1000000u
#define WAIT_NS     1000000u
#define DONE_BATCH  16u

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool transfers(const struct stria_gang_job *job)
{
    return job->op == STRIA_IO_READ || job->op == STRIA_IO_WRITE;
}

static uint64_t piece_bytes(const struct stria_gang_job *job, uint64_t offset)
{
    if (job->op == STRIA_IO_FLUSH)
        return 0;
    uint64_t most =
        transfers(job) ? smaller(PIECE_BYTES, job->drive->traits.transfer_bytes_max) : STRIA_TRIM_BYTES_MAX;
    return smaller(most, job->length - offset);
}

static bool all_handed(const struct stria_gang_job *job)
{
    return job->op == STRIA_IO_FLUSH ? job->handed > 0 : job->handed >= job->length;
}

/* Each piece's tag is its offset within the job, so that one that was short can be sent again whole. A drive
 * that cannot take it now gets it later. */
static void hand_piece(struct stria_gang_job *job, uint64_t offset, uint64_t now_ns)
{
    const struct stria_io io = {
        .op = job->op,
        .offset = job->op == STRIA_IO_FLUSH ? 0 : job->offset + offset,
        .length = piece_bytes(job, offset),
        .data = job->data ? job->data + offset : NULL,
        .tag = offset,
    };
    int code = job->drive->backend->submit(job->drive, &io);
    if (code == STRIA_OK) {
        job->in_flight++;
    } else if ((code == STRIA_ERR_AGAIN || code == STRIA_ERR_FULL) && ++job->retries <= RETRIES_MAX) {
        job->again[job->again_count++] = offset;
        job->again_ns = now_ns + RETRY_NS;
    } else {
        job->code = code;
    }
}

static void hand_again(struct stria_gang_job *job, uint64_t now_ns)
{
    if (job->again_count == 0 || now_ns < job->again_ns)
        return;
    uint64_t again[STRIA_GANG_PIECES_MAX];
    uint32_t count = job->again_count;
    memcpy(again, job->again, count * sizeof(again[0]));
    job->again_count = 0;
    for (uint32_t index = 0; index < count && job->code == STRIA_OK; index++)
        hand_piece(job, again[index], now_ns);
}

static void hand_more(struct stria_gang_job *job, uint64_t now_ns)
{
    hand_again(job, now_ns);
    while (job->code == STRIA_OK && !all_handed(job) &&
           job->in_flight + job->again_count < STRIA_GANG_PIECES_MAX &&
           job->in_flight < job->drive->traits.depth_max) {
        uint64_t offset = job->handed;
        job->handed += job->op == STRIA_IO_FLUSH ? 1 : piece_bytes(job, offset);
        hand_piece(job, offset, now_ns);
    }
}

static void take(struct stria_gang_job *job, const struct stria_done *done, uint64_t now_ns)
{
    job->in_flight--;
    bool whole = !transfers(job) || done->bytes == piece_bytes(job, done->tag);
    bool again = done->code == STRIA_ERR_AGAIN || (done->code == STRIA_OK && done->bytes > 0);
    if (done->code == STRIA_OK && whole) {
        job->retries = 0;
    } else if (job->code == STRIA_OK && again && ++job->retries <= RETRIES_MAX) {
        job->again[job->again_count++] = done->tag;
        job->again_ns = now_ns + RETRY_NS;
    } else if (job->code == STRIA_OK) {
        job->code = done->code == STRIA_OK ? STRIA_ERR_IO : done->code;
    }
}

/* Nothing more is wanted of the drive, whose pieces may still be on their way. */
static void give_up(struct stria_gang_job *job, int code)
{
    job->code = code;
    job->in_flight = 0;
    stria_drive_revoke(job->drive);
}

static bool poll_job(struct stria_gang_job *job, uint64_t now_ns)
{
    struct stria_done done[DONE_BATCH];
    int count = job->drive->backend->poll(job->drive, done, DONE_BATCH, 0);
    if (count < 0) {
        give_up(job, count);
        return true;
    }
    for (int index = 0; index < count; index++)
        take(job, &done[index], now_ns);
    return count > 0;
}

static bool ended(const struct stria_gang_job *job)
{
    return !job->drive ||
           (job->in_flight == 0 && (job->code != STRIA_OK || (all_handed(job) && job->again_count == 0)));
}

/* Returns whether anything came of it. */
static bool turn(struct stria_gang_job *job, const struct stria_watch *watch)
{
    hand_more(job, watch->now_ns);
    bool heard = job->in_flight > 0 && poll_job(job, watch->now_ns);
    if (heard || job->in_flight == 0)
        job->heard_ns = watch->watched_ns;
    if (!stria_watch_over(watch, job->heard_ns))
        return heard;
    give_up(job, STRIA_ERR_TIMEOUT);
    return true;
}

void stria_gang_run(struct stria_gang_job *jobs, unsigned count, struct stria_bell *bell,
                    uint64_t deadline_ns)
{
    struct stria_watch watch;
    stria_watch_init(&watch, deadline_ns);
    stria_watch_look(&watch, stria_clock_ns());
    for (unsigned index = 0; index < count; index++) {
        struct stria_gang_job *job = &jobs[index];
        job->code = job->drive ? STRIA_OK : STRIA_ERR_GONE;
        job->handed = 0;
        job->in_flight = job->again_count = job->retries = 0;
        job->heard_ns = watch.watched_ns;
    }
    for (bool all_ended = false; !all_ended;) {
        uint32_t ticket = stria_bell_listen(bell);
        bool heard = false;
        all_ended = true;
        for (unsigned index = 0; index < count; index++) {
            if (ended(&jobs[index]))
                continue;
            heard |= turn(&jobs[index], &watch);
            all_ended &= ended(&jobs[index]);
        }
        if (!heard && !all_ended)
            stria_bell_wait(bell, ticket, WAIT_NS);
        stria_watch_look(&watch, stria_clock_ns());
    }
}
