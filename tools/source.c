#define _GNU_SOURCE

#include "tools/source.h"

#include "core/synthetic.h"
#include "support/clock.h"
#include "tools/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a pipe may hold; the system's own limit for it by default. */
#define PIPE_BYTES (1 << 20)

struct stria_source {
    struct stria_source_options options;
    char name[256];
    int fd; /* negative: synthetic */
    bool pipe;
    bool ended;
    int error; /* why nothing comes after what was handed out; zero: nothing is known of that */
    uint64_t start_ns;
    uint64_t offset; /* bytes that have come so far */
};

static int cannot(const struct stria_source *source, const char *what, int error,
                  struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot %s %s: %s", what, source->name,
                             stria_errno_text(error));
}

static int describe_fd(struct stria_source *source, struct stria_trouble *trouble)
{
    struct stat status;
    if (fstat(source->fd, &status) != 0)
        return cannot(source, "look at", errno, trouble);
    if (S_ISDIR(status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "cannot record %s: it is a folder, name a file or a FIFO", source->name);
    source->pipe = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
    if (S_ISFIFO(status.st_mode))
        (void)fcntl(source->fd, F_SETPIPE_SZ, PIPE_BYTES);
    if (S_ISREG(status.st_mode))
        (void)posix_fadvise(source->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return STRIA_OK;
}

/* Standard input by default only where somebody means it: not a terminal, not what cron gives. */
static bool standard_input_is_meant(void)
{
    struct stat status;
    return fstat(STDIN_FILENO, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int open_input(struct stria_source *source, struct stria_trouble *trouble)
{
    const char *input = source->options.input;
    if (!input && !standard_input_is_meant())
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "nothing to record: give it --input with a file, a FIFO or 'synthetic', or pipe something "
            "into it");
    if (input && strcmp(input, "synthetic") == 0) {
        snprintf(source->name, sizeof(source->name), "a synthetic sensor");
        return STRIA_OK;
    }
    if (!input || strcmp(input, "-") == 0) {
        snprintf(source->name, sizeof(source->name), "standard input");
        source->fd = dup(STDIN_FILENO);
    } else {
        snprintf(source->name, sizeof(source->name), "%s", input);
        source->fd = open(input, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    return source->fd < 0 ? cannot(source, "open", errno, trouble) : describe_fd(source, trouble);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A source that can lose nothing has, with a pace, so many seconds of a sensor: a number of bytes, the same
 * in every run and however long the drives make it wait. A pipe goes on by the clock. */
static void limit_by_pace(struct stria_source *source)
{
    struct stria_source_options *options = &source->options;
    if (!options->rate_bytes_per_s || !options->duration_ns || source->pipe)
        return;
    const unsigned __int128 bytes =
        (unsigned __int128)options->rate_bytes_per_s * options->duration_ns / STRIA_NS_PER_S;
    if (bytes < options->bytes_max)
        options->bytes_max = (uint64_t)bytes;
    options->duration_ns = 0;
}

int stria_source_open(const struct stria_source_options *options, struct stria_source **source,
                      struct stria_trouble *trouble)
{
    struct stria_source *made = calloc(1, sizeof(*made));
    if (!made)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to open the input");
    made->options = *options;
    made->fd = -1;
    /* From here on zero is a limit too: of a slow sensor nothing may be due in the time it has. */
    if (!made->options.bytes_max)
        made->options.bytes_max = UINT64_MAX;
    int code = open_input(made, trouble);
    if (code != STRIA_OK) {
        stria_source_close(made);
        return code;
    }
    limit_by_pace(made);
    *source = made;
    return STRIA_OK;
}

const char *stria_source_name(const struct stria_source *source)
{
    return source->name;
}

bool stria_source_status(const struct stria_source *source, struct stat *status)
{
    return source->fd >= 0 && fstat(source->fd, status) == 0;
}

bool stria_source_is_live(const struct stria_source *source)
{
    return source->options.rate_bytes_per_s != 0 || source->pipe;
}

void stria_source_start(struct stria_source *source)
{
    source->start_ns = stria_clock_ns();
}

/* Zero: none. */
static uint64_t end_ns(const struct stria_source *source)
{
    return source->options.duration_ns ? stria_clock_after(source->start_ns, source->options.duration_ns) : 0;
}

static uint64_t left_bytes(const struct stria_source *source)
{
    return source->options.bytes_max - source->offset;
}

/* Waits until the sensor would have sent offset bytes. False when a signal ends the stream before. */
static bool wait_for_pace(const struct stria_source *source, uint64_t offset)
{
    const uint64_t rate = source->options.rate_bytes_per_s;
    if (rate == 0)
        return !stria_signals_stop();
    const uint64_t due_ns = source->start_ns + (uint64_t)((unsigned __int128)offset * STRIA_NS_PER_S / rate);
    struct pollfd signals = {.fd = stria_signals_fd(), .events = POLLIN};
    for (uint64_t now = stria_clock_ns(); !stria_signals_stop() && now < due_ns; now = stria_clock_ns()) {
        const struct timespec left = {.tv_sec = (time_t)((due_ns - now) / STRIA_NS_PER_S),
                                      .tv_nsec = (long)((due_ns - now) % STRIA_NS_PER_S)};
        ppoll(&signals, 1, &left, NULL);
    }
    return !stria_signals_stop();
}

/* What a sensor of this pace has sent so far; never less than what was taken from it. */
static uint64_t sent_by_now(const struct stria_source *source)
{
    const uint64_t rate = source->options.rate_bytes_per_s;
    if (rate == 0)
        return UINT64_MAX;
    const unsigned __int128 sent =
        (unsigned __int128)(stria_clock_ns() - source->start_ns) * rate / STRIA_NS_PER_S;
    return sent < source->offset ? source->offset : sent > UINT64_MAX ? UINT64_MAX : (uint64_t)sent;
}

/* 1: something is there or the input has ended; 0: the stream is over by time or signal; negative errno. */
static int wait_for_input(const struct stria_source *source)
{
    const uint64_t end = end_ns(source);
    struct pollfd both[2] = {{.fd = source->fd, .events = POLLIN},
                             {.fd = stria_signals_fd(), .events = POLLIN}};
    while (!stria_signals_stop()) {
        const uint64_t now = stria_clock_ns();
        if (end && now >= end)
            return 0;
        const uint64_t wait_ms = end ? (end - now) / 1000000 + 1 : 1000;
        int ready = poll(both, 2, (int)smaller(wait_ms, 1000));
        if (ready < 0 && errno != EINTR)
            return -errno;
        if (ready > 0 && both[0].revents)
            return 1;
    }
    return 0;
}

/* Reads what is there. Zero at the stream's end, negative errno. */
static int64_t read_some(struct stria_source *source, void *buffer, size_t bytes)
{
    for (;;) {
        int ready = wait_for_input(source);
        if (ready <= 0)
            return ready;
        ssize_t got = read(source->fd, buffer, bytes);
        if (got >= 0)
            return got;
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
}

static int64_t fill_from_fd(struct stria_source *source, char *buffer, size_t bytes,
                            struct stria_trouble *trouble)
{
    size_t filled = 0;
    while (filled < bytes) {
        int64_t got = read_some(source, buffer + filled, bytes - filled);
        if (got < 0 && filled == 0)
            return cannot(source, "read", (int)-got, trouble);
        if (got < 0) {
            source->error = (int)-got;
            break;
        }
        if (got == 0) {
            source->ended = true;
            break;
        }
        filled += (size_t)got;
    }
    return (int64_t)filled;
}

/* Made at once, handed out when the sensor would have. A signal ends it at a whole buffer. */
static int64_t fill_synthetic(struct stria_source *source, void *buffer, size_t bytes)
{
    const uint64_t end = end_ns(source);
    if (stria_signals_stop() || (end && stria_clock_ns() >= end)) {
        source->ended = true;
        return 0;
    }
    stria_synthetic_fill(buffer, bytes, source->offset, source->options.seed);
    return (int64_t)bytes;
}

int64_t stria_source_fill(struct stria_source *source, void *buffer, size_t bytes,
                          struct stria_trouble *trouble)
{
    const size_t wanted = (size_t)smaller(bytes, left_bytes(source));
    if (wanted == 0 || source->ended)
        return 0;
    if (source->error)
        return cannot(source, "read", source->error, trouble);
    int64_t got = source->fd < 0 ? fill_synthetic(source, buffer, wanted)
                                 : fill_from_fd(source, buffer, wanted, trouble);
    if (got <= 0)
        return got;
    if (!wait_for_pace(source, source->offset + (uint64_t)got)) {
        source->ended = true;
        if (source->fd < 0)
            got = (int64_t)smaller((uint64_t)got, sent_by_now(source) - source->offset);
    }
    source->offset += (uint64_t)got;
    return got;
}

void stria_source_close(struct stria_source *source)
{
    if (!source)
        return;
    if (source->fd >= 0)
        close(source->fd);
    free(source);
}
