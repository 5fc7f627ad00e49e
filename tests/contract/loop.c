#include "tests/contract/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ATTEMPTS_MAX 32 /* somebody else may take the device that was free a moment ago */

static int configure(int number, int backing, uint32_t block_bytes, char path[64])
{
    snprintf(path, 64, "/dev/loop%d", number);
    int loop = open(path, O_RDWR | O_CLOEXEC);
    if (loop < 0)
        return -errno;
    struct loop_config config = {
        .fd = (uint32_t)backing, .block_size = block_bytes, .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
    if (ioctl(loop, LOOP_CONFIGURE, &config) == 0)
        return loop;
    int error = -errno;
    close(loop);
    return error;
}

int loop_attach(const char *file, uint32_t block_bytes, char path[64])
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0)
        return -errno;
    int backing = open(file, O_RDWR | O_CLOEXEC);
    int loop = -errno;
    for (int attempt = 0; backing >= 0 && attempt < ATTEMPTS_MAX; attempt++) {
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        loop = number < 0 ? -errno : configure(number, backing, block_bytes, path);
        if (loop != -EBUSY)
            break;
    }
    if (backing >= 0)
        close(backing);
    close(control);
    return loop;
}
