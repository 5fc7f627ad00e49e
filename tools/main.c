#include "backends/fabrics.h"
#include "support/nearest.h"
#include "tools/commands.h"
#include "tools/signals.h"
#include "tools/status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_help(FILE *out)
{
    fprintf(
        out,
        "stria records one high-rate stream across several drives, and proves on reading it back that every\n"
        "byte is the byte that came in.\n\nusage: stria COMMAND ...\n\n");
    for (const struct stria_command *const *command = stria_commands; *command; command++)
        fprintf(out, "  %-16s%s\n", (*command)->name, (*command)->summary);
    fprintf(out,
            "\n  stria COMMAND --help    shows a command's options\n"
            "  stria --version         shows the version\n\n"
            "exit status: 0 all well; 1 the data are not whole; 2 usage or configuration; 3 a device or the\n"
            "system failed\n");
}

static int unknown_command(const char *name)
{
    struct stria_nearest nearest = stria_nearest_to(name);
    for (const struct stria_command *const *command = stria_commands; *command; command++)
        stria_nearest_offer(&nearest, (*command)->name);
    stria_nearest_offer(&nearest, "help");
    if (nearest.best)
        fprintf(stderr, "stria: there is no command '%s': did you mean %s?\n", name, nearest.best);
    else
        fprintf(stderr, "stria: there is no command '%s': see 'stria --help' for those there are\n", name);
    return STRIA_STATUS_USAGE;
}

static int help(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stdout);
        return STRIA_STATUS_OK;
    }
    const struct stria_command *command = stria_command_find(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    stria_options_help(command, stdout);
    return STRIA_STATUS_OK;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STRIA_STATUS_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        printf("stria %s\n", STRIA_VERSION);
        return STRIA_STATUS_OK;
    }
    const struct stria_command *command = stria_command_find(argv[1]);
    return command ? stria_command_run(command, argc - 1, argv + 1) : unknown_command(argv[1]);
}

/* A standard descriptor that is closed would be given to the next file that is opened, a drive perhaps, and
 * what is said would be written into it. These stand in: neither reading the one nor writing the others
 * works. */
static void fill_closed_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            abort();
}

int main(int argc, char **argv)
{
    fill_closed_descriptors();
    stria_signals_take();
    stria_fabrics_keep();
    int status = run(argc, argv);
    /* What could not be written is not a success. */
    if (fflush(stdout) != 0 && status == STRIA_STATUS_OK) {
        perror("stria: cannot write to standard output");
        status = STRIA_STATUS_SYSTEM;
    }
    stria_fabrics_let_go();
    return status;
}
