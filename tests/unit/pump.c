#include "engine/pump.h"

#include "tests/unit/recorder_help.h"

#define SLOTS 128u
#define DEPTH 64u

/* A drive that takes nothing until it is told to, and then does everything at once. */
struct stubborn {
    struct stria_drive base;
    bool refuses;
    int code; /* of a refusal */
    struct stria_done done[DEPTH + 1];
    uint32_t count;
};

static int stubborn_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct stubborn *stubborn = (struct stubborn *)drive;
    if (stubborn->refuses)
        return stubborn->code;
    cr_assert_lt(stubborn->count, DEPTH + 1);
    stubborn->done[stubborn->count++] = (struct stria_done){.tag = io->tag, .bytes = io->length};
    return STRIA_OK;
}

static int stubborn_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct stubborn *stubborn = (struct stubborn *)drive;
    uint32_t count = stubborn->count < max ? stubborn->count : max;
    (void)wait_ns;
    memcpy(done, stubborn->done + stubborn->count - count, count * sizeof(*done));
    stubborn->count -= count;
    return (int)count;
}

static const struct stria_backend backend = {
    .name = "stubborn", .submit = stubborn_submit, .poll = stubborn_poll};

static struct stubborn drives[HELP_DRIVES];
static struct stria_pump *pump;
static struct help *help;
static uint32_t given_up;

static void on_gave_up(void *context, uint32_t drive, int code)
{
    (void)context;
    (void)drive;
    (void)code;
    given_up++;
}

static void feed(struct stria_event event)
{
    event.now_ns = help->now_ns;
    stria_pump_feed(pump, &event);
    cr_assert(stria_recorder_sound(help->recorder));
}

static void poll_all(void)
{
    while (stria_pump_poll(pump, help->now_ns) > 0)
        ;
}

/* A recording under way, to which both drives have just begun to be stubborn. */
static void start(int code)
{
    help = help_new(STRIA_POLICY_ADAPTIVE);
    struct stria_recorder_config config = {
        .drive_count = HELP_DRIVES,
        .drives = help->drives,
        .catalogue = &help->catalogue,
        .policy = STRIA_POLICY_ADAPTIVE,
        .recording = 1,
        .name = "test",
        .chunk_bytes = HELP_CHUNK,
        .block_bytes = 4096,
        .slot_count = SLOTS,
        .window_chunks = 1024,
        .commit_interval_ns = HELP_INTERVAL,
        .deadline_ns = HELP_DEADLINE,
    };
    static struct stria_drive *bases[HELP_DRIVES];
    static void *slot_data[SLOTS];
    for (uint32_t index = 0; index < HELP_DRIVES; index++) {
        uint64_t extents = 8 * DEPTH;
        uint64_t bytes = stria_geometry_drive_bytes_min(HELP_CHUNK) + extents * HELP_CHUNK;
        struct stria_geometry geometry;
        cr_assert_eq(stria_geometry_plan(&geometry, bytes, HELP_CHUNK, 4096), STRIA_OK);
        help->drives[index].geometry = geometry;
        help->drives[index].ledger = help_memory(geometry.ledger_bytes, false);
        help->drives[index].extent_state = help_memory(geometry.extent_count, false);
        help->drives[index].depth = DEPTH;
        drives[index] = (struct stubborn){.base = {.backend = &backend}, .code = code};
        bases[index] = &drives[index].base;
    }
    help->recorder = stria_recorder_init(help_memory(stria_recorder_memory_bytes(&config), false), &config);
    struct stria_pump_config pump_config = {.recorder = help->recorder,
                                            .drive_count = HELP_DRIVES,
                                            .drives = bases,
                                            .slot_count = SLOTS,
                                            .slot_data = slot_data,
                                            .listener = {.gave_up = on_gave_up}};
    pump = stria_pump_init(help_memory(stria_pump_memory_bytes(&pump_config), false), &pump_config);
    feed((struct stria_event){.kind = STRIA_EVENT_BEGIN});
    poll_all();
    cr_assert(stria_recorder_accepts(help->recorder));
    drives[0].refuses = drives[1].refuses = true;
}

Test(pump, any_number_of_requests_may_find_no_room)
{
    start(STRIA_ERR_FULL);
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        feed((struct stria_event){.kind = STRIA_EVENT_COMMIT, .slot = slot, .length_bytes = HELP_CHUNK});
    for (int turn = 0; turn < 5; turn++) {
        help->now_ns += 2000000;
        feed((struct stria_event){.kind = STRIA_EVENT_TICK});
    }
    drives[0].refuses = drives[1].refuses = false;
    for (int turn = 0; turn < 5; turn++) {
        help->now_ns += 2000000;
        feed((struct stria_event){.kind = STRIA_EVENT_TICK});
        poll_all();
    }
    cr_assert_eq(help_status(help).stored_bytes, (uint64_t)SLOTS * HELP_CHUNK);
    cr_assert_eq(given_up, 0);
}

Test(pump, a_drive_that_refuses_for_good_is_given_up_once)
{
    start(STRIA_ERR_GONE);
    drives[1].refuses = false;
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        feed((struct stria_event){.kind = STRIA_EVENT_COMMIT, .slot = slot, .length_bytes = HELP_CHUNK});
        poll_all();
    }
    cr_assert_eq(given_up, 1);
    cr_assert_eq(help_status(help).stored_bytes, (uint64_t)SLOTS * HELP_CHUNK);
}
