/* Documents for tests, written into files of their own. */
#ifndef STRIA_TESTS_RESULTS_WRITE_DOCUMENT_H
#define STRIA_TESTS_RESULTS_WRITE_DOCUMENT_H

#include "results/measurement.h"

/* A recording of two drives for four seconds: 'left' stores 100, 100, 100 and 40 MB in them, 'right' 100, 20,
 * 20 and 100; the last bin is whole. Names hold what has to be escaped. */
extern const char document_record[];

/* A bench of two points of three repeats on one drive. */
extern const char document_bench[];

/* One of a fio of one job. */
extern const char document_fio[];

/* text with the first `from` replaced; the caller frees it. */
char *document_with(const char *text, const char *from, const char *to);

/* Reads a document from a file of this name in a new folder, which is gone afterwards. */
int document_read(const char *name, const char *text, struct stria_measurement *measurement,
                  struct stria_trouble *trouble);

#endif
