/* Stria: one continuous stream, recorded across several drives, every byte proven on read-back.
 *
 * Functions return 0 or a count on success and a negative code (core/code.h) on failure; where a struct
 * stria_trouble is taken (it may be null), it then says in one sentence what is wrong and what would be
 * right. Sizes are bytes, times nanoseconds. An array and what belongs to it is used by one thread at a
 * time, except where a function says otherwise. examples/capture.c shows the whole of it in forty lines. */
#ifndef STRIA_H
#define STRIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#include "core/code.h"
#include "core/gap.h"
#include "support/trouble.h"

struct stria_array;  /* an open array */
struct stria_writer; /* a recording being made */
struct stria_reader; /* a recording being read */

/* Reads array.ini and opens the drives it names. Drives are known by their superblocks, whatever their order
 * and paths. writable takes exclusive hold of them, and fails with STRIA_ERR_BUSY, holding none, when one is
 * in use elsewhere: of two that begin at once, both may. A drive that is missing or belongs elsewhere does
 * not make it fail as long as one of the array is there: the complaints below say so. Standard descriptors
 * that are closed become /dev/null, so that none becomes a drive's. */
int stria_array_open(const char *ini_path, bool writable, struct stria_array **array,
                     struct stria_trouble *trouble);
void stria_array_close(struct stria_array *array);

struct stria_array_info {
    char name[64];
    char uuid[37];
    uint32_t drive_count;
    uint32_t drives_missing;
    uint32_t chunk_bytes;
    uint32_t block_bytes; /* alignment of transfers: the largest need among the drives */
    bool raid0;           /* policy of new recordings */
    uint64_t extents;
    uint64_t extents_free; /* that a recording made now can fill: under raid0 those of whole rows */
    uint32_t recording_count;
    char complaint[768]; /* what is wrong with the array as a whole; empty if nothing */
};

struct stria_drive_info {
    char name[64]; /* [drive.NAME]; "#2" for the third drive where array.ini does not tell which it is */
    char path[4096];
    char serial[64]; /* empty: it has none */
    bool present;
    uint64_t drive_bytes;
    uint64_t bytes;      /* in extents that hold a chunk of a recording, however short: each counts whole */
    uint64_t free_bytes; /* in extents that a recording made now can fill, likewise */
    uint64_t data_offset_bytes;
    char complaint[768]; /* why it is not present, or what it lacks; empty if all is well */
};

struct stria_recording_info {
    char name[64];
    uint64_t id;
    bool complete;          /* ended properly */
    bool raid0;             /* recorded under this policy … */
    bool plain_raid0;       /* … and every chunk lies where RAID0 puts it */
    uint64_t length_bytes;  /* of the stream, gaps included */
    uint64_t bytes;         /* payload stored */
    uint64_t dropped_bytes; /* in gaps */
    uint64_t started_unix_ns;
    uint64_t duration_ns; /* zero if it did not end properly */
    uint64_t base_row;    /* raid0: extent position of its first row */
};

void stria_array_describe(const struct stria_array *array, struct stria_array_info *info);
int stria_array_drive(const struct stria_array *array, uint32_t index, struct stria_drive_info *info);

/* The recordings, in the order in which they were begun. */
int stria_array_recording(const struct stria_array *array, uint32_t index, struct stria_recording_info *info);
int stria_array_find(const struct stria_array *array, const char *name, struct stria_recording_info *info);

/* Removes a recording and frees its extents (with TRIM where the drive has it). STRIA_ERR_BUSY while it is
 * read, here or by another process of this machine. */
int stria_array_remove(struct stria_array *array, const char *name, struct stria_trouble *trouble);

struct stria_writer_options {
    const char *name; /* null or empty: made from date and time; else new to the array, safe as a file name */
    void *memory;     /* the ring in the caller's memory (for DMA), aligned to 4096; null: allocated. It is
                         prefaulted, but locked only if the caller has locked it, and stays as it is */
    size_t memory_bytes; /* of it; whole chunks are used */
    bool unhashed;       /* for benches: the recording cannot be verified */
};

/* Begins a recording. When it returns, the recording exists on the media and the ring is prefaulted and,
 * where limits allow, locked. The array is open for writing and outlives the recording. options may be null.
 */
int stria_writer_begin(struct stria_array *array, const struct stria_writer_options *options,
                       struct stria_writer **writer, struct stria_trouble *trouble);

/* What was wanted and could not be had when it began, such as memory that is locked, with the remedy; empty
 * if nothing. It costs speed, not data. As long as the writer is there. */
const char *stria_writer_complaint(const struct stria_writer *writer);

/* A buffer of one chunk, aligned to 4096, waited for up to wait_ns (UINT64_MAX: for ever). Several may be
 * held; they follow each other in the stream in the order in which they were acquired. One thread acquires.
 * STRIA_ERR_TIMEOUT: all are in use; STRIA_ERR_ARRAY_FULL: no extent is left; STRIA_ERR_GONE: no drive is
 * left; STRIA_ERR_CLOSED: the stream has ended, be it by a short chunk. */
int stria_writer_acquire(struct stria_writer *writer, uint64_t wait_ns, void **buffer);

/* Hands a filled buffer over, once. length_bytes is the chunk size; less only for the stream's last one,
 * which ends it. Any thread. STRIA_ERR_CLOSED: the stream has ended without it; STRIA_ERR_INVALID: the buffer
 * is not one that was acquired and not yet committed, or it is short while something behind it is committed
 * or skipped. What was not taken stays acquired. */
int stria_writer_commit(struct stria_writer *writer, void *buffer, size_t length_bytes);

/* Records one chunk of the caller's own memory without a copy: aligned to 4096 and, for a short last one,
 * writable up to the next multiple of block_bytes, which is filled with zeroes. It must stay untouched until
 * stria_writer_reclaim returns it, which it does not as long as a drive that was given up may still touch it;
 * stria_writer_free closes such drives and gives all of it back. Takes the place of acquire and commit, with
 * their codes; STRIA_ERR_TIMEOUT at once when memory waits to be reclaimed and nothing else is free. */
int stria_writer_commit_own(struct stria_writer *writer, void *memory, size_t length_bytes, uint64_t wait_ns);

/* The next own memory that is written and free again; null when there is none now. The thread that acquires.
 */
void *stria_writer_reclaim(struct stria_writer *writer);

/* The source went on without us: the next length_bytes of the stream (whole chunks) are a gap of this cause
 * (STRIA_GAP_BUFFER names the drive that holds most chunks back). All skips of a recording together may have
 * 2^62 bytes; beyond that STRIA_ERR_INVALID. STRIA_ERR_CLOSED: the stream has ended. The thread that
 * acquires.
 */
int stria_writer_skip(struct stria_writer *writer, uint64_t length_bytes, enum stria_gap_cause cause);

struct stria_progress {
    uint64_t elapsed_ns;
    uint64_t length_bytes, stored_bytes, dropped_bytes, durable_bytes;
    uint64_t buffer_bytes, buffer_used_bytes, buffer_high_water_bytes;
    uint64_t input_bytes_per_s; /* over the last second */
    uint32_t drive_count;
    bool degraded;
    bool full;
    char warning[256]; /* what will go wrong if it goes on like this; empty if nothing */
};

struct stria_drive_progress {
    uint64_t bytes, bytes_per_s; /* the latter over the last second */
    uint64_t free_bytes;         /* in free extents, whether or not they are in a row that raid0 can use */
    uint32_t in_flight, waiting;
    uint64_t errors, retries, stalls;
    uint64_t latency_ns_p99, latency_ns_max; /* of writes that completed in the last whole second; zero: none
                                                did, or too few to tell a percentile */
    bool lost, full;
    int lost_code;    /* why it was given up; STRIA_OK: it was not, or was absent from the start */
    uint64_t lost_ns; /* when it was, since the recording's start */
};

/* Snapshots. Any thread. */
void stria_writer_progress(struct stria_writer *writer, struct stria_progress *progress);
int stria_writer_drive_progress(struct stria_writer *writer, uint32_t drive,
                                struct stria_drive_progress *progress);

/* Ends the recording: buffers that are acquired and not committed are left out, everything else is made
 * durable; what was left out before a committed buffer is a gap of a chunk (STRIA_GAP_SOURCE). STRIA_OK even
 * when something was lost (the result tells); STRIA_ERR_GONE: no drive was left. The recording stays valid,
 * for its result, until stria_writer_free. */
int stria_writer_end(struct stria_writer *writer);

struct stria_result {
    struct stria_recording_info info;
    uint64_t durable_bytes;
    uint64_t duration_ns;
    bool degraded; /* a drive was absent or given up, or RAID0 chunks lie elsewhere */
    bool full;
    uint32_t gap_count;           /* for stria_writer_gap */
    uint64_t gaps_unlisted_bytes; /* in gaps beyond those that are listed one by one */
};

struct stria_gap_info {
    uint64_t offset_bytes, length_bytes;
    uint64_t time_ns; /* since the recording's start */
    enum stria_gap_cause cause;
    int drive; /* index, or −1 */
};

void stria_writer_result(const struct stria_writer *writer, struct stria_result *result);
int stria_writer_gap(const struct stria_writer *writer, uint32_t index, struct stria_gap_info *gap);
void stria_writer_free(struct stria_writer *writer);

/* Opens a recording for reading; the array may be open read-only. Until it is closed no process that
 * opens the drives by the same files can remove the recording, neither while a child lives that this process
 * forked meanwhile. */
int stria_reader_open(struct stria_array *array, const char *name, struct stria_reader **reader,
                      struct stria_trouble *trouble);

enum stria_read_verdict {
    STRIA_READ_OK,      /* every byte is proven */
    STRIA_READ_GAP,     /* never stored: the bytes are zeroes */
    STRIA_READ_MISSING, /* its drive is absent or its ledger entry gone: the bytes are zeroes */
    STRIA_READ_CORRUPT  /* stored, but not what came in, or unreadable: the bytes are zeroes */
};

/* Reads up to bytes from a stream offset. Returns how many, all of one verdict, so perhaps fewer; 0 at the
 * stream's end; STRIA_ERR_NO_MEMORY; STRIA_ERR_NOT_FOUND when another host has removed the recording
 * meanwhile, so that its drives hold other things there. */
int64_t stria_reader_read(struct stria_reader *reader, uint64_t offset, void *buffer, size_t bytes,
                          enum stria_read_verdict *verdict);
void stria_reader_close(struct stria_reader *reader);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
