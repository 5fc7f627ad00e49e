#include "core/verifier.h"

#include "core/code.h"
#include "core/digest.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK     (64u << 10)
#define DRIVES    3u
#define DEPTH     4u
#define CHUNKS    40u /* of the stream */
#define PER_DRIVE 32u
#define DEADLINE  1000000000ull
#define FINDINGS  128u

/* Drives in memory with one recording on them, chunk k on drive k mod DRIVES, and what goes wrong. */
struct world {
    struct stria_geometry geometry;
    uint8_t *media[DRIVES]; /* PER_DRIVE chunks each: the data area alone */
    struct stria_map_extent extents[2 * CHUNKS];
    struct stria_map map;
    struct stria_verifier_recording recording;
    struct stria_verifier_counts counts;
    struct stria_verifier_item items[DRIVES][CHUNKS];
    struct stria_verifier *verifier;
    uint8_t *buffers;
    uint64_t now_ns;
    struct stria_finding findings[FINDINGS];
    uint32_t finding_count;
    struct stria_verifier_action queue[1024]; /* reads under way, oldest first */
    uint32_t queued;
    uint32_t in_flight[DRIVES], in_flight_max[DRIVES];
    bool gave_up[DRIVES];
    int gave_up_code;
    bool finished;

    bool silent[DRIVES];     /* never answers */
    int code[DRIVES];        /* answers with this */
    uint32_t agains;         /* so many answers are AGAIN */
    uint32_t short_bytes;    /* no answer brings more */
    uint64_t transfer_bytes; /* largest read; zero: any */
    uint64_t reads;
};

static uint8_t *payload(struct world *world, uint32_t chunk)
{
    const struct stria_map_extent *extent = &world->extents[chunk];
    return world->media[extent->drive] + (size_t)extent->position * CHUNK;
}

static struct world *world_make(void)
{
    struct world *world = calloc(1, sizeof(*world));
    uint64_t bytes = 64ull << 20;
    cr_assert(stria_geometry_plan(&world->geometry, bytes, CHUNK, 512) == STRIA_OK);
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        world->media[drive] = calloc(PER_DRIVE, CHUNK);
    world->recording = (struct stria_verifier_recording){.id = 7, .map = &world->map};
    uint32_t last_bytes = CHUNK / 2 + 100;
    for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
        struct stria_map_extent *extent = &world->extents[chunk];
        *extent = (struct stria_map_extent){
            .sequence = chunk,
            .stream_offset = (uint64_t)chunk * CHUNK,
            .position = 2 + chunk / DRIVES,
            .drive = (uint16_t)(chunk % DRIVES),
            .length_bytes = chunk == CHUNKS - 1 ? last_bytes : CHUNK,
        };
        for (uint32_t at = 0; at < extent->length_bytes; at++)
            payload(world, chunk)[at] = (uint8_t)(chunk * 31 + at * 7 + at / 251);
        extent->digest =
            stria_digest_seeded(stria_digest_seed(7, chunk), payload(world, chunk), extent->length_bytes);
    }
    world->map = (struct stria_map){
        .length_bytes = (uint64_t)(CHUNKS - 1) * CHUNK + last_bytes,
        .chunk_bytes = CHUNK,
        .chunk_count = CHUNKS,
        .sequence_count = CHUNKS,
        .extents = world->extents,
        .extent_count = CHUNKS,
        .chunks_stored = CHUNKS,
        .stored_bytes = (uint64_t)(CHUNKS - 1) * CHUNK + last_bytes,
    };
    return world;
}

static void world_free(struct world *world)
{
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        free(world->media[drive]);
    free(world->verifier);
    free(world->buffers);
    free(world);
}

/* Takes the extent of a chunk out of the map, as if its ledger entry were gone. */
static void forget(struct world *world, uint32_t chunk)
{
    memmove(&world->extents[chunk], &world->extents[chunk + 1],
            (world->map.extent_count - chunk - 1) * sizeof(world->extents[0]));
    world->map.extent_count--;
    world->map.chunks_stored--;
    world->map.chunks_missing++;
    world->map.stored_bytes -= CHUNK;
}

/* Gives the first chunk a second place, on another drive. */
static void double_first(struct world *world)
{
    memmove(&world->extents[1], &world->extents[0], world->map.extent_count * sizeof(world->extents[0]));
    world->map.extent_count++;
    world->extents[1].drive = 2;
    world->extents[1].position = 0;
    memcpy(world->media[2], world->media[0] + 2ul * CHUNK, CHUNK);
}

static void step(struct world *world, struct stria_verifier_event event);

static void check(struct world *world, const struct stria_verifier_action *action)
{
    const uint8_t *data = world->buffers + (size_t)action->buffer * CHUNK;
    struct stria_verifier_event event = {
        .kind = STRIA_VERIFIER_EVENT_CHECKED, .tag = action->tag, .zero = true};
    event.digest = stria_digest_seeded(action->digest_seed, data, action->digest_bytes);
    for (uint64_t at = 0; at < action->digest_bytes; at++)
        event.zero &= data[at] == 0;
    step(world, event);
}

static void carry_out(struct world *world, const struct stria_verifier_action *action)
{
    switch (action->kind) {
    case STRIA_VERIFIER_ACTION_READ:
        cr_assert(action->drive < DRIVES && !world->gave_up[action->drive]);
        cr_assert(action->buffer < DEPTH * DRIVES + 1 && action->tag >> 48 == 0);
        cr_assert(action->offset % 512 == 0 && action->length_bytes % 512 == 0 && action->length_bytes > 0);
        cr_assert(action->buffer_offset + action->length_bytes <= CHUNK);
        cr_assert(!world->transfer_bytes || action->length_bytes <= world->transfer_bytes);
        world->queue[world->queued++] = *action;
        world->reads++;
        if (++world->in_flight[action->drive] > world->in_flight_max[action->drive])
            world->in_flight_max[action->drive] = world->in_flight[action->drive];
        break;
    case STRIA_VERIFIER_ACTION_CHECK:
        check(world, action);
        break;
    case STRIA_VERIFIER_ACTION_FINDING:
        cr_assert(world->finding_count < FINDINGS);
        world->findings[world->finding_count++] = action->finding;
        break;
    case STRIA_VERIFIER_ACTION_GIVE_UP:
        world->gave_up[action->drive] = true;
        world->gave_up_code = action->code;
        break;
    case STRIA_VERIFIER_ACTION_FINISHED:
        cr_assert(!world->finished);
        world->finished = true;
        break;
    }
}

static void step(struct world *world, struct stria_verifier_event event)
{
    struct stria_verifier_actions actions;
    do {
        event.now_ns = world->now_ns;
        stria_verifier_step(world->verifier, &event, &actions);
        for (uint32_t index = 0; index < actions.count; index++)
            carry_out(world, &actions.list[index]);
        event = (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_TICK};
    } while (actions.more);
}

static void answer(struct world *world, const struct stria_verifier_action *action)
{
    struct stria_verifier_event event = {.kind = STRIA_VERIFIER_EVENT_DONE, .tag = action->tag};
    uint8_t *to = world->buffers + (size_t)action->buffer * CHUNK;
    world->in_flight[action->drive]--;
    event.code = world->code[action->drive];
    if (event.code == STRIA_OK && world->agains > 0) {
        world->agains--;
        event.code = STRIA_ERR_AGAIN;
    }
    if (event.code == STRIA_OK) {
        event.bytes = action->length_bytes;
        if (world->short_bytes && event.bytes > world->short_bytes)
            event.bytes = world->short_bytes;
        memcpy(to + action->buffer_offset,
               world->media[action->drive] + (action->offset - world->geometry.data_offset), event.bytes);
        if (action->digest_wanted && event.bytes == action->length_bytes)
            event.digest = stria_digest_seeded(action->digest_seed, to, action->digest_bytes);
    }
    step(world, event);
}

/* Answers the oldest read of a drive that answers; else lets time pass. */
static void turn(struct world *world)
{
    for (uint32_t index = 0; index < world->queued; index++) {
        struct stria_verifier_action action = world->queue[index];
        if (world->silent[action.drive])
            continue;
        memmove(&world->queue[index], &world->queue[index + 1],
                (--world->queued - index) * sizeof(world->queue[0]));
        answer(world, &action);
        return;
    }
    uint64_t due_ns = stria_verifier_due_ns(world->verifier);
    cr_assert(due_ns != UINT64_MAX, "nothing is under way and nothing is due");
    world->now_ns = due_ns > world->now_ns ? due_ns : world->now_ns;
    step(world, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_TICK});
}

static void begin(struct world *world)
{
    struct stria_verifier_drive drives[DRIVES];
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        drives[drive] = (struct stria_verifier_drive){
            .geometry = &world->geometry,
            .items = world->items[drive],
            .item_count = stria_verifier_items(&world->recording, 1, drive, world->items[drive]),
            .transfer_bytes_max = world->transfer_bytes ? world->transfer_bytes : 64u << 20,
            .depth = DEPTH,
            .present = true,
        };
    const struct stria_verifier_config config = {
        .drive_count = DRIVES,
        .drives = drives,
        .recording_count = 1,
        .recordings = &world->recording,
        .counts = &world->counts,
        .deadline_ns = DEADLINE,
    };
    cr_assert(stria_verifier_buffers(&config) == DRIVES * DEPTH + 1);
    world->buffers = calloc(DRIVES * DEPTH + 1, CHUNK);
    world->verifier = stria_verifier_init(malloc(stria_verifier_memory_bytes(&config)), &config);
    world->now_ns = 1;
    step(world, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_BEGIN});
}

static void run(struct world *world)
{
    begin(world);
    while (!world->finished)
        turn(world);
    const struct stria_verifier_counts *counts = &world->counts;
    cr_expect(counts->extents == counts->ok + counts->corrupt + counts->missing + counts->misplaced);
    struct stria_verifier_status status;
    stria_verifier_status(world->verifier, &status);
    cr_expect(status.bytes == status.bytes_total && status.findings == world->finding_count);
}

static void expect_finding(const struct world *world, uint32_t chunk, enum stria_verdict verdict)
{
    cr_assert(world->finding_count == 1, "there are %u findings", world->finding_count);
    const struct stria_finding *finding = &world->findings[0];
    cr_expect(finding->verdict == verdict, "%s", stria_verdict_text(finding->verdict));
    cr_expect(finding->stream_offset == (uint64_t)chunk * CHUNK && finding->length_bytes == CHUNK);
    if (verdict == STRIA_VERDICT_MISSING)
        return;
    cr_expect(finding->drive == chunk % DRIVES);
    cr_expect(finding->drive_offset == world->geometry.data_offset + (2 + chunk / DRIVES) * CHUNK);
}

Test(verifier, what_is_whole_is_ok)
{
    struct world *world = world_make();
    run(world);
    cr_expect(world->counts.ok == CHUNKS && world->counts.extents == CHUNKS && world->finding_count == 0);
    cr_expect(world->counts.bytes == world->map.stored_bytes && world->counts.gap_bytes == 0);
    cr_expect(world->reads == CHUNKS);
    world_free(world);
}

Test(verifier, every_drive_is_kept_at_its_depth_from_the_start)
{
    struct world *world = world_make();
    begin(world);
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        cr_expect(world->in_flight[drive] == DEPTH);
    while (!world->finished)
        turn(world);
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        cr_expect(world->in_flight_max[drive] == DEPTH);
    world_free(world);
}

Test(verifier, one_wrong_bit_is_corrupt)
{
    struct world *world = world_make();
    payload(world, 11)[CHUNK - 1] ^= 1;
    run(world);
    expect_finding(world, 11, STRIA_VERDICT_CORRUPT);
    cr_expect(world->counts.corrupt == 1 && world->counts.stale == 0 && world->counts.ok == CHUNKS - 1);
    world_free(world);
}

Test(verifier, what_was_never_written_is_stale)
{
    struct world *world = world_make();
    memset(payload(world, 12), 0, CHUNK);
    run(world);
    expect_finding(world, 12, STRIA_VERDICT_STALE);
    cr_expect(world->counts.corrupt == 1 && world->counts.stale == 1);
    world_free(world);
}

static void expect_swapped(uint32_t a, uint32_t b)
{
    struct world *world = world_make();
    uint8_t *kept = malloc(CHUNK);
    memcpy(kept, payload(world, a), CHUNK);
    memcpy(payload(world, a), payload(world, b), CHUNK);
    memcpy(payload(world, b), kept, CHUNK);
    free(kept);
    run(world);
    cr_assert(world->finding_count == 2 && world->counts.misplaced == 2);
    for (uint32_t index = 0; index < 2; index++) {
        const struct stria_finding *finding = &world->findings[index];
        uint64_t other = finding->stream_offset == (uint64_t)a * CHUNK ? b : a;
        cr_expect(finding->verdict == STRIA_VERDICT_MISPLACED);
        cr_expect(finding->other_stream_offset == other * CHUNK);
    }
    world_free(world);
}

Test(verifier, chunks_that_changed_places_are_misplaced)
{
    expect_swapped(6, 9);   /* on one drive, side by side */
    expect_swapped(6, 15);  /* on one drive, three apart */
    expect_swapped(13, 14); /* on two drives */
}

Test(verifier, a_chunk_without_an_extent_is_missing)
{
    struct world *world = world_make();
    forget(world, 5);
    run(world);
    expect_finding(world, 5, STRIA_VERDICT_MISSING);
    cr_expect(world->counts.missing == 1 && world->counts.extents == CHUNKS && world->counts.gap_bytes == 0);
    world_free(world);
}

Test(verifier, a_known_gap_is_no_finding)
{
    struct world *world = world_make();
    world->map.extent_count = 5;
    world->map.sequence_count = 5;
    world->map.chunks_stored = 5;
    world->map.stored_bytes = 5ull * CHUNK;
    world->map.chunks_gap = CHUNKS - 5;
    run(world);
    cr_expect(world->finding_count == 0 && world->counts.ok == 5);
    cr_expect(world->counts.gap_bytes == world->map.length_bytes - 5ull * CHUNK);
    world_free(world);
}

Test(verifier, a_short_answer_and_again_are_no_damage)
{
    struct world *world = world_make();
    world->short_bytes = CHUNK / 4 + 700;
    world->agains = 25;
    run(world);
    cr_expect(world->counts.ok == CHUNKS && world->finding_count == 0);
    world_free(world);
}

Test(verifier, a_drive_with_small_transfers_is_read_in_pieces)
{
    struct world *world = world_make();
    world->transfer_bytes = CHUNK / 4;
    payload(world, 20)[3] ^= 0x80;
    run(world);
    expect_finding(world, 20, STRIA_VERDICT_CORRUPT);
    world_free(world);
}

Test(verifier, a_drive_that_reports_errors_is_unreadable_and_the_others_are_read)
{
    struct world *world = world_make();
    world->code[1] = STRIA_ERR_IO;
    run(world);
    uint32_t lost = CHUNKS / DRIVES;
    cr_expect(world->counts.unreadable == lost && world->counts.ok == CHUNKS - lost);
    cr_expect(world->finding_count == lost && world->findings[0].code == STRIA_ERR_IO);
    cr_expect(!world->gave_up[1]);
    world_free(world);
}

Test(verifier, a_drive_that_dies_is_given_up_and_counts_as_unreadable)
{
    struct world *world = world_make();
    begin(world);
    turn(world);
    world->code[2] = STRIA_ERR_GONE;
    while (!world->finished)
        turn(world);
    uint32_t lost = CHUNKS / DRIVES;
    cr_expect(world->gave_up[2] && world->gave_up_code == STRIA_ERR_GONE);
    cr_expect(world->counts.unreadable == lost && world->counts.ok == CHUNKS - lost);
    world_free(world);
}

Test(verifier, a_drive_that_hangs_is_given_up_at_its_deadline_and_blocks_nobody)
{
    struct world *world = world_make();
    world->silent[0] = true;
    begin(world);
    uint32_t hung = (CHUNKS + DRIVES - 1) / DRIVES;
    while (world->counts.ok < CHUNKS - hung)
        turn(world);
    cr_expect(world->now_ns == 1 && !world->finished, "the others waited");
    while (!world->finished)
        turn(world);
    cr_expect(world->now_ns == 1 + DEADLINE && world->gave_up[0]);
    cr_expect(world->gave_up_code == STRIA_ERR_TIMEOUT && world->counts.unreadable == hung);
    world->silent[0] = false;
    while (world->queued > 0)
        turn(world);
    cr_expect(world->counts.ok == CHUNKS - hung, "a late answer counted");
    world_free(world);
}

Test(verifier, one_good_place_among_several_is_enough)
{
    struct world *world = world_make();
    double_first(world);
    world->media[0][2ul * CHUNK] ^= 1;
    run(world);
    cr_expect(world->finding_count == 0 && world->counts.ok == CHUNKS && world->counts.extents == CHUNKS);
    world_free(world);
}

Test(verifier, time_in_which_nobody_looked_counts_against_no_drive)
{
    struct world *world = world_make();
    begin(world);
    for (unsigned turns = 0; !world->finished; turns++) {
        if (turns % (2 * DEPTH * DRIVES) == 1)
            world->now_ns += 10 * DEADLINE;
        turn(world);
    }
    cr_expect(world->counts.ok == CHUNKS);
    for (uint32_t drive = 0; drive < DRIVES; drive++)
        cr_expect(!world->gave_up[drive]);
    world_free(world);
}

Test(verifier, a_second_place_stands_in_for_a_drive_that_hangs)
{
    struct world *world = world_make();
    double_first(world);
    world->silent[0] = true;
    run(world);
    cr_expect(world->counts.ok == CHUNKS - (CHUNKS + DRIVES - 1) / DRIVES + 1);
    for (uint32_t index = 0; index < world->finding_count; index++)
        cr_expect(world->findings[index].stream_offset != 0);
    world_free(world);
}

Test(verifier, a_chunk_that_is_bad_in_all_places_is_told_once_and_of_the_first)
{
    struct world *world = world_make();
    double_first(world);
    world->media[0][2ul * CHUNK] ^= 1;
    world->media[2][5] ^= 1;
    run(world);
    expect_finding(world, 0, STRIA_VERDICT_CORRUPT);
    world_free(world);
}

Test(verifier, stopping_ends_with_what_is_in_flight)
{
    struct world *world = world_make();
    begin(world);
    turn(world);
    step(world, (struct stria_verifier_event){.kind = STRIA_VERIFIER_EVENT_STOP});
    uint64_t reads = world->reads;
    while (!world->finished)
        turn(world);
    cr_expect(world->reads == reads && world->counts.ok == reads && world->queued == 0);
    world_free(world);
}

Test(verifier, every_chunk_of_a_rotten_drive_is_told)
{
    struct world *world = world_make();
    for (uint32_t at = 0; at < PER_DRIVE * CHUNK; at++)
        world->media[1][at] ^= 0xff;
    run(world);
    cr_expect(world->counts.corrupt == CHUNKS / DRIVES && world->finding_count == CHUNKS / DRIVES);
    world_free(world);
}

Test(verifier, verdicts_have_their_words)
{
    cr_expect_str_eq(stria_verdict_text(STRIA_VERDICT_OK), "ok");
    cr_expect_str_eq(stria_verdict_text(STRIA_VERDICT_UNREADABLE), "unreadable");
    cr_expect_str_eq(stria_verdict_text(99), "unknown");
}
