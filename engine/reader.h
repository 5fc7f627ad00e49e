/* What export needs of a reader beyond the public interface. */
#ifndef STRIA_ENGINE_READER_H
#define STRIA_ENGINE_READER_H

#include "core/verifier.h"
#include "stria.h"

/* As stria_reader_read, without a copy: *data is the reader's own memory from that offset on, valid until the
 * next call for this reader, or null where the stream is zeroes (any verdict but STRIA_READ_OK, and then
 * perhaps far more bytes than a chunk). Returns how many bytes follow there with this verdict, at most to the
 * end of the chunk or of the hole; 0 at the stream's end; else a code as from stria_reader_read. */
int64_t stria_reader_view(struct stria_reader *reader, uint64_t offset, const void **data,
                          enum stria_read_verdict *verdict);

/* The recording as it is listed; its length_bytes is where the stream ends. */
void stria_reader_describe(const struct stria_reader *reader, struct stria_recording_info *info);

/* Whether the recording was removed since it was opened, which is possible where others have the drives too
 * and cannot see that it is read: what was read of it may then be damaged for that reason. Looks at the
 * drives. */
bool stria_reader_removed(struct stria_reader *reader);

/* What is known of the gap at an offset whose verdict is STRIA_READ_GAP: its cause and the drive at fault or
 * −1. STRIA_GAP_NONE when there is no gap. */
enum stria_gap_cause stria_reader_gap(const struct stria_reader *reader, uint64_t offset, int *drive);

/* What is wrong with a byte that is not in a gap and cannot be read back, in the words of a verification. */
struct stria_read_fault {
    enum stria_verdict verdict; /* CORRUPT, MISSING, MISPLACED, STALE or UNREADABLE */
    int drive;             /* where it was first looked for; missing: the one that should have it; −1: not
                              known */
    uint64_t drive_offset; /* in bytes from the drive's start; not of what is missing */
    int code;              /* UNREADABLE: why */
    uint64_t other_offset; /* MISPLACED: where in this recording the payload belongs that lies there; what
                              belongs to another recording is told as CORRUPT */
};

/* Of the byte at an offset that stria_reader_view has just called STRIA_READ_MISSING or STRIA_READ_CORRUPT.
 */
void stria_reader_fault(const struct stria_reader *reader, uint64_t offset, struct stria_read_fault *fault);

#endif
