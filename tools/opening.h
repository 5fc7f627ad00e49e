/* What every subcommand does first: reads array.ini and opens the array, telling all that is wrong. */
#ifndef STRIA_TOOLS_OPENING_H
#define STRIA_TOOLS_OPENING_H

#include "config/array.h"
#include "stria.h"

/* Reads array.ini. Returns a new configuration for free(), or null with everything wrong printed and *status
 * set to the exit status. */
struct stria_array_config *stria_opening_read(const char *command, const char *ini_path, int *status);

/* Opens the array; complaints about it and its drives are printed on standard error as warnings. Returns
 * null when it cannot be opened, with the sentence printed and *status set. */
struct stria_array *stria_opening_open(const char *command, const char *ini_path, bool writable, int *status);

/* The drives that are there, as a set of bits by index. */
uint32_t stria_opening_present(const struct stria_array *array);

/* Prints a warning for each drive that was there before and is not any more. True if there is one. */
bool stria_opening_tell_lost(const char *command, const struct stria_array *array, uint32_t present_before);

#endif
