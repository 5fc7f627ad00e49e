#include "support/slice.h"

#include <criterion/criterion.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

static struct sched_attr attributes(void)
{
    struct sched_attr now = {.size = sizeof(now)};
    cr_assert_eq(syscall(SYS_sched_getattr, 0, &now, sizeof(now), 0), 0);
    return now;
}

static bool linux_is_at_least(unsigned major, unsigned minor)
{
    struct utsname system;
    unsigned is_major, is_minor;
    cr_assert_eq(uname(&system), 0);
    cr_assert_eq(sscanf(system.release, "%u.%u", &is_major, &is_minor), 2);
    return is_major > major || (is_major == major && is_minor >= minor);
}

Test(slice, is_as_long_as_was_asked_where_linux_has_it)
{
    stria_slice_ask(500000);
    if (!linux_is_at_least(6, 12))
        cr_skip_test("needs Linux 6.12");
    cr_assert_eq(attributes().sched_runtime, 500000);
}

Test(slice, leaves_the_nice_value_alone)
{
    cr_assert_eq(setpriority(PRIO_PROCESS, 0, 7), 0);
    stria_slice_ask(500000);
    cr_assert_eq(attributes().sched_nice, 7);
    cr_assert_eq(getpriority(PRIO_PROCESS, 0), 7);
}

/* Each change of the policy or the nice value would be one too many for such a thread. */
Test(slice, does_nothing_to_a_thread_of_another_policy)
{
    struct sched_attr batch = {.size = sizeof(batch), .sched_policy = SCHED_BATCH, .sched_nice = 3};
    cr_assert_eq(syscall(SYS_sched_setattr, 0, &batch, 0), 0);
    const struct sched_attr before = attributes();
    stria_slice_ask(500000);
    const struct sched_attr after = attributes();
    cr_assert_eq(after.sched_policy, SCHED_BATCH);
    cr_assert_eq(after.sched_nice, 3);
    cr_assert_eq(after.sched_runtime, before.sched_runtime);
}
