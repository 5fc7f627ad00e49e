/* The inside of the verifier, shared by its source files and by nobody else. */
#ifndef STRIA_CORE_VERIFIER_INTERNAL_H
#define STRIA_CORE_VERIFIER_INTERNAL_H

#include "core/fetch.h"
#include "core/verifier.h"
#include "core/watch.h"

/* Extents in a row whose payload was found to be nobody's, after which a drive's damage is not looked at
 * that closely any more: each look costs a hash of the payload for each candidate. */
#define STRIA_SEARCHES_MAX 256u

/* Unreadable extents in a row after which a drive is given up. */
#define STRIA_UNREADABLE_MAX 1024u

enum pull_state {
    PULL_FREE,
    PULL_SUBMIT,    /* a piece is to be read */
    PULL_READING,   /* … and in flight */
    PULL_PAUSED,    /* a piece is to be read at resume_ns */
    PULL_CHECK,     /* the payload is to be hashed by the caller */
    PULL_CHECKING,  /* … and is being */
    PULL_SEARCH,    /* the payload is to be held against the next candidate */
    PULL_SEARCHING, /* … and is being */
    PULL_WAITING,   /* bad, but there are alternatives: waits for the spare pull */
    PULL_SETTLE,    /* verdict is known and to be told */
    PULL_ABANDONED, /* its drive was given up while it was in flight: verdict is still to be told … */
    PULL_DEAD       /* … and is told; the buffer is never used again */
};

/* One extent under way, with the buffer of the same number. */
struct pull {
    enum pull_state state;
    uint16_t turn; /* counts what was asked, so that a late completion is recognised */
    uint32_t drive;
    uint32_t recording;
    uint32_t extent;      /* the first among alternatives */
    uint32_t alternative; /* the one being read, counted from extent */
    uint64_t item;        /* index into the drive's items; not for the spare pull */
    struct stria_fetch fetch;
    uint64_t since_ns; /* READING: when it was asked for, as watched time */
    uint64_t resume_ns;
    enum stria_verdict verdict; /* of the first place */
    int code;                   /* why it is unreadable */
    uint32_t candidate;         /* SEARCH: the next */
    uint32_t other_recording, other_extent;
};

struct lane {
    struct stria_verifier_drive config;
    uint32_t first_pull;
    uint64_t next; /* item */
    bool gone, gone_told;
    int code;
    uint32_t unreadable_in_row;
    uint32_t searches_in_vain;
};

struct stria_verifier {
    struct stria_verifier_config config;
    struct lane *lanes;
    struct pull *pulls;
    uint32_t pull_count; /* with the spare one, which is the last */
    uint64_t now_ns;
    struct stria_watch watch;
    uint32_t scan_recording; /* where the search for missing chunks stands */
    uint64_t scan_chunk;
    bool begun, stopping, finished;
    struct stria_verifier_status status;
    struct stria_verifier_actions *actions; /* of the step under way */
};

/* A chunk whose payload might lie where another's belongs. False when number is beyond the last candidate;
 * extent is null when there is no candidate of that number. */
struct stria_verifier_candidate {
    uint32_t recording;
    uint32_t index;
    const struct stria_map_extent *extent;
};

bool stria_verifier_candidate(const struct stria_verifier *verifier, const struct pull *pull, uint32_t number,
                              struct stria_verifier_candidate *candidate);

/* verifier_pull.c */
enum handing { HANDED, BUSY, NOBODY };

bool stria_verifier_room(struct stria_verifier *verifier);
struct stria_verifier_action *stria_verifier_emit(struct stria_verifier *verifier,
                                                  enum stria_verifier_action_kind kind);
struct pull *stria_verifier_spare(const struct stria_verifier *verifier);
enum handing stria_verifier_hand_over(struct stria_verifier *verifier, const struct pull *bad);
void stria_verifier_settle(struct stria_verifier *verifier, const struct pull *pull);
void stria_verifier_give_up(struct stria_verifier *verifier, uint32_t drive, int code);
void stria_verifier_advance(struct stria_verifier *verifier, struct pull *pull, uint32_t home);
void stria_verifier_read_done(struct stria_verifier *verifier, const struct stria_verifier_event *event);
void stria_verifier_check_done(struct stria_verifier *verifier, const struct stria_verifier_event *event);

#endif
