/* Guarding drives that only a backend reaches: no file descriptor leads to them, and the system knows nothing
 * of what is on them. Their ends, where whatever names a content lies, are copied and looked at. */
#ifndef STRIA_BACKENDS_REMOTE_H
#define STRIA_BACKENDS_REMOTE_H

#include "backends/guard.h"

/* True for the paths that this is for ("vfio:…"). */
bool stria_remote_is(const char *path);

/* As stria_guard_check() and stria_guard_erase(). */
int stria_remote_check(const char *path, const struct stria_guard *guard, bool *erase,
                       struct stria_trouble *trouble);
int stria_remote_erase(const char *path, struct stria_trouble *trouble);

#endif
