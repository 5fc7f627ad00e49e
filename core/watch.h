/* The time for which a caller has looked at its drives. Deadlines are counted by it: a process that was
 * stopped, suspended or starved must not hold its own absence against drives whose answers have long been
 * there. */
#ifndef STRIA_CORE_WATCH_H
#define STRIA_CORE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_WATCH_LOOKS 8u /* within a deadline, at the least, before it is over */

struct stria_watch {
    uint64_t deadline_ns;
    uint64_t now_ns;     /* of the last look */
    uint64_t watched_ns; /* never more than the time that has passed */
};

void stria_watch_init(struct stria_watch *watch, uint64_t deadline_ns);

/* The caller looks now, by a monotonic clock: what has passed since its last look counts, up to an eighth of
 * the deadline. */
void stria_watch_look(struct stria_watch *watch, uint64_t now_ns);

/* Of a request that went out when watched_ns stood at since_ns: whether its deadline is over, and when to
 * look at the latest so that all the time in between counts. */
bool stria_watch_over(const struct stria_watch *watch, uint64_t since_ns);
uint64_t stria_watch_due_ns(const struct stria_watch *watch, uint64_t since_ns);

#endif
