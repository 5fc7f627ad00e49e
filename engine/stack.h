/* Puts together what one [drive.NAME] section describes: a backend, and the wrappers around it. */
#ifndef STRIA_ENGINE_STACK_H
#define STRIA_ENGINE_STACK_H

#include "backends/backend.h"
#include "config/array.h"
#include "support/bell.h"

struct stria_stack_options {
    bool writable;           /* and held exclusively */
    bool held;               /* the caller holds it already, see stria_drive_options */
    bool partly;             /* see stria_drive_options */
    uint32_t depth;          /* requests in flight that the caller wants */
    struct stria_bell *bell; /* rung when a drive with a thread has finished something; null: the caller gives
                                each drive a thread of its own, and none is put in between */
    bool forgets;            /* a fake drive begins new, and is forgotten when it is closed */
};

/* The backend that such a drive is opened with; null where none claims its path, trouble (which may be null)
 * saying so. */
const struct stria_backend *stria_stack_backend(const struct stria_drive_config *config,
                                                struct stria_trouble *trouble);

/* The drive is the caller's, to be closed through its backend. The sentence names the drive's path. */
int stria_stack_open(const struct stria_drive_config *config, const struct stria_stack_options *options,
                     struct stria_drive **drive, struct stria_trouble *trouble);

/* Closes a drive; null does no harm. */
void stria_stack_close(struct stria_drive *drive);

#endif
