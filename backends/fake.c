#include "backends/fake.h"

#include "backends/done_queue.h"
#include "backends/fake_state.h"
#include "support/bell.h"
#include "support/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define NEVER            UINT64_MAX
#define BATCH_MAX        32u
#define TIMER_SLACK_NS   1ul
#define SAVE_INTERVAL_NS STRIA_NS_PER_S

/* A request on its way: inside the drive below, or ended there and not yet due. */
struct fake_slot {
    bool inside;
    bool held;
    uint64_t due_ns;        /* when the model ends it */
    uint64_t tag;           /* the caller's */
    struct stria_done done; /* how it will end, while it is held */
};

struct fake_drive {
    struct stria_drive drive;
    struct stria_drive *inner;
    uint32_t inside;
    uint32_t held;
    bool precise; /* the thread's timers are */
    bool stale;   /* the model has moved since it was stored */
    uint64_t save_due_ns;
    struct stria_bell bell;
    _Atomic bool woken;
    struct fake_state state; /* closed where the drive is not to be kept */
    struct stria_model model;
    uint32_t order_count;           /* slots in use … */
    uint8_t order[STRIA_DEPTH_MAX]; /* … first those in use, then the free ones */
    struct fake_slot slots[STRIA_DEPTH_MAX];
};

_Static_assert(STRIA_DEPTH_MAX <= UINT8_MAX + 1, "a slot's number fits a byte");

static const struct stria_backend fake_backend;

static int open_state(struct fake_drive *fake, const char *path, struct stria_trouble *trouble)
{
    const bool read_only = fake->drive.traits.read_only;
    const uint64_t identity = fake_state_identity(fake->inner->traits.path);
    struct stria_trouble missing = {0};
    int code = fake_state_open(&fake->state, path, read_only, true, &missing);
    if (read_only && code == STRIA_ERR_NOT_FOUND)
        return STRIA_OK;
    if (code != STRIA_OK)
        return stria_trouble_set(trouble, code, "%s: %s", fake->inner->traits.path, missing.sentence);
    const bool same = fake->state.identity == identity || !fake->state.identity || !identity;
    if (fake->state.found &&
        !(same && stria_model_load(&fake->model, &fake->state.newest.state, stria_clock_ns())))
        stria_traits_note(&fake->drive.traits, "the stored state is that of another drive: begun anew");
    fake->state.identity = identity;
    return STRIA_OK;
}

int stria_fake_wrap(struct stria_drive *inner, const struct stria_model_parameters *parameters, uint64_t seed,
                    const char *state_path, struct stria_drive **out, struct stria_trouble *trouble)
{
    struct fake_drive *fake = calloc(1, sizeof(*fake));
    if (!fake)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", inner->traits.path);
    fake->drive.backend = &fake_backend;
    fake->drive.traits = inner->traits;
    fake->drive.traits.trims = true;
    fake->inner = inner;
    fake->state.fd = -1;
    for (unsigned i = 0; i < STRIA_DEPTH_MAX; i++)
        fake->order[i] = (uint8_t)i;
    stria_model_init(&fake->model, parameters, seed);
    stria_model_advance(&fake->model, stria_clock_ns());
    int code = state_path ? open_state(fake, state_path, trouble) : STRIA_OK;
    if (code != STRIA_OK) {
        free(fake);
        return code;
    }
    *out = &fake->drive;
    return STRIA_OK;
}

const struct stria_model *stria_fake_model(const struct stria_drive *drive)
{
    return drive->backend == &fake_backend ? &((const struct fake_drive *)drive)->model : NULL;
}

static int fake_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct fake_drive *fake = (struct fake_drive *)drive;
    int code = fake->inner->backend->attach(fake->inner, regions, count);
    drive->traits.registered = fake->inner->traits.registered;
    drive->traits.depth_max = fake->inner->traits.depth_max;
    if (fake->inner->traits.note[0])
        stria_traits_note(&drive->traits, "%s", fake->inner->traits.note);
    return code;
}

static uint64_t model_due_ns(struct fake_drive *fake, const struct stria_io *io, uint64_t now_ns)
{
    switch (io->op) {
    case STRIA_IO_READ:
        return stria_model_submit(&fake->model, now_ns, STRIA_MODEL_READ, io->offset, io->length);
    case STRIA_IO_WRITE:
        return stria_model_submit(&fake->model, now_ns, STRIA_MODEL_WRITE, io->offset, io->length);
    case STRIA_IO_FLUSH:
        return stria_model_submit(&fake->model, now_ns, STRIA_MODEL_FLUSH, 0, 0);
    case STRIA_IO_TRIM:
        break;
    }
    return stria_model_trim(&fake->model, now_ns, io->offset, io->length);
}

static int fake_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct fake_drive *fake = (struct fake_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    if (fake->order_count == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    /* Taken before inner, whose submission may block: that time is a part of the request's. */
    const uint64_t now_ns = stria_clock_ns();
    const uint8_t index = fake->order[fake->order_count];
    struct fake_slot *slot = &fake->slots[index];
    *slot = (struct fake_slot){.tag = io->tag};
    if (io->op == STRIA_IO_TRIM && !fake->inner->traits.trims) {
        slot->held = true;
        slot->done = (struct stria_done){.tag = io->tag};
    } else {
        struct stria_io below = *io;
        below.tag = index;
        code = fake->inner->backend->submit(fake->inner, &below);
        if (code != STRIA_OK)
            return code;
        slot->inside = true;
    }
    slot->due_ns = model_due_ns(fake, io, now_ns);
    fake->inside += slot->inside;
    fake->held += slot->held;
    fake->stale = true;
    fake->order_count++;
    return STRIA_OK;
}

/* Collects from inner without waiting, or for so long. */
static int collect(struct fake_drive *fake, uint64_t wait_ns)
{
    struct stria_done done[BATCH_MAX];
    int count = 0;
    do {
        count = fake->inner->backend->poll(fake->inner, done, BATCH_MAX, wait_ns);
        for (int i = 0; i < count; i++) {
            struct fake_slot *slot = &fake->slots[done[i].tag];
            slot->done = done[i];
            slot->done.tag = slot->tag;
            slot->inside = false;
            slot->held = true;
            fake->inside--;
            fake->held++;
        }
        wait_ns = 0;
    } while (count == (int)BATCH_MAX);
    return count < 0 ? count : 0;
}

/* The place in order of the held request that is due first, or order_count. */
static uint32_t first_held(const struct fake_drive *fake)
{
    uint32_t first = fake->order_count;
    uint64_t first_ns = NEVER;
    for (uint32_t i = 0; i < fake->order_count && fake->held; i++) {
        const struct fake_slot *slot = &fake->slots[fake->order[i]];
        if (slot->held && slot->due_ns < first_ns) {
            first = i;
            first_ns = slot->due_ns;
        }
    }
    return first;
}

/* Moves what is due into done, first due first; *next_ns is when the next one is. */
static unsigned release(struct fake_drive *fake, struct stria_done *done, unsigned max, uint64_t now_ns,
                        uint64_t *next_ns)
{
    unsigned count = 0;
    *next_ns = NEVER;
    while (count < max) {
        const uint32_t place = first_held(fake);
        if (place == fake->order_count)
            break;
        const uint8_t index = fake->order[place];
        struct fake_slot *slot = &fake->slots[index];
        if (slot->due_ns > now_ns) {
            *next_ns = slot->due_ns;
            break;
        }
        done[count++] = slot->done;
        slot->held = false;
        fake->held--;
        fake->order[place] = fake->order[--fake->order_count];
        fake->order[fake->order_count] = index;
    }
    return count;
}

static void save(struct fake_drive *fake, uint64_t now_ns)
{
    if (fake->state.fd < 0 || !fake->stale)
        return;
    stria_model_advance(&fake->model, now_ns);
    if (fake_state_save(&fake->state, &fake->model.state) != STRIA_OK)
        stria_traits_note(&fake->drive.traits, "the state of the fake drive could not be stored");
    fake->stale = false;
    fake->save_due_ns = now_ns + SAVE_INTERVAL_NS;
}

static int fake_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct fake_drive *fake = (struct fake_drive *)drive;
    uint64_t now_ns = stria_clock_ns();
    const uint64_t deadline_ns = wait_ns < NEVER - now_ns ? now_ns + wait_ns : NEVER;
    if (!fake->precise && wait_ns) {
        prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
        fake->precise = true;
    }
    if (now_ns >= fake->save_due_ns)
        save(fake, now_ns);
    int code = fake->inside ? collect(fake, 0) : 0;
    for (;;) {
        const uint32_t ticket = stria_bell_listen(&fake->bell);
        uint64_t next_ns;
        now_ns = stria_clock_ns();
        const unsigned count = release(fake, done, max, now_ns, &next_ns);
        const bool woken = wait_ns && count == 0 && atomic_exchange(&fake->woken, false);
        if (count > 0)
            return (int)count;
        if (code < 0 || woken || now_ns >= deadline_ns || fake->order_count == 0)
            return code;
        const uint64_t sleep_ns = (next_ns < deadline_ns ? next_ns : deadline_ns) - now_ns;
        if (fake->inside)
            code = collect(fake, sleep_ns);
        else
            stria_bell_wait(&fake->bell, ticket, sleep_ns);
    }
}

static void fake_wake(struct stria_drive *drive)
{
    struct fake_drive *fake = (struct fake_drive *)drive;
    atomic_store(&fake->woken, true);
    stria_bell_ring(&fake->bell);
    if (fake->inner->backend->wake)
        fake->inner->backend->wake(fake->inner);
}

static int fake_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                     char holder[STRIA_LOCK_HOLDER_BYTES])
{
    return stria_drive_lock(((struct fake_drive *)drive)->inner, number, how, holder);
}

static void fake_close(struct stria_drive *drive)
{
    struct fake_drive *fake = (struct fake_drive *)drive;
    fake->inner->backend->close(fake->inner);
    save(fake, stria_clock_ns());
    fake_state_close(&fake->state);
    free(fake);
}

static bool claims_nothing(const char *path)
{
    (void)path;
    return false;
}

static const struct stria_backend fake_backend = {
    .name = "fake",
    .claims = claims_nothing,
    .attach = fake_attach,
    .submit = fake_submit,
    .poll = fake_poll,
    .wake = fake_wake,
    .lock = fake_lock,
    .close = fake_close,
};
