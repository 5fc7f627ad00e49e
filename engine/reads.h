/* Reads of payload on the drives of an open array: by a verification or by any number of readers, whose
 * requests share the drives' queues. While anybody reads, nothing else may use the drives. */
#ifndef STRIA_ENGINE_READS_H
#define STRIA_ENGINE_READS_H

#include "backends/backend.h"
#include "core/map.h"
#include "stria.h"

/* Somebody who reads. The first three fields are set before joining, the rest is kept here. */
struct stria_reads_user {
    void *context;
    /* A read has ended; called from within stria_reads_poll. */
    void (*done)(void *context, uint32_t drive, const struct stria_done *done);
    /* A drive is not used any more; what was in flight on it never ends. Called from within stria_reads_poll
     * and stria_reads_give_up. */
    void (*gone)(void *context, uint32_t drive, int code);
    const uint64_t *recordings; /* that it holds (engine/held.h), by rising id; the user's own */
    uint32_t recording_count;
    struct stria_reads_user *next;
    uint16_t number;
    uint32_t outstanding[STRIA_DRIVES_MAX];
    bool attached;
};

/* STRIA_ERR_BUSY, with a sentence, while the array records. */
int stria_reads_join(struct stria_array *array, struct stria_reads_user *user, struct stria_trouble *trouble);

/* Announces memory that the user's reads on a drive will fill. Quietly does nothing while others read. */
void stria_reads_attach(struct stria_array *array, struct stria_reads_user *user, uint32_t drive,
                        const struct stria_region *regions, unsigned count);

/* Whether a drive is there and was not given up. */
bool stria_reads_usable(const struct stria_array *array, uint32_t drive);

/* Hands a read to a drive. The tag's upper 16 bits are zero. STRIA_OK; STRIA_ERR_FULL: later; STRIA_ERR_GONE:
 * the drive is not usable. */
int stria_reads_submit(struct stria_array *array, struct stria_reads_user *user, uint32_t drive,
                       const struct stria_io *io);

/* Tells everybody what has ended, without waiting. Returns how many reads that were. */
uint32_t stria_reads_poll(struct stria_array *array);

/* Sleeps until the bell was rung after the ticket was drawn (stria_reads_listen, before the poll that found
 * nothing), at most wait_ns. */
uint32_t stria_reads_listen(struct stria_array *array);
void stria_reads_wait(struct stria_array *array, uint32_t ticket, uint64_t wait_ns);

/* Stops using a drive, for everybody. */
void stria_reads_give_up(struct stria_array *array, uint32_t drive, int code);

/* Ends a user's reading: waits for what is in flight, gives up drives that do not answer. The last one to
 * leave closes the drives that were given up. True when such a drive may still write into the user's memory,
 * which must then stay mapped for ever. */
bool stria_reads_leave(struct stria_array *array, struct stria_reads_user *user);

/* The digest of a read that has ended well and whole, taken by the drive where it can. */
uint64_t stria_reads_digest(const struct stria_array *array, uint32_t drive, const struct stria_done *done,
                            const void *data, uint64_t bytes, uint64_t seed);

/* A recording's map in memory of its own. STRIA_ERR_NO_MEMORY; STRIA_ERR_DAMAGED when its chunks are not
 * those of the array. */
int stria_reads_map(const struct stria_array *array, const struct stria_recording *recording,
                    struct stria_map *map, struct stria_trouble *trouble);
void stria_reads_unmap(struct stria_map *map);

#endif
