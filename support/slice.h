/* How long a thread runs before others get their turn. */
#ifndef STRIA_SUPPORT_SLICE_H
#define STRIA_SUPPORT_SLICE_H

#include <stdint.h>

/* Asks that the calling thread run in slices of this length, from 100 µs to 100 ms, which Linux honours
 * from 6.12 on: a thread with short slices gets a processor sooner when it wakes, and for no more of the
 * time. Does nothing on older systems, and to a thread of another scheduling policy than the ordinary one;
 * its nice value stays. */
void stria_slice_ask(uint64_t slice_ns);

#endif
