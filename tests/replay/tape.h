/* A tape of what really went to the drives of an array: every write with its bytes, when it ended, and every
 * flush, in one order over all drives. From it, what a power cut at any moment may leave is made. */
#ifndef STRIA_TESTS_REPLAY_TAPE_H
#define STRIA_TESTS_REPLAY_TAPE_H

#include "core/random.h"

#include <stdint.h>

enum tape_kind {
    TAPE_WRITE, /* handed to the drive */
    TAPE_FLUSH, /* handed to the drive */
    TAPE_ENDED, /* one of them ended well */
    TAPE_MARK   /* the test's own: number and value */
};

#define TAPE_NEVER UINT64_MAX

struct tape_event {
    enum tape_kind kind;
    uint32_t drive;
    uint64_t end;           /* WRITE, FLUSH: index of the ENDED; TAPE_NEVER: none */
    uint64_t offset, bytes; /* WRITE */
    uint8_t *data;          /* WRITE: owned */
    uint32_t mark;          /* MARK */
    uint64_t value;         /* MARK */
};

/* From now on, drives that are opened for writing are taped, numbered in the order in which their paths are
 * seen first. */
void tape_start(void);
void tape_stop(void);

/* Notes something that the test was told, after it was told, while the tape runs. Any thread. */
void tape_mark(uint32_t mark, uint64_t value);

uint64_t tape_length(void);
const struct tape_event *tape_event(uint64_t index);

struct tape_left {
    uint64_t durable, kept, dropped, torn; /* writes */
};

/* Lays into image, which holds a drive as it was when the tape started, what a cut after the first events of
 * the tape leaves: all writes that a flush made durable, and of the others each whole, not at all, or some of
 * its blocks. */
void tape_cut(uint8_t *image, uint32_t drive, uint64_t events, struct stria_random *random,
              struct tape_left *left);

void tape_erase(void);

#endif
