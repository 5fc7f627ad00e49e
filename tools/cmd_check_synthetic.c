#include "core/synthetic.h"
#include "support/plain.h"
#include "tools/commands.h"
#include "tools/status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdalign.h>
#include <string.h>
#include <unistd.h>

#define CHECK_BYTES (1u << 20)

struct check_options {
    struct stria_figure offset;
};

static const struct stria_option options[] = {
    {"offset", 0, STRIA_OPTION_SIZE, "SIZE",
     "Where in the stream the data begin, a multiple of 4KiB; 0 by default",
     offsetof(struct check_options, offset), NULL},
    {.name = NULL},
};

static const char *const verdicts[] = {
    [STRIA_SYNTHETIC_ALIEN] = "no synthetic stream at all",
    [STRIA_SYNTHETIC_MISPLACED] = "from another place in the stream",
    [STRIA_SYNTHETIC_MIXED] = "from a stream of another seed",
    [STRIA_SYNTHETIC_DAMAGED] = "damaged",
};

/* Bytes read, fewer than asked only at the end; negative errno. */
static ssize_t read_all(int fd, char *buffer, size_t bytes)
{
    size_t filled = 0;
    while (filled < bytes) {
        ssize_t got = read(fd, buffer + filled, bytes - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        filled += (size_t)got;
    }
    return (ssize_t)filled;
}

static int check(int fd, const char *name, uint64_t offset)
{
    static alignas(4096) char buffer[CHECK_BYTES];
    const uint64_t start = offset;
    for (;;) {
        ssize_t got = read_all(fd, buffer, sizeof(buffer));
        if (got < 0) {
            fprintf(stderr, "stria check-synthetic: cannot read %s: %s\n", stria_shown(name),
                    stria_errno_text((int)-got));
            return STRIA_STATUS_SYSTEM;
        }
        if (got == 0)
            break;
        size_t bad;
        enum stria_synthetic_verdict verdict = stria_synthetic_check(buffer, (size_t)got, offset, &bad);
        if (verdict != STRIA_SYNTHETIC_OK) {
            printf("%s: at stream offset %" PRIu64 ": %s\n", stria_shown(name), offset + bad,
                   verdicts[verdict]);
            return STRIA_STATUS_NOT_WHOLE;
        }
        offset += (uint64_t)got;
    }
    printf("%s: %" PRIu64 " bytes, all as they were made\n", stria_shown(name), offset - start);
    return STRIA_STATUS_OK;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct check_options *options_given = given;
    const char *path = operand_count ? operands[0] : "-";
    const bool standard_input = strcmp(path, "-") == 0;
    if (options_given->offset.value % STRIA_SYNTHETIC_BLOCK_BYTES) {
        fprintf(stderr,
                "stria check-synthetic: --offset %" PRIu64
                " is no multiple of 4096: the stream can be checked from "
                "such offsets only\n",
                options_given->offset.value);
        return STRIA_STATUS_USAGE;
    }
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fprintf(stderr, "stria check-synthetic: cannot open %s: %s\n", stria_shown(path),
                stria_errno_text(errno));
        return STRIA_STATUS_USAGE;
    }
    int status = check(fd, standard_input ? "standard input" : path, options_given->offset.value);
    if (!standard_input)
        close(fd);
    return status;
}

const struct stria_command stria_command_check_synthetic = {
    .name = "check-synthetic",
    .summary = "checks an exported synthetic stream against itself",
    .operands = "[FILE|-]",
    .operands_min = 0,
    .operands_max = 1,
    .description = "Recomputes what 'record --input synthetic' made, from nothing but the data, and tells "
                   "the first byte that\n"
                   "differs. For example: stria export array.ini NAME | stria check-synthetic",
    .options = options,
    .options_bytes = sizeof(struct check_options),
    .interruptible = true,
    .run = run,
};
