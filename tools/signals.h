/* SIGINT and SIGTERM ask for a proper end; SIGPIPE is ignored, so that a closed pipe is an error of write. */
#ifndef STRIA_TOOLS_SIGNALS_H
#define STRIA_TOOLS_SIGNALS_H

#include <stdbool.h>

/* From now on. Before other threads begin; again only after they were given back. */
void stria_signals_take(void);

/* For a command that leaves nothing half done: such signals end it at once again. */
void stria_signals_give_back(void);

/* True once the end was asked for. */
bool stria_signals_stop(void);

/* Readable once the end was asked for, for poll(); never read from it. */
int stria_signals_fd(void);

#endif
