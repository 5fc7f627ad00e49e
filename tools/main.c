#include "backends/fabrics.h"
#include "support/nearest.h"
#include "support/plain.h"
#include "support/standard.h"
#include "tools/commands.h"
#include "tools/signals.h"
#include "tools/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        fprintf(stderr, "stria: there is no command '%s': did you mean %s?\n", stria_shown(name),
                nearest.best);
    else
        fprintf(stderr, "stria: there is no command '%s': see 'stria --help' for those there are\n",
                stria_shown(name));
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

int main(int argc, char **argv)
{
    if (stria_standard_fill() < 0)
        abort();
    stria_signals_take();
    stria_fabrics_keep();
    int status = run(argc, argv);
    /* What could not be told is no verdict, be it good or bad. */
    const bool told = fflush(stdout) == 0 && !ferror(stdout);
    if (!told && (status == STRIA_STATUS_OK || status == STRIA_STATUS_NOT_WHOLE)) {
        perror("stria: cannot write to standard output");
        status = STRIA_STATUS_SYSTEM;
    }
    stria_fabrics_let_go();
    return status;
}
