/* INI text, line by line with its line numbers, over inih: sections and values go to the caller, what is no
 * INI at all becomes a problem. */
#ifndef STRIA_CONFIG_INI_H
#define STRIA_CONFIG_INI_H

#include "support/problems.h"

#include <stddef.h>

struct stria_ini_handler {
    /* name is what stands between the brackets, without blanks around it; valid during the call. */
    void (*section)(void *user, unsigned line, const char *name);
    /* value is null for a line without '='; comments and blanks around it are gone. */
    void (*value)(void *user, unsigned line, const char *key, const char *value);
    void *user;
};

/* Lines longer than this are refused; there is room for a key, a path of full length and a comment. */
#define STRIA_INI_LINE_BYTES 8192u

/* path is for the sentences only. STRIA_ERR_INVALID if any problem was added, STRIA_ERR_NO_MEMORY. */
int stria_ini_parse(const char *path, const char *text, size_t bytes, const struct stria_ini_handler *handler,
                    struct stria_problems *problems);

#endif
