/* Names on media: of arrays, drives and recordings. */
#ifndef STRIA_CORE_NAME_H
#define STRIA_CORE_NAME_H

#include "core/limits.h"

#include <stdbool.h>

/* True when the field is a name as the format wants it: 1 to STRIA_NAME_BYTES − 1 bytes, terminated, zero
 * behind that. Whether its characters please is for others to say; bytes as found may be anything. */
bool stria_name_valid(const char name[STRIA_NAME_BYTES]);

/* True when two valid names are the same. */
bool stria_name_equal(const char a[STRIA_NAME_BYTES], const char b[STRIA_NAME_BYTES]);

/* Fills the field with a terminated text. STRIA_ERR_INVALID when it is empty or does not fit. */
int stria_name_set(char name[STRIA_NAME_BYTES], const char *text);

#endif
