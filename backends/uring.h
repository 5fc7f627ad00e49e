/* Inside the backends that go through io_uring, one ring per drive: files and block devices, and NVMe
 * passthrough. They differ in how they open a drive and in the dialect that its requests are written in.
 *
 * uring_file.c is the backend for files and block devices: uring_open.c opens the path, or says why not;
 * uring_lock.c locks what is kept on it; uring_holder.c finds who else uses it; uring_media.c asks what the
 * medium is like. uring_cmd.c is the backend for NVMe passthrough. uring_ring.c sets up the ring; uring.c
 * moves the requests. */
#ifndef STRIA_BACKENDS_URING_H
#define STRIA_BACKENDS_URING_H

#include "backends/done_queue.h"
#include "backends/list.h"

#include <liburing.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* One request in the kernel. Its completion carries the slot's number and turn, so that one that comes
 * twice, or was never asked for, is recognised. */
struct uring_slot {
    uint64_t tag;
    uint64_t length;
    uint64_t submit_ns;
    uint32_t turn; /* how often the slot was used */
    enum stria_io_op op;
    bool fixed; /* its data is in a fixed buffer */
    bool busy;
};

struct uring_drive;

/* How requests are put to the kernel, and what its answers mean. */
struct uring_dialect {
    unsigned ring_flags; /* that a ring must have */
    bool whole_buffers;  /* a request with a fixed buffer uses all of it */
    /* Fills in all of *sqe but its user_data; slot numbers the request. */
    void (*prepare)(struct uring_drive *uring, struct io_uring_sqe *sqe, uint32_t slot,
                    const struct stria_io *io);
    /* Fills in code and bytes. */
    void (*result)(struct uring_drive *uring, const struct uring_slot *slot, int result,
                   struct stria_done *done);
    /* Trims here and now, where the dialect has no request for it; null: prepare does. */
    void (*trim)(struct uring_drive *uring, const struct stria_io *io, struct stria_done *done);
};

struct uring_drive {
    struct stria_drive drive;
    const struct uring_dialect *dialect;
    int fd;      /* the file or device */
    int hold_fd; /* keeps others out; −1 when it is not held */
    int wake_fd; /* an eventfd; the ring reads it */
    int broken;  /* the code that made the drive unusable; STRIA_OK while it is not */

    struct io_uring ring;
    uint64_t owner;  /* the thread the ring was made by, see uring_ring_own; zero: there is no ring */
    bool fixed_file; /* fd is file 0 of the ring */
    bool wake_armed; /* the ring is reading wake_fd */
    bool woken;      /* by a wake that no poll has answered yet */
    uint64_t wake_value;
    bool polled; /* the ring looks for completions itself (IOPOLL): it cannot wait, nor read wake_fd */

    struct stria_region *regions; /* what was attached */
    unsigned region_count;
    struct iovec *buffers; /* the regions, one after the other, cut to buffers of buffer_bytes */
    unsigned buffer_count;
    uint64_t buffer_bytes;
    bool unregistered; /* the caller wants no fixed buffers */

    struct stria_done_queue finished; /* requests that were carried out in submit: trims */
    uint32_t busy_count;              /* requests in the kernel */
    uint32_t free_slots[STRIA_DEPTH_MAX];
    struct uring_slot slots[STRIA_DEPTH_MAX];
};

#define URING_WAKE UINT64_MAX /* user_data of the read of wake_fd */

/* A drive of bytes, which begins with a struct uring_drive, without a ring or anything open yet, its traits
 * as far as options tell. Null: out of memory. */
void *uring_new(size_t bytes, const struct stria_drive_options *options, const struct stria_backend *backend,
                const struct uring_dialect *dialect);

/* Makes the ring and what wakes it, and closes everything. */
int uring_start(struct uring_drive *uring, struct stria_trouble *trouble);
void uring_free(struct uring_drive *uring);

/* The fixed buffer that holds all of data, or −1. */
int uring_buffer_of(const struct uring_drive *uring, const void *data, uint64_t length);

/* What every backend here does alike, for its table. */
int uring_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count);
int uring_submit(struct stria_drive *drive, const struct stria_io *io);
int uring_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns);
void uring_wake(struct stria_drive *drive);
int uring_lock(struct stria_drive *drive, uint64_t number, enum stria_lock how,
               char holder[STRIA_LOCK_HOLDER_BYTES]);
void uring_close(struct stria_drive *drive);

/* Opens the path into *fd and, where options want it held, into *hold_fd, with its status. The sentence names
 * the path and the remedy; descriptors opened so far stay the caller's. */
int uring_path_open(const struct stria_drive_options *options, int *fd, int *hold_fd, struct stat *status,
                    struct stria_trouble *trouble);

/* Finds out whether a limit keeps this process from writing all of a file, which without this would look like
 * a drive that is full. */
int uring_size_limit(const struct stria_drive_options *options, const struct stat *status,
                     struct stria_traits *traits, struct stria_trouble *trouble);

/* Writes who holds the lock of a file into out: "process 4711 (stria)", or "another process" where the system
 * does not tell. */
void uring_holder_print(char *out, size_t size, const struct stat *status);

/* The same of a lock of an open file description that covers the byte at an offset. */
void uring_lock_holder_print(char *out, size_t size, const struct stat *status, uint64_t offset);

/* Fills in the traits that depend on the medium: sizes, alignment, cache, serial number. */
int uring_media_describe(int fd, const struct stat *status, bool direct, struct stria_traits *traits,
                         struct stria_trouble *trouble);

/* Makes the ring, for the calling thread, with the best set-up that this kernel knows. */
int uring_ring_open(struct uring_drive *uring, struct stria_trouble *trouble);

/* Ends the ring; requests in flight are given up. */
void uring_ring_close(struct uring_drive *uring);

/* Takes back from the ring what was registered with it. */
void uring_ring_unregister(struct uring_drive *uring);

/* Hands the attached buffers to the ring. A failure leaves the drive without fixed buffers and says so in
 * its note. */
void uring_ring_register(struct uring_drive *uring);

/* The kernel serves a ring best when one thread alone enters it, and then insists on it. So a drive that
 * another thread takes over gets a new ring. Does nothing while the thread is the same. STRIA_ERR_INVALID
 * when requests are in flight, which would be lost. */
int uring_ring_own(struct uring_drive *uring);

#endif
