/* Recordings that somebody reads are held, so that no other process of this machine removes them meanwhile.
 * Where that cannot be seen (another host that shares the drives), a reader finds it out afterwards, from the
 * catalogue. */
#ifndef STRIA_ENGINE_HELD_H
#define STRIA_ENGINE_HELD_H

#include "stria.h"

#include <stdbool.h>
#include <stdint.h>

struct stria_reads_user;

/* Holds recordings for a user that has joined, until stria_held_end(); recordings, by rising id, stays as it
 * is until then. removed gets count flags: those that were removed since the array was opened.
 * STRIA_ERR_BUSY, with a sentence, while another process removes one of them. */
int stria_held_begin(struct stria_array *array, struct stria_reads_user *user, const uint64_t *recordings,
                     uint32_t count, bool *removed, struct stria_trouble *trouble);

/* The same of those of count recordings that no other process removes; the others leave the list. Returns how
 * many stay. removed is about these. */
uint32_t stria_held_begin_rest(struct stria_array *array, struct stria_reads_user *user, uint64_t *recordings,
                               uint32_t count, bool *removed);
void stria_held_end(struct stria_array *array, struct stria_reads_user *user);

/* Looks at the catalogues on the drives, beside all that is being read, and sets the flags of those of count
 * recordings, by rising id, that are removed. What cannot be read leaves them as they were; a drive that is
 * silent for read_deadline_ns is given up, for everybody. */
void stria_held_look(struct stria_array *array, const uint64_t *recordings, uint32_t count, bool *removed);

/* Holds a recording to remove it. With a sentence: STRIA_ERR_BUSY while somebody reads it, another code when
 * a drive does not tell. */
int stria_held_alone(struct stria_array *array, const struct stria_recording_info *recording,
                     struct stria_trouble *trouble);
void stria_held_release(struct stria_array *array, uint64_t recording);

#endif
