/* The same measurement by fio, for those who want to see it from another tool. */
#ifndef STRIA_MEASURE_FIO_H
#define STRIA_MEASURE_FIO_H

#include "measure/bench.h"

#include <stdio.h>

/* Prints a command of fio for each round of the first repeat, one a line; nothing is measured. What fio has
 * no word for is said in a comment above. STRIA_ERR_UNSUPPORTED, with a sentence, for a test or a target that
 * fio knows nothing of. */
int stria_bench_like_fio(const struct stria_bench_options *options, FILE *out, struct stria_trouble *trouble);

#endif
