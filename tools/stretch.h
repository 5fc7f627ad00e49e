/* Stretches of a stream that cannot be had, as they are told to people: what adjoins and has the same wrong
 * with it in one line, and no more lines than somebody reads. */
#ifndef STRIA_TOOLS_STRETCH_H
#define STRIA_TOOLS_STRETCH_H

#include "core/verifier.h"
#include "stria.h"

#include <stdio.h>

/* Lines of stretches that a command prints; the rest it counts. */
#define STRIA_STRETCH_LINES_MAX 32u

struct stria_stretch {
    uint64_t offset, bytes;     /* in the stream */
    enum stria_gap_cause cause; /* why it was never stored; STRIA_GAP_NONE: it was, but … */
    enum stria_verdict verdict; /* … this is wrong with it */
    int drive;                  /* at fault, or where it should be; −1: not known */
    uint64_t drive_offset;      /* of its beginning; not of what is missing or was never stored */
    bool scattered;             /* the rest is elsewhere on that drive */
    const char *reason;         /* unreadable: the error; else null */
    const char *other;          /* misplaced: the recording whose payload lies there; else null … */
    uint64_t other_offset;      /* … and where in its stream that belongs */
};

/* Makes stretch longer by the next one, if that follows it and has the same wrong with it on the same drive.
 */
bool stria_stretch_join(struct stria_stretch *stretch, const struct stria_stretch *next);

/* "at stream offset 9437184: 1.0 MB (1.0 MiB) corrupt, on drive left (/dev/sda) at offset 3145728", without a
 * newline. */
void stria_stretch_print(const struct stria_stretch *stretch, const struct stria_array *array, FILE *out);

#endif
