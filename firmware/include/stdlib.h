/* xxHash 0.8.1 includes this also where it is told to do without. What it would call is declared and nowhere
 * defined: an image that used it would not link. */
#ifndef STRIA_FIRMWARE_STDLIB_H
#define STRIA_FIRMWARE_STDLIB_H

#include <stddef.h>

void *malloc(size_t bytes);
void free(void *memory);

#endif
