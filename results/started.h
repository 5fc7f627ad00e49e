/* When a measurement was begun, as a number. Inside this room only. */
#ifndef STRIA_RESULTS_STARTED_H
#define STRIA_RESULTS_STARTED_H

#include <stdbool.h>
#include <stdint.h>

/* "2026-11-30T12:00:00Z", with a fraction of the second or without, as nanoseconds since 1970. False, with
 * *ns untouched, for null and for what is no such time. */
bool stria_started_parse(const char *text, uint64_t *ns);

#endif
