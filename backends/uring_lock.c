#include "backends/uring.h"
#include "support/lock.h"

#include <fcntl.h>

/* Numbers are bytes far behind the end of any drive, so that they meet no other lock. The descriptor that
 * holds the drive has them: it is closed at once when a process is killed, unlike those that a ring knows. */
int uring_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
               char holder[STRIA_LOCK_HOLDER_BYTES])
{
    const struct uring_drive *uring = (const struct uring_drive *)drive;
    const uint64_t offset = STRIA_LOCK_NUMBERS + number % STRIA_LOCK_NUMBERS;
    const short type = how == STRIA_LOCK_ALONE ? F_WRLCK : how == STRIA_LOCK_SHARED ? F_RDLCK : F_UNLCK;
    struct stat status;
    if (uring->hold_fd < 0)
        return STRIA_ERR_UNSUPPORTED;
    const int code = stria_lock_try(uring->hold_fd, type, offset, 1);
    if (code != STRIA_ERR_BUSY)
        return code;
    holder[0] = '\0';
    if (fstat(uring->hold_fd, &status) == 0)
        uring_lock_holder_print(holder, STRIA_LOCK_HOLDER_BYTES, &status, offset);
    return STRIA_ERR_BUSY;
}
