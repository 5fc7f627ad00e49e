/* Where a report goes. */
#ifndef STRIA_RESULTS_WRITE_H
#define STRIA_RESULTS_WRITE_H

#include "results/text.h"
#include "support/trouble.h"

/* Writes it to path whole or not at all, "-" being standard output; see stria_file_write_whole().
 * STRIA_ERR_REFUSED for a device, and for a file that is a drive of an array. */
int stria_results_write(const char *path, const struct stria_text *text, struct stria_trouble *trouble);

#endif
