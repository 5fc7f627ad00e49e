/* The hand-over from producers to the pump, by real threads in every pattern that a producer may have; run
 * under the thread sanitizer too. What is handed over is plain memory, so that a missing barrier is a race.
 */
#include "core/code.h"
#include "core/random.h"
#include "engine/intake.h"
#include "support/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define SLOTS          16u
#define ITEMS          12000u
#define COMMITTERS_MAX 3u
#define WAIT_NS        (60 * STRIA_NS_PER_S)

struct pattern {
    uint32_t committers;  /* threads that commit; none: the producer itself */
    uint32_t held_max;    /* slots that the producer acquires before it commits the first */
    uint32_t skip_one_in; /* zero: none */
    uint32_t own_one_in;  /* commits of own memory */
    uint32_t nap_one_in;  /* either side sleeps a moment */
    bool hurry_changes;
    uint32_t refused_after; /* items; zero: never */
};

/* What a committer has to commit: a slot and the item's number, or nothing. */
struct mailbox {
    struct stress *stress;
    pthread_t thread;
    _Atomic uint64_t letter; /* number + 1 and slot, zero: empty; LETTER_END */
};

#define LETTER_END UINT64_MAX

struct stress {
    struct pattern pattern;
    struct stria_intake intake;
    struct stria_bell bell;
    uint64_t payload[SLOTS]; /* plain */
    uint64_t own[SLOTS];
    struct mailbox mailboxes[COMMITTERS_MAX];
    uint64_t begun;          /* by the producer: items acquired or skipped */
    uint64_t taken, skipped; /* by the pump */
    uint64_t reclaimed;
    bool refused;
};

static void nap(const struct pattern *pattern, struct stria_random *random)
{
    if (pattern->nap_one_in && stria_random_below(random, pattern->nap_one_in) == 0)
        stria_clock_sleep_until(stria_clock_ns() + stria_random_below(random, 50000));
}

static void commit(struct stress *stress, uint32_t slot, uint64_t number)
{
    stress->payload[slot] = number * 3;
    cr_assert_eq(stria_intake_commit(&stress->intake, slot, number + 1, number * 7), STRIA_OK);
}

static void *run_committer(void *context)
{
    struct mailbox *mailbox = context;
    for (;;) {
        const uint64_t letter = atomic_load_explicit(&mailbox->letter, memory_order_acquire);
        if (letter == LETTER_END)
            return NULL;
        if (letter == 0) {
            sched_yield();
            continue;
        }
        commit(mailbox->stress, (uint32_t)(letter & 0xff), (letter >> 8) - 1);
        atomic_store_explicit(&mailbox->letter, 0, memory_order_release);
    }
}

static void post(struct mailbox *mailbox, uint64_t letter)
{
    while (atomic_load_explicit(&mailbox->letter, memory_order_acquire) != 0)
        sched_yield();
    atomic_store_explicit(&mailbox->letter, letter, memory_order_release);
}

static void reclaim(struct stress *stress)
{
    for (uint64_t *memory; (memory = stria_intake_reclaim(&stress->intake));) {
        cr_assert(memory >= stress->own && memory < stress->own + SLOTS);
        *memory = 0;
        stress->reclaimed++;
    }
}

static int acquire(struct stress *stress, uint32_t *slot)
{
    for (;;) {
        int code = stria_intake_acquire(&stress->intake, WAIT_NS, slot);
        reclaim(stress);
        if (code != STRIA_ERR_TIMEOUT)
            return code;
    }
}

/* Hands over what was acquired, the youngest first. */
static void hand_over(struct stress *stress, const uint32_t *slots, const uint64_t *numbers, uint32_t held,
                      struct stria_random *random)
{
    for (uint32_t i = held; i-- > 0;) {
        if (stress->pattern.own_one_in && stria_random_below(random, stress->pattern.own_one_in) == 0) {
            stress->own[slots[i]] = numbers[i];
            stress->intake.own_memory[slots[i]] = &stress->own[slots[i]];
        }
        if (stress->pattern.committers)
            post(&stress->mailboxes[numbers[i] % stress->pattern.committers],
                 (numbers[i] + 1) << 8 | slots[i]);
        else
            commit(stress, slots[i], numbers[i]);
    }
}

static void *run_producer(void *context)
{
    struct stress *stress = context;
    const struct pattern *pattern = &stress->pattern;
    struct stria_random random;
    int code = STRIA_OK;
    stria_random_seed(&random, 1);
    while (stress->begun < ITEMS && code == STRIA_OK) {
        uint32_t slots[SLOTS], held = 0;
        uint64_t numbers[SLOTS];
        const uint64_t wanted = stria_random_between(&random, 1, pattern->held_max);
        while (held < wanted && code == STRIA_OK) {
            if (pattern->skip_one_in && stria_random_below(&random, pattern->skip_one_in) == 0) {
                code = stria_intake_skip(&stress->intake, stress->begun + 1, STRIA_GAP_SOURCE);
            } else {
                code = acquire(stress, &slots[held]);
                if (code == STRIA_OK)
                    numbers[held++] = stress->begun;
            }
            stress->begun += code == STRIA_OK;
        }
        hand_over(stress, slots, numbers, held, &random);
        nap(pattern, &random);
    }
    for (uint32_t i = 0; i < pattern->committers; i++) {
        post(&stress->mailboxes[i], LETTER_END);
        pthread_join(stress->mailboxes[i].thread, NULL);
    }
    stress->refused = code == STRIA_ERR_GONE;
    cr_assert(stress->refused || code == STRIA_OK, "%s", stria_code_text(code));
    stria_intake_close(&stress->intake);
    return NULL;
}

/* Keeps some slots for a while and gives them back in any order, as drives do. */
static void release_some(struct stress *stress, uint32_t *kept, uint32_t *kept_count, uint64_t left,
                         struct stria_random *random)
{
    while (*kept_count > left) {
        const uint64_t at = stria_random_below(random, *kept_count);
        stria_intake_release(&stress->intake, kept[at]);
        kept[at] = kept[--*kept_count];
    }
}

static void take(struct stress *stress, const struct stria_intake_item *item, uint32_t *kept,
                 uint32_t *kept_count)
{
    const uint64_t number = stress->taken++;
    cr_assert_eq(item->length_bytes, number + 1, "out of order");
    if (item->skip) {
        cr_assert_eq(item->cause, STRIA_GAP_SOURCE);
        stress->skipped++;
    } else {
        cr_assert(item->slot < SLOTS && item->captured_ns == number * 7);
        cr_assert_eq(stress->payload[item->slot], number * 3, "another chunk's bytes");
        const uint64_t *own = stress->intake.own_memory[item->slot];
        cr_assert(!own || *own == number);
        kept[(*kept_count)++] = item->slot;
    }
    stria_intake_take(&stress->intake);
}

static void run_pump(struct stress *stress)
{
    uint32_t kept[SLOTS], kept_count = 0;
    struct stria_random random;
    stria_random_seed(&random, 2);
    for (;;) {
        const uint32_t ticket = stria_bell_listen(&stress->bell);
        const bool exhausted = stria_intake_exhausted(&stress->intake);
        const struct stria_intake_item *item = stria_intake_peek(&stress->intake);
        if (item) {
            take(stress, item, kept, &kept_count);
            if (stress->taken == stress->pattern.refused_after)
                stria_intake_refuse(&stress->intake, STRIA_ERR_GONE);
        }
        release_some(stress, kept, &kept_count, item ? stria_random_below(&random, SLOTS) : 0, &random);
        if (exhausted && !item)
            return;
        if (stress->pattern.hurry_changes)
            stria_intake_hurry(&stress->intake, stria_random_below(&random, 2));
        nap(&stress->pattern, &random);
        /* Not hurried, a commit does not ring: the pump then comes back by itself, as it does for a drive. */
        if (!item && !stria_intake_peek(&stress->intake))
            stria_bell_wait(&stress->bell, ticket, stress->pattern.hurry_changes ? 100000 : WAIT_NS);
    }
}

static void run(struct pattern pattern)
{
    static struct stress stress;
    memset(&stress, 0, sizeof(stress));
    stress.pattern = pattern;
    pthread_t producer;
    cr_assert_eq(stria_intake_create(&stress.intake, SLOTS, 1, &stress.bell), STRIA_OK);
    for (uint32_t i = 0; i < pattern.committers; i++) {
        stress.mailboxes[i].stress = &stress;
        cr_assert_eq(pthread_create(&stress.mailboxes[i].thread, NULL, run_committer, &stress.mailboxes[i]),
                     0);
    }
    cr_assert_eq(pthread_create(&producer, NULL, run_producer, &stress), 0);
    run_pump(&stress);
    pthread_join(producer, NULL);
    cr_assert_eq(stress.taken, stress.begun, "%llu begun, %llu taken", (unsigned long long)stress.begun,
                 (unsigned long long)stress.taken);
    cr_assert(pattern.refused_after ? stress.refused && stress.begun < ITEMS : stress.begun >= ITEMS);
    cr_assert(!pattern.skip_one_in == !stress.skipped);
    cr_assert(!pattern.own_one_in == !stress.reclaimed);
    stria_intake_destroy(&stress.intake);
}

Test(intake_stress, one_thread_that_commits_what_it_acquires)
{
    run((struct pattern){.held_max = 1});
}

Test(intake_stress, a_producer_that_holds_many_and_commits_the_youngest_first)
{
    run((struct pattern){.held_max = SLOTS - 1, .nap_one_in = 200});
}

Test(intake_stress, other_threads_commit_in_any_order)
{
    run((struct pattern){.committers = COMMITTERS_MAX, .held_max = 8, .nap_one_in = 300});
}

Test(intake_stress, skips_between_chunks_keep_their_place)
{
    run((struct pattern){.committers = 2, .held_max = 4, .skip_one_in = 5, .nap_one_in = 500});
}

Test(intake_stress, own_memory_comes_back_when_it_is_written)
{
    run((struct pattern){.held_max = 4, .own_one_in = 2, .nap_one_in = 300});
}

Test(intake_stress, a_pump_that_is_in_no_hurry_misses_nothing)
{
    run((struct pattern){
        .committers = 2, .held_max = 6, .skip_one_in = 20, .hurry_changes = true, .nap_one_in = 300});
}

Test(intake_stress, a_producer_that_waits_is_told_that_the_array_is_gone)
{
    run((struct pattern){.held_max = 3, .refused_after = ITEMS / 2, .nap_one_in = 500});
    run((struct pattern){.committers = 3, .held_max = 8, .refused_after = ITEMS / 3});
}
