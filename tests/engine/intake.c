#include "engine/intake.h"

#include "core/code.h"
#include "support/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 64u

static struct stria_bell pump_bell;

static struct stria_intake intake_of(uint32_t slots)
{
    struct stria_intake intake;
    cr_assert_eq(stria_intake_create(&intake, slots, &pump_bell), STRIA_OK);
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
            stria_intake_commit(&intake, slot, 1, 0);
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
    stria_intake_commit(&intake, acquired(&intake), 1, 0);
    cr_assert_eq(stria_bell_listen(&pump_bell), ticket);
    cr_assert_not_null(stria_intake_peek(&intake));
    stria_intake_hurry(&intake, true);
    stria_intake_commit(&intake, acquired(&intake), 1, 0);
    cr_assert_neq(stria_bell_listen(&pump_bell), ticket);
    ticket = stria_bell_listen(&pump_bell);
    stria_intake_hurry(&intake, false);
    stria_intake_close(&intake);
    cr_assert_neq(stria_bell_listen(&pump_bell), ticket, "the end must not wait");
    stria_intake_destroy(&intake);
}
