#include "engine/gang.h"

#include "core/watch.h"
#include "support/clock.h"

#include <stdbool.h>
#include <stddef.h>

#define PIECE_BYTES ((uint64_t)1 << 20)
#define PIECES_MAX  4u
#define RETRIES_MAX 100u
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
    if (!transfers(job))
        return job->length;
    uint64_t most = smaller(PIECE_BYTES, job->drive->traits.transfer_bytes_max);
    return smaller(most, job->length - offset);
}

static bool all_handed(const struct stria_gang_job *job)
{
    return job->handed >= job->length && (job->length > 0 || job->handed > 0);
}

/* Each piece's tag is its offset within the job, so that a short one can be sent again whole. */
static void hand_piece(struct stria_gang_job *job, uint64_t offset)
{
    struct stria_io io = {
        .op = job->op,
        .offset = job->offset + offset,
        .length = piece_bytes(job, offset),
        .data = job->data ? job->data + offset : NULL,
        .tag = offset,
    };
    if (job->op == STRIA_IO_FLUSH)
        io.offset = io.length = 0;
    int code = job->drive->backend->submit(job->drive, &io);
    if (code == STRIA_OK)
        job->in_flight++;
    else
        job->code = code;
}

static void hand_more(struct stria_gang_job *job)
{
    while (job->code == STRIA_OK && !all_handed(job) && job->in_flight < PIECES_MAX &&
           job->in_flight < job->drive->traits.depth_max) {
        hand_piece(job, job->handed);
        job->handed += transfers(job) ? piece_bytes(job, job->handed) : job->length + 1;
    }
}

static void take(struct stria_gang_job *job, const struct stria_done *done, unsigned *retries)
{
    job->in_flight--;
    bool whole = !transfers(job) || done->bytes == piece_bytes(job, done->tag);
    if (done->code == STRIA_OK && whole)
        return;
    bool again = done->code == STRIA_ERR_AGAIN || (done->code == STRIA_OK && done->bytes > 0);
    if (job->code == STRIA_OK && again && ++*retries <= RETRIES_MAX)
        hand_piece(job, done->tag);
    else if (job->code == STRIA_OK)
        job->code = done->code == STRIA_OK ? STRIA_ERR_IO : done->code;
}

static bool poll_job(struct stria_gang_job *job, unsigned *retries)
{
    struct stria_done done[DONE_BATCH];
    int count = job->drive->backend->poll(job->drive, done, DONE_BATCH, 0);
    if (count < 0) {
        job->code = count;
        job->in_flight = 0;
        return true;
    }
    for (int index = 0; index < count; index++)
        take(job, &done[index], retries);
    return count > 0;
}

static bool ended(const struct stria_gang_job *job)
{
    return !job->drive || (job->in_flight == 0 && (job->code != STRIA_OK || all_handed(job)));
}

void stria_gang_run(struct stria_gang_job *jobs, unsigned count, struct stria_bell *bell,
                    uint64_t deadline_ns)
{
    unsigned retries = 0;
    struct stria_watch watch;
    stria_watch_init(&watch, deadline_ns);
    uint64_t heard_ns = 0;
    for (unsigned index = 0; index < count; index++) {
        jobs[index].code = jobs[index].drive ? STRIA_OK : STRIA_ERR_GONE;
        jobs[index].handed = 0;
        jobs[index].in_flight = 0;
    }
    for (;;) {
        uint32_t ticket = stria_bell_listen(bell);
        bool heard = false;
        bool all_ended = true;
        for (unsigned index = 0; index < count; index++) {
            if (ended(&jobs[index]))
                continue;
            hand_more(&jobs[index]);
            heard |= jobs[index].in_flight > 0 && poll_job(&jobs[index], &retries);
            all_ended &= ended(&jobs[index]);
        }
        if (all_ended)
            return;
        stria_watch_look(&watch, stria_clock_ns());
        if (heard) {
            heard_ns = watch.watched_ns;
        } else if (stria_watch_over(&watch, heard_ns)) {
            for (unsigned index = 0; index < count; index++)
                if (!ended(&jobs[index]))
                    jobs[index].code = STRIA_ERR_TIMEOUT;
            return;
        } else {
            stria_bell_wait(bell, ticket, WAIT_NS);
        }
    }
}
