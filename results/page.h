/* The page: measurements as one HTML document that needs nothing but itself. */
#ifndef STRIA_RESULTS_PAGE_H
#define STRIA_RESULTS_PAGE_H

#include "results/measurement.h"
#include "results/text.h"

/* count > 0; their labels differ. version is that of the program that writes it. Figures and tables are in
 * the HTML itself, charts are drawn by its script from data that it holds: no network, no other file. */
void stria_page(const struct stria_measurement *measurements, uint32_t count, const char *version,
                struct stria_text *out);

#endif
