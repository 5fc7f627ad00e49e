#include "support/slice.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

void stria_slice_ask(uint64_t slice_ns)
{
    struct sched_attr attributes = {.size = sizeof(attributes)};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) < 0 ||
        attributes.sched_policy != SCHED_NORMAL)
        return;
    attributes.sched_runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}
