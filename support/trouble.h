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
 * trouble may be null. A sentence too long ends in "…"; control characters in what it quotes become question
 * marks. */
int stria_trouble_set(struct stria_trouble *trouble, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The code for an errno value; STRIA_ERR_SYSTEM for those without one of their own. */
int stria_code_of_errno(int error);

#endif
