/* Files that stand for drives: made, and allocated in full. */
#ifndef STRIA_SUPPORT_ALLOCATE_H
#define STRIA_SUPPORT_ALLOCATE_H

#include "support/trouble.h"

#include <stdint.h>

/* Makes a new, empty file, behind a symbolic link where that leads. *fd, open for reading and writing, is the
 * caller's; −1 on failure. STRIA_ERR_EXISTS: there is something by now, which is left as it is. */
int stria_allocate_make(const char *path, int *fd, struct stria_trouble *trouble);

/* Removes what stria_allocate_make() made. */
void stria_allocate_take_back(const char *path);

/* Gives an open file exactly this size, with every byte allocated; what is in it stays as far as it fits. One
 * that cannot be allocated keeps its size and content. The sentence names path. */
int stria_allocate_resize(int fd, const char *path, uint64_t bytes, struct stria_trouble *trouble);

#endif
