/* One drive of an array, as the engine holds it: the open drive, what its superblock says, and images of its
 * metadata in memory. */
#ifndef STRIA_ENGINE_MEMBER_H
#define STRIA_ENGINE_MEMBER_H

#include "backends/backend.h"
#include "config/array.h"
#include "core/catalogue.h"
#include "core/checkpoint.h"
#include "core/recorder.h"
#include "core/superblock.h"

/* What became of the two copies of a superblock, of which at least one is good. */
struct stria_member_copies {
    const char *lost; /* the other: "damaged", "out of date", "not readable"; null: it is good too */
    uint64_t lost_offset, good_offset;
};

struct stria_member {
    const struct stria_drive_config *config; /* its section in array.ini; null: none, or not known which */
    struct stria_drive *drive;               /* null: absent */
    struct stria_superblock super;           /* valid when drive is set */
    struct stria_member_copies copies;       /* of the superblock */
    uint8_t *images;                         /* one mapping for all of what follows */
    size_t images_bytes;
    uint8_t *checkpoints;  /* STRIA_CHECKPOINT_BYTES */
    uint8_t *halves[2];    /* the catalogue's */
    uint8_t *ledger;       /* geometry.ledger_bytes */
    uint8_t *staging;      /* STRIA_STAGING_BYTES */
    uint8_t *extent_state; /* one byte for each extent */
    bool checkpoint_valid;
    struct stria_checkpoint checkpoint;
    struct stria_catalogue catalogue; /* this drive's replica; image null when it has none */
    bool abandoned;                   /* a request never ended: it may still use the images */
    char complaint[768];              /* why it is absent, or what it lacks; empty: nothing */
};

/* Reads both superblock copies of an open drive, each within the deadline. The sentence names the path. */
int stria_member_identify(struct stria_drive *drive, uint64_t deadline_ns, struct stria_superblock *super,
                          bool *read_only, struct stria_member_copies *copies, struct stria_trouble *trouble);

/* Tells of a lost superblock copy by adding to the complaint; writes it anew from the good one where the
 * drive may be written. */
void stria_member_mend(struct stria_member *member, bool writable);

/* Maps room for the images. */
int stria_member_map(struct stria_member *member, struct stria_trouble *trouble);

/* Closes the drive and frees the images; those of an abandoned one are left. */
void stria_member_close(struct stria_member *member);

size_t stria_member_half_bytes(const struct stria_member *member);

#endif
