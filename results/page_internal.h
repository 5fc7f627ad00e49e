/* The parts that the page is put together from. Inside this room only. */
#ifndef STRIA_RESULTS_PAGE_INTERNAL_H
#define STRIA_RESULTS_PAGE_INTERNAL_H

#include "results/measurement.h"
#include "results/text.h"

/* Gaps that follow one another, of the same cause and drive, as one. */
struct stria_gap_stretch {
    uint64_t offset_bytes;      /* of the first */
    uint64_t length_bytes;      /* of all together; 0: not told */
    uint32_t count;             /* how many they are */
    bool timed;                 /* the two below are known */
    uint64_t from_ns, until_ns; /* times of the first and the last */
    const char *cause, *drive;
};

/* Into stretches[], which has room for each gap; returns how many. Gaps further apart than a second are not
 * put together. */
uint32_t stria_gap_stretches(const struct stria_measurement *measurement,
                             struct stria_gap_stretch *stretches);

/* What the script draws, as JSON that may stand in a script element. */
void stria_page_data(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out);

/* The headline figures of one measurement, what counts first. */
void stria_page_headline(const struct stria_measurement *measurement, uint32_t index, struct stria_text *out);

/* Every figure of all measurements side by side. */
void stria_page_figures(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out);

/* Drives, points, gaps and conditions of one measurement. */
void stria_page_tables(const struct stria_measurement *measurement, struct stria_text *out);

#endif
