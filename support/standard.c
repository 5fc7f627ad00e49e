#include "support/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int stria_standard_fill(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        const int stand_in = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        if (stand_in < 0)
            return -errno;
        /* Another thread opened something meanwhile. */
        if (stand_in != fd)
            close(stand_in);
    }
    return 0;
}
