/* The recording state machine: pure, stepped by events that carry the time, answering with actions.
 *
 * The caller (the pump) turns actions into requests to drives and completions into events. The core never
 * waits, allocates or looks at payload bytes; all memory is the caller's.
 *
 * A chunk's life: the producer fills a FREE slot and commits it (event COMMIT); it is sealed (sequence,
 * stream offset); placement gives it a drive and an extent (action WRITE); its completion frees the slot
 * (action RELEASE). Independently, each drive goes through commit cycles of its own:
 *
 *     flush (data)  ->  ledger pages, catalogue pages, checkpoint  ->  flush (metadata)
 *
 * A ledger entry is thus never written before the payload it describes is durable. When the second flush
 * has ended, the cycle's chunks are durable and the watermark moves over the contiguous prefix. A chunk
 * that was written but not committed on a drive that dies is lost: it is told as a GAP and named by a LOST
 * entry in the catalogue, and only when both are done and the entry is durable may the watermark pass it.
 *
 * When the catalogue has no room for the entry, the chunk is told all the same, and the checkpoints pass it.
 * A recovery gets beyond it by a checkpoint alone: so from the first such loss of a recording on, the
 * watermark that is told is no more than what a flushed checkpoint on every live drive says. */
#ifndef STRIA_CORE_RECORDER_H
#define STRIA_CORE_RECORDER_H

#include "core/catalogue.h"
#include "core/code.h"
#include "core/gap.h"
#include "core/geometry.h"
#include "core/ledger.h"
#include "core/limits.h"
#include "core/placement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One drive of the array, as it is when a recording begins. Pointers are the caller's and stay in place. */
struct stria_recorder_drive {
    struct stria_geometry geometry;
    struct stria_ledger_binding binding;
    uint8_t *ledger;            /* image of the whole ledger, kept up to date */
    uint8_t *extent_state;      /* enum stria_extent_state by position, kept up to date */
    uint8_t *staging;           /* STRIA_STAGING_BYTES, aligned to STRIA_PAGE_BYTES: metadata being written */
    uint64_t checkpoint_serial; /* of the newest checkpoint on any drive of the array; zero: none */
    uint32_t depth;        /* data writes in flight at once, 1 to STRIA_DEPTH_MAX; metadata take one more */
    bool present;          /* false: not there, or given up before */
    bool no_space_is_loss; /* a block device cannot fill up: "no space" means that it is gone */
};

/* A range of the stream that is not stored. */
struct stria_gap {
    uint64_t offset_bytes;
    uint64_t length_bytes;
    enum stria_gap_cause cause;
    uint32_t drive;   /* the drive at fault, or STRIA_GAP_DRIVE_NONE */
    uint64_t time_ns; /* monotonic, when it was noticed */
};

#define STRIA_STAGING_PAGES 16u
#define STRIA_STAGING_BYTES                                                                                  \
    ((STRIA_STAGING_PAGES + 1u) * STRIA_PAGE_BYTES) /* ledger or catalogue pages, and one checkpoint */

struct stria_recorder_config {
    uint32_t drive_count;
    const struct stria_recorder_drive *drives; /* copied */
    uint8_t array_uuid[16];
    struct stria_catalogue *catalogue; /* the merged catalogue in memory; entries are appended to it */
    enum stria_policy policy;
    uint16_t stream;
    uint64_t recording; /* identity of the new recording, never used before on this array */
    const char *name;   /* shorter than STRIA_NAME_BYTES; copied into the catalogue at BEGIN */
    uint64_t wall_ns;   /* calendar time (Unix, UTC) at BEGIN */
    uint32_t chunk_bytes;
    uint32_t block_bytes;        /* to which a short last chunk is padded */
    uint32_t slot_count;         /* STRIA_SLOTS_MIN to STRIA_SLOTS_MAX; all are the producer's at first */
    uint32_t window_chunks;      /* a power of two, at most STRIA_WINDOW_CHUNKS_MAX */
    uint64_t commit_interval_ns; /* from one commit cycle's start to the next on a drive; less when
                                    window_chunks would be full before */
    uint64_t deadline_ns;        /* a request without an answer for so long, while the caller looked
   (watch.h): the drive is given up */
    uint32_t errors_max;         /* failures in a row after which a drive is given up; zero: 8 */
    bool digest;                 /* false only in benches: extents carry no hash and cannot be verified */
};

enum stria_event_kind {
    STRIA_EVENT_BEGIN,  /* first event, once */
    STRIA_EVENT_COMMIT, /* a slot is filled: slot, length_bytes, captured_ns */
    STRIA_EVENT_SKIP,   /* the source went on without us: length_bytes (whole chunks), cause */
    STRIA_EVENT_DONE,   /* a request ended: tag, code, bytes, digest */
    STRIA_EVENT_GONE,   /* a drive is unusable: drive, code */
    STRIA_EVENT_TICK,   /* time has passed, or more is to be done */
    STRIA_EVENT_END     /* no further commits: finish */
};

struct stria_event {
    enum stria_event_kind kind;
    uint64_t now_ns;            /* monotonic */
    uint32_t slot;              /* COMMIT */
    uint64_t length_bytes;      /* COMMIT: 1 to chunk_bytes, shorter only for the last chunk; SKIP */
    uint64_t captured_ns;       /* COMMIT: when its first byte was captured, monotonic; zero: now */
    enum stria_gap_cause cause; /* SKIP */
    uint64_t tag;               /* DONE */
    int code;                   /* DONE: STRIA_OK or negative; GONE */
    uint64_t bytes;             /* DONE: transferred */
    uint64_t digest;            /* DONE: of a WRITE action with digest_wanted */
    uint32_t drive;             /* GONE */
};

enum stria_action_kind {
    STRIA_ACTION_WRITE,      /* payload: drive, tag, offset, length_bytes, slot, slot_offset, digest_* */
    STRIA_ACTION_WRITE_META, /* metadata: drive, tag, offset, length_bytes, data */
    STRIA_ACTION_FLUSH,      /* drive, tag */
    STRIA_ACTION_RELEASE,    /* slot is the producer's again */
    STRIA_ACTION_STARTED,    /* the recording exists on the media: commits are welcome */
    STRIA_ACTION_WATERMARK,  /* everything below offset is durable: stored and found after a power cut at any
                                moment, or told as a GAP before. Only rises */
    STRIA_ACTION_GAP,        /* gap: a range that is not stored; each is told once, however many there are */
    STRIA_ACTION_GIVE_UP,    /* drive is not used any more: code says why; its requests are void */
    STRIA_ACTION_FULL,       /* no extent is left: whatever is committed from now on is a gap */
    STRIA_ACTION_FINISHED    /* all is done: code is STRIA_OK, or STRIA_ERR_GONE when no drive was left */
};

struct stria_action {
    enum stria_action_kind kind;
    uint32_t drive;
    uint32_t slot;
    uint32_t slot_offset; /* WRITE: first byte of the slot to write (after a short write) */
    uint64_t tag;
    uint64_t offset;       /* on the drive; WATERMARK: in the stream */
    uint64_t length_bytes; /* multiple of block_bytes; bytes from the chunk's true length on must be zero */
    void *data;            /* WRITE_META: in the drive's staging */
    bool digest_wanted;    /* WRITE: over the slot's first digest_bytes, with digest_seed */
    uint64_t digest_bytes;
    uint64_t digest_seed;
    struct stria_gap gap;
    int code;
};

#define STRIA_ACTIONS_MAX 64u

struct stria_actions {
    uint32_t count;
    bool more; /* there was no room for all: carry these out, then step again with TICK */
    struct stria_action list[STRIA_ACTIONS_MAX];
};

enum stria_recorder_state {
    STRIA_RECORDER_IDLE,      /* before BEGIN */
    STRIA_RECORDER_BEGINNING, /* the catalogue entry is on its way */
    STRIA_RECORDER_RECORDING,
    STRIA_RECORDER_DRAINING, /* after END: chunks in flight, last commit cycles */
    STRIA_RECORDER_ENDING,   /* the ENDED entry is on its way */
    STRIA_RECORDER_FINISHED
};

enum stria_drive_state {
    STRIA_DRIVE_LIVE,
    STRIA_DRIVE_FULL, /* alive, no extent left */
    STRIA_DRIVE_LOST  /* absent or given up */
};

struct stria_drive_status {
    enum stria_drive_state state;
    int code;              /* LOST: why */
    uint64_t stored_bytes; /* true payload bytes written, less what was lost again */
    uint64_t lost_bytes;   /* written, but not committed when the drive was given up */
    uint64_t free_extents;
    uint64_t errors, retries;
    uint32_t in_flight;         /* data writes */
    uint32_t waiting;           /* chunks that wait for this very drive (RAID0) */
    uint64_t checkpoint_serial; /* of the newest checkpoint written to it */
};

struct stria_recorder_status {
    enum stria_recorder_state state;
    uint64_t length_bytes; /* of the stream so far, with its gaps: sealed by the recorder or skipped */
    uint64_t stored_bytes;
    uint64_t dropped_bytes;    /* in gaps; length = stored + dropped + on_the_way */
    uint64_t on_the_way_bytes; /* sealed, not yet written */
    uint64_t watermark_bytes;  /* as WATERMARK tells it */
    uint64_t chunks;           /* sealed */
    uint32_t slots_used;
    bool full;
    bool degraded;     /* a drive was absent or given up, or RAID0 chunks lie elsewhere */
    bool displaced;    /* RAID0: some chunks are not in their own place */
    bool off_rows;     /* RAID0: some rows are not at base_row + their number: others were taken in between */
    uint64_t base_row; /* RAID0: row of the recording's first chunk */
};

struct stria_recorder;

/* Memory that a recorder with this configuration needs, in bytes; zero when the configuration is out of
 * range. Alignment: 16. */
size_t stria_recorder_memory_bytes(const struct stria_recorder_config *config);

/* Makes a recorder in memory of at least that size. */
struct stria_recorder *stria_recorder_init(void *memory, const struct stria_recorder_config *config);

/* Takes one event and fills actions anew. Events after FINISHED do nothing. */
void stria_recorder_step(struct stria_recorder *recorder, const struct stria_event *event,
                         struct stria_actions *actions);

/* Whether COMMIT and SKIP are welcome now. They are not before STARTED, after END, and while the oldest chunk
 * that is not yet durable lies window_chunks back; the caller holds them back, in order, until they are. */
bool stria_recorder_accepts(const struct stria_recorder *recorder);

/* When a TICK is due at the latest; UINT64_MAX: when something happens. A late one costs drives nothing: what
 * is in flight is given the longer. */
uint64_t stria_recorder_due_ns(const struct stria_recorder *recorder);

void stria_recorder_status(const struct stria_recorder *recorder, struct stria_recorder_status *status);
void stria_recorder_drive_status(const struct stria_recorder *recorder, uint32_t drive,
                                 struct stria_drive_status *status);

/* Whether a further chunk would wait, because every drive that takes chunks has as many as it may. */
bool stria_recorder_saturated(const struct stria_recorder *recorder);

/* Slots that are not the producer's. */
uint32_t stria_recorder_slots_used(const struct stria_recorder *recorder);

/* The drive that holds the most chunks back now: the culprit when the ring is full. */
uint32_t stria_recorder_culprit(const struct stria_recorder *recorder);

/* True if a tag's completion is still waited for, so that its memory must stay in place. */
bool stria_recorder_awaits(const struct stria_recorder *recorder, uint64_t tag);

/* Checks the conservation laws (slots, bytes, extents) exhaustively; false if one is broken. For tests. */
bool stria_recorder_sound(const struct stria_recorder *recorder);

#endif
