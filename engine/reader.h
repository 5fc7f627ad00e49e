/* What export needs of a reader beyond the public interface. */
#ifndef STRIA_ENGINE_READER_H
#define STRIA_ENGINE_READER_H

#include "stria.h"

/* As stria_reader_read, without a copy: *data is the reader's own memory from that offset on, valid until the
 * next call for this reader, or null where the stream is zeroes (any verdict but STRIA_READ_OK, and then
 * perhaps far more bytes than a chunk). Returns how many bytes follow there with this verdict, at most to the
 * end of the chunk or of the hole; 0 at the stream's end; STRIA_ERR_NO_MEMORY. */
int64_t stria_reader_view(struct stria_reader *reader, uint64_t offset, const void **data,
                          enum stria_read_verdict *verdict);

/* The recording as it is listed; its length_bytes is where the stream ends. */
void stria_reader_describe(const struct stria_reader *reader, struct stria_recording_info *info);

/* What is known of the gap at an offset whose verdict is STRIA_READ_GAP: its cause and the drive at fault or
 * −1. STRIA_GAP_NONE when there is no gap. */
enum stria_gap_cause stria_reader_gap(const struct stria_reader *reader, uint64_t offset, int *drive);

#endif
