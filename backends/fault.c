#include "backends/fault.h"

#include "backends/done_queue.h"
#include "backends/fault_script.h"
#include "support/bell.h"
#include "support/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEVER     UINT64_MAX
#define BATCH_MAX 32u

/* A request that inner has, or one that has ended there and is held back. */
struct fault_slot {
    struct stria_io io; /* as the caller gave it */
    enum fault_kind kind;
    uint64_t release_ns;    /* not to end before; NEVER: not at all */
    struct stria_done done; /* how it will end, while it is held */
    bool inside;            /* inner has it */
    bool held;              /* inner has ended it */
};

struct fault_drive {
    struct stria_drive drive;
    struct stria_drive *inner;
    struct fault_script script;
    struct stria_random random;
    uint64_t opened_ns;
    bool gone;
    uint32_t under_way; /* accepted and not polled */
    uint32_t inside;    /* in inner */
    struct stria_done_queue ready;
    struct fault_slot slots[STRIA_DEPTH_MAX];
    struct stria_bell bell;
    _Atomic bool woken;
};

static const struct stria_backend fault_backend;

static void note_faults(struct fault_drive *fault)
{
    if (fault->script.rule_count)
        stria_traits_note(&fault->drive.traits, "faults are injected");
}

int stria_fault_wrap(struct stria_drive *inner, const char *script, uint64_t seed, struct stria_drive **out,
                     struct stria_trouble *trouble)
{
    struct fault_drive *fault = calloc(1, sizeof(*fault));
    if (!fault)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", inner->traits.path);
    struct stria_trouble rule = {0};
    int code = fault_script_parse(script, &fault->script, &rule);
    if (code < 0) {
        free(fault);
        return stria_trouble_set(trouble, code, "%s: %s", inner->traits.path, rule.sentence);
    }
    fault->drive.backend = &fault_backend;
    fault->drive.traits = inner->traits;
    fault->drive.traits.digests = false;
    fault->inner = inner;
    note_faults(fault);
    fault->opened_ns = stria_clock_ns();
    stria_random_seed(&fault->random, seed);
    *out = &fault->drive;
    return STRIA_OK;
}

static int fault_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct fault_drive *fault = (struct fault_drive *)drive;
    int code = fault->inner->backend->attach(fault->inner, regions, count);
    drive->traits.registered = fault->inner->traits.registered;
    memcpy(drive->traits.note, fault->inner->traits.note, sizeof(drive->traits.note));
    note_faults(fault);
    return code;
}

static uint64_t blocks_down(const struct fault_drive *fault, uint64_t bytes)
{
    return bytes - bytes % fault->drive.traits.block_bytes;
}

/* Where a misdirected request goes: onwards, or back where the drive ends; nowhere else on a tiny drive. */
static uint64_t misdirected(const struct fault_drive *fault, const struct stria_io *io, uint64_t distance)
{
    distance = blocks_down(fault, distance);
    if (!distance)
        distance = fault->drive.traits.block_bytes;
    const uint64_t room = fault->drive.traits.drive_bytes - io->offset - io->length;
    if (distance <= room)
        return io->offset + distance;
    return distance <= io->offset ? io->offset - distance : io->offset;
}

static void ready_put(struct fault_drive *fault, const struct stria_io *io, int code, uint64_t bytes)
{
    const struct stria_done done = {.tag = io->tag, .code = code, .bytes = bytes};
    stria_done_queue_put(&fault->ready, &done);
}

static uint64_t bytes_promised(const struct stria_io *io)
{
    return io->op == STRIA_IO_READ || io->op == STRIA_IO_WRITE ? io->length : 0;
}

/* The drive is gone: what was held back ends now, what is inside when inner lets go of it. */
static void go(struct fault_drive *fault)
{
    fault->gone = true;
    for (uint32_t i = 0; i < STRIA_DEPTH_MAX; i++)
        if (fault->slots[i].held) {
            fault->slots[i].held = false;
            ready_put(fault, &fault->slots[i].io, STRIA_ERR_GONE, 0);
        }
}

static uint32_t slot_free(const struct fault_drive *fault)
{
    uint32_t index = 0;
    while (fault->slots[index].inside || fault->slots[index].held)
        index++;
    return index;
}

/* Hands a request to inner, changed as the rule says. */
static int pass_on(struct fault_drive *fault, const struct stria_io *io, const struct fault_rule *rule)
{
    const uint32_t index = slot_free(fault);
    struct fault_slot *slot = &fault->slots[index];
    *slot = (struct fault_slot){.io = *io, .kind = rule ? rule->kind : FAULT_NONE};
    struct stria_io changed = *io;
    changed.tag = index;
    changed.digest_wanted = false;
    if (slot->kind == FAULT_SHORT || slot->kind == FAULT_TORN)
        changed.length = blocks_down(fault, rule->amount < io->length ? rule->amount : io->length);
    if (slot->kind == FAULT_MISDIRECT)
        changed.offset = misdirected(fault, io, rule->amount);
    if (slot->kind == FAULT_STALL)
        slot->release_ns = stria_clock_ns() + rule->amount;
    if (slot->kind == FAULT_LOST)
        slot->release_ns = NEVER;
    if (changed.length == 0 && io->length > 0) {
        ready_put(fault, io, STRIA_OK, slot->kind == FAULT_TORN ? io->length : 0);
        return STRIA_OK;
    }
    int code = fault->inner->backend->submit(fault->inner, &changed);
    slot->inside = code == STRIA_OK;
    fault->inside += code == STRIA_OK;
    return code;
}

static int fault_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct fault_drive *fault = (struct fault_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    if (fault->under_way == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    const struct fault_rule *rule =
        fault->gone
            ? NULL
            : fault_script_strike(&fault->script, io, stria_clock_ns() - fault->opened_ns, &fault->random);
    if (rule && rule->kind == FAULT_GONE)
        go(fault);
    if (fault->gone)
        ready_put(fault, io, STRIA_ERR_GONE, 0);
    else if (rule && rule->kind == FAULT_FAIL)
        ready_put(fault, io, rule->code, 0);
    else if (rule && rule->kind == FAULT_IGNORED)
        ready_put(fault, io, STRIA_OK, bytes_promised(io));
    else
        code = pass_on(fault, io, rule);
    fault->under_way += code == STRIA_OK;
    return code;
}

/* Inner has ended the request of a slot. */
static void slot_end(struct fault_drive *fault, const struct stria_done *inner)
{
    struct fault_slot *slot = &fault->slots[inner->tag];
    slot->inside = false;
    fault->inside--;
    slot->done = *inner;
    slot->done.tag = slot->io.tag;
    if (inner->code == STRIA_OK && slot->kind == FAULT_TORN)
        slot->done.bytes = slot->io.length;
    if (fault->gone)
        slot->done = (struct stria_done){.tag = slot->io.tag, .code = STRIA_ERR_GONE};
    slot->held = !fault->gone && slot->release_ns > 0;
    if (!slot->held)
        stria_done_queue_put(&fault->ready, &slot->done);
}

/* Lets go of what was held back long enough; returns when the next one is due. */
static uint64_t held_release(struct fault_drive *fault, uint64_t now_ns)
{
    uint64_t next_ns = NEVER;
    for (uint32_t i = 0; i < STRIA_DEPTH_MAX; i++) {
        struct fault_slot *slot = &fault->slots[i];
        if (!slot->held)
            continue;
        if (slot->release_ns <= now_ns) {
            slot->held = false;
            stria_done_queue_put(&fault->ready, &slot->done);
        } else if (slot->release_ns < next_ns) {
            next_ns = slot->release_ns;
        }
    }
    return next_ns;
}

/* Collects from inner, waiting there while it has something, and at our own bell while it has not. */
static int collect(struct fault_drive *fault, uint64_t wait_ns, uint32_t ticket)
{
    if (!fault->inside) {
        if (wait_ns && !atomic_load(&fault->woken))
            stria_bell_wait(&fault->bell, ticket, wait_ns);
        return 0;
    }
    struct stria_done done[BATCH_MAX];
    int count = fault->inner->backend->poll(fault->inner, done, BATCH_MAX, wait_ns);
    for (int i = 0; i < count; i++)
        slot_end(fault, &done[i]);
    return count;
}

static int fault_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct fault_drive *fault = (struct fault_drive *)drive;
    uint64_t now_ns = stria_clock_ns();
    const uint64_t deadline_ns = wait_ns < NEVER - now_ns ? now_ns + wait_ns : NEVER;
    unsigned count = 0;
    int code = collect(fault, 0, 0);
    for (;;) {
        uint32_t ticket = stria_bell_listen(&fault->bell);
        now_ns = stria_clock_ns();
        uint64_t next_ns = held_release(fault, now_ns);
        count = stria_done_queue_take(&fault->ready, done, max);
        const bool woken = wait_ns && count == 0 && atomic_exchange(&fault->woken, false);
        if (count > 0 || code < 0 || woken || now_ns >= deadline_ns)
            break;
        code = collect(fault, (next_ns < deadline_ns ? next_ns : deadline_ns) - now_ns, ticket);
    }
    fault->under_way -= count;
    return count > 0 ? (int)count : code < 0 ? code : 0;
}

static void fault_wake(struct stria_drive *drive)
{
    struct fault_drive *fault = (struct fault_drive *)drive;
    atomic_store(&fault->woken, true);
    stria_bell_ring(&fault->bell);
    if (fault->inner->backend->wake)
        fault->inner->backend->wake(fault->inner);
}

static int fault_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                      char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return stria_drive_lock(((struct fault_drive *)drive)->inner, number, how, holder);
}

static void fault_close(struct stria_drive *drive)
{
    struct fault_drive *fault = (struct fault_drive *)drive;
    fault->inner->backend->close(fault->inner);
    free(fault);
}

static bool claims_nothing(const char *path)
{
    (void)path;
    return false;
}

static const struct stria_backend fault_backend = {
    .name = "fault",
    .claims = claims_nothing,
    .attach = fault_attach,
    .submit = fault_submit,
    .poll = fault_poll,
    .wake = fault_wake,
    .lock = fault_lock,
    .close = fault_close,
};
