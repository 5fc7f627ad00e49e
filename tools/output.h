/* Where exported bytes go: a file that appears whole under its name, with holes, or standard output. */
#ifndef STRIA_TOOLS_OUTPUT_H
#define STRIA_TOOLS_OUTPUT_H

#include "stria.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct stria_output;

/* May this path be written to? STRIA_ERR_REFUSED for a drive of the array, the INI file it is described in, a
 * profile that this names, and any device. *file: a file is there or would be made; false for a pipe, an open
 * descriptor (stria_file_descriptor) and the like. */
int stria_output_check(const char *path, const struct stria_array *array, bool *file,
                       struct stria_trouble *trouble);

/* The path of the array's drive that a file or device shares bytes with, be it by another name or through a
 * loop device; null: none. */
const char *stria_output_drive(const struct stria_array *array, const struct stat *status);

/* A file is written beside its place, under another name, until it is finished; a symbolic link stays one. An
 * open descriptor is written as it is: "-" is standard output. What stria_output_check refuses is refused. */
int stria_output_open(const char *path, const struct stria_array *array, struct stria_output **output,
                      struct stria_trouble *trouble);

/* Appends bytes. A signal that asks for the end ends it too, also while nobody reads them. */
int stria_output_write(struct stria_output *output, const void *data, size_t bytes,
                       struct stria_trouble *trouble);

/* Appends zeros: as a hole where the output can have one. */
int stria_output_skip(struct stria_output *output, uint64_t bytes, struct stria_trouble *trouble);

/* Makes the file durable and lets it appear under its name. The output is gone afterwards, also on failure.
 */
int stria_output_finish(struct stria_output *output, struct stria_trouble *trouble);

/* Leaves nothing behind; null does no harm. */
void stria_output_abandon(struct stria_output *output);

#endif
