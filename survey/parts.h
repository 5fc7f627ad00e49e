/* The parts of a survey: each fills in what it is about, and leaves the rest alone. */
#ifndef STRIA_SURVEY_PARTS_H
#define STRIA_SURVEY_PARTS_H

#include "survey/node.h"

struct stria_survey_figure stria_figure_of(int64_t value);

/* An attribute in /sys that is a number; unknown if it is not. */
struct stria_survey_figure stria_figure_read(const char *root, const char *folder, const char *attribute);

/* What a link of this speed and width carries after line coding: 8b/10b up to 5 GT/s, 128b/130b up to 32,
 * 242 of 256 bytes above. Unknown if either is. */
struct stria_survey_figure stria_link_bytes_per_s(struct stria_survey_figure mts,
                                                  struct stria_survey_figure width);

/* Link, bridges, NUMA node and local processors. */
void stria_parts_link(const char *root, const struct stria_node *node, struct stria_survey_drive *drive);

/* What an NVMe drive says of itself: identity, formats, health, thresholds, cache. */
void stria_parts_nvme(const char *root, struct stria_survey_drive *drive);

/* Its heat alone, of any disk. */
void stria_parts_heat(const char *root, const char *disk, const char *controller,
                      struct stria_survey_sample *sample);

/* Mounts, swap and holders of a device and its partitions, or of a file. */
void stria_parts_users(const char *root, const struct stria_node *node, const char *resolved,
                       struct stria_survey_drive *drive);

/* The mount that a path lies on; false if none is known. number is the device's ("259:2"), source as in
 * mountinfo. */
bool stria_parts_mount(const char *root, const char *resolved, struct stria_survey_file_system *system,
                       char number[32], char source[PATH_MAX]);

#endif
