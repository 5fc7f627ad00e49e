/* The hand-over between the producer and the pump: free slots one way, filled ones and skips the other,
 * in the order in which they were acquired, without locks. */
#ifndef STRIA_ENGINE_INTAKE_H
#define STRIA_ENGINE_INTAKE_H

#include "core/gap.h"
#include "support/bell.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stria_intake_state {
    STRIA_INTAKE_FILLING, /* in the producer's hands */
    STRIA_INTAKE_READY,   /* the pump may take it */
    STRIA_INTAKE_MISSING  /* the stream ended before it was committed, and something committed follows it */
};

/* One thing of the stream: a slot that is being filled or is filled, or a skip. Of a missing one only the
 * slot counts, which stays the producer's. */
struct stria_intake_item {
    _Atomic uint32_t state; /* enum stria_intake_state */
    bool skip;
    uint32_t slot;
    uint64_t length_bytes;
    uint64_t captured_ns;
    enum stria_gap_cause cause;
};

/* A queue of slot numbers, one thread in, one thread out. */
struct stria_slot_queue {
    uint32_t *slots;
    uint32_t capacity; /* a power of two, at least the number of slots: it never overflows */
    _Atomic uint32_t head, tail;
};

#define STRIA_ITEM_NONE      UINT64_MAX
#define STRIA_INTAKE_REACHED ((uint64_t)1 << 32)

struct stria_intake {
    struct stria_slot_queue free;    /* pump to producer */
    struct stria_slot_queue reclaim; /* pump to producer: slots whose own memory is free again */
    struct stria_intake_item *items;
    uint32_t capacity;         /* of items; a power of two */
    _Atomic uint32_t acquired; /* items begun by the producer */
    _Atomic uint32_t taken;    /* items taken by the pump */
    uint32_t chunk_bytes;      /* a commit of less ends the stream */
    _Atomic uint64_t
        reach; /* low half: one past the furthest item that was committed or skipped; with
                  STRIA_INTAKE_REACHED the last of them was a short chunk, which ends the stream */
    _Atomic uint64_t *item_of_slot; /* which item a slot is that the producer holds; else STRIA_ITEM_NONE */
    void **own_memory;              /* by slot: the caller's memory it stands for */
    uint32_t *at_hand;      /* free slots, the one freed last on top: its bytes may still be in a cache; */
    uint32_t at_hand_count; /* both the producer's alone */
    uint32_t unrung;        /* slots freed since the producer's bell rang; the pump's alone */
    uint32_t ring_at;       /* so many of them ring it */
    _Atomic uint32_t pump_busy;     /* every drive has its fill: a commit need not wake the pump */
    _Atomic uint32_t producer_done; /* it commits nothing more */
    bool settled;                   /* the pump has seen that: no item is being filled any more … */
    uint32_t end;                   /* … and this one, of which nothing is there, ends the stream */
    _Atomic int refusal;            /* STRIA_OK, or why no further slot is given out */
    struct stria_bell freed;        /* rung for the producer */
    struct stria_bell *pump;        /* rung for the pump */
};

/* All slots are free at first. STRIA_ERR_NO_MEMORY. */
int stria_intake_create(struct stria_intake *intake, uint32_t slot_count, uint32_t chunk_bytes,
                        struct stria_bell *pump);
void stria_intake_destroy(struct stria_intake *intake);

/* The producer's side. Acquire gives STRIA_ERR_TIMEOUT at once when only reclaiming could free a slot; it and
 * skip give STRIA_ERR_CLOSED when the stream has ended. */
int stria_intake_acquire(struct stria_intake *intake, uint64_t wait_ns, uint32_t *slot);
/* Any thread. STRIA_ERR_CLOSED: the stream has ended without it; STRIA_ERR_INVALID: the slot is not acquired,
 * or committed already, or the chunk is short and something behind it is committed or skipped. A slot that
 * was not taken stays the producer's. */
int stria_intake_commit(struct stria_intake *intake, uint32_t slot, uint64_t length_bytes,
                        uint64_t captured_ns);
int stria_intake_skip(struct stria_intake *intake, uint64_t length_bytes, enum stria_gap_cause cause);
/* The next own memory that is written, its slot being free again; null when there is none. */
void *stria_intake_reclaim(struct stria_intake *intake);
void stria_intake_close(struct stria_intake *intake);

/* The pump's side: the next item if it is ready or missing, else null; then take it. */
struct stria_intake_item *stria_intake_peek(struct stria_intake *intake);
void stria_intake_take(struct stria_intake *intake);
void stria_intake_release(struct stria_intake *intake, uint32_t slot);
void stria_intake_refuse(struct stria_intake *intake, int code);
/* Whether the pump has use for a commit at once, or only when something else happens. After it has told, it
 * looks for items once more before it sleeps. */
void stria_intake_hurry(struct stria_intake *intake, bool hurry);

/* True when the producer is done and everything it committed was taken. */
bool stria_intake_exhausted(struct stria_intake *intake);

#endif
