/* Who else writes to the drives now. Looks twice: begin, let a second pass, end. */
#ifndef STRIA_SURVEY_WRITERS_H
#define STRIA_SURVEY_WRITERS_H

#include "survey/drive.h"

#define STRIA_WRITERS_MAX 32u

/* A process that has a drive, a part of it or a file on it open for writing. */
struct stria_writer_process {
    uint32_t drive; /* index into the drives */
    int pid;
    char name[STRIA_SURVEY_NODE_BYTES];
    char file[STRIA_SURVEY_TEXT_BYTES];       /* what it has open, cut if longer */
    struct stria_survey_figure before, after; /* bytes that it has written anywhere, ever */
};

/* All zero but the pointers is the beginning. */
struct stria_writers {
    const char *root;
    const struct stria_survey_drive *const *drives; /* not owned */
    uint32_t drive_count;
    struct stria_survey_figure *disk_before,
        *disk_after;      /* bytes written to each drive's disk; the caller's */
    uint64_t interval_ns; /* between the two looks; of a recorded tree a second */
    uint32_t process_count;
    uint32_t processes_more; /* those that found no room */
    struct stria_writer_process processes[STRIA_WRITERS_MAX];
};

/* The processes, and the counters before. */
void stria_writers_begin(struct stria_writers *writers);

/* The counters after. In a recorded tree they are below ROOT/later, where it has them. */
void stria_writers_end(struct stria_writers *writers);

#endif
