/* The one set of result codes: zero is success, a negative value an operating error. Findings about
 * stored data are verdicts, not errors, and have types of their own. */
#ifndef STRIA_CORE_CODE_H
#define STRIA_CORE_CODE_H

enum stria_code {
    STRIA_OK = 0,
    STRIA_ERR_AGAIN = -1,        /* try the same again: the request was not carried out */
    STRIA_ERR_FULL = -2,         /* a queue has no room now; a later poll makes some */
    STRIA_ERR_IO = -3,           /* the medium reports an error for this request */
    STRIA_ERR_NO_SPACE = -4,     /* the medium has no room for this request */
    STRIA_ERR_GONE = -5,         /* the drive itself is gone, or given up */
    STRIA_ERR_TIMEOUT = -6,      /* no answer within the deadline */
    STRIA_ERR_INVALID = -7,      /* arguments or configuration out of range */
    STRIA_ERR_NO_MEMORY = -8,    /* memory, or what a limit gives the process, is exhausted */
    STRIA_ERR_NOT_FOUND = -9,    /* no such file, device, array or recording */
    STRIA_ERR_EXISTS = -10,      /* the name is taken */
    STRIA_ERR_BUSY = -11,        /* in use by somebody else */
    STRIA_ERR_REFUSED = -12,     /* would destroy something precious */
    STRIA_ERR_FORMAT = -13,      /* on-media bytes that are not ours */
    STRIA_ERR_VERSION = -14,     /* ours, but from a newer Stria than this one */
    STRIA_ERR_UNSUPPORTED = -15, /* the medium or this build cannot do it */
    STRIA_ERR_PERMISSION = -16,  /* the system denies it */
    STRIA_ERR_ARRAY_FULL = -17,  /* no extent is left on any drive */
    STRIA_ERR_CLOSED = -18,      /* the stream has ended */
    STRIA_ERR_SYSTEM = -19,      /* any other failure of the operating system */
    STRIA_ERR_DAMAGED = -20      /* ours, but not whole any more */
};

/* A short static phrase for a code, such as "i/o error"; "unknown code" for anything else. */
__attribute__((visibility("default"))) const char *stria_code_text(int code);

#endif
