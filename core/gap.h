/* Why a range of a stream was not stored. The values are part of the on-media format and of every report. */
#ifndef STRIA_CORE_GAP_H
#define STRIA_CORE_GAP_H

#include <stdint.h>

enum stria_gap_cause {
    STRIA_GAP_NONE = 0,   /* no gap */
    STRIA_GAP_BUFFER = 1, /* no slot was free when the data came (overrun) */
    STRIA_GAP_SOURCE = 2, /* the source itself reported data as lost */
    STRIA_GAP_DRIVE = 3,  /* a drive failed and no other could take the data */
    STRIA_GAP_FULL = 4    /* no extent was left on any drive */
};

/* For "which drive": none in particular. */
#define STRIA_GAP_DRIVE_NONE 0xffu

/* "none", "buffer", "source", "drive", "full"; "unknown" for anything else, as found in damaged or newer
 * data. */
__attribute__((visibility("default"))) const char *stria_gap_cause_text(uint32_t cause);

#endif
