#include "support/bell.h"

#include "support/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>

#define LONG_NS 20000000000ull

static struct stria_bell bell;
static _Atomic unsigned rounds;

static void *ring_later(void *argument)
{
    (void)argument;
    stria_clock_sleep_until(stria_clock_ns() + 30000000u);
    stria_bell_ring(&bell);
    return NULL;
}

Test(bell, a_ring_ends_the_wait)
{
    pthread_t thread;
    uint64_t begin_ns = stria_clock_ns();
    uint32_t ticket = stria_bell_listen(&bell);
    cr_assert(pthread_create(&thread, NULL, ring_later, NULL) == 0);
    stria_bell_wait(&bell, ticket, LONG_NS);
    cr_expect(stria_clock_ns() - begin_ns < LONG_NS / 2);
    pthread_join(thread, NULL);
}

Test(bell, a_ring_between_listening_and_waiting_is_not_missed)
{
    uint64_t begin_ns = stria_clock_ns();
    uint32_t ticket = stria_bell_listen(&bell);
    stria_bell_ring(&bell);
    stria_bell_wait(&bell, ticket, LONG_NS);
    cr_expect(stria_clock_ns() - begin_ns < LONG_NS / 2);
}

Test(bell, a_wait_ends_by_itself)
{
    uint64_t begin_ns = stria_clock_ns();
    stria_bell_wait(&bell, stria_bell_listen(&bell), 20000000u);
    uint64_t waited_ns = stria_clock_ns() - begin_ns;
    cr_expect(waited_ns >= 20000000u && waited_ns < LONG_NS / 2);
}

/* Two threads that hand a turn to and fro: one missed ring, and this lasts for LONG_NS. */
static void *answer(void *argument)
{
    struct stria_bell *other = argument;
    for (unsigned round = 1; round < 20000; round += 2) {
        for (uint32_t ticket; ticket = stria_bell_listen(&bell), atomic_load(&rounds) < round;)
            stria_bell_wait(&bell, ticket, LONG_NS);
        atomic_store(&rounds, round + 1);
        stria_bell_ring(other);
    }
    return NULL;
}

Test(bell, no_turn_is_missed_between_two_threads)
{
    static struct stria_bell other;
    pthread_t thread;
    uint64_t begin_ns = stria_clock_ns();
    cr_assert(pthread_create(&thread, NULL, answer, &other) == 0);
    for (unsigned round = 0; round < 20000; round += 2) {
        for (uint32_t ticket; ticket = stria_bell_listen(&other), atomic_load(&rounds) < round;)
            stria_bell_wait(&other, ticket, LONG_NS);
        atomic_store(&rounds, round + 1);
        stria_bell_ring(&bell);
    }
    pthread_join(thread, NULL);
    cr_expect(stria_clock_ns() - begin_ns < LONG_NS);
}
