/* Where a file lies: on what file system, and whether that is a drive at all. */
#ifndef STRIA_MEASURE_PLACE_H
#define STRIA_MEASURE_PLACE_H

#include "support/trouble.h"

#include <stddef.h>

/* The name of the file system that holds the file at path, or would hold it: "ext4"; one that is not known
 * by name is its number. Empty when it cannot be told. Returns out. */
char *stria_place_file_system(const char *path, char *out, size_t size);

/* STRIA_ERR_REFUSED, with a sentence, for a place that is memory and no drive (tmpfs and the like). */
int stria_place_check(const char *path, struct stria_trouble *trouble);

#endif
