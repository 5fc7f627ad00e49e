#define _GNU_SOURCE
#include "support/lock.h"

#include "core/code.h"
#include "support/trouble.h"

#include <errno.h>
#include <fcntl.h>

int stria_lock_try(int fd, short type, uint64_t offset, uint64_t bytes)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)offset, .l_len = (off_t)bytes};
    int failed;
    do
        failed = fcntl(fd, F_OFD_SETLK, &lock);
    while (failed && errno == EINTR);
    if (!failed)
        return STRIA_OK;
    switch (errno) {
    case EAGAIN:
    case EACCES:
        return STRIA_ERR_BUSY;
    case EINVAL:
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOLCK: /* of a file system without them, such as NFS where the server has none */
        return STRIA_ERR_UNSUPPORTED;
    default:
        return stria_code_of_errno(errno);
    }
}
