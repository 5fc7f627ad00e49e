/* The catalogue: which recordings began, ended, were removed, and what is known to be lost. An append-only
 * log of 128-byte entries, the same on every drive, in one of two halves of its region; the log of epoch e
 * lies in half e mod 2. When one half is full the live entries are written to the other under the next
 * epoch. All state lies in an image of the half in memory, which the caller owns. */
#ifndef STRIA_CORE_CATALOGUE_H
#define STRIA_CORE_CATALOGUE_H

#include "core/gap.h"
#include "core/geometry.h"
#include "core/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRIA_CATALOGUE_ENTRY_BYTES 128u
#define STRIA_CATALOGUE_FORMAT      1u
#define STRIA_LOST_SEQUENCES        512u /* one LOST entry speaks for this many sequences */

/* Values on media. An entry of any other kind is kept where it is and otherwise ignored. */
enum stria_catalogue_kind {
    STRIA_CATALOGUE_HEAD = 1,    /* the first entry of a log, and nowhere else */
    STRIA_CATALOGUE_BEGUN = 2,   /* durable on every drive before the recording's first chunk is written */
    STRIA_CATALOGUE_ENDED = 3,   /* the last valid one of a recording counts */
    STRIA_CATALOGUE_REMOVED = 4, /* durable before any extent of the recording is used again */
    STRIA_CATALOGUE_LOST = 5,    /* sealed, but known not to be stored */
    STRIA_CATALOGUE_REACHED = 6  /* how far a recording without an end was known to be durable: what its
                                    checkpoints said, before those of others replace them */
};

/* Flags of ENDED. */
#define STRIA_ENDED_CLEAN     UINT32_C(1) /* ended by its recorder; else closed by a recovery after a crash */
#define STRIA_ENDED_NOT_RAID0 UINT32_C(2) /* policy raid0, but some chunk is not at its raid0 place … */
#define STRIA_ENDED_OFF_ROWS  UINT32_C(4) /* … though each is on its raid0 drive: only the rows differ */

struct stria_catalogue_head {
    uint64_t epoch;          /* from 1 */
    uint64_t next_recording; /* ids below it were known to every drive of the array when removals were last
                                forgotten; those without a BEGUN in this log are removed for good */
    uint32_t format;         /* STRIA_CATALOGUE_FORMAT */
    uint32_t entries_max;    /* cells of the log on every drive: as many as the smallest half has */
};

struct stria_catalogue_begun {
    char name[STRIA_NAME_BYTES]; /* zero-terminated, the rest zero; never empty */
    uint32_t policy;             /* enum stria_policy */
    uint32_t chunk_bytes;        /* as the array's when it was recorded */
    uint64_t base_row;           /* raid0: the extent position of row 0 on every drive; else 0 */
};

struct stria_catalogue_ended {
    uint64_t length_bytes;   /* of the stream, with its gaps */
    uint64_t stored_bytes;   /* payload stored; stored + dropped ≤ length */
    uint64_t dropped_bytes;  /* in gaps, or sealed but lost */
    uint64_t sequence_count; /* chunks sealed: the sequences 0 to sequence_count − 1 */
    uint64_t duration_ns;    /* from begin to end; 0 when unknown (closed by a recovery) */
    uint32_t flags;          /* STRIA_ENDED_… */
    uint8_t gap_cause;       /* of a gap between the last chunk and length_bytes, as in the ledger */
    uint8_t gap_drive;
};

struct stria_catalogue_lost {
    uint32_t cause;                           /* enum stria_gap_cause */
    uint32_t drive;                           /* the drive at fault, or STRIA_GAP_DRIVE_NONE */
    uint64_t base_sequence;                   /* a multiple of STRIA_LOST_SEQUENCES */
    uint8_t bitmap[STRIA_LOST_SEQUENCES / 8]; /* bit i (of byte i / 8, lowest first): base + i is lost */
};

struct stria_catalogue_reached {
    uint64_t watermark_bytes;    /* as in the checkpoint; below 2^63 */
    uint64_t watermark_sequence; /* likewise */
};

struct stria_catalogue_entry {
    enum stria_catalogue_kind kind;
    uint64_t recording; /* id from 1; 0 for HEAD */
    uint64_t wall_ns;   /* Unix time of the event */
    uint64_t ordinal;   /* the entry's cell in its log; set by append and decode */
    union {             /* by kind; nothing for REMOVED */
        struct stria_catalogue_head head;
        struct stria_catalogue_begun begun;
        struct stria_catalogue_ended ended;
        struct stria_catalogue_lost lost;
        struct stria_catalogue_reached reached;
    };
};

/* One log. Opaque to callers but for what the comments offer. */
struct stria_catalogue {
    uint8_t *image;       /* the half that holds the log, entries_max cells; the caller's. Null: not loaded */
    uint32_t entries_max; /* cells in the log, with HEAD */
    uint32_t count;       /* cells used, holes included: the next append goes to this one */
    uint64_t epoch;
    uint64_t next_recording; /* above every id that the log mentions; the id for the next recording, unless
                                the inventory finds a higher one */
    uint64_t seed;           /* of the checks of its entries */
    uint32_t damaged_count;  /* cells below count that hold nothing valid */
    uint8_t array_uuid[STRIA_UUID_BYTES];
};

/* A new, empty log of epoch 1 in an image of half_bytes (a multiple of STRIA_PAGE_BYTES, at least
 * STRIA_CATALOGUE_HALF_MIN, at most STRIA_CATALOGUE_HALF_MAX: the smallest half in the array), which is
 * overwritten whole and must outlive the catalogue. The caller then writes all of the image to half
 * epoch mod 2 of every drive, and zeroes to the other half. */
void stria_catalogue_format(struct stria_catalogue *catalogue, uint8_t *image, size_t half_bytes,
                            const uint8_t array_uuid[STRIA_UUID_BYTES], uint64_t wall_ns);

/* Takes the log of the highest epoch that has a valid HEAD from the two halves of one drive, both as read,
 * each half_bytes long. The catalogue then uses that half as its image. Damaged cells are skipped, valid
 * ones behind them count. STRIA_ERR_FORMAT when neither half has a valid HEAD; STRIA_ERR_VERSION when the
 * newest log is of a newer format. Takes hostile bytes. */
int stria_catalogue_load(struct stria_catalogue *catalogue, uint8_t *halves[2], size_t half_bytes,
                         const uint8_t array_uuid[STRIA_UUID_BYTES]);

/* How the replicas of an array meet. */
struct stria_catalogue_meeting {
    bool drive_absent; /* a drive of the array is not there, and may know of anything */
    uint64_t wall_ns;
    void *memory; /* stria_catalogue_merge_bytes(), aligned to 8 bytes; the merged image lies at its start */
};

/* Memory for a merge of these replicas. */
size_t stria_catalogue_merge_bytes(const struct stria_catalogue *replicas, uint32_t replica_count);

/* Makes one log, *merged, out of the replicas of an array, as loaded from its drives (image null for one that
 * could not be), which stay as they are. The result knows every recording that any replica knows and none
 * knows to be removed. Where all are the newest log, or what it has moved on from, it is that log, with empty
 * and damaged cells filled from its replicas. Where parts of the array went separate ways, it is a new log
 * under the next epoch. STRIA_ERR_NOT_FOUND when no replica is loaded. STRIA_ERR_FULL when the result is more
 * than the drives have room for: it may be read all the same, but nothing may be written to the array.
 * The caller then renews the replicas as stria_catalogue_renewal() says. */
int stria_catalogue_merge(const struct stria_catalogue *replicas, uint32_t replica_count,
                          const struct stria_catalogue_meeting *meeting, struct stria_catalogue *merged);

enum stria_catalogue_renewal {
    STRIA_RENEWAL_NONE,     /* the replica is the same */
    STRIA_RENEWAL_IN_PLACE, /* write the log over it, which changes empty and damaged cells alone */
    STRIA_RENEWAL_WHOLE,    /* write the log to a half that does not count: all of it with HEAD's cell zero,
                               flush, the first page with HEAD, flush. However that page is torn, HEAD makes
                               nothing count but what is there already */
    STRIA_RENEWAL_BY_OTHER_HALF /* its place holds what the replica knows. Write a copy of the log under the
                                   epoch before to the other half, in the same way, and only then the log */
};

/* How a drive's replica becomes the merged log without a moment at which a cut would leave the drive with
 * less than it knew. */
enum stria_catalogue_renewal stria_catalogue_renewal(const struct stria_catalogue *log,
                                                     const struct stria_catalogue *replica);

/* The same log under another epoch, in an image with room for source->entries_max cells. */
void stria_catalogue_copy(const struct stria_catalogue *source, uint64_t epoch, uint64_t wall_ns,
                          uint8_t *image, struct stria_catalogue *target);

/* Appends to the image; the caller then writes the pages given by stria_catalogue_pages() to every drive and
 * flushes. Only zero bytes change. Takes kind, recording, wall_ns and the part of the kind; recording must
 * not be 0, kind not HEAD. Returns the cell's index, or STRIA_ERR_FULL: compact first. */
int stria_catalogue_append(struct stria_catalogue *catalogue, const struct stria_catalogue_entry *entry);

/* Reads one cell below count. False when it is empty, damaged or of an unknown kind. */
bool stria_catalogue_read(const struct stria_catalogue *catalogue, uint32_t index,
                          struct stria_catalogue_entry *entry);

/* The next valid entry at or after *index, which moves behind it; false at the end. */
bool stria_catalogue_next(const struct stria_catalogue *catalogue, uint32_t *index,
                          struct stria_catalogue_entry *entry);

/* Whole pages of the image that hold some cells. */
struct stria_catalogue_pages {
    size_t image_offset_bytes;   /* into catalogue->image */
    uint64_t drive_offset_bytes; /* where they go on the drive of the given geometry */
    size_t length_bytes;
};

/* True when the log fits the half that a drive has for it. False is possible only when the drives of an array
 * contradict each other: such an array must not be written. */
bool stria_catalogue_fits(const struct stria_catalogue *catalogue, const struct stria_geometry *geometry);

/* The pages for entry_count cells (at least one) from index on. The log fits the geometry. */
struct stria_catalogue_pages stria_catalogue_pages(const struct stria_catalogue *catalogue,
                                                   const struct stria_geometry *geometry, uint32_t index,
                                                   uint32_t entry_count);

/* Cells that are left free for a recording before it begins: its BEGUN and ENDED and, as far as they go, its
 * LOST. */
#define STRIA_CATALOGUE_SPARE 64u

struct stria_catalogue_compaction {
    uint64_t next_recording; /* of the new log's HEAD, unless the source knows of a higher one; with a drive
                                absent it stays as it is */
    uint64_t wall_ns;
    uint64_t remove;   /* a recording that is removed by the compaction itself; 0: none */
    uint32_t spare;    /* cells that must be left free for it to be worth it */
    bool drive_absent; /* a drive of the array is not there, or has not got the source. Removals are kept
                          then: that drive may hold the recordings and would bring them back */
    void *scratch;     /* stria_catalogue_compact_scratch_bytes(), aligned to 8 bytes */
};

size_t stria_catalogue_compact_scratch_bytes(const struct stria_catalogue *source);

/* Writes the live entries of source (all but those of removed recordings) as a new log under the next epoch
 * into image, which has room for source->entries_max cells and is overwritten whole. STRIA_ERR_FULL when
 * fewer cells than wanted would be left free: the array holds as many recordings as it can. A removal always
 * fits. The caller then writes it to every drive, as for STRIA_RENEWAL_WHOLE. */
int stria_catalogue_compact(const struct stria_catalogue *source,
                            const struct stria_catalogue_compaction *how, uint8_t *image,
                            struct stria_catalogue *target);

/* The flags of ENDED that say how far a recording under raid0 lies as raid0 has it. */
uint32_t stria_catalogue_raid0_flags(bool on_drives, bool in_rows);

#endif
