/* Lets a thread sleep until another has something for it. Ringing costs no system call while nobody
 * sleeps.
 *
 *     uint32_t ticket = stria_bell_listen(&bell);
 *     if (!there_is_work())                          looked at after listening, so no ring is missed
 *         stria_bell_wait(&bell, ticket, wait_ns);
 *
 * and on the other side: make the work visible, then stria_bell_ring(&bell). */
#ifndef STRIA_SUPPORT_BELL_H
#define STRIA_SUPPORT_BELL_H

#include <stdatomic.h>
#include <stdint.h>

/* All zeroes is a bell that was never rung. */
struct stria_bell {
    _Atomic uint32_t rings;
    _Atomic uint32_t sleepers;
};

/* What stria_bell_wait needs to know of the time before. */
uint32_t stria_bell_listen(struct stria_bell *bell);

/* Sleeps until the bell was rung after the ticket was drawn, wait_ns have passed or a signal came. Returns
 * at once if it was rung already. */
void stria_bell_wait(struct stria_bell *bell, uint32_t ticket, uint64_t wait_ns);

/* Wakes everybody who waits. Any thread. */
void stria_bell_ring(struct stria_bell *bell);

#endif
