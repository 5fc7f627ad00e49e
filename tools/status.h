/* The exit statuses of the command. */
#ifndef STRIA_TOOLS_STATUS_H
#define STRIA_TOOLS_STATUS_H

#include "support/problems.h"
#include "support/trouble.h"

enum stria_status {
    STRIA_STATUS_OK = 0,
    STRIA_STATUS_NOT_WHOLE = 1, /* the data: a gap, corruption, a drive that was lost */
    STRIA_STATUS_USAGE = 2,     /* usage or configuration, also a drive that must not be overwritten */
    STRIA_STATUS_SYSTEM = 3     /* a device or the system failed */
};

/* The status that an operation's failure makes. */
enum stria_status stria_status_of(int code);

/* Prints "stria COMMAND: SENTENCE" on standard error and returns the status of the trouble's code. */
int stria_status_fail(const char *command, const struct stria_trouble *trouble);

/* The same for a list of problems. */
int stria_status_fail_all(const char *command, int code, const struct stria_problems *problems);

#endif
