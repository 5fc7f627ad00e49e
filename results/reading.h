/* What the readers of the schemas share. Inside this room only. */
#ifndef STRIA_RESULTS_READING_H
#define STRIA_RESULTS_READING_H

#include "results/document.h"
#include "results/measurement.h"

/* Each fills a measurement whose source and label are set already, from the root of a document. Whether it
 * could tells the document's code. */
void stria_reading_record(const struct stria_node *root, struct stria_measurement *measurement);
void stria_reading_bench(const struct stria_node *root, struct stria_measurement *measurement);
void stria_reading_simulate(const struct stria_node *root, struct stria_measurement *measurement);
void stria_reading_fio(const struct stria_node *root, struct stria_measurement *measurement);

/* mean_bytes_per_s, sustained_bytes_per_s, latency_ns and lossless_bytes_per_s, as far as they are there. */
void stria_reading_rates(const struct stria_node *node, struct stria_reading readings[STRIA_QUANTITIES]);

/* Room for count drives and as many tracks as a round can have. A count that no array has fails. */
void stria_reading_make_drives(const struct stria_node *list, struct stria_measurement *measurement);
void stria_reading_make_tracks(struct stria_measurement *measurement, struct stria_round *round);

/* Adds a track of whole numbers, or for STRIA_TRACK_TEMPERATURE of degrees, from an array; nothing for a node
 * without a value. The round's tracks have room for one of each kind and drive. */
void stria_reading_add_track(const struct stria_node *array, struct stria_round *round,
                             const struct stria_track *like);

/* The same for an array of arrays, one for each drive. */
void stria_reading_add_tracks(const struct stria_node *arrays, const struct stria_measurement *measurement,
                              struct stria_round *round, const struct stria_track *like);

/* A histogram, from pairs of a bucket's least value and its count; none for a node without a value. */
void stria_reading_latencies(const struct stria_node *list, struct stria_latencies *latencies);

/* The "histogram" of all drives together, and of each of root's "drives". */
void stria_reading_all_latencies(const struct stria_node *together, const struct stria_node *root,
                                 struct stria_measurement *measurement, struct stria_round *round);

/* Gives drives of the same label a number, so that each has its own. */
void stria_reading_tell_apart(struct stria_measurement *measurement);

/* The part of a path behind its last slash. */
const char *stria_reading_name_of(const char *path);

/* A size, rate or time as a condition has it; null for what is not known. */
const char *stria_reading_size_text(struct stria_measurement *measurement, struct stria_reading bytes);
const char *stria_reading_number_text(struct stria_measurement *measurement, struct stria_reading number);

#endif
