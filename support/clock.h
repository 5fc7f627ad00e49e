/* The clocks of this machine, in nanoseconds. */
#ifndef STRIA_SUPPORT_CLOCK_H
#define STRIA_SUPPORT_CLOCK_H

#include <stdint.h>

#define STRIA_NS_PER_S 1000000000ull

/* Monotonic time since some moment before the program's start; never zero, never stepped. */
uint64_t stria_clock_ns(void);

/* The moment so much later; UINT64_MAX, which never comes, where a time is not long enough to tell it. */
uint64_t stria_clock_after(uint64_t time_ns, uint64_t duration_ns);

/* Wall-clock time since 1970-01-01 00:00 UTC; may be stepped by the system's administrator. */
uint64_t stria_clock_wall_ns(void);

/* Processor time that all threads of this process have used. */
uint64_t stria_clock_cpu_ns(void);

/* Sleeps until stria_clock_ns() is at least deadline_ns, or a signal handler has run. Returns at once if
 * that time is past. */
void stria_clock_sleep_until(uint64_t deadline_ns);

#endif
