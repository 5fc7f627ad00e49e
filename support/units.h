/* Sizes, rates and times as people write and read them. Nothing here depends on the locale: the
 * decimal mark is always a point. */
#ifndef STRIA_SUPPORT_UNITS_H
#define STRIA_SUPPORT_UNITS_H

#include "support/trouble.h"

#include <stddef.h>
#include <stdint.h>

/* Long enough for every text that the print functions make, with its terminating zero. */
#define STRIA_UNITS_TEXT_BYTES 48u

/* What a size, a rate and a time may look like, to be put behind "write " in a sentence or a help text. */
extern const char stria_size_allowed[];
extern const char stria_rate_allowed[];
extern const char stria_time_allowed[];

/* A size in bytes: a number, then B, kB, KB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of
 * 1024), case as written; without a unit it is bytes. A fraction such as 1.5GiB is rounded down to whole
 * bytes; bytes themselves have none. White space may surround the number. Zero is a size.
 * STRIA_ERR_INVALID for anything else, with a sentence that quotes the text; *bytes is then untouched. */
int stria_size_parse(const char *text, uint64_t *bytes, struct stria_trouble *trouble);

/* A rate in bytes per second: a size, optionally followed by "/s". */
int stria_rate_parse(const char *text, uint64_t *bytes_per_s, struct stria_trouble *trouble);

/* A time in nanoseconds: a number, then ns, us, µs, ms, s, min or h; without a unit it is seconds. */
int stria_time_parse(const char *text, uint64_t *ns, struct stria_trouble *trouble);

/* A number such as 0.001, 1 or 12.5, without a sign, an exponent or a unit. */
int stria_ratio_parse(const char *text, double *ratio, struct stria_trouble *trouble);

/* A whole number, without a sign, an exponent or a unit. */
int stria_number_parse(const char *text, uint64_t *number, struct stria_trouble *trouble);

/* A size as it is written in configuration, exactly: "1MiB", "1500kB", "777". Can be parsed again.
 * Returns out, like all print functions; size is that of out and at least STRIA_UNITS_TEXT_BYTES. */
char *stria_size_print(char *out, size_t size, uint64_t bytes);

/* For people, both units side by side, to one decimal: "1234.5 MB (1177.3 MiB)". Scales to kB, GB, TB. */
char *stria_size_print_both(char *out, size_t size, uint64_t bytes);

/* For people: "2500.0 MB/s (2384.2 MiB/s)". Always in megabytes, so that rates can be compared by eye. */
char *stria_rate_print_both(char *out, size_t size, uint64_t bytes_per_s);

/* A time as it is written in configuration, exactly: "200ms", "10s", "90min". Can be parsed again. */
char *stria_time_print(char *out, size_t size, uint64_t ns);

/* For people, to three significant digits or better: "85.3 µs", "12.0 s", "3 min 07 s", "2 h 05 min". */
char *stria_time_print_short(char *out, size_t size, uint64_t ns);

/* A point in time, nanoseconds since 1970 UTC, as RFC 3339 has it: 2026-11-30T08:32:34.125Z. */
char *stria_date_print(char *out, size_t size, uint64_t unix_ns);

#endif
