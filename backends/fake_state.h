/* The file in which a fake drive lives on: two slots, written in turns, each complete in itself, so that a
 * process killed while it writes one leaves the other. Plain words in the byte order of the machine; it
 * never leaves the machine that the drive's file is on. */
#ifndef STRIA_BACKENDS_FAKE_STATE_H
#define STRIA_BACKENDS_FAKE_STATE_H

#include "core/model.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

struct fake_state_slot {
    uint64_t magic;
    uint64_t version;
    uint64_t generation; /* the newest valid slot counts */
    uint64_t identity;   /* of the drive's file; zero: not known */
    struct stria_model_state state;
    uint64_t check; /* XXH3-64 of all before it */
};

struct fake_state {
    int fd; /* −1: not open */
    bool read_only;
    bool found; /* newest holds what was in the file */
    uint64_t generation;
    uint64_t identity;
    struct fake_state_slot newest; /* room for one slot, read or to be written */
};

/* Opens the file, makes it if create is set, and reads its newest slot. STRIA_ERR_FORMAT, and the file
 * untouched, if it holds something else. */
int fake_state_open(struct fake_state *file, const char *path, bool read_only, bool create,
                    struct stria_trouble *trouble);

/* Writes the state as the newest. Does not wait for the medium. */
int fake_state_save(struct fake_state *file, const struct stria_model_state *state);

/* Waits for the medium and closes. */
void fake_state_close(struct fake_state *file);

/* A number that a file made anew under the same path does not have; zero for what is no regular file. */
uint64_t fake_state_identity(const char *drive_path);

#endif
