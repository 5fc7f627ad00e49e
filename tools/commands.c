#include "tools/commands.h"

#include "tools/signals.h"
#include "tools/status.h"

#include <assert.h>
#include <stdalign.h>
#include <string.h>

const struct stria_command *const stria_commands[] = {
    /* clang-format off */
    &stria_command_init,
    &stria_command_record,
    &stria_command_ls,
    &stria_command_verify,
    &stria_command_export,
    &stria_command_rm,
    &stria_command_fake,
    &stria_command_simulate,
    &stria_command_bench,
    &stria_command_compare,
    &stria_command_report,
    &stria_command_drives,
    &stria_command_doctor,
    &stria_command_check_synthetic,
    NULL,
    /* clang-format on */
};

const struct stria_command *stria_command_find(const char *name)
{
    for (const struct stria_command *const *command = stria_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

int stria_command_run(const struct stria_command *command, int argc, char **argv)
{
    alignas(max_align_t) char options[STRIA_OPTIONS_BYTES_MAX] = {0};
    int first;
    assert(command->options_bytes <= sizeof(options));
    switch (stria_options_parse(command, argc, argv, options, &first)) {
    case STRIA_PARSED_HELP:
        stria_options_help(command, stdout);
        return STRIA_STATUS_OK;
    case STRIA_PARSED_WRONG:
        return STRIA_STATUS_USAGE;
    default:
        if (command->interruptible)
            stria_signals_give_back();
        return command->run(options, argv + first, argc - first);
    }
}
