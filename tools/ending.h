/* Whether signals may end a command at once. */
#ifndef STRIA_TOOLS_ENDING_H
#define STRIA_TOOLS_ENDING_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP end the command as they come, for it leaves nothing half done; not
 * if one of the drives is another host's, which would stay connected: then the command has to look itself
 * (stria_ending_asked). */
void stria_ending_at_once(char *const *paths, int path_count);

/* The same for the drives of an array. False if array.ini cannot be read: told, with *status. */
bool stria_ending_at_once_with(const char *command, const char *ini_path, int *status);

/* True once a signal asked for the end, which is told, with *status. */
bool stria_ending_asked(const char *command, int *status);

#endif
