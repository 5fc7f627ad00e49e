/* Moves a source's bytes into a recording, chunk by chunk, until either ends. */
#ifndef STRIA_TOOLS_CAPTURE_H
#define STRIA_TOOLS_CAPTURE_H

#include "stria.h"
#include "tools/source.h"

#include <stdbool.h>
#include <stdint.h>

/* What to do when every buffer is in use. */
enum stria_overrun {
    STRIA_OVERRUN_BLOCK, /* let the source wait */
    STRIA_OVERRUN_DROP,  /* let the chunk pass and record a gap */
    STRIA_OVERRUN_STOP   /* end the recording */
};

enum stria_capture_end {
    STRIA_CAPTURE_COMPLETE,   /* the source has ended, or was ended as asked */
    STRIA_CAPTURE_OVERRUN,    /* STRIA_OVERRUN_STOP */
    STRIA_CAPTURE_ARRAY_FULL, /* and the source had more */
    STRIA_CAPTURE_NO_DRIVE,   /* no drive was left */
    STRIA_CAPTURE_FAILED      /* the source could not be read, or memory ran out: trouble says it */
};

/* Begins the source's clock. The stream may be shorter than the source when no drive or room was left; all
 * that was committed is for stria_writer_end() to finish. */
enum stria_capture_end stria_capture(struct stria_source *source, struct stria_writer *writer,
                                     uint32_t chunk_bytes, enum stria_overrun overrun,
                                     struct stria_trouble *trouble);

#endif
