#include "core/watch.h"

static uint64_t step_ns_max(const struct stria_watch *watch)
{
    uint64_t step_ns = watch->deadline_ns / STRIA_WATCH_LOOKS;
    return step_ns > 0 ? step_ns : 1;
}

void stria_watch_init(struct stria_watch *watch, uint64_t deadline_ns)
{
    *watch = (struct stria_watch){.deadline_ns = deadline_ns};
}

void stria_watch_look(struct stria_watch *watch, uint64_t now_ns)
{
    uint64_t passed_ns = now_ns > watch->now_ns ? now_ns - watch->now_ns : 0;
    uint64_t most_ns = step_ns_max(watch);
    watch->watched_ns += passed_ns < most_ns ? passed_ns : most_ns;
    watch->now_ns = now_ns;
}

bool stria_watch_over(const struct stria_watch *watch, uint64_t since_ns)
{
    return watch->watched_ns - since_ns >= watch->deadline_ns;
}

uint64_t stria_watch_due_ns(const struct stria_watch *watch, uint64_t since_ns)
{
    uint64_t waited_ns = watch->watched_ns - since_ns;
    uint64_t left_ns = waited_ns < watch->deadline_ns ? watch->deadline_ns - waited_ns : 0;
    uint64_t most_ns = step_ns_max(watch);
    return watch->now_ns + (left_ns < most_ns ? left_ns : most_ns);
}
