/* Reading recordings back and proving them by their hashes. */
#ifndef STRIA_FIRMWARE_VERIFY_H
#define STRIA_FIRMWARE_VERIFY_H

#include "firmware/array.h"

/* Verifies every recording, or the one named in the options, and says what was found. *whole is true if all
 * that was recorded is there and right. STRIA_OK, or a negative code when it could not be done, and why was
 * said. */
int stria_bare_verify(struct stria_bare_array *array, const struct stria_firmware_options *options,
                      bool *whole);

#endif
