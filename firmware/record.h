/* A recording on the array: the ring in memory, the sensor that fills it, and the loop that does all else. */
#ifndef STRIA_FIRMWARE_RECORD_H
#define STRIA_FIRMWARE_RECORD_H

#include "firmware/array.h"

struct stria_bare_outcome {
    bool whole; /* every byte was stored, by drives that are all still there */
    uint64_t stored_bytes;
    uint64_t duration_ns; /* from the first chunk to the end, which is durable */
};

/* Records as the options say and says what came of it. still: the ring's content is not made anew for each
 * chunk. STRIA_OK; or a negative code where no recording could be made, and why was said. The array has to be
 * opened anew afterwards. */
int stria_bare_record(struct stria_bare_array *array, const struct stria_firmware_options *options,
                      bool still, struct stria_bare_outcome *outcome);

#endif
