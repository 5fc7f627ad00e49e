/* Measurements in the forms that other programs read. */
#ifndef STRIA_RESULTS_EXPORT_H
#define STRIA_RESULTS_EXPORT_H

#include "results/measurement.h"
#include "results/text.h"

/* CSV (RFC 4180), one value a line, so that any number of measurements fits: result, round, repeat, drive,
 * bin, time_s, quantity, value. Figures have no bin; the bins of a track carry the time of their end. Times
 * in seconds, the rest in the unit that ends the quantity's name. What is not known has no line. */
void stria_export_csv(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out);

/* OpenMetrics 1.0 for the textfile folder of a node exporter: the figures as gauges named stria_…, in base
 * units (bytes, seconds, degrees Celsius), labelled by result, kind and drive; ends with "# EOF". */
void stria_export_openmetrics(const struct stria_measurement *measurements, uint32_t count,
                              struct stria_text *out);

/* InfluxDB line protocol: one line of fields for each measurement, drive, round and bin. Lines of a
 * measurement that tells when it started carry the time in nanoseconds since 1970; others leave it to the
 * server. */
void stria_export_influx(const struct stria_measurement *measurements, uint32_t count,
                         struct stria_text *out);

/* A figure for a paper: a panel for each measurement with the rates of its drives over time, in the slowest
 * of its rounds, its input and its gaps. */
void stria_export_svg(const struct stria_measurement *measurements, uint32_t count, struct stria_text *out);

#endif
