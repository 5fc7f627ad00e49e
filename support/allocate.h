/* Files that stand for drives: made and allocated in full, or not at all. */
#ifndef STRIA_SUPPORT_ALLOCATE_H
#define STRIA_SUPPORT_ALLOCATE_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

/* Makes path a regular file of exactly this size with every byte allocated; one that is there keeps its
 * content where the size stays. *made: the file was not there before. A file that could not be allocated is
 * gone again if it is new. The sentence names path. */
int stria_allocate_file(const char *path, uint64_t bytes, bool *made, struct stria_trouble *trouble);

#endif
