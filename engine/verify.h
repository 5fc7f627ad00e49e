/* Verifying: is what is on the drives what came in. */
#ifndef STRIA_ENGINE_VERIFY_H
#define STRIA_ENGINE_VERIFY_H

#include "core/verifier.h"
#include "stria.h"

struct stria_verify_progress {
    uint64_t elapsed_ns;
    uint64_t bytes;       /* of payload judged so far … */
    uint64_t bytes_total; /* … of so many */
    uint64_t bytes_read;  /* from drives: without what is judged because its drive was given up */
    uint64_t findings;
};

/* One damaged extent, or range of chunks without one, or a known gap, as a report needs it. Texts are valid
 * until the result is freed. */
struct stria_verify_finding {
    enum stria_gap_cause cause; /* of a gap; STRIA_GAP_NONE: it is a finding, and … */
    enum stria_verdict verdict; /* … this is wrong: stria_verdict_text() */
    const char *recording;      /* its name */
    uint64_t stream_offset, length_bytes;
    int drive; /* index, for stria_array_drive(); missing: the one that should have it; of a gap: the one at
                  fault; −1: not known */
    uint64_t drive_offset; /* in bytes from the drive's start; not of what is missing */
    const char *reason;    /* unreadable: the error; else null */
    const char *other;     /* misplaced: name of the recording whose payload lies there; else null */
    uint64_t other_offset; /* … and where in its stream that belongs */
};

struct stria_verify_options {
    const char *const *names; /* of the recordings to verify; each once however often named */
    uint32_t name_count;      /* zero: all */
    uint32_t depth;           /* reads in flight on each drive; zero: what is best here */
    void *context;            /* for these, which may be null; all are called by the caller's thread */
    bool (*progress)(void *context, const struct stria_verify_progress *progress); /* a few times a second;
                                                                                      false: stop */
    void (*finding)(void *context, const struct stria_verify_finding *finding);
    void (*gap)(void *context, const struct stria_verify_finding *gap); /* at the end: each of them */
};

struct stria_verify_recording {
    struct stria_recording_info info;
    struct stria_verifier_counts counts;
    bool removed; /* by another host, since the array was opened: then what was found damaged says nothing */
};

struct stria_verify_result {
    struct stria_verify_recording *recordings; /* in the order in which they were begun */
    uint32_t recording_count;
    bool damaged;        /* something that was not removed is corrupt, missing or misplaced; known gaps are
                            no damage */
    bool stopped;        /* before the end: the counts are of what was read */
    uint64_t bytes;      /* of payload judged */
    uint64_t bytes_read; /* from drives: without what is judged because its drive was given up */
    uint64_t duration_ns;
    uint32_t drives_given_up;        /* died or hung while verifying */
    uint64_t ledger_entries_damaged; /* on all drives present, of whichever recording */
};

/* Verifies recordings of an open array, which may be open read-only and does not record: all drives at once,
 * at their full read speed. STRIA_OK also when damage is found. STRIA_ERR_NOT_FOUND for a name that is not
 * there any more, STRIA_ERR_BUSY, STRIA_ERR_NO_MEMORY, each with a sentence. Free the result when it was
 * STRIA_OK. */
int stria_array_verify(struct stria_array *array, const struct stria_verify_options *options,
                       struct stria_verify_result *result, struct stria_trouble *trouble);
void stria_verify_result_free(struct stria_verify_result *result);

#endif
