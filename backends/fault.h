/* Injects faults into any drive, for tests: by a script, and by chance from a seed.
 *
 * A script is rules separated by semicolons; white space around the parts is ignored. In array.ini no
 * blank may stand before a semicolon, where a comment would begin:
 *
 *     write#120:eio; write@64MiB-65MiB:short=4096; after=2s:gone; flush#3:eio; any,every=100:again
 *
 * A rule is WHEN:WHAT. Of several rules that strike the same request, the first counts.
 *
 * WHEN is conditions separated by commas, all of which must hold:
 *   read, write, flush, trim, any   which requests the rule is about; any if none is named. One of them comes
 *                                   first, and may be followed by these two:
 *     #N, #N-M, #N-                 only the Nth of them, the Nth to the Mth, all from the Nth; counted
 *                                   from 1, among those that the range and after= let through
 *     @BEGIN-END                    only those that touch the bytes BEGIN to END − 1 of the drive
 *   after=TIME                      only when so much time has passed since the drive was opened
 *   every=N                         only each Nth of them
 *   chance=N/M                      only by chance: N out of M, drawn from the seed
 *   times=N                         at most N times, then never again
 *
 * WHAT happens to the request:
 *   eio           STRIA_ERR_IO, nothing is carried out
 *   again         STRIA_ERR_AGAIN, nothing is carried out
 *   nospace       STRIA_ERR_NO_SPACE, nothing is carried out
 *   gone          STRIA_ERR_GONE, for this, all in flight and all that ever follow
 *   short=SIZE    only the first SIZE bytes are transferred, and that is said
 *   torn=SIZE     only the first SIZE bytes are written; said to be done whole
 *   ignored       no byte is written or flushed; said to be done
 *   misdirect=SIZE  carried out SIZE bytes further on the drive, or before where it ends; said to be done
 *   stall=TIME    carried out, but ends only so much time after it was submitted
 *   lost          carried out, but never ends
 *
 * short and misdirect are about reads and writes only, torn about writes, ignored about all but reads. SIZE
 * is rounded down to whole blocks (misdirect: at least one). SIZE, BEGIN, END and TIME as in array.ini. */
#ifndef STRIA_BACKENDS_FAULT_H
#define STRIA_BACKENDS_FAULT_H

#include "backends/backend.h"

#define STRIA_FAULT_RULES_MAX 32u

/* On success *out owns inner and strikes its requests as the script says; an empty script never does. On
 * failure, STRIA_ERR_INVALID with a sentence for a script that cannot be read, inner is still the
 * caller's. */
int stria_fault_wrap(struct stria_drive *inner, const char *script, uint64_t seed, struct stria_drive **out,
                     struct stria_trouble *trouble);

#endif
