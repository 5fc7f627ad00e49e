/* Every subcommand of stria, in the order in which help shows them. */
#ifndef STRIA_TOOLS_COMMANDS_H
#define STRIA_TOOLS_COMMANDS_H

#include "tools/options.h"

extern const struct stria_command stria_command_init;
extern const struct stria_command stria_command_record;
extern const struct stria_command stria_command_ls;
extern const struct stria_command stria_command_verify;
extern const struct stria_command stria_command_export;
extern const struct stria_command stria_command_rm;
extern const struct stria_command stria_command_fake;
extern const struct stria_command stria_command_simulate;
extern const struct stria_command stria_command_bench;
extern const struct stria_command stria_command_compare;
extern const struct stria_command stria_command_report;
extern const struct stria_command stria_command_drives;
extern const struct stria_command stria_command_doctor;
extern const struct stria_command stria_command_check_synthetic;

/* Ends with null. */
extern const struct stria_command *const stria_commands[];

/* Null if there is none of this name. */
const struct stria_command *stria_command_find(const char *name);

/* Runs it; argv[0] is its name. Returns the exit status. */
int stria_command_run(const struct stria_command *command, int argc, char **argv);

#endif
