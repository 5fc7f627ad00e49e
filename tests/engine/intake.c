#include "engine/intake.h"

#include "core/code.h"
#include "support/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 64u
#define WHOLE 2u /* bytes of a chunk */

static struct stria_bell pump_bell;

static struct stria_intake intake_of(uint32_t slots)
{
    struct stria_intake intake;
    cr_assert_eq(stria_intake_create(&intake, slots, WHOLE, &pump_bell), STRIA_OK);
    return intake;
}

static uint32_t acquired(struct stria_intake *intake)
{
    uint32_t slot;
    cr_assert_eq(stria_intake_acquire(intake, 0, &slot), STRIA_OK);
    return slot;
}

Test(intake, hands_the_slot_out_first_that_was_freed_last)
{
    struct stria_intake intake = intake_of(SLOTS);
    uint32_t slots[4];
    for (unsigned i = 0; i < 4; i++)
        slots[i] = acquired(&intake);
    stria_intake_release(&intake, slots[2]);
    stria_intake_release(&intake, slots[1]);
    cr_assert_eq(acquired(&intake), slots[1]);
    stria_intake_release(&intake, slots[0]);
    cr_assert_eq(acquired(&intake), slots[0]);
    cr_assert_eq(acquired(&intake), slots[2]);
    stria_intake_destroy(&intake);
}

Test(intake, gives_each_slot_to_one_holder_only)
{
    struct stria_intake intake = intake_of(SLOTS);
    bool held[SLOTS] = {false};
    uint32_t slot;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < SLOTS; i++) {
            slot = acquired(&intake);
            cr_assert(slot < SLOTS && !held[slot]);
            held[slot] = true;
            stria_intake_commit(&intake, slot, WHOLE, 0);
        }
        cr_assert_eq(stria_intake_acquire(&intake, 0, &slot), STRIA_ERR_TIMEOUT);
        for (struct stria_intake_item *item; (item = stria_intake_peek(&intake));) {
            held[item->slot] = false;
            stria_intake_release(&intake, item->slot);
            stria_intake_take(&intake);
        }
    }
    stria_intake_destroy(&intake);
}

struct waiter {
    struct stria_intake *intake;
    int code;
    _Atomic bool waits;
};

static void *wait_for_slot(void *context)
{
    struct waiter *waiter = context;
    uint32_t slot;
    atomic_store(&waiter->waits, true);
    waiter->code = stria_intake_acquire(waiter->intake, 20 * STRIA_NS_PER_S, &slot);
    return NULL;
}

Test(intake, lets_a_producer_on_for_a_single_slot_too)
{
    struct stria_intake intake = intake_of(SLOTS);
    for (unsigned i = 0; i < SLOTS; i++)
        acquired(&intake);
    struct waiter waiter = {.intake = &intake};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, wait_for_slot, &waiter), 0);
    while (!atomic_load(&waiter.waits) || !atomic_load(&intake.freed.sleepers))
        continue;
    const uint64_t start_ns = stria_clock_ns();
    stria_intake_release(&intake, 7);
    pthread_join(thread, NULL);
    cr_assert_eq(waiter.code, STRIA_OK);
    cr_assert_lt(stria_clock_ns() - start_ns, 10 * STRIA_NS_PER_S);
    stria_intake_destroy(&intake);
}

Test(intake, rings_for_a_commit_only_while_the_pump_has_use_for_it)
{
    struct stria_intake intake = intake_of(SLOTS);
    stria_intake_hurry(&intake, false);
    uint32_t ticket = stria_bell_listen(&pump_bell);
    stria_intake_commit(&intake, acquired(&intake), WHOLE, 0);
    cr_assert_eq(stria_bell_listen(&pump_bell), ticket);
    cr_assert_not_null(stria_intake_peek(&intake));
    stria_intake_hurry(&intake, true);
    stria_intake_commit(&intake, acquired(&intake), WHOLE, 0);
    cr_assert_neq(stria_bell_listen(&pump_bell), ticket);
    ticket = stria_bell_listen(&pump_bell);
    stria_intake_hurry(&intake, false);
    stria_intake_close(&intake);
    cr_assert_neq(stria_bell_listen(&pump_bell), ticket, "the end must not wait");
    stria_intake_destroy(&intake);
}

/* As the pump does with all that is ready. */
static void pass(struct stria_intake *intake)
{
    for (const struct stria_intake_item *item; (item = stria_intake_peek(intake));) {
        if (!item->skip)
            stria_intake_release(intake, item->slot);
        stria_intake_take(intake);
    }
}

Test(intake, takes_each_acquired_slot_once)
{
    struct stria_intake intake = intake_of(SLOTS);
    for (unsigned slot = 0; slot < SLOTS; slot++)
        cr_expect_eq(stria_intake_commit(&intake, slot, WHOLE, 0), STRIA_ERR_INVALID, "never acquired");
    cr_expect_null(stria_intake_peek(&intake));
    for (unsigned lap = 0; lap < 5 * SLOTS; lap++) {
        const uint32_t slot = acquired(&intake);
        cr_assert_eq(stria_intake_commit(&intake, slot, WHOLE, lap), STRIA_OK);
        cr_expect_eq(stria_intake_commit(&intake, slot, WHOLE, lap), STRIA_ERR_INVALID, "not taken yet");
        cr_assert_eq(stria_intake_peek(&intake)->captured_ns, lap);
        pass(&intake);
        cr_expect_eq(stria_intake_commit(&intake, slot, WHOLE, lap), STRIA_ERR_INVALID, "taken");
        cr_expect_null(stria_intake_peek(&intake));
    }
    stria_intake_destroy(&intake);
}

Test(intake, ends_the_stream_with_a_short_chunk)
{
    struct stria_intake intake = intake_of(SLOTS);
    uint32_t slots[4], none;
    for (unsigned i = 0; i < 4; i++)
        slots[i] = acquired(&intake);
    cr_assert_eq(stria_intake_commit(&intake, slots[2], WHOLE - 1, 0), STRIA_OK);
    cr_expect_eq(stria_intake_commit(&intake, slots[3], WHOLE, 0), STRIA_ERR_CLOSED, "it lies behind");
    cr_expect_eq(stria_intake_commit(&intake, slots[3], WHOLE - 1, 0), STRIA_ERR_CLOSED);
    cr_expect_eq(stria_intake_commit(&intake, slots[0], WHOLE - 1, 0), STRIA_ERR_INVALID, "not the last");
    cr_expect_eq(stria_intake_skip(&intake, WHOLE, STRIA_GAP_SOURCE), STRIA_ERR_CLOSED);
    cr_expect_eq(stria_intake_acquire(&intake, 0, &none), STRIA_ERR_CLOSED);
    cr_expect_eq(stria_intake_commit(&intake, slots[0], WHOLE, 0), STRIA_OK, "it is still the producer's");
    cr_expect_eq(stria_intake_commit(&intake, slots[1], WHOLE, 0), STRIA_OK);
    pass(&intake);
    stria_intake_close(&intake);
    cr_expect(stria_intake_exhausted(&intake));
    stria_intake_destroy(&intake);
}

Test(intake, takes_no_short_chunk_before_what_is_there_already)
{
    struct stria_intake intake = intake_of(SLOTS);
    const uint32_t before_a_chunk = acquired(&intake), chunk = acquired(&intake);
    cr_assert_eq(stria_intake_commit(&intake, chunk, WHOLE, 0), STRIA_OK);
    cr_expect_eq(stria_intake_commit(&intake, before_a_chunk, 1, 0), STRIA_ERR_INVALID);
    cr_expect_eq(stria_intake_commit(&intake, before_a_chunk, WHOLE, 0), STRIA_OK);
    const uint32_t before_a_skip = acquired(&intake);
    cr_assert_eq(stria_intake_skip(&intake, WHOLE, STRIA_GAP_SOURCE), STRIA_OK);
    cr_expect_eq(stria_intake_commit(&intake, before_a_skip, 1, 0), STRIA_ERR_INVALID);
    stria_intake_destroy(&intake);
}

struct committer {
    struct stria_intake *intake;
    uint32_t slot;
    uint64_t length_bytes;
    int code;
};

static void *commit_one(void *context)
{
    struct committer *committer = context;
    committer->code =
        stria_intake_commit(committer->intake, committer->slot, committer->length_bytes, STRIA_NS_PER_S);
    return NULL;
}

Test(intake, takes_one_of_a_short_chunk_and_the_one_behind_it_or_says_why_not)
{
    for (unsigned round = 0; round < 300; round++) {
        struct stria_intake intake = intake_of(SLOTS);
        struct committer last = {&intake, acquired(&intake), 1, STRIA_OK};
        struct committer behind = {&intake, acquired(&intake), WHOLE, STRIA_OK};
        pthread_t threads[2];
        cr_assert_eq(pthread_create(&threads[round % 2], NULL, commit_one, &last), 0);
        cr_assert_eq(pthread_create(&threads[1 - round % 2], NULL, commit_one, &behind), 0);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        cr_expect((last.code == STRIA_OK && behind.code == STRIA_ERR_CLOSED) ||
                      (last.code == STRIA_ERR_INVALID && behind.code == STRIA_OK),
                  "%s, and %s", stria_code_text(last.code), stria_code_text(behind.code));
        stria_intake_destroy(&intake);
    }
}
