/* The memory ring's slots as the recorder sees them: which chunk each holds and where that chunk is in
 * its life. A slot is the producer's (FREE) or the recorder's (all else); every slot is always in
 * exactly one state and on at most one list. */
#ifndef STRIA_CORE_SLOTS_H
#define STRIA_CORE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum stria_slot_state {
    STRIA_SLOT_FREE = 0, /* the producer's: empty, or being filled */
    STRIA_SLOT_READY,    /* sealed, waits for a drive */
    STRIA_SLOT_WRITING   /* in flight on a drive */
};

#define STRIA_SLOT_NONE UINT32_MAX

struct stria_slot {
    uint8_t state;     /* enum stria_slot_state */
    uint8_t gap_cause; /* of the gap just before this chunk; zero: none */
    uint8_t gap_drive;
    uint8_t drive; /* WRITING: where */
    uint8_t home;  /* READY: the drive it must go to; STRIA_SLOT_ANY: whichever can */
    uint8_t avoid; /* a drive that failed to write it, not to be preferred; STRIA_SLOT_ANY: none */
    bool digest_known;
    bool paused;            /* WRITING: waits to be sent again */
    uint8_t shorts;         /* short writes of this chunk so far */
    uint16_t turn;          /* counts submissions, so that a late completion is recognised */
    uint32_t length_bytes;  /* true length, without padding */
    uint32_t written_bytes; /* of its padded length, by short writes so far */
    uint32_t previous, next;
    uint64_t sequence;
    uint64_t stream_offset;
    uint64_t captured_ns; /* since the recording's start */
    uint64_t row;         /* RAID0: the position that is its own on its home drive */
    uint64_t position;    /* WRITING: the extent */
    uint64_t since_ns;    /* WRITING: when the drive got it first, as watched time (watch.h) */
    uint64_t digest;
};

#define STRIA_SLOT_ANY 0xffu

/* A list of slots, linked through slot.previous and slot.next. */
struct stria_slot_list {
    uint32_t first, last;
    uint32_t count;
};

void stria_slot_list_init(struct stria_slot_list *list);
void stria_slot_list_append(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index);

/* Inserts by sequence. Chunks come back in nearly the right order, so the search is short. */
void stria_slot_list_insert(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index);
void stria_slot_list_remove(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index);

#endif
