#include "support/trouble.h"

#include "support/plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than the longest path and the words around it. */
#define DRAFT_BYTES 8192

/* Neither end of the cut may split a character. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

static void shorten(char *sentence, size_t size, const char *draft, size_t length)
{
    static const char ellipsis[] = "…";
    size_t head = size / 2, tail = size - 1 - head - (sizeof(ellipsis) - 1);
    while (head > 0 && continues(draft[head]))
        head--;
    while (tail > 0 && continues(draft[length - tail]))
        tail--;
    memcpy(sentence, draft, head);
    memcpy(sentence + head, ellipsis, sizeof(ellipsis) - 1);
    memcpy(sentence + head + sizeof(ellipsis) - 1, draft + length - tail, tail + 1);
}

int stria_trouble_set(struct stria_trouble *trouble, int code, const char *format, ...)
{
    if (!trouble)
        return code;
    char draft[DRAFT_BYTES];
    trouble->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(draft, sizeof(draft), format, arguments);
    va_end(arguments);
    const size_t length = strlen(draft);
    if (length < sizeof(trouble->sentence))
        memcpy(trouble->sentence, draft, length + 1);
    else
        shorten(trouble->sentence, sizeof(trouble->sentence), draft, length);
    stria_plain(trouble->sentence);
    return code;
}

const char *stria_errno_text(int error)
{
    switch (error) {
    case EMFILE:
        return "this process has as many files open as it may: raise the limit (ulimit -n, LimitNOFILE=)";
    case ENFILE:
        return "the system has as many files open as it may: raise the sysctl fs.file-max";
    case EFBIG:
        return "it would grow past the limit on the size of files: raise it (ulimit -f, LimitFSIZE=)";
    case ENAMETOOLONG:
        return "the path is too long: a name has at most 255 bytes, a path 4095";
    case ENOMEM:
        return "the system gives no more memory: free some, or raise the limit (ulimit -v, MemoryMax=)";
    default:
        return strerror(error);
    }
}

int stria_code_of_errno(int error)
{
    switch (error) {
    case 0:
        return STRIA_OK;
    case EAGAIN:
    case EINTR:
        return STRIA_ERR_AGAIN;
    case EIO:
    case ENODATA:
    case EBADMSG:
    case EILSEQ:
    case EREMOTEIO:
        return STRIA_ERR_IO;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return STRIA_ERR_NO_SPACE;
    case ENODEV:
    case ENXIO:
    case ESHUTDOWN:
    case ENOLINK:
        return STRIA_ERR_GONE;
    case ETIMEDOUT:
    case ETIME:
        return STRIA_ERR_TIMEOUT;
    case EINVAL:
    case ERANGE:
    case ENAMETOOLONG:
    case ELOOP:
    case EISDIR:
        return STRIA_ERR_INVALID;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return STRIA_ERR_NO_MEMORY;
    case ENOENT:
    case ENOTDIR:
        return STRIA_ERR_NOT_FOUND;
    case EEXIST:
        return STRIA_ERR_EXISTS;
    case EBUSY:
    case ETXTBSY:
        return STRIA_ERR_BUSY;
    case EOPNOTSUPP:
    case ENOSYS:
    case ENOTTY:
        return STRIA_ERR_UNSUPPORTED;
    case EACCES:
    case EPERM:
    case EROFS:
        return STRIA_ERR_PERMISSION;
    default:
        return STRIA_ERR_SYSTEM;
    }
}

void stria_memory_missing(void)
{
    fprintf(stderr, "stria: %s\n", stria_errno_text(ENOMEM));
    exit(3);
}
