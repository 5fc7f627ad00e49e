/* Gives any drive a thread of its own, so that a submission which blocks (a full queue, a file system, a
 * hung device) holds up nobody else. Hashing is done there too.
 *
 * What changes for the caller, seen through the table: submit never blocks, STRIA_ERR_FULL tells that
 * depth_max requests are under way; stria_io.digest_wanted is honoured (traits.digests);
 * traits.may_block is false; wake works whatever is inside.
 *
 * Ends of requests with stria_io.may_coalesce are told together, for each wakes the caller's thread: at the
 * latest when half of the most that it has had under way is left, when another kind of request ends, or
 * after 40 ms. Whoever polls may find them before.
 *
 * Revoking returns at once, also while the thread hangs in the system; what the thread has not taken by then
 * is polled at once, with STRIA_ERR_GONE.
 *
 * Closing waits up to STRIA_CLOSE_NS_MAX for what is in flight. If the thread hangs in the system for longer,
 * it is left behind with the drive inside: it touches no memory of the caller any more, ends by itself
 * when the system lets it go, and frees its own memory only then. */
#ifndef STRIA_BACKENDS_THREADED_H
#define STRIA_BACKENDS_THREADED_H

#include "backends/backend.h"

/* On success *out owns inner, and only the new thread uses it. On failure inner is as it was, still the
 * caller's. Nothing may be in flight on inner.
 *
 * notify, unless it is null, is called with context in the drive's thread whenever completions have become
 * available to poll, so that one thread can wait for many drives; it has to be quick and must not use
 * the drive. It is not called any more once close has returned. */
int stria_threaded_wrap(struct stria_drive *inner, void (*notify)(void *context), void *context,
                        struct stria_drive **out, struct stria_trouble *trouble);

#endif
