/* A failure in words: what went wrong, with what, and what would be right. */
#ifndef STRIA_SUPPORT_TROUBLE_H
#define STRIA_SUPPORT_TROUBLE_H

#include "core/code.h"

struct stria_trouble {
    int code;           /* STRIA_OK or a negative code */
    char sentence[768]; /* one sentence without a newline, for example:
                           "disk0.img is 100 MiB, smaller than the 128 MiB of the smallest drive: give it a
                           larger size" */
};

/* Sets both and returns code, so that callers can write: return stria_trouble_set(trouble, CODE, "…").
 * trouble may be null. A sentence that is too long is cut in its middle, where "…" then stands: its
 * beginning and its end say most. Control characters in what it quotes become question marks. */
int stria_trouble_set(struct stria_trouble *trouble, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The words for an errno value, with the remedy where there is one that the system's own words lack. */
const char *stria_errno_text(int error);

/* The code for an errno value; STRIA_ERR_SYSTEM for those without one of their own. */
int stria_code_of_errno(int error);

/* Ends the program with a sentence about memory and exit status 3: for tools that cannot go on without the
 * few bytes that they asked for. */
_Noreturn void stria_memory_missing(void);

#endif
