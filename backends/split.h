/* Lets a drive take larger transfers than its own requests carry: a controller has a limit of its own (MDTS),
 * a chunk may be larger.
 *
 * A read or write is cut into pieces, which are in flight together as far as the inner drive has room. It
 * ends when all of them have: with the first failure if one failed; else with the bytes up to the first piece
 * that fell short. After a failure no further piece of it is submitted. */
#ifndef STRIA_BACKENDS_SPLIT_H
#define STRIA_BACKENDS_SPLIT_H

#include "backends/backend.h"

/* On success *out owns inner, takes transfers of up to STRIA_TRANSFER_BYTES_MAX and depth of them at once
 * (1 to STRIA_DEPTH_MAX), and cuts them into pieces of at most piece_bytes, rounded down to whole blocks, or
 * of inner's own limit where that is less. Zero: of inner's own limit. On failure inner is still the
 * caller's. */
int stria_split_wrap(struct stria_drive *inner, uint64_t piece_bytes, uint32_t depth,
                     struct stria_drive **out, struct stria_trouble *trouble);

#endif
