#include "backends/uring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

/* What a ring can be set up with, best first: completions are processed when this thread asks for them
 * (Linux 6.1), without interrupting it (5.19), or just so. */
static const unsigned ring_flags[] = {
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
    0,
};

/* A number for the calling thread that, unlike the system's thread ids, is never given again. */
static uint64_t thread_number(void)
{
    static _Atomic uint64_t numbers;
    static _Thread_local uint64_t number;
    if (!number)
        number = atomic_fetch_add(&numbers, 1) + 1;
    return number;
}

static int ring_failure(const struct uring_drive *uring, int error, struct stria_trouble *trouble)
{
    const char *path = uring->drive.traits.path;
    switch (error) {
    case ENOSYS:
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                 "%s: this kernel has no io_uring: use Linux 5.11 or newer, with "
                                 "CONFIG_IO_URING",
                                 path);
    case EPERM:
        return stria_trouble_set(
            trouble, STRIA_ERR_PERMISSION,
            "%s: io_uring is forbidden here: set sysctl kernel.io_uring_disabled to 0, or "
            "allow the io_uring system calls in the container's seccomp profile",
            path);
    case ENOMEM:
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "%s: no memory for an io_uring: raise the locked-memory limit (ulimit -l, "
                                 "LimitMEMLOCK=)",
                                 path);
    default:
        return stria_trouble_set(trouble, stria_code_of_errno(error), "%s: cannot set up an io_uring: %s",
                                 path, stria_errno_text(error));
    }
}

int uring_ring_open(struct uring_drive *uring, struct stria_trouble *trouble)
{
    /* One entry more than the depth: the read of wake_fd. */
    const unsigned entries = uring->drive.traits.depth_max + 1;
    const unsigned needed = uring->dialect->ring_flags | (uring->polled ? IORING_SETUP_IOPOLL : 0);
    int error = -EINVAL;
    for (size_t i = 0; error == -EINVAL && i < sizeof(ring_flags) / sizeof(ring_flags[0]); i++)
        error = io_uring_queue_init(entries, &uring->ring, ring_flags[i] | needed);
    if (error < 0)
        return ring_failure(uring, -error, trouble);
    uring->owner = thread_number();
    uring->wake_armed = false;
    uring->fixed_file = io_uring_register_files(&uring->ring, &uring->fd, 1) == 0;
    return STRIA_OK;
}

void uring_ring_close(struct uring_drive *uring)
{
    if (!uring->owner)
        return;
    /* The kernel ends a ring in its own time; what the ring knows is let go now. */
    if (uring->fixed_file)
        io_uring_unregister_files(&uring->ring);
    uring_ring_unregister(uring);
    io_uring_queue_exit(&uring->ring);
    uring->owner = 0;
}

void uring_ring_unregister(struct uring_drive *uring)
{
    if (uring->drive.traits.registered)
        io_uring_unregister_buffers(&uring->ring);
    uring->drive.traits.registered = false;
}

void uring_ring_register(struct uring_drive *uring)
{
    struct stria_traits *traits = &uring->drive.traits;
    traits->registered = false;
    if (uring->unregistered || !uring->buffer_count)
        return;
    int error = io_uring_register_buffers(&uring->ring, uring->buffers, uring->buffer_count);
    if (error == 0) {
        traits->registered = true;
        return;
    }
    struct rlimit limit;
    if (error == -ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0)
        stria_traits_note(traits,
                          "no fixed buffers: the locked-memory limit is %llu KiB (ulimit -l, LimitMEMLOCK=)",
                          (unsigned long long)limit.rlim_cur >> 10);
    else
        stria_traits_note(traits, "no fixed buffers: %s", stria_errno_text(-error));
}

int uring_ring_own(struct uring_drive *uring)
{
    if (uring->owner == thread_number())
        return STRIA_OK;
    if (uring->busy_count)
        return STRIA_ERR_INVALID;
    const bool registered = uring->drive.traits.registered;
    uring_ring_close(uring);
    int code = uring_ring_open(uring, NULL);
    if (code == STRIA_OK && registered)
        uring_ring_register(uring);
    return code;
}
