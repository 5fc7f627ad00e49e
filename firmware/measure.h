/* What the drives of this machine are worth, and what recording costs of it. */
#ifndef STRIA_FIRMWARE_MEASURE_H
#define STRIA_FIRMWARE_MEASURE_H

#include "firmware/array.h"

/* Each drive alone. zones: the same amount in places all over its data; sizes: a row of amounts, each twice
 * the one before, as long as there is room. Every measurement is repeated; a drive's rating is the least of
 * the minima. Codes, with the reason said, as of stria_bare_load_run(). */
int stria_bare_measure_zones(struct stria_bare_array *array, const struct stria_firmware_options *options);
int stria_bare_measure_sizes(struct stria_bare_array *array, const struct stria_firmware_options *options);

/* The bare write loop alone, over all drives at once; the rate includes a flush. */
int stria_bare_measure_loop(struct stria_bare_array *array, const struct stria_firmware_options *options,
                            uint64_t *bytes_per_s);

#endif
