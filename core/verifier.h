/* The verifying state machine: pure, stepped by events that carry the time, answering with actions.
 *
 * It reads every extent of some recordings, on all drives at once, `depth` reads in flight on each, each
 * drive in the order of positions, and compares payloads with their digests. What does not match is looked
 * at more closely: is it nothing but zeroes, is it the payload of another chunk that lies near. A drive that
 * answers no more is given up; what it still has counts as unreadable, and nobody waits for it.
 *
 * The caller turns actions into requests to drives and completions into events; all memory is the caller's.
 */
#ifndef STRIA_CORE_VERIFIER_H
#define STRIA_CORE_VERIFIER_H

#include "core/geometry.h"
#include "core/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stria_verdict {
    STRIA_VERDICT_OK,
    STRIA_VERDICT_CORRUPT,   /* not what came in */
    STRIA_VERDICT_MISSING,   /* sealed, but no extent is found: its drive is absent or its entry damaged */
    STRIA_VERDICT_MISPLACED, /* another chunk's payload lies there */
    STRIA_VERDICT_STALE,     /* never written: all zeroes */
    STRIA_VERDICT_UNREADABLE /* the drive reports an error, or nothing at all */
};

/* "ok", "corrupt", "missing", "misplaced", "stale", "unreadable"; "unknown" for anything else. */
const char *stria_verdict_text(uint32_t verdict);

/* One recording to verify. */
struct stria_verifier_recording {
    uint64_t id;
    const struct stria_map *map; /* the caller's, unchanged until the end */
};

/* What was found in it. extents = ok + corrupt + missing + misplaced at the end. */
struct stria_verifier_counts {
    uint64_t extents; /* chunks sealed and not known to be lost */
    uint64_t ok;      /* proven; where the same chunk lies in several extents, one that is good is enough */
    uint64_t corrupt; /* stale and unreadable ones included */
    uint64_t missing; /* known from the start */
    uint64_t misplaced;
    uint64_t stale;      /* of corrupt */
    uint64_t unreadable; /* of corrupt */
    uint64_t bytes;      /* of payload proven */
    uint64_t gap_bytes;  /* of the stream, never stored and known not to be; from the start */
};

/* One extent to read: an index into the extents of a recording's map. */
struct stria_verifier_item {
    uint32_t position;
    uint32_t recording;
    uint32_t extent; /* the first among alternatives */
};

struct stria_verifier_drive {
    const struct stria_geometry *geometry;   /* the caller's, unchanged until the end; null if not present */
    const struct stria_verifier_item *items; /* from stria_verifier_items(); the caller's, likewise */
    uint64_t item_count;
    uint64_t transfer_bytes_max; /* largest read */
    uint32_t block_bytes; /* of the drive that is there now; reads are aligned to this and the geometry's */
    uint32_t depth;       /* reads in flight at once, 1 to STRIA_DEPTH_MAX */
    bool present;
};

/* Lists what is to be read of a drive, by rising position, when items is not null. Returns how many there
 * are. */
uint64_t stria_verifier_items(const struct stria_verifier_recording *recordings, uint32_t recording_count,
                              uint32_t drive, struct stria_verifier_item *items);

struct stria_verifier_config {
    uint32_t drive_count;
    const struct stria_verifier_drive *drives; /* copied */
    uint32_t recording_count;
    const struct stria_verifier_recording *recordings; /* the caller's, kept */
    struct stria_verifier_counts *counts; /* one for each recording; the caller's, written until the end */
    uint64_t deadline_ns;                 /* a read without an answer for so long, while the caller looked
   (watch.h): the drive is given up */
};

enum stria_verifier_event_kind {
    STRIA_VERIFIER_EVENT_BEGIN,   /* first event, once */
    STRIA_VERIFIER_EVENT_DONE,    /* a read ended: tag, code, bytes, digest */
    STRIA_VERIFIER_EVENT_CHECKED, /* the answer to CHECK: tag, digest, zero */
    STRIA_VERIFIER_EVENT_GONE,    /* a drive is unusable: drive, code */
    STRIA_VERIFIER_EVENT_TICK,    /* time has passed, or more is to be done */
    STRIA_VERIFIER_EVENT_STOP     /* begin nothing new: finish with what was found so far */
};

struct stria_verifier_event {
    enum stria_verifier_event_kind kind;
    uint64_t now_ns; /* monotonic */
    uint64_t tag;    /* DONE, CHECKED */
    int code;        /* DONE, GONE */
    uint64_t bytes;  /* DONE: transferred */
    uint64_t digest; /* DONE: of a READ with digest_wanted that ended well and whole; CHECKED */
    uint32_t drive;  /* GONE */
    bool zero;       /* CHECKED: every byte looked at is zero */
};

enum stria_verifier_action_kind {
    STRIA_VERIFIER_ACTION_READ,    /* drive, tag, offset, length_bytes, buffer, buffer_offset, digest_* */
    STRIA_VERIFIER_ACTION_CHECK,   /* hash the first digest_bytes of buffer; answer with tag */
    STRIA_VERIFIER_ACTION_FINDING, /* finding */
    STRIA_VERIFIER_ACTION_GIVE_UP, /* drive is not used any more: code says why. Buffers of its reads in
                                      flight are not used any more either */
    STRIA_VERIFIER_ACTION_FINISHED /* all is done */
};

/* One damaged extent, or a range of the stream without any. */
struct stria_finding {
    enum stria_verdict verdict;
    uint32_t recording; /* index into the recordings */
    uint64_t stream_offset;
    uint64_t length_bytes;
    uint32_t drive;               /* MISSING: the one that should have it; STRIA_GAP_DRIVE_NONE: not known */
    uint64_t drive_offset;        /* in bytes; zero for MISSING */
    int code;                     /* UNREADABLE: why */
    uint32_t other_recording;     /* MISPLACED: whose payload it is … */
    uint64_t other_stream_offset; /* … and where that belongs */
};

struct stria_verifier_action {
    enum stria_verifier_action_kind kind;
    uint32_t drive;
    uint32_t buffer;        /* 0 to stria_verifier_buffers() − 1 */
    uint32_t buffer_offset; /* where in it the bytes go */
    uint64_t tag;           /* its upper 16 bits are zero */
    uint64_t offset;        /* on the drive */
    uint64_t length_bytes;
    bool digest_wanted; /* READ: it is the whole extent */
    uint64_t digest_bytes;
    uint64_t digest_seed;
    int code;
    struct stria_finding finding;
};

#define STRIA_VERIFIER_ACTIONS_MAX 64u

struct stria_verifier_actions {
    uint32_t count;
    bool more; /* there was no room for all: carry these out, then step again with TICK */
    struct stria_verifier_action list[STRIA_VERIFIER_ACTIONS_MAX];
};

struct stria_verifier_status {
    uint64_t bytes;       /* of payload read and judged so far, or passed over on drives given up … */
    uint64_t bytes_total; /* … of so many */
    uint64_t findings;
};

struct stria_verifier;

/* Buffers of one chunk each that the actions use: first those of drive 0 (as many as its depth), then those
 * of drive 1, and so on; the last one is used with any drive. */
uint32_t stria_verifier_buffers(const struct stria_verifier_config *config);

/* Memory for a verifier, in bytes (alignment 16), and the verifier made in it. */
size_t stria_verifier_memory_bytes(const struct stria_verifier_config *config);
struct stria_verifier *stria_verifier_init(void *memory, const struct stria_verifier_config *config);

/* Takes one event and fills actions anew. Events after FINISHED do nothing. */
void stria_verifier_step(struct stria_verifier *verifier, const struct stria_verifier_event *event,
                         struct stria_verifier_actions *actions);

/* When a TICK is due at the latest; UINT64_MAX: when something happens. */
uint64_t stria_verifier_due_ns(const struct stria_verifier *verifier);

void stria_verifier_status(const struct stria_verifier *verifier, struct stria_verifier_status *status);

#endif
