/* What core and xxHash take from <string.h>; firmware/bytes.c has it. */
#ifndef STRIA_FIRMWARE_STRING_H
#define STRIA_FIRMWARE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#endif
