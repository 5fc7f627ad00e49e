#include "backends/split.h"

#include "core/assert.h"

#include <stdlib.h>

/* A request of the caller, until all that was submitted of it has ended. */
struct whole {
    struct stria_io io;
    uint64_t sent_bytes;  /* up to here pieces were submitted */
    uint64_t whole_bytes; /* up to here nothing fell short, as far as is known */
    uint32_t in_flight;   /* pieces */
    uint32_t next;        /* in the queue it stands in */
    uint64_t submit_ns;   /* of all its pieces */
    int code;
    bool unsent; /* pieces of it are yet to be submitted: it stands in that queue */
};

struct piece {
    uint32_t whole;
    uint64_t at, bytes; /* within the whole */
};

#define NONE UINT32_MAX

/* Wholes in order: those with pieces yet to be submitted, those that have ended. */
struct queue {
    uint32_t first, last;
};

struct split_drive {
    struct stria_drive drive;
    struct stria_drive *inner;
    uint64_t piece_bytes;
    uint32_t free_whole_count, free_piece_count;
    struct queue unsent, ended;
    struct whole wholes[STRIA_DEPTH_MAX];
    struct piece pieces[STRIA_DEPTH_MAX];
    uint32_t free_wholes[STRIA_DEPTH_MAX];
    uint32_t free_pieces[STRIA_DEPTH_MAX];
};

static void queue_put(struct split_drive *split, struct queue *queue, uint32_t index)
{
    split->wholes[index].next = NONE;
    if (queue->first == NONE)
        queue->first = index;
    else
        split->wholes[queue->last].next = index;
    queue->last = index;
}

static uint32_t queue_take(const struct split_drive *split, struct queue *queue)
{
    const uint32_t index = queue->first;
    queue->first = split->wholes[index].next;
    return index;
}

static bool transfers(const struct stria_io *io)
{
    return io->op == STRIA_IO_READ || io->op == STRIA_IO_WRITE;
}

/* The next piece of a whole. Codes as of submit. */
static int send_piece(struct split_drive *split, uint32_t index)
{
    struct whole *whole = &split->wholes[index];
    if (split->free_piece_count == 0)
        return STRIA_ERR_FULL;
    struct stria_io io = whole->io;
    const uint64_t left = whole->io.length - whole->sent_bytes;
    const uint32_t piece = split->free_pieces[split->free_piece_count - 1];
    if (transfers(&io)) {
        io.offset += whole->sent_bytes;
        io.data = (char *)whole->io.data + whole->sent_bytes;
        io.length = left < split->piece_bytes ? left : split->piece_bytes;
    }
    io.tag = piece;
    const int code = split->inner->backend->submit(split->inner, &io);
    if (code != STRIA_OK)
        return code;
    split->free_piece_count--;
    split->pieces[piece] = (struct piece){.whole = index, .at = whole->sent_bytes, .bytes = io.length};
    whole->sent_bytes += io.length;
    whole->in_flight++;
    return STRIA_OK;
}

/* Whether more of it has to be submitted. */
static bool goes_on(const struct whole *whole)
{
    const bool good = whole->code == STRIA_OK && whole->whole_bytes == whole->io.length;
    const bool begun = whole->sent_bytes > 0 || whole->in_flight > 0;
    return good && (transfers(&whole->io) ? whole->sent_bytes < whole->io.length : !begun);
}

/* Submits what there is room for, oldest first. What finds none waits; anything else but that makes the drive
 * unusable. */
static int send(struct split_drive *split)
{
    while (split->unsent.first != NONE) {
        const uint32_t index = split->unsent.first;
        struct whole *whole = &split->wholes[index];
        while (goes_on(whole)) {
            const int code = send_piece(split, index);
            if (code != STRIA_OK)
                return code == STRIA_ERR_FULL ? STRIA_OK : code;
        }
        queue_take(split, &split->unsent);
        whole->unsent = false;
        if (whole->in_flight == 0)
            queue_put(split, &split->ended, index);
    }
    return STRIA_OK;
}

static int split_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct split_drive *split = (struct split_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code != STRIA_OK)
        return code;
    if (split->free_whole_count == 0)
        return STRIA_ERR_FULL;
    const uint32_t index = split->free_wholes[--split->free_whole_count];
    split->wholes[index] = (struct whole){.io = *io, .whole_bytes = io->length, .unsent = true};
    queue_put(split, &split->unsent, index);
    return send(split);
}

/* Notes how a piece ended. A whole among the unsent is taken from there by send, in its turn. */
static void take_piece(struct split_drive *split, const struct stria_done *done)
{
    STRIA_ASSERT(done->tag < STRIA_DEPTH_MAX);
    const uint32_t index = (uint32_t)done->tag;
    const struct piece *piece = &split->pieces[index];
    struct whole *whole = &split->wholes[piece->whole];
    STRIA_ASSERT(whole->in_flight > 0);
    split->free_pieces[split->free_piece_count++] = index;
    whole->in_flight--;
    whole->submit_ns += done->submit_ns;
    if (done->code != STRIA_OK && whole->code == STRIA_OK)
        whole->code = done->code;
    if (transfers(&whole->io) && done->code == STRIA_OK && done->bytes < piece->bytes &&
        piece->at + done->bytes < whole->whole_bytes)
        whole->whole_bytes = piece->at + done->bytes;
    if (!whole->unsent && whole->in_flight == 0)
        queue_put(split, &split->ended, piece->whole);
}

static unsigned deliver(struct split_drive *split, struct stria_done *done, unsigned max)
{
    unsigned count = 0;
    while (count < max && split->ended.first != NONE) {
        const uint32_t index = queue_take(split, &split->ended);
        const struct whole *whole = &split->wholes[index];
        const bool moved = transfers(&whole->io) && whole->code == STRIA_OK;
        done[count++] = (struct stria_done){.tag = whole->io.tag,
                                            .code = whole->code,
                                            .bytes = moved ? whole->whole_bytes : 0,
                                            .submit_ns = whole->submit_ns};
        split->free_wholes[split->free_whole_count++] = index;
    }
    return count;
}

static int split_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct split_drive *split = (struct split_drive *)drive;
    struct stria_done pieces[64];
    const bool waits = max > 0 && split->ended.first == NONE;
    const int count = split->inner->backend->poll(split->inner, pieces, sizeof(pieces) / sizeof(pieces[0]),
                                                  waits ? wait_ns : 0);
    if (count < 0)
        return count;
    for (int i = 0; i < count; i++)
        take_piece(split, &pieces[i]);
    const int code = send(split);
    if (code != STRIA_OK)
        return code;
    return (int)deliver(split, done, max);
}

static int split_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct split_drive *split = (struct split_drive *)drive;
    const int code = split->inner->backend->attach(split->inner, regions, count);
    drive->traits.registered = split->inner->traits.registered;
    stria_traits_note(&drive->traits, "%s", split->inner->traits.note);
    return code;
}

static void split_wake(struct stria_drive *drive)
{
    const struct split_drive *split = (const struct split_drive *)drive;
    if (split->inner->backend->wake)
        split->inner->backend->wake(split->inner);
}

static int split_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                      char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return stria_drive_lock(((struct split_drive *)drive)->inner, number, how, holder);
}

static void split_close(struct stria_drive *drive)
{
    struct split_drive *split = (struct split_drive *)drive;
    split->inner->backend->close(split->inner);
    free(split);
}

static const struct stria_backend split_backend = {
    .name = "split",
    .attach = split_attach,
    .submit = split_submit,
    .poll = split_poll,
    .wake = split_wake,
    .lock = split_lock,
    .close = split_close,
};

int stria_split_wrap(struct stria_drive *inner, uint64_t piece_bytes, uint32_t depth,
                     struct stria_drive **out, struct stria_trouble *trouble)
{
    struct split_drive *split = calloc(1, sizeof(*split));
    if (!split)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", inner->traits.path);
    STRIA_ASSERT(depth >= 1 && depth <= STRIA_DEPTH_MAX);
    const struct stria_traits *traits = &inner->traits;
    const uint64_t most = piece_bytes > 0 && piece_bytes < traits->transfer_bytes_max
                              ? piece_bytes
                              : traits->transfer_bytes_max;
    split->piece_bytes = most - most % traits->block_bytes;
    STRIA_ASSERT(split->piece_bytes > 0);
    split->inner = inner;
    split->drive = (struct stria_drive){.backend = &split_backend, .traits = *traits};
    split->drive.traits.transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX;
    split->drive.traits.depth_max = depth;
    split->drive.traits.digests = false;
    split->unsent = split->ended = (struct queue){NONE, NONE};
    for (uint32_t i = 0; i < depth; i++)
        split->free_wholes[split->free_whole_count++] = i;
    for (uint32_t i = 0; i < traits->depth_max && i < STRIA_DEPTH_MAX; i++)
        split->free_pieces[split->free_piece_count++] = i;
    *out = &split->drive;
    return STRIA_OK;
}
