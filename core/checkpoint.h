/* The checkpoint: how far the running recording was durable, renewed at each commit on every drive. */
#ifndef STRIA_CORE_CHECKPOINT_H
#define STRIA_CORE_CHECKPOINT_H

#include "core/ledger.h"

#include <stdint.h>

/* Everything counts for one stream of one recording, as of the moment the checkpoint was encoded. What it
 * states is durable once it is: it may be written only after the flushes that made its watermark true. */
struct stria_checkpoint {
    uint64_t serial;             /* from 1, one more for each; the highest valid one of a drive counts */
    uint64_t recording;          /* id, from 1 */
    uint16_t stream;             /* as in the ledger */
    uint64_t watermark_bytes;    /* stream offset below which everything survives; gaps lie below it too */
    uint64_t watermark_sequence; /* the first sequence not below the watermark: as many chunks are */
    uint64_t length_bytes;       /* of the stream sealed so far, with its gaps; ≥ watermark_bytes */
    uint64_t stored_bytes;       /* of payload stored so far */
    uint64_t dropped_bytes;      /* in gaps, or sealed but lost, so far */
    uint64_t wall_ns;            /* Unix time of this checkpoint */
};

enum stria_checkpoint_verdict {
    STRIA_CHECKPOINT_EMPTY, /* all zero: never written */
    STRIA_CHECKPOINT_VALID,
    STRIA_CHECKPOINT_DAMAGED /* torn, flipped, of another drive, array, page or ledger generation */
};

/* Which of the two pages, 0 or 1, takes a serial: serial mod 2. Its drive offset is
 * geometry.checkpoint_offset + page × STRIA_PAGE_BYTES. */
uint32_t stria_checkpoint_page(uint64_t serial);

/* Writes a whole page, to go to stria_checkpoint_page(checkpoint->serial). */
void stria_checkpoint_encode(uint8_t out[STRIA_PAGE_BYTES], const struct stria_checkpoint *checkpoint,
                             const struct stria_ledger_binding *binding);

/* page is 0 or 1: where the bytes were read. Takes hostile bytes. checkpoint is written for
 * STRIA_CHECKPOINT_VALID only. */
enum stria_checkpoint_verdict stria_checkpoint_decode(const uint8_t in[STRIA_PAGE_BYTES],
                                                      struct stria_checkpoint *checkpoint,
                                                      const struct stria_ledger_binding *binding,
                                                      uint32_t page);

/* The valid checkpoint of the higher serial among a drive's two pages: STRIA_OK or STRIA_ERR_NOT_FOUND.
 * The next one to be written on any drive has a serial above the highest of all drives. */
int stria_checkpoint_choose(const uint8_t pages[STRIA_CHECKPOINT_BYTES], struct stria_checkpoint *checkpoint,
                            const struct stria_ledger_binding *binding);

#endif
