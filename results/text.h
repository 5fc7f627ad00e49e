/* A text that grows, and how values are written into it whatever the locale. */
#ifndef STRIA_RESULTS_TEXT_H
#define STRIA_RESULTS_TEXT_H

#include "results/quantity.h"

#include <stddef.h>

/* All zero is an empty one. */
struct stria_text {
    char *bytes; /* length of them, and a zero behind; null while nothing was added */
    size_t length, room;
};

void stria_text_clear(struct stria_text *text);

void stria_text_add(struct stria_text *text, const char *what);
void stria_text_add_bytes(struct stria_text *text, const void *bytes, size_t count);

/* Only for formats without %f and its like, which write the locale's decimal mark. */
void stria_text_format(struct stria_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* value / divisor with so many decimals, rounded, always with a point; trailing zeros are left out. */
void stria_text_add_decimal(struct stria_text *text, uint64_t value, uint64_t divisor, unsigned decimals);

/* A text in HTML, as content or between double quotes. Bytes that are not UTF-8 become U+FFFD, control
 * characters other than white space as well. */
void stria_text_add_html(struct stria_text *text, const char *what);

/* A field of CSV (RFC 4180): in quotes where it has to be. A text that a spreadsheet would take for a formula
 * gets an apostrophe before it. */
void stria_text_add_csv(struct stria_text *text, const char *what);

/* A quantity's value for people: rates in MB/s, sizes and times with their own units. */
void stria_text_add_value(struct stria_text *text, enum stria_quantity quantity, uint64_t value);

#endif
