#include "support/clock.h"

#include <time.h>

static uint64_t clock_read(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * STRIA_NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t stria_clock_ns(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t stria_clock_after(uint64_t time_ns, uint64_t duration_ns)
{
    return duration_ns < UINT64_MAX - time_ns ? time_ns + duration_ns : UINT64_MAX;
}

uint64_t stria_clock_wall_ns(void)
{
    return clock_read(CLOCK_REALTIME);
}

uint64_t stria_clock_cpu_ns(void)
{
    return clock_read(CLOCK_PROCESS_CPUTIME_ID);
}

void stria_clock_sleep_until(uint64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / STRIA_NS_PER_S),
                                .tv_nsec = (long)(deadline_ns % STRIA_NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}
