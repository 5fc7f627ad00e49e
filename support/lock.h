/* Locks on bytes of a file, which belong to the open file and end with it (fcntl(2), F_OFD_SETLK). */
#ifndef STRIA_SUPPORT_LOCK_H
#define STRIA_SUPPORT_LOCK_H

#include <stdint.h>

/* type is F_RDLCK, F_WRLCK or F_UNLCK; the bytes may lie behind the end of the file. Never waits. STRIA_OK;
 * STRIA_ERR_BUSY: somebody else's lock is in the way; STRIA_ERR_UNSUPPORTED: the file system or the kernel
 * has no such locks; else the code of errno, which is left as it is. */
int stria_lock_try(int fd, short type, uint64_t offset, uint64_t bytes);

#endif
