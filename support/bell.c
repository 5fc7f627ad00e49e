#include "support/bell.h"

#include "support/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t stria_bell_listen(struct stria_bell *bell)
{
    return atomic_load(&bell->rings);
}

void stria_bell_wait(struct stria_bell *bell, uint32_t ticket, uint64_t wait_ns)
{
    struct timespec wait = {.tv_sec = (time_t)(wait_ns / STRIA_NS_PER_S),
                            .tv_nsec = (long)(wait_ns % STRIA_NS_PER_S)};
    atomic_fetch_add(&bell->sleepers, 1);
    /* The kernel looks at rings once more before it puts us to sleep. */
    syscall(SYS_futex, &bell->rings, FUTEX_WAIT_PRIVATE, ticket, &wait, NULL, 0);
    atomic_fetch_sub(&bell->sleepers, 1);
}

void stria_bell_ring(struct stria_bell *bell)
{
    atomic_fetch_add(&bell->rings, 1);
    if (atomic_load(&bell->sleepers))
        syscall(SYS_futex, &bell->rings, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
