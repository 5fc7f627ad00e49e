/* One extent being read: goes on after short reads, tries again after errors, and knows when to stop. What
 * verifying and reading back have in common. Pure; the caller submits the pieces and keeps the time. */
#ifndef STRIA_CORE_FETCH_H
#define STRIA_CORE_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#define STRIA_FETCH_ATTEMPTS_MAX 3u       /* reads that end in an error before the extent is unreadable */
#define STRIA_FETCH_SHORTS_MAX   64u      /* short reads of one extent */
#define STRIA_FETCH_AGAINS_MAX   500u     /* answers "again" of one extent … */
#define STRIA_FETCH_PAUSE_NS     1000000u /* … and the pause after each */

struct stria_fetch {
    uint64_t offset;             /* of the extent on its drive */
    uint32_t bytes;              /* to read: the payload, rounded up to whole blocks */
    uint32_t block_bytes;        /* a power of two */
    uint32_t transfer_bytes_max; /* largest piece; a multiple of block_bytes */
    uint32_t read_bytes;         /* how many are here; a multiple of block_bytes */
    uint32_t attempts, shorts, agains;
    int code; /* of the last error */
};

/* What to do next. */
enum stria_fetch_verdict {
    STRIA_FETCH_SUBMIT, /* read stria_fetch_piece() now */
    STRIA_FETCH_PAUSE,  /* the same, after STRIA_FETCH_PAUSE_NS */
    STRIA_FETCH_WHOLE,  /* every byte is here */
    STRIA_FETCH_FAILED  /* it cannot be read: code says why */
};

struct stria_fetch_piece {
    uint64_t offset; /* on the drive */
    uint32_t at;     /* in the buffer */
    uint32_t bytes;
    bool whole; /* it is the extent's only piece, so that a drive can hash it */
};

void stria_fetch_begin(struct stria_fetch *fetch, uint64_t offset, uint32_t length_bytes,
                       uint32_t block_bytes, uint64_t transfer_bytes_max);

/* The read that is due. */
struct stria_fetch_piece stria_fetch_piece(const struct stria_fetch *fetch);

/* Takes the end of that read. code and bytes are as in struct stria_done. */
enum stria_fetch_verdict stria_fetch_done(struct stria_fetch *fetch, int code, uint64_t bytes);

#endif
