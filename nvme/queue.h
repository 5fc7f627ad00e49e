/* A queue pair: the submission ring that the driver fills and the completion ring that the controller fills.
 * One slot of the submission ring is always left free, for a full ring would look like an empty one. */
#ifndef STRIA_NVME_QUEUE_H
#define STRIA_NVME_QUEUE_H

#include "nvme/command.h"
#include "nvme/platform.h"

#include <stdbool.h>
#include <stdint.h>

struct stria_nvme_queue {
    const struct stria_nvme_platform *platform;
    struct stria_nvme_command *commands;       /* in memory that the controller reads */
    struct stria_nvme_completion *completions; /* in memory that the controller writes */
    uint32_t entries;                          /* of either ring; at least 2 */
    uint32_t sq_doorbell, cq_doorbell;         /* register offsets */
    uint32_t sq_tail;                          /* where the next command goes */
    uint32_t sq_rung;                          /* the tail that the controller was told */
    uint32_t sq_head; /* how far the controller has fetched, by its own word (SQHD) */
    uint32_t cq_head; /* where the next completion comes */
    uint32_t phase;   /* what the phase bit of a new completion is there */
};

/* Sets the pair to its beginning; the platform, memory, entries and doorbells are set already. The controller
 * must not use the memory at that time. */
void stria_nvme_queue_reset(struct stria_nvme_queue *queue);

/* Commands that can be put now without passing what the controller has yet to fetch. */
uint32_t stria_nvme_queue_room(const struct stria_nvme_queue *queue);

/* Puts one command; requires room. The controller hears of it with the next ring. */
void stria_nvme_queue_put(struct stria_nvme_queue *queue, const struct stria_nvme_command *command);

/* Rings the submission doorbell if something was put since. */
void stria_nvme_queue_ring(struct stria_nvme_queue *queue);

/* Takes the next completion; false if there is none. */
bool stria_nvme_queue_take(struct stria_nvme_queue *queue, struct stria_nvme_completion *completion);

/* Gives the entries that were taken back to the controller. */
void stria_nvme_queue_return(struct stria_nvme_queue *queue);

#endif
