#include "tools/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static int stop_fd = -1;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

#define ENDING (sizeof(ending) / sizeof(ending[0]))

static struct sigaction before[ENDING];

static void ask_to_stop(int number)
{
    const int error = errno;
    const uint64_t one = 1;
    stop = number;
    (void)!write(stop_fd, &one, sizeof(one));
    errno = error;
}

void stria_signals_take(void)
{
    if (stop_fd < 0)
        stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_fd < 0) {
        perror("stria: eventfd");
        exit(3);
    }
    /* Without SA_RESTART: whoever waits in the kernel shall notice. */
    struct sigaction end = {.sa_handler = ask_to_stop}, ignore = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &before[i]);
        /* A terminal that is closed ends a recording properly, unless nohup wants it to go on. */
        if (ending[i] != SIGHUP || before[i].sa_handler != SIG_IGN)
            sigaction(ending[i], &end, NULL);
    }
    sigaction(SIGPIPE, &ignore, NULL);
    /* A file that grows past its limit is an error to be told of, not a reason to die. */
    sigaction(SIGXFSZ, &ignore, NULL);
}

void stria_signals_give_back(void)
{
    for (size_t i = 0; i < ENDING; i++)
        sigaction(ending[i], &before[i], NULL);
    if (stop)
        exit(128 + stop);
}

bool stria_signals_stop(void)
{
    return stop != 0;
}

int stria_signals_fd(void)
{
    return stop_fd;
}
