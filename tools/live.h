/* What is seen while a recording runs: one live block on a terminal, else a line every few seconds and when
 * there is something to warn of. */
#ifndef STRIA_TOOLS_LIVE_H
#define STRIA_TOOLS_LIVE_H

#include "core/limits.h"
#include "stria.h"

#include <stdio.h>

/* One moment of a recording. */
struct stria_moment {
    struct stria_progress progress;
    struct stria_drive_progress drives[STRIA_DRIVES_MAX]; /* progress.drive_count of them */
    const char *drive_names[STRIA_DRIVES_MAX];
};

/* The block for a terminal of so many columns; returns how many lines it took, none longer than that. */
unsigned stria_live_print_block(const struct stria_moment *moment, unsigned columns, FILE *out);

/* The same in one line. */
void stria_live_print_line(const struct stria_moment *moment, FILE *out);

struct stria_live;

/* Begins to show the recording on standard error, from a thread of its own. Returns null when that cannot
 * be had: the recording goes on unseen. Writer and array outlive it. */
struct stria_live *stria_live_start(struct stria_writer *writer, const struct stria_array *array);

/* Ends it, leaving the last block; null does no harm. */
void stria_live_stop(struct stria_live *live);

#endif
