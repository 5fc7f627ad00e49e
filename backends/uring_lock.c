#include "backends/uring.h"

#include <errno.h>
#include <fcntl.h>

static int code_of(int error)
{
    switch (error) {
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOLCK: /* of a file system without them, such as NFS where the server has none */
        return STRIA_ERR_UNSUPPORTED;
    default:
        return stria_code_of_errno(error);
    }
}

/* Numbers are bytes far behind the end of any drive, so that they meet no other lock. The descriptor that
 * holds the drive has them: it is closed at once when a process is killed, unlike those that a ring knows. */
int uring_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
               char holder[STRIA_LOCK_HOLDER_BYTES])
{
    const struct uring_drive *uring = (const struct uring_drive *)drive;
    const uint64_t offset = STRIA_LOCK_NUMBERS + number % STRIA_LOCK_NUMBERS;
    struct flock lock = {
        .l_type = how == STRIA_LOCK_ALONE    ? F_WRLCK
                  : how == STRIA_LOCK_SHARED ? F_RDLCK
                                             : F_UNLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)offset,
        .l_len = 1,
    };
    struct stat status;
    if (uring->hold_fd < 0)
        return STRIA_ERR_UNSUPPORTED;
    int failed;
    do
        failed = fcntl(uring->hold_fd, F_OFD_SETLK, &lock);
    while (failed && errno == EINTR);
    if (!failed)
        return STRIA_OK;
    if (errno != EAGAIN && errno != EACCES)
        return code_of(errno);
    holder[0] = '\0';
    if (fstat(uring->hold_fd, &status) == 0)
        uring_lock_holder_print(holder, STRIA_LOCK_HOLDER_BYTES, &status, offset);
    return STRIA_ERR_BUSY;
}
