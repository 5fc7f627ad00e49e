/* The one table through which everything that touches media is reached.
 *
 * A drive is used by one thread at a time, except stria_backend.wake, which any thread may call. It may
 * be handed to another thread while nothing is in flight.
 * Requests are asynchronous: submit only accepts, poll returns what finished, in any order.
 * Offsets and lengths are in bytes and multiples of the drive's block size; memory of data is
 * aligned to traits.memory_align_bytes. Codes are those of core/code.h.
 *
 * backends/null.c is the template for a new backend; tests/contract checks all that is said here. */
#ifndef STRIA_BACKENDS_BACKEND_H
#define STRIA_BACKENDS_BACKEND_H

#include "core/code.h"
#include "core/limits.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

/* No trim that Stria sends is longer: the kernel does it in one go, and a deadline must not be over before.
 */
#define STRIA_TRIM_BYTES_MAX (UINT64_C(4) << 30)

/* A flush makes durable all writes whose completions were polled before the flush was submitted. A trim
 * gives up the content of its range; on a drive without traits.trims it does nothing, successfully. */
enum stria_io_op { STRIA_IO_READ, STRIA_IO_WRITE, STRIA_IO_FLUSH, STRIA_IO_TRIM };

/* One request. The backend copies what it needs out of it during submit; data stays untouched and
 * in place until the request's completion was polled. */
struct stria_io {
    enum stria_io_op op;
    bool digest_wanted; /* see below */
    bool may_coalesce;  /* it may go to the medium no sooner than with the next poll, and the caller may be
                           told of its end a little later, both together with others: see threaded.h. Nobody
                           need heed it */
    uint64_t offset;    /* from the drive's start; zero for a flush */
    uint64_t length;    /* zero for a flush; at most traits.transfer_bytes_max except for a trim */
    void *data;         /* null for flush and trim */
    uint64_t tag;       /* the caller's, returned untouched */
    /* With digest_wanted, stria_done.digest is stria_digest_seeded() of data's first digest_bytes:
     * taken before a write is handed to the medium, or after a read has ended well and whole. Only
     * a drive with traits.digests honours it; elsewhere the caller computes it itself. */
    uint64_t digest_bytes;
    uint64_t digest_seed;
};

struct stria_done {
    uint64_t tag;
    int code;           /* STRIA_OK or negative */
    uint64_t bytes;     /* transferred; fewer than asked with STRIA_OK is a short transfer; zero for a
                           flush, a trim and every failure */
    uint64_t digest;    /* only where it was wanted and traits.digests is set */
    uint64_t submit_ns; /* how long handing the request to the system blocked; zero if not measured */
};

/* What the medium is like: data, so that nobody needs to ask which backend it is. */
struct stria_traits {
    uint64_t drive_bytes;        /* capacity, a multiple of block_bytes */
    uint64_t writable_bytes;     /* so much from the start may be written by this process; zero: all. Only
                                    where the caller takes that (stria_drive_options.partly) */
    uint32_t block_bytes;        /* logical block size: alignment of offsets and lengths */
    uint32_t memory_align_bytes; /* alignment of data in memory */
    uint64_t transfer_bytes_max; /* largest read or write */
    uint32_t depth_max;          /* requests accepted at once */
    uint32_t atomic_write_bytes; /* a write of up to this size is never torn by a power cut; zero: unknown */
    bool volatile_cache;         /* a completed write may be lost in a power cut until a flush */
    bool trims;                  /* STRIA_IO_TRIM does something */
    bool read_only;              /* opened so: writes and trims are refused */
    bool may_block;              /* submit can block: give it a thread (see threaded.h) */
    bool digests;                /* honours stria_io.digest_wanted */
    bool registered;             /* attached memory is registered with the system (fixed buffers) */
    bool block_device;           /* a device, not a file: NO_SPACE means it is gone */
    char path[256];              /* as opened, for messages */
    char serial[64];             /* the drive's serial number, empty if it has none */
    char note[256];              /* what was wanted and not had (for example "no fixed buffers:
                                    RLIMIT_MEMLOCK is 64 KiB"), empty if all is well */
};

struct stria_profile; /* config/profile.h */

struct stria_drive_options {
    const char *path; /* what array.ini says, prefix and all ("null:", "memory:1GiB", a file, a device) */
    bool read_only;
    bool exclusive; /* open so that nobody else can write to it (O_EXCL for devices, a lock for files) */
    bool held;      /* the caller keeps others out already (stria_guard_take), so that none is needed here */
    bool partly;    /* open it for writing also where a limit lets this process write only its beginning, and
                       say so in traits; else that is STRIA_ERR_PERMISSION */
    bool direct;    /* bypass the page cache (O_DIRECT); tests on file systems without it clear this */
    uint32_t depth; /* requests the caller wants in flight; 1 to STRIA_DEPTH_MAX */
    bool unregistered; /* do not try fixed buffers, even where they work */
};

/* See stria_backend.lock. */
enum stria_lock { STRIA_LOCK_NONE, STRIA_LOCK_SHARED, STRIA_LOCK_ALONE };

#define STRIA_LOCK_HOLDER_BYTES 96u
#define STRIA_LOCK_NUMBERS      (UINT64_C(1) << 62)

/* Memory from which requests take their data; registering it is an optimisation and may fail quietly. */
struct stria_region {
    void *base;
    uint64_t bytes;
};

struct stria_drive {
    const struct stria_backend *backend; /* first member of every backend's own drive struct */
    struct stria_traits traits;          /* set by open; attach may update depth_max, registered and note */
    uint32_t gather; /* the user's: a poll that waits may do so until so many have finished, or until wait_ns
                        is over, and then no wake need end it. At most what is in flight; zero is one. Nobody
                        need heed it */
};

struct stria_backend {
    const char *name;

    /* True if this backend serves the path. The first in stria_backends[] that claims it is used. */
    bool (*claims)(const char *path);

    /* On success *drive is a new drive, owned by the caller until close. On failure the sentence in
     * trouble names the path and the remedy. */
    int (*open)(const struct stria_drive_options *options, struct stria_drive **drive,
                struct stria_trouble *trouble);

    /* Announces memory that requests will use, in place of what was announced before; count zero withdraws
     * it, which must come before such memory is unmapped. Only while nothing is in flight. The list itself is
     * the caller's again when it returns, whatever it returns. */
    int (*attach)(struct stria_drive *drive, const struct stria_region *regions, unsigned count);

    /* STRIA_OK: accepted, there will be one completion; STRIA_ERR_FULL: poll first; STRIA_ERR_INVALID and
     * STRIA_ERR_PERMISSION: not a request for this drive (stria_io_check), which is as good as before;
     * anything else: the drive is unusable. Never completes a request inline. */
    int (*submit)(struct stria_drive *drive, const struct stria_io *io);

    /* Moves finished requests into done[0..max). Waits up to wait_ns for the first one (zero: not at
     * all), but may return sooner with none: after a wake, a signal, or where nothing is in flight.
     * Returns how many, or a negative code when the drive is unusable: what is in flight is lost then. */
    int (*poll)(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns);

    /* Nothing is wanted of this drive any more: what was not handed to the medium yet ends with
     * STRIA_ERR_GONE and its data is not touched from then on, submit is refused so too, and what is on its
     * way ends when it ends. May be null where nothing waits on this side of the medium. */
    void (*revoke)(struct stria_drive *drive);

    /* Makes a poll that waits now, or the next one, return at once. Any thread. May be null where
     * poll never waits. */
    void (*wake)(struct stria_drive *drive);

    /* Locks a number, below STRIA_LOCK_NUMBERS, among all who have the same drive open on this machine; they
     * alone give the numbers a meaning. Takes the place of the lock that this drive had on it; NONE gives it
     * back, as closing the drive does and the end of the process, however it ends. STRIA_ERR_BUSY when
     * another one's lock is in the way, with who has it in holder. STRIA_ERR_UNSUPPORTED where there are no
     * such locks; else not known. Never waits. Any thread. Null where nobody else
     * can have the drive open. */
    int (*lock)(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                char holder[STRIA_LOCK_HOLDER_BYTES]);

    /* Ends the drive within STRIA_CLOSE_NS_MAX. Requests in flight are waited for, or abandoned where they
     * do not end. An abandoned read may still arrive: data of requests that were not polled has to
     * stay mapped or be unmapped, never go back to an allocator. */
    void (*close)(struct stria_drive *drive);
};

/* How long a close takes at most, however much of the drive hangs. */
#define STRIA_CLOSE_NS_MAX 2500000000ull

/* Every backend, first match wins; ends with a null pointer. Wrappers (fault, fake, threaded) are not
 * in it: they are put around an open drive by a function of their own and then look like any drive. */
extern const struct stria_backend *const stria_backends[];

/* The backend that claims a path. Null with a sentence (trouble may be null) for one with a prefix that none
 * claims: a prefix is never taken for the name of a file. */
const struct stria_backend *stria_backend_find(const char *path, struct stria_trouble *trouble);

/* Opens a path with the backend that claims it. */
int stria_drive_open(const struct stria_drive_options *options, struct stria_drive **drive,
                     struct stria_trouble *trouble);

/* Whether a request is one for this drive: STRIA_ERR_INVALID for a range outside it, a wrong alignment or
 * an unknown operation, STRIA_ERR_PERMISSION for a change to a read-only one. Every backend's submit
 * begins with it. */
int stria_io_check(const struct stria_drive *drive, const struct stria_io *io);

/* stria_backend.revoke of any drive: nothing where the backend has none. */
static inline void stria_drive_revoke(struct stria_drive *drive)
{
    if (drive->backend->revoke)
        drive->backend->revoke(drive);
}

/* stria_backend.lock of any drive: STRIA_OK where the backend has none. */
int stria_drive_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
                     char holder[STRIA_LOCK_HOLDER_BYTES]);

/* Adds a phrase to traits->note, behind a semicolon where there is one already; once, however often. */
void stria_traits_note(struct stria_traits *traits, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One request of any length, waited for; cut to what the drive takes, retried while short or AGAIN
 * (bounded: no progress is STRIA_ERR_IO). For set-up and tools, not for the data path. Requires that
 * nothing else is in flight. The drive never sees data, which needs no alignment and is the caller's again
 * in any case: what is transferred goes through memory that is given up where a request did not end. After
 * STRIA_ERR_TIMEOUT (watched for a minute without an answer) it is still in flight: only close the drive. */
int stria_drive_run(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                    void *data);

/* The same, with so long for each request that it is cut into. */
int stria_drive_run_within(struct stria_drive *drive, enum stria_io_op op, uint64_t offset, uint64_t length,
                           void *data, uint64_t limit_ns);

#endif
