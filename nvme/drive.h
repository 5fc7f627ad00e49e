/* An NVMe drive: requests of any length over one controller. This is what a recorder uses.
 *
 *     struct stria_nvme_drive drive;
 *     stria_nvme_drive_start(&drive, &platform, &config);
 *     if (stria_nvme_drive_settle(&drive) != STRIA_OK) … stria_nvme_trouble_text(drive.controller.trouble)
 *     stria_nvme_drive_submit(&drive, &(struct stria_nvme_request){…});
 *     count = stria_nvme_drive_poll(&drive, done, max);
 *     stria_nvme_drive_stop(&drive);
 *     stria_nvme_drive_settle(&drive);
 *
 * Several drives are started, polled and stopped side by side by one loop; none of them waits. */
#ifndef STRIA_NVME_DRIVE_H
#define STRIA_NVME_DRIVE_H

#include "nvme/controller.h"

#define STRIA_NVME_REQUESTS_MAX  256u        /* accepted at once */
#define STRIA_NVME_REQUEST_BYTES (64u << 20) /* the longest read or write */
#define STRIA_NVME_DATA_ALIGN    4u          /* of data; and where caches matter, a cache line */

/* A flush makes durable the writes whose completions were polled before it was submitted. A trim gives up the
 * content of its range; on a drive that cannot it does nothing, successfully. */
struct stria_nvme_request {
    enum stria_nvme_op op;
    bool durable;    /* a write: durable when it completes, without a flush */
    uint64_t offset; /* in bytes, a multiple of the block size; zero for a flush */
    uint64_t bytes;  /* likewise; zero for a flush */
    void *data;      /* stays untouched and in place until completed; null for flush and trim */
    uint64_t tag;    /* the caller's, returned */
};

struct stria_nvme_done {
    uint64_t tag;
    int code;       /* STRIA_OK or negative */
    uint64_t bytes; /* all of a read or write that went well, else zero */
};

/* One request, and how much of it is with the controller. */
struct stria_nvme_cut {
    struct stria_nvme_request request;
    uint64_t cut_bytes; /* handed on so far */
    uint32_t pieces;    /* of them not yet answered */
    int code;           /* of the first piece that failed: then no more are handed on */
    bool whole;         /* all of it is handed on */
    bool cutting;       /* in the list of that name */
    uint16_t next;      /* behind it in its list */
};

/* All of it is the driver's; readable are controller (see there), drive_bytes, block_bytes. */
struct stria_nvme_drive {
    struct stria_nvme_controller controller;
    uint64_t drive_bytes; /* of the namespace; zero until it is ready */
    uint32_t block_bytes;
    uint32_t busy_count; /* requests not yet polled */
    struct stria_nvme_list {
        uint16_t first, last; /* indices of cuts; STRIA_NVME_REQUESTS_MAX for none */
    } free, cutting, done;    /* cutting: not all of it is handed on yet */
    struct stria_nvme_cut cuts[STRIA_NVME_REQUESTS_MAX];
};

/* As stria_nvme_controller_start(), and begins with no request. */
void stria_nvme_drive_start(struct stria_nvme_drive *drive, const struct stria_nvme_platform *platform,
                            const struct stria_nvme_config *config);

/* STRIA_OK: accepted, there will be one completion. STRIA_ERR_FULL: poll first. STRIA_ERR_INVALID: not a
 * request for this drive. Otherwise the code of a controller that failed or stops. Accepted also while the
 * controller recovers, but not before it was ready once. */
int stria_nvme_drive_submit(struct stria_nvme_drive *drive, const struct stria_nvme_request *request);

/* Steps the drive and moves finished requests into done[0..max). Never waits. Returns how many, or a negative
 * code when the drive failed: what is in flight is lost then. */
int stria_nvme_drive_poll(struct stria_nvme_drive *drive, struct stria_nvme_done *done, uint32_t max);

/* Begins to stop in order; requests in flight are given up. */
void stria_nvme_drive_stop(struct stria_nvme_drive *drive);

/* Polls until the drive is ready, stopped or failed; returns its code. Requests that end meanwhile are kept.
 */
int stria_nvme_drive_settle(struct stria_nvme_drive *drive);

/* One request, waited for: for set-up, not for the data path. Requires that nothing else is in flight. */
int stria_nvme_drive_run(struct stria_nvme_drive *drive, const struct stria_nvme_request *request);

#endif
