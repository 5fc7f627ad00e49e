#include "core/watch.h"

#include <criterion/criterion.h>

#define DEADLINE UINT64_C(800)

static struct stria_watch watch;

static void begin(void)
{
    stria_watch_init(&watch, DEADLINE);
    stria_watch_look(&watch, 1000000);
}

Test(watch, a_deadline_is_over_when_somebody_has_looked_for_so_long, .init = begin)
{
    uint64_t since_ns = watch.watched_ns;
    for (unsigned look = 1; look <= STRIA_WATCH_LOOKS; look++) {
        cr_assert(!stria_watch_over(&watch, since_ns));
        uint64_t due_ns = stria_watch_due_ns(&watch, since_ns);
        cr_assert_eq(due_ns, 1000000 + look * DEADLINE / STRIA_WATCH_LOOKS);
        stria_watch_look(&watch, due_ns);
    }
    cr_assert(stria_watch_over(&watch, since_ns));
}

Test(watch, an_absence_counts_as_one_look, .init = begin)
{
    uint64_t since_ns = watch.watched_ns;
    stria_watch_look(&watch, watch.now_ns + 100 * DEADLINE);
    cr_assert(!stria_watch_over(&watch, since_ns));
    cr_assert_eq(watch.watched_ns - since_ns, DEADLINE / STRIA_WATCH_LOOKS);
}

Test(watch, what_is_over_is_due_at_once_and_what_is_nearly_over_soon, .init = begin)
{
    uint64_t since_ns = watch.watched_ns;
    for (unsigned look = 1; look < STRIA_WATCH_LOOKS; look++)
        stria_watch_look(&watch, watch.now_ns + 100);
    stria_watch_look(&watch, watch.now_ns + 60);
    cr_assert_eq(stria_watch_due_ns(&watch, since_ns), watch.now_ns + 40);
    stria_watch_look(&watch, watch.now_ns + 40);
    cr_assert_eq(stria_watch_due_ns(&watch, since_ns), watch.now_ns);
}

Test(watch, a_clock_that_stands_or_a_deadline_below_its_looks_does_no_harm)
{
    stria_watch_init(&watch, 3);
    stria_watch_look(&watch, 5);
    stria_watch_look(&watch, 5);
    stria_watch_look(&watch, 4);
    uint64_t since_ns = watch.watched_ns;
    for (unsigned look = 0; look < 3; look++)
        stria_watch_look(&watch, stria_watch_due_ns(&watch, since_ns));
    cr_assert(stria_watch_over(&watch, since_ns));
}
