#include "support/trouble.h"

#include "support/plain.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int stria_trouble_set(struct stria_trouble *trouble, int code, const char *format, ...)
{
    if (!trouble)
        return code;
    static const char ellipsis[] = "…";
    trouble->code = code;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(trouble->sentence, sizeof(trouble->sentence), format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(trouble->sentence))
        memcpy(trouble->sentence + sizeof(trouble->sentence) - sizeof(ellipsis), ellipsis, sizeof(ellipsis));
    stria_plain(trouble->sentence);
    return code;
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
        return STRIA_ERR_INVALID;
    case ENOMEM:
        return STRIA_ERR_NO_MEMORY;
    case ENOENT:
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
