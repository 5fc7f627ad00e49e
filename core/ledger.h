/* The ledger: one 64-byte entry for each extent position of a drive; entry i describes extent i. */
#ifndef STRIA_CORE_LEDGER_H
#define STRIA_CORE_LEDGER_H

#include "core/gap.h"
#include "core/geometry.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_UUID_BYTES 16u

/* One stored chunk. Sequences of a recording's stream count sealed chunks from 0 without a hole: a hole in
 * what is found is something lost. A jump in stream_offset from one sequence to the next is a gap, known and
 * with a cause, and takes no room. */
struct stria_ledger_entry {
    uint64_t recording;     /* id, from 1 */
    uint64_t sequence;      /* from 0 */
    uint64_t stream_offset; /* a multiple of the chunk size */
    uint64_t captured_ns;   /* when the chunk was sealed, since the recording's start */
    uint64_t digest;        /* stria_digest_seeded() of length_bytes of payload under
                               stria_digest_seed(recording, sequence) */
    uint32_t length_bytes;  /* true length, 1 to the chunk size; short only for the recording's last chunk */
    uint16_t stream;        /* which of the recording's streams; 0 as long as there is only one */
    uint8_t gap_cause;      /* enum stria_gap_cause: why the range between the end of sequence − 1 and
                               stream_offset was not stored; 0 when nothing is missing there */
    uint8_t gap_drive;      /* the drive at fault, or STRIA_GAP_DRIVE_NONE */
};

/* What an entry, and a checkpoint, is bound to: found under any other binding it does not validate. */
struct stria_ledger_binding {
    uint8_t array_uuid[STRIA_UUID_BYTES];
    uint32_t drive_index;
    uint32_t generation; /* of the ledger, from the superblock */
};

enum stria_ledger_verdict {
    STRIA_LEDGER_EMPTY,   /* all zero: nothing stored here */
    STRIA_LEDGER_VALID,   /* ours, whole, in its place */
    STRIA_LEDGER_DAMAGED, /* anything else: torn, flipped, or written for another array, drive or position */
    STRIA_LEDGER_FOREIGN  /* whole and in its place, but of another generation of this ledger */
};

/* Writes all 64 bytes. position is the extent position that the entry describes. */
void stria_ledger_encode(uint8_t out[STRIA_LEDGER_ENTRY_BYTES], const struct stria_ledger_entry *entry,
                         const struct stria_ledger_binding *binding, uint64_t position);

/* Takes hostile bytes. entry is written for STRIA_LEDGER_VALID only; its fields are then as they were
 * encoded, and still to be judged against the recording (core/map.h does). */
enum stria_ledger_verdict stria_ledger_decode(const uint8_t in[STRIA_LEDGER_ENTRY_BYTES],
                                              struct stria_ledger_entry *entry,
                                              const struct stria_ledger_binding *binding, uint64_t position);

/* A cheap test for scanning: false when the entry cannot be a valid one of the recording. */
bool stria_ledger_may_be_of(const uint8_t in[STRIA_LEDGER_ENTRY_BYTES], uint64_t recording);

/* The seed that binds a small structure to its place: XXH3-64, unseeded, of
 * array_uuid ‖ drive_index (u32) ‖ place (u64), little-endian. */
uint64_t stria_ledger_binding_seed(const struct stria_ledger_binding *binding, uint64_t place);

#endif
